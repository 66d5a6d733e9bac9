# Settings for looking at a recording, used as: gdb -x gdbinit
#
# Only what replay needs; your own ~/.gdbinit still counts, and so do your
# pagination and confirmations (gdb -batch turns both off for scripts).

# Say at once that nobody listens at a port, instead of trying for 15 seconds.
set tcp auto-retry off

# Wait 5 seconds for an answer, not 2: a search through a large recording may
# take longer, and gdb takes a late answer for the answer to its next question.
set remotetimeout 5

# Read code and constants from the program file. A recording seldom has them,
# and gdb would ask the server for them byte by byte.
set trust-readonly-sections on

# The rest is for a gdb with Python, which $_strlen tells: it is written in it.
if !$_isvoid ($_strlen)
  python
# Never go to the network for a program's debug information, nor ask whether to:
# either would hold up the first connection. Older gdbs do not have the setting.
try:
    gdb.execute("set debuginfod enabled off")
except gdb.error:
    pass
  end
end
