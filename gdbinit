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
  end
end
