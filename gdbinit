# Settings for looking at a recording, used as: gdb -x gdbinit
#
# Only what replay needs; your own ~/.gdbinit still counts, and so do your
# pagination and confirmations (gdb -batch turns both off for scripts).

# Say at once that nobody listens at a port, instead of trying for 15 seconds.
set tcp auto-retry off

# Wait 5 seconds for an answer, not 2: a search through a large recording may
# take longer, and gdb takes a late answer for the answer to its next question.
set remotetimeout 5

# The rest is for a gdb with Python, which $_strlen tells: it is written in it.
# One without keeps its own `set trust-readonly-sections off`: right where the
# program comes from the server; with a program of your own, type `on` yourself.
if !$_isvoid ($_strlen)
  python
# Never go to the network for a program's debug information, nor ask whether to:
# either would hold up the first connection. Older gdbs do not have the setting.
try:
    gdb.execute("set debuginfod enabled off")
except gdb.error:
    pass

# Read code and constants from a program file of your own: a recording seldom has
# them, and a server without the program cannot supply them. Not from a file that
# gdb got from the server: it is gone after `disconnect`, and then gdb would see no
# code in the next connection, and set tracepoints at wrong addresses.
def trust_own_program(event=None):
    program = gdb.current_progspace().filename or "target:"
    own = "off" if program.startswith("target:") else "on"
    gdb.execute("set trust-readonly-sections " + own)

trust_own_program()
gdb.events.new_objfile.connect(trust_own_program)


# The commands: each has help, for example `help tgrep`.
import re
import signal

# How often frames are visited between two lines that say how far it is.
SAY_EVERY = 20000

# Size in bytes of what follows an opcode, by the name that gdb's disassembly has
# for it (gdb manual, "Bytecode Descriptions"); the opcodes with it.
OPCODES = {
    "add": (0x02, 0), "sub": (0x03, 0), "mul": (0x04, 0), "div_signed": (0x05, 0),
    "div_unsigned": (0x06, 0), "rem_signed": (0x07, 0), "rem_unsigned": (0x08, 0),
    "lsh": (0x09, 0), "rsh_signed": (0x0A, 0), "rsh_unsigned": (0x0B, 0),
    "log_not": (0x0E, 0), "bit_and": (0x0F, 0), "bit_or": (0x10, 0), "bit_xor": (0x11, 0),
    "bit_not": (0x12, 0), "equal": (0x13, 0), "less_signed": (0x14, 0),
    "less_unsigned": (0x15, 0), "ext": (0x16, 1), "ref8": (0x17, 0), "ref16": (0x18, 0),
    "ref32": (0x19, 0), "ref64": (0x1A, 0), "if_goto": (0x20, 2), "goto": (0x21, 2),
    "const8": (0x22, 1), "const16": (0x23, 2), "const32": (0x24, 4), "const64": (0x25, 8),
    "reg": (0x26, 2), "end": (0x27, 0), "dup": (0x28, 0), "pop": (0x29, 0),
    "zero_ext": (0x2A, 1), "swap": (0x2B, 0), "getv": (0x2C, 2), "pick": (0x32, 1),
    "rot": (0x33, 0),
}


class Whole:
    """Holds Ctrl-C back: gdb takes the answer to a question that it broke off for that to its next one."""

    def __enter__(self):
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def __exit__(self, *_):
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)


def quietly(command):
    with Whole():
        return gdb.execute(command, to_string=True)


def selected_frame():
    return int(gdb.parse_and_eval("$trace_frame")) if has_frame() else -1


def has_frame():
    value = gdb.parse_and_eval("$trace_frame")
    return value.type.code != gdb.TYPE_CODE_VOID and int(value) >= 0


def select(number):
    """Goes to a trace frame; whether there is one. A connection that is gone is an error."""
    quietly("tfind %d" % number)
    return selected_frame() == number


class Place:
    """Where the user is, to come back to."""

    def __enter__(self):
        if not gdb.selected_inferior().pid:
            raise gdb.GdbError("nothing is connected: target remote")
        self.frame = selected_frame()
        status = server("status")
        last = re.search("last in trace frame ([0-9]+)", status)
        self.last = int(last.group(1)) if last else None

    def __exit__(self, *_):
        if self.frame >= 0:
            select(self.frame)
        else:
            if self.last is not None:
                select(self.last)
            quietly("tfind none")
            if self.last is None:
                server("goto before")
                quietly("maintenance flush register-cache")


def server(command):
    """What the server answers to a monitor command; nothing, if it knows none."""
    try:
        return quietly("monitor " + command)
    except gdb.error:
        return ""


