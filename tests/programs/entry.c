/* Optimised code: values at a function's entry, and a structure that lies in pieces. It needs no C library. */

struct pair
{
    int first;
    int second;
};

volatile int sink;

__attribute__((noinline)) void finish(void)
{
    __asm__ volatile("");
}

static __attribute__((noinline, noclone)) int take(int given, int other)
{
    sink = given + other;
    __asm__ volatile("xor %%edi, %%edi; xor %%esi, %%esi; xor %%ebx, %%ebx" : : : "rdi", "rsi", "rbx");
    sink = 1; /* first */
    sink = 2; /* second */
    return sink;
}

static __attribute__((noinline, noclone)) int join(int first)
{
    struct pair both = {first, 7};
    sink = both.first; /* joined */
    both.second = 8;
    sink = both.first + both.second;
    return both.first;
}

void _start(void)
{
    int kept = sink;
    take(11, kept);
    join(kept + 5);
    sink = kept;
    finish();
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
}
