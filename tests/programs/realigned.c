/* A function whose stack is realigned, so that its frame is found by what lies on the stack. */

int counter = 0;

static inline __attribute__ ((always_inline)) int twice (int value)
{
  counter += value;
  return 2 * value;
}

__attribute__ ((noinline)) void keep (volatile void *memory)
{
  asm volatile ("" : : "r" (memory) : "memory");
}

__attribute__ ((noinline)) int wide (int turn)
{
  char aligned[64] __attribute__ ((aligned (64)));
  char *room = __builtin_alloca (16 * turn);
  keep (aligned);
  keep (room);
  turn = twice (turn);
  keep (aligned);
  return turn;
}

__attribute__ ((noinline)) void finish (void)
{
  asm volatile ("");
}

void _start (void)
{
  for (int turn = 1; turn < 3; turn++)
    wide (turn);
  finish ();
  for (;;);
}