def value_of(expression):
    """The value here; None if it needs what was not collected."""
    try:
        with Whole():
            value = gdb.parse_and_eval(expression)
            code = value.type.strip_typedefs().code
            # A name that nothing is known of has the type void.
            if value.is_optimized_out or code == gdb.TYPE_CODE_VOID:
                return None
            value.fetch_lazy()
            # What is not available only shows when it is used.
            if code in SCALARS:
                int(value) if code != gdb.TYPE_CODE_FLT else float(value)
            elif "<unavailable>" in in_full(value):
                return None
            return value
    except (gdb.error, gdb.MemoryError, UnicodeDecodeError):
        return None


SCALARS = {
    gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_FLT,
}


def in_full(value):
    """A value as text, whatever the user's settings leave out."""
    return value.format_string(max_elements=0, repeat_threshold=0, max_depth=-1)


def holds(value, expression):
    """Whether a value is not zero."""
    if value.type.strip_typedefs().code not in SCALARS:
        raise gdb.GdbError("neither true nor false: %s is %s" % (expression, value.type))
    return bool(value)


def has_floating_point(expression):
    """Whether a name in it is floating point, which gdb compiles as if it were an integer."""
    for name in set(re.findall(r"[$]?[A-Za-z_][A-Za-z_0-9]*", expression)):
        try:
            if gdb.parse_and_eval(name).type.strip_typedefs().code == gdb.TYPE_CODE_FLT:
                return True
        except gdb.error:
            pass
    return False


def shown(value):
    return "<unavailable>" if value is None else value.format_string()


def bytecodes(disassembly):
    """What `maintenance agent-eval` shows, as bytes; None where it has more than is known here."""
    code = bytearray()
    for line in disassembly.splitlines():
        found = re.match(r"\s*([0-9]+)  ([a-z_0-9]+)(?: ([0-9]+))?$", line)
        if not found:
            continue
        offset, name, operand = found.groups()
        if name not in OPCODES or int(offset) != len(code):
            return None
        opcode, size = OPCODES[name]
        code.append(opcode)
        if size:
            code += int(operand).to_bytes(size, "big")
    return bytes(code) or None


class Compiled:
    """An expression as bytecodes for each program counter that the frames have, which the server runs."""

    # Characters of a monitor command; the packet has each twice.
    LONGEST = 7000

    def __init__(self, expression):
        self.by_pc = {}
        # Why it means nothing at some program counters.
        self.meaningless = None
        # A server that is still indexing says so, and answers when it is done.
        places = [line for line in server("find pcs").splitlines() if not line.startswith("still ")]
        self.is_whole = bool(places) and all(place.startswith("0x") for place in places)
        for place in places if self.is_whole else []:
            quietly("tfind none")
            quietly("tfind pc " + place)
            try:
                code = bytecodes(quietly("maintenance agent-eval " + expression))
            except gdb.error as error:
                # A name that is not known here is no reason to look at each frame.
                if re.match("No symbol .* in current context", str(error)):
                    self.meaningless = str(error)
                    continue
                code = None
            if code is None or has_floating_point(expression) or 2 * len(code) > self.LONGEST // 2:
                self.is_whole = False
                return
            self.by_pc[place] = code.hex()
        if not self.by_pc and self.meaningless:
            raise gdb.GdbError(self.meaningless)

    def batches(self):
        batch, length = [], 0
        for place, code in self.by_pc.items():
            part = "%s:%s" % (place[2:], code)
            if batch and length + len(part) > self.LONGEST:
                yield batch
                batch, length = [], 0
            batch.append(part)
            length += len(part) + 1
        if batch:
            yield batch

    def find(self, form=""):
        """The numbers of the frames where it holds, and how many could not tell."""
        found, without = [], 0
        batches = list(self.batches())
        for batch in batches:
            at = 0
            while at is not None:
                answer = quietly("monitor find code %s %s numbers from %d" % (" ".join(batch), form, at))
                if not re.search("^without [0-9]+$", answer, re.MULTILINE):
                    raise gdb.GdbError("the server gave the search up: " + answer.strip())
                at = None
                for line in answer.splitlines():
                    if line.isdigit():
                        found.append(int(line))
                    elif line.startswith("without "):
                        without += int(line.split()[1])
                    elif line.startswith("next "):
                        at = int(line.split()[1])
                    elif not line.startswith("still "):
                        raise gdb.GdbError(line)
        # Each batch counts the frames of the others' places.
        frames = frame_count()
        return sorted(found), without - frames * (len(batches) - 1)


