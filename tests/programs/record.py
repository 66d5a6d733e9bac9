"""Makes a trace file of architectures.c from a real run. Runs inside gdb, which is connected to the program's start.

No gdbserver with tracepoints runs on most of these machines. What one would have recorded is taken at breakpoints
instead: every byte of a register or of memory in the file is what the running program had.

The environment says what to make: OUT, the file; LAYOUT, the registers of a register block, one of LAYOUTS; FEATURES,
the features of the target description to write into the file, with commas, or nothing for a file without one;
COLLECT, what the second tracepoint collects, in other words than an address.

With STEPS it makes another recording: from `step` on, each of so many instructions with those registers only that
REGISTERS names, and, if the stack pointer is among them, the stack. They are the first of the target description, so
that a register block that ends behind them is one that lacks the others.
"""

import os
import re

import gdb

TRACEPOINT_REGISTERS, TRACEPOINT_MEMORY, TRACEPOINT_ONLY_REGISTERS = 1, 2, 3
VARIABLE = 2


def registers(prefix, last, size):
    return [(f"{prefix}{number}", size) for number in range(last + 1)]


def named(names, size):
    return [(name, size) for name in names.split()]


def x86(general, size, xmm, original):
    return (
        named(general, size) + named("eflags cs ss ds es fs gs", 4) + registers("st", 7, 10)
        + named("fctrl fstat ftag fiseg fioff foseg fooff fop", 4) + registers("xmm", xmm, 16) + named("mxcsr", 4)
        + named(original, size)
    )


def power(size):
    return (
        registers("r", 31, size) + registers("f", 31, 8) + named("pc msr", size) + named("cr", 4)
        + named("lr ctr", size) + named("xer fpscr", 4) + named("orig_r3 trap", size)
    )


def riscv(size):
    names = "zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 pc"
    return named(names, size)


X86_64 = x86(
    "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip", 8, 15, "orig_rax"
) + named("fs_base gs_base", 8)
ARM = registers("r", 12, 4) + named("sp lr pc cpsr", 4)
POWERPC64 = power(8)
S390X = (
    named("pswm pswa", 8) + registers("r", 15, 8) + registers("acr", 15, 4) + named("fpc", 4) + registers("f", 15, 8)
)
RISCV_FLOAT = (
    "ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 "
    "fs11 ft8 ft9 ft10 ft11"
)

# The register blocks as gdbserver on GNU/Linux sends them, or as a smaller stub does. Those of MIPS go by number, as
# gdb has no names for them.
LAYOUTS = {
    "x86-64": X86_64,
    "x86-64-avx": X86_64 + [(f"ymm{number}h", 16) for number in range(16)],
    "i386": x86("eax ecx edx ebx esp ebp esi edi eip", 4, 7, "orig_eax"),
    "aarch64": registers("x", 30, 8) + named("sp pc", 8) + named("cpsr", 4) + registers("v", 31, 16)
    + named("fpsr fpcr", 4),
    "arm": ARM,
    "arm-vfp": ARM + registers("d", 15, 8) + named("fpscr", 4),
    "arm-neon": ARM + registers("d", 31, 8) + named("fpscr", 4),
    "riscv32": riscv(4),
    "riscv64": riscv(8) + named(RISCV_FLOAT, 8) + named("fflags frm fcsr", 4),
    "riscv64-short": riscv(8),
    "riscv64-cut": riscv(8)[:16],
    "powerpc": power(4),
    "powerpc64": POWERPC64,
    "powerpc64-altivec": POWERPC64 + registers("vr", 31, 16) + named("vscr vrsave", 4),
    "mips": [(number, 4) for number in range(73)],
    "mips-bare": [(number, 4) for number in range(72)],
    "mips64": [(number, 8) for number in range(73)],
    "s390x": S390X,
    "s390x-linux": S390X + named("orig_r2", 8),
}

# What the machine's own stub has no register for: GNU/Linux's word for "in no system call", and nothing else.
ABSENT = {"orig_rax": -1, "orig_eax": -1}


