// Execution that goes every way of which a trace can tell: recursion, a table of places, functions called through
// pointers, calls in the place of a return, frames of unknown size, loops, the supervisor, and a signal. No library is
// linked, so that the whole list of executed instructions lies in this file.

#define FUNCTION __attribute__((noinline, noclone))
#define WITH_FRAME_POINTER __attribute__((optimize("no-omit-frame-pointer")))
// The other instruction set of AArch32.
#if defined(__thumb__)
#define OTHER __attribute__((target("arm")))
#elif defined(__arm__)
#define OTHER __attribute__((target("thumb")))
#else
#define OTHER
#endif

typedef unsigned (*function)(unsigned);

static volatile unsigned seen;

// `handler` is what an interrupt executes in the lists that tests make; nothing calls it.
#if defined(__aarch64__)
enum { EXIT = 93, GETPID = 172, KILL = 129, SIGACTION = 134 };
static long supervisor(long number, long first, long second, long third, long fourth) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third, x3 __asm__("x3") = fourth;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
__asm__(".text\n.globl _start, restorer, handler, handler_end\n"
        ".type _start, %function\n_start: bl walk\n b .\n"
        ".type restorer, %function\nrestorer: mov x8, #139\n svc #0\n"
        ".type handler, %function\nhandler: str x0, [sp, #-16]!\n isb\n cbz x0, 1f\n nop\n"
        "1: ldr x0, [sp], #16\n eret\nhandler_end: nop\n");
#elif defined(__arm__)
enum { EXIT = 1, GETPID = 20, KILL = 37, SIGACTION = 174 };
static long supervisor(long number, long first, long second, long third, long fourth) {
    register long r0 __asm__("r0") = first, r1 __asm__("r1") = second, r2 __asm__("r2") = third;
    register long r3 __asm__("r3") = fourth;
    // r7 is the frame pointer of T32.
    __asm__ volatile("push {r7}\n mov r7, %1\n svc #0\n pop {r7}"
                     : "+r"(r0) : "r"(number), "r"(r1), "r"(r2), "r"(r3) : "memory");
    return r0;
}
__asm__(".text\n.syntax unified\n.globl _start, restorer, handler, handler_end\n"
        ".type _start, %function\n_start: bl walk\n b .\n"
        ".type restorer, %function\nrestorer: mov r7, #119\n svc #0\n"
        ".type handler, %function\nhandler: push {r0}\n isb\n cmp r0, #0\n beq 1f\n nop\n"
        "1: pop {r0}\n subs pc, lr, #4\nhandler_end: nop\n");
#else
enum { EXIT = 93, GETPID = 172 };
static long supervisor(long number, long first, long second, long third, long fourth) {
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third, a3 __asm__("a3") = fourth;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
}
__asm__(".text\n.globl _start, handler, handler_end\n"
        ".type _start, %function\n_start: call walk\n j .\n"
        ".type handler, %function\nhandler: addi sp, sp, -16\n sw a0, 0(sp)\n beqz a0, 1f\n nop\n"
        "1: lw a0, 0(sp)\n addi sp, sp, 16\n mret\nhandler_end: nop\n");
#endif

FUNCTION static unsigned leaf(unsigned n) {
#ifdef REBUILT
    seen = n;
#endif
    return n * 3 + 1;
}

FUNCTION WITH_FRAME_POINTER static unsigned leaf_with_frame(unsigned n) {
    volatile unsigned kept = n;
    return kept ^ 5;
}

FUNCTION OTHER static unsigned leaf_of_other(unsigned n) { return n & 1 ? n + 7 : leaf(n); }

FUNCTION static unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

FUNCTION static unsigned collatz(unsigned n) {
    unsigned steps = 0;
    for (; n != 1; steps++) {
        n = n & 1 ? 3 * n + 1 : n / 2;
    }
    return steps;
}

// Calls in the place of a return.
FUNCTION static unsigned tail(unsigned n) {
    seen += n;
    return n & 2 ? leaf(n) : leaf_with_frame(n);
}

FUNCTION static unsigned of_unknown_size(unsigned n) {
    unsigned char *bytes = __builtin_alloca(n % 16 + 8);
    for (unsigned at = 0; at < n % 16 + 8; at++) {
        ((volatile unsigned char *)bytes)[at] = at;
    }
    return bytes[n % 8] + leaf_with_frame(n);
}

static const function table[] = {leaf, leaf_with_frame, leaf_of_other, collatz, tail, of_unknown_size};

// The call is in the place of a return, and through a pointer.
FUNCTION static unsigned through_pointer(unsigned which, unsigned n) { return table[which % 6](n); }

FUNCTION static unsigned choose(unsigned k) {
    switch (k % 8) {
    case 0: return fibonacci(5);
    case 1: return collatz(k % 20 + 1) + 1;
    case 2: return leaf_of_other(k) ^ 3;
    case 3: return tail(k) - 1;
    case 4: return of_unknown_size(k) * 2;
    case 5: return through_pointer(k / 8, k | 1) + 4;
    case 6: return table[(k + 1) % 6](k + 2) | 16;
    default: return leaf(k) >> 1;
    }
}

#if !defined(__riscv)
extern void restorer(void);
struct action { void *handler; unsigned long flags; void (*restorer)(void); unsigned long mask[2]; };
FUNCTION static void received(int number) { seen += leaf(number); }

FUNCTION static void signal(void) {
    enum { USR1 = 10, RESTORER = 0x04000000 };
    struct action action = {received, RESTORER, restorer, {0, 0}};
    supervisor(SIGACTION, USR1, (long)&action, 0, 8);
    supervisor(KILL, supervisor(GETPID, 0, 0, 0, 0), USR1, 0, 0);
}
#else
// Its handler would return to code that is not of the program.
static void signal(void) { seen += supervisor(GETPID, 0, 0, 0, 0); }
#endif

#ifndef ROUNDS
#define ROUNDS 64
#endif

__attribute__((used)) void walk(void) {
    unsigned sum = 0;
    for (unsigned k = 0; k < ROUNDS; k++) {
        sum += choose(k);
        if (k % 32 == 9) {
            signal();
        }
    }
    seen = sum;
    supervisor(EXIT, sum & 0x3f, 0, 0, 0);
}