def frame_count():
    found = re.search("^frames: ([0-9]+)", server("status"), re.MULTILINE)
    return int(found.group(1)) if found else 0


def every_frame(expressions, first=0, last=None, say=True):
    """Goes to each frame in turn; its number, and what the expressions are there. Says how far it is, on request."""
    number = first
    while (last is None or number <= last) and select(number):
        yield number, [value_of(expression) for expression in expressions]
        number += 1
        if say and number % SAY_EVERY == 0:
            gdb.write("... %d frames so far\n" % number, gdb.STDERR)
            gdb.flush(gdb.STDERR)


def matching(expression, wanted=True):
    """The frames where an expression holds, or does not, and how many did not collect what it takes."""
    compiled = Compiled(expression if wanted else "!(%s)" % expression)
    if compiled.is_whole:
        return compiled.find()
    found, without = [], 0
    for number, [value] in every_frame([expression]):
        if value is None:
            without += 1
        elif holds(value, expression) == wanted:
            found.append(number)
    return found, without


def changing(expression):
    """The frames where an expression has another value than in the one before that holds it."""
    compiled = Compiled(expression)
    if compiled.is_whole and len(list(compiled.batches())) == 1:
        return compiled.find("changes")[0]
    found, last = [], None
    for number, [value] in every_frame([expression]):
        if value is not None:
            now = in_full(value)
            if last is not None and now != last:
                found.append(number)
            last = now
    return found