class Machine:
    """The stopped program."""

    def __init__(self):
        order = gdb.execute("show endian", to_string=True)
        self.order = "big" if "big endian" in order else "little"
        self.inferior = gdb.selected_inferior()
        self.word = gdb.lookup_type("long").sizeof

    def run_to(self, place):
        stop = gdb.Breakpoint(place, temporary=True)
        gdb.execute("continue", to_string=True)
        assert not stop.is_valid(), f"{place} was not reached"
        return self.pc()

    def pc(self):
        return int(gdb.newest_frame().pc())

    def registers(self, layout):
        """The register block."""
        gdb.execute("info all-registers", to_string=True)
        values = {}
        for line in gdb.execute("maint print raw-registers", to_string=True).splitlines():
            words = line.split()
            if len(words) > 5 and re.fullmatch("0x[0-9a-f]+", words[-1]):
                values[words[0]] = values[int(words[1])] = int(words[-1], 16)
        block = b""
        for name, size in layout:
            value = values.get(name, ABSENT.get(name, 0))
            # A stub may have a register wider than others do: its value must fit.
            block += value.to_bytes(size, self.order, signed=value < 0)
        return block

    def memory(self, address, length):
        data = bytes(self.inferior.read_memory(address, length))
        return b"M" + address.to_bytes(8, self.order) + length.to_bytes(2, self.order) + data

    def variable(self, value):
        return b"V" + VARIABLE.to_bytes(4, self.order) + value.to_bytes(8, self.order, signed=True)

    def frame(self, tracepoint, *blocks):
        data = b"".join(blocks)
        return tracepoint.to_bytes(2, self.order) + len(data).to_bytes(4, self.order) + data


def address_of(name):
    return int(gdb.parse_and_eval(f"&{name}"))


def end_of_stack():
    """The end of the outermost function's stack frame."""
    outermost = gdb.newest_frame()
    while outermost.older() is not None:
        outermost = outermost.older()
    assert outermost.name() == "_start", outermost.name()
    outermost.select()
    return int(re.search(r"frame at (0x[0-9a-f]+)", gdb.execute("info frame", to_string=True))[1], 16)


def stack_register():
    """The register's own name: gdb does not collect by the name that is the same everywhere."""
    architecture = gdb.newest_frame().architecture().name()
    names = {"i386:x86-64": "rsp", "i386": "esp", "powerpc": "r1", "s390": "r15"}
    return next((names[start] for start in names if architecture.startswith(start)), "sp")


def tracepoint(number, address, at, usage, actions, commands):
    lines = [f"tp T{number}:{address:x}:E:0:0"]
    lines += [f"tp A{number}:{address:x}:{action}" for action in actions]
    lines += source(number, address, at, commands)
    lines.append(f"tp V{number}:{address:x}:1:{usage:x}")
    return lines


def source(number, address, at, commands):
    return [
        f"tp Z{number}:{address:x}:{kind}:0:{len(text):x}:{text.encode().hex()}"
        for kind, text in [("at", at)] + [("cmd", command) for command in commands]
    ]


def description(features, changed=lambda text: text):
    text = gdb.execute("maint print xml-tdesc", to_string=True)
    for name, feature in re.findall(r'(?s)<feature name="([^"]*)">(.*?)</feature>', text):
        if name not in features:
            text = text.replace(f'  <feature name="{name}">{feature}</feature>\n', "")
    return ["tdesc " + line.strip() for line in changed(text).splitlines() if line.strip()]


def beginning_with(text, names):
    """A description whose first registers are these; gdb numbers them in the order it finds them."""
    elements = {name: re.search(rf' *<reg name="{name}"[^>]*/>\n', text)[0] for name in names}
    for element in elements.values():
        text = text.replace(element, "")
    if "riscv" in text:
        # As gdbserver has it; qemu says nothing of an operating system.
        text = text.replace("</architecture>", "</architecture>\n  <osabi>GNU/Linux</osabi>")
    text = re.sub(r"(<feature [^>]*>\n)", lambda start: start[1] + "".join(elements.values()), text, count=1)
    return re.sub(r' regnum="[0-9]+"', "", text)


