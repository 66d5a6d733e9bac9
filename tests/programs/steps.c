/* Something of each kind to record: arguments, locals, globals, constants, strings, a function that is inlined at
   two places, floating point, more memory than one memory block holds. With FREESTANDING it needs no C library.
   The words in capitals name lines. */

struct point { int x, y; };
struct part { char name[8]; struct point at; double weight; const char *label; };

int counter;
long long big = -5;
struct point origin = { 3, 4 };
char text[64] = "abcdefgh";
struct part parts[3] = {
  { "axle", { 1, 2 }, 2.5, "first" }, { "bolt", { 3, 4 }, -0.125, text }, { "cog", { 5, 6 }, 1e100, text + 2 },
};
const int limit = 10000;
const char *const colours[] = { "red", "green", "blue" };
const char *message = "hello tracepoints";
int *nowhere;
unsigned char block[70000];

static inline __attribute__ ((always_inline)) int
twice (int k)
{
  int doubled = k * 2;		/* INLINED */
  return doubled + counter;
}

__attribute__ ((noinline)) int
step (int i, struct point *p)
{
  int local = i * 2;		/* FIRST */
  double half = i / 2.0;
  counter += local;		/* COUNT */
  p->x += i;
  text[i] = (char) ('A' + i);
  block[i] = block[69999 - i] = (unsigned char) (i + 1);
  return counter + (int) half;	/* LAST */
}

__attribute__ ((noinline)) void
tick (void)
{
  big++;			/* TICK */
}

__attribute__ ((noinline)) int
finish (int result)
{
  return result;
}

int
main (void)
{
  struct point here = origin;
  int result = 0;
  for (int i = 0; i < 6; i++)
    {
      result += step (i, &here);
      result += twice (i);
      result -= twice (i + 1);
      tick ();
      tick ();
    }
  return finish (result) == 0;
}

#ifdef FREESTANDING
void
_start (void)
{
  main ();
  for (;;)
    __asm__ volatile ("hlt");
}
#endif