def count(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def needs_expression(argument):
    if not argument.strip():
        raise gdb.GdbError("an expression is needed")
    return argument.strip()


def parts_of(expression):
    """The sides of the comparisons that an expression is made of."""
    sides = re.split(r"&&|\|\||[!=<>]=|(?<![<>-])[<>](?![<>])", expression)
    return [side.strip() for side in sides if re.search("[A-Za-z_$]", side)]


def with_values(expression):
    values = []
    for part in dict.fromkeys(parts_of(expression)):
        # A side may have half a pair of brackets.
        if part.count("(") == part.count(")"):
            values.append("%s = %s" % (part, shown(value_of(part))))
    return ", ".join(values)


class TAssert(gdb.Command):
    """Fail unless an expression holds: tassert [-all] EXPRESSION

Without -all it is tested where you are; with -all in every trace frame that
collected what it takes, and there must be one. A failure is an error, which ends
a script; it names the trace frame and the values on both sides.

    tassert counter < 100
    tassert -all head != tail || count == 0"""

    def __init__(self):
        super().__init__("tassert", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        self.dont_repeat()
        everywhere = re.match(r"-all\s+", argument)
        expression = needs_expression(argument[everywhere.end():] if everywhere else argument)
        if everywhere:
            with Place():
                self.in_every_frame(expression)
            return
        value = value_of(expression)
        if value is None:
            raise gdb.GdbError("cannot be told%s: %s (%s)" % (self.here(), expression, self.why(expression)))
        if not holds(value, expression):
            raise gdb.GdbError(self.failed(expression))

    def in_every_frame(self, expression):
        failing, without = matching(expression, False)
        if failing:
            select(failing[0])
            more = ", and in %d more: tgrep !(%s)" % (len(failing) - 1, expression)
            raise gdb.GdbError(self.failed(expression) + (more if len(failing) > 1 else ""))
        frames = frame_count()
        if without >= frames:
            raise gdb.GdbError("no trace frame collected what it takes: " + expression)
        skipped = " (%d did not collect what it takes)" % without if without else ""
        gdb.write("holds in %s%s: %s\n" % (count(frames - without, "trace frame"), skipped, expression))

    def failed(self, expression):
        return "assertion failed%s: %s (%s)" % (self.here(), expression, with_values(expression))

    def why(self, expression):
        try:
            value = gdb.parse_and_eval(expression)
            value.fetch_lazy()
        except gdb.error as error:
            return str(error)
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_VOID:
            return "it has no value here"
        return with_values(expression)

    def here(self):
        return " in trace frame %d" % selected_frame() if has_frame() else ""


class TGrep(gdb.Command):
    """Show the trace frames where an expression holds: tgrep EXPRESSION

    tgrep counter > 100 && $rax == 3

You stay where you are; go to one of them with tfind."""

    def __init__(self):
        super().__init__("tgrep", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        self.dont_repeat()
        with Place():
            found, without = matching(needs_expression(argument))
        for at in range(0, len(found), 10):
            gdb.write("".join("%8d" % number for number in found[at:at + 10]) + "\n")
        skipped = "; %d did not collect what it takes" % without if without else ""
        gdb.write("%s%s\n" % (count(len(found), "trace frame"), skipped))


class TWatch(gdb.Command):
    """Show the trace frames where the value of an expression changes: twatch EXPRESSION

    twatch counter

A trace frame that did not collect it changes nothing."""

    def __init__(self):
        super().__init__("twatch", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        self.dont_repeat()
        expression = needs_expression(argument)
        with Place():
            found = changing(expression)
            for number in found:
                select(number)
                gdb.write("%8d  %s\n" % (number, shown(value_of(expression))))
        gdb.write("%s\n" % count(len(found), "change"))


class TTable(gdb.Command):
    """Show expressions in every trace frame, as a table: ttable [-csv] [-frames M..N] EXPRESSION...

Expressions are separated by blanks; one with blanks of its own is put in quotes.

    ttable counter $rip 'queue.head - queue.tail'
    ttable -csv -frames 100..199 counter"""

    def __init__(self):
        super().__init__("ttable", gdb.COMMAND_TRACEPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        self.dont_repeat()
        words = gdb.string_to_argv(argument)
        first, last, csv = 0, None, False
        while words and words[0].startswith("-"):
            option = words.pop(0)
            numbers = re.match(r"([0-9]*)\.\.([0-9]*)$", words[0]) if words else None
            if option == "-csv":
                csv = True
            elif option == "-frames" and numbers:
                words.pop(0)
                first = int(numbers.group(1) or 0)
                last = int(numbers.group(2)) if numbers.group(2) else None
            else:
                raise gdb.GdbError("usage: ttable [-csv] [-frames M..N] EXPRESSION...")
        if not words:
            raise gdb.GdbError("an expression is needed")
        with Place():
            self.line(csv, "frame", words)
            for number, values in every_frame(words, first, last, False):
                self.line(csv, number, [shown(value) for value in values])

    def line(self, csv, number, cells):
        if csv:
            quoted = ['"%s"' % cell.replace('"', '""') if re.search('[",\n]', cell) else cell for cell in cells]
            gdb.write("%s,%s\n" % (number, ",".join(quoted)))
        else:
            gdb.write("%8s  %s\n" % (number, "  ".join("%-20s" % cell for cell in cells).rstrip()))


class Maker:
    """Before your prompt, where frames tell it: the task and CPU that made the frame you are in or were in last.

    To be without it: python gdb.prompt_hook = None
    """

    def __init__(self):
        self.put = ""
        # What answered otherwise: another server, or nothing that frames are asked of.
        self.other = None
        # The server that answered last.
        self.met = None

    def __call__(self, prompt):
        plain = prompt[len(self.put):] if self.put and prompt.startswith(self.put) else prompt
        self.put = self.of_frame()
        return self.put + plain

    def of_frame(self):
        thread = gdb.selected_thread()
        if thread is None or not thread.is_valid() or thread.is_running():
            return ""
        # Where gdb knows no connections, it asks whoever is there.
        connection = getattr(thread.inferior, "connection", self)
        if connection is None or connection is self.other:
            return ""
        place = server("place")
        if not re.match("(in|outside, last in|in no) trace frame", place):
            self.other = connection if connection is not self else None
            return ""
        if connection is not self.met:
            self.met = connection
            meet(server("status"))
        maker = re.search("trace frame [0-9]+ of (.*)", place)
        return "[%s] " % maker.group(1) if maker else ""


def meet(status):
    """What goes with a server, as it says what it serves."""
    # What `finish` shows as a value is none: an instruction trace has no registers. Older gdbs do not have the setting.
    if ": instruction trace" in status.partition("\n")[0]:
        try:
            quietly("set print finish off")
        except gdb.error:
            pass


if gdb.prompt_hook is None:
    gdb.prompt_hook = Maker()

TAssert(), TGrep(), TWatch(), TTable()
  end
else
  define tassert
    echo tassert, tgrep, twatch and ttable need a gdb with Python.\n
    this_gdb_has_no_python
  end
  document tassert
Fail unless an expression holds; needs a gdb with Python.
  end
  define tgrep
    tassert
  end
  document tgrep
Show the trace frames where an expression holds; needs a gdb with Python.
  end
  define twatch
    tassert
  end
  document twatch
Show the trace frames where a value changes; needs a gdb with Python.
  end
  define ttable
    tassert
  end
  document ttable
Show expressions in every trace frame; needs a gdb with Python.
  end
end