def steps(count, names):
    machine = Machine()
    layout = [register for name in names for register in LAYOUTS[os.environ["LAYOUT"]] if register[0] == name]
    counter = address_of("counter")
    start = machine.run_to("step")
    frames = []
    for _ in range(count):
        blocks = [b"R" + machine.registers(layout), machine.memory(counter, 4)]
        if stack_register() in names:
            stack = int(gdb.parse_and_eval("(unsigned long) $sp"))
            blocks.append(machine.memory(stack, end_of_stack() - stack))
            gdb.newest_frame().select()
        frames.append(machine.frame(TRACEPOINT_REGISTERS, *blocks))
        gdb.execute("stepi", to_string=True)
    block_size = sum(size for _, size in layout)
    lines = [f"R {block_size:x}"]
    # What gdb's remote protocol does not say of them, it says in the order of the elements.
    lines += description(os.environ["FEATURES"].split(","), lambda text: beginning_with(text, names))
    lines.append(
        f"status 0;tstop::0;tframes:{count:x};tcreated:{count:x};tfree:4ff000;tsize:500000;circular:0;disconn:0"
    )
    actions = ["R" + "F" * 8, f"MFFFFFFFFFFFFFFFF,{counter:X},4"]
    lines.append(f"tp T{TRACEPOINT_REGISTERS}:{start:x}:E:{count - 1:x}:0")
    lines += [f"tp {kind}{TRACEPOINT_REGISTERS}:{start:x}:{action}" for kind in "AS" for action in actions]
    commands = ["collect $regs,counter", f"while-stepping {count - 1}", "collect $regs,counter", "end"]
    lines += source(TRACEPOINT_REGISTERS, start, "architectures.c:9", commands)
    lines.append(f"tp V{TRACEPOINT_REGISTERS}:{start:x}:1:{sum(map(len, frames)):x}")
    save(lines, *frames)


def save(lines, *frames):
    with open(os.environ["OUT"], "wb") as file:
        file.write(b"\x7fTRACE0\n" + "\n".join(lines).encode() + b"\n\n" + b"".join(frames) + bytes(4))


def main():
    machine = Machine()
    layout = LAYOUTS[os.environ["LAYOUT"]]
    counter = address_of("counter")

    # In `step`, behind the prologue: all registers, the global, and the stack up to its end, the part below the stack
    # pointer that a function may use included.
    registers_at = machine.run_to("step")
    below = 32
    stack = int(gdb.parse_and_eval("(unsigned long) $sp")) - below
    words = (end_of_stack() - stack) // machine.word
    gdb.newest_frame().select()
    block = machine.registers(layout)
    first = machine.frame(
        TRACEPOINT_REGISTERS,
        b"R" + block,
        machine.memory(counter, 4),
        machine.memory(stack, words * machine.word),
        machine.variable(-3),
    )

    # Two lines later the global has changed; nothing else is recorded.
    memory_at = machine.run_to("architectures.c:11")
    second = machine.frame(TRACEPOINT_MEMORY, machine.memory(counter, 4), machine.variable(6))

    # Back in `work`: registers only.
    only_registers_at = machine.run_to("architectures.c:17")
    third = machine.frame(TRACEPOINT_ONLY_REGISTERS, b"R" + machine.registers(layout))

    lines = [f"R {len(block):x}"]
    if os.environ.get("FEATURES"):
        lines += description(os.environ["FEATURES"].split(","))
    lines += [
        "status 0;tstop::0;tframes:3;tcreated:3;tfree:4ff000;tsize:500000;circular:0;disconn:0",
        f"tsv {VARIABLE}:5:0:{b'hits'.hex()}",
    ]
    every_register = "R" + "F" * 8
    collect_counter = f"MFFFFFFFFFFFFFFFF,{counter:X},4"
    # Without the program the first one cannot be placed; the others can, and their actions be understood.
    lines += tracepoint(
        TRACEPOINT_REGISTERS,
        registers_at,
        "architectures.c:9",
        len(first),
        [every_register, collect_counter],
        [
            "collect $regs,counter",
            f"collect *(long (*)[{words}]) (${stack_register()} - {below})",
            "teval $hits = $hits - 8",
            "collect $hits",
        ],
    )
    lines += tracepoint(
        TRACEPOINT_MEMORY,
        memory_at,
        f"*{memory_at:#x}",
        len(second),
        [collect_counter],
        [f"collect {os.environ.get('COLLECT') or f'*(int *) {counter:#x}'}", "teval $hits = $hits + 9", "collect $hits"],
    )
    lines += tracepoint(
        TRACEPOINT_ONLY_REGISTERS,
        only_registers_at,
        f"*{only_registers_at:#x}",
        len(third),
        [every_register],
        ["collect $regs"],
    )
    save(lines, first, second, third)


if os.environ.get("STEPS"):
    steps(int(os.environ["STEPS"]), os.environ["REGISTERS"].split())
else:
    main()
