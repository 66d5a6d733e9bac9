# How queue.tf was recorded: a script for gdb, which scripts/rebuild-demo runs
# with gdb and gdbserver 13.1 (Debian 12, x86-64) in a directory that holds
# queue and queue.c. The environment is emptied because the program's stack is
# recorded and an environment lies on it.

set pagination off
set confirm off
file queue
set sysroot
target remote | exec env -i gdbserver --once --no-startup-with-shell - ./queue

set trace-user demo
set trace-notes queue.c: 11 jobs submitted, 11 run, and yet one job never ran

# The most jobs ever waiting in the ring of four, and the jobs run so far.
tvariable $most_waiting
tvariable $runs

# The tracepoints stand in the order of their addresses: gdbserver hands them
# back in that order, and so a reader of the file counts them as they are here.

# 1: the ring is full, and a job is put into it all the same.
trace queue.c:32 if queue.put - queue.taken >= 4
actions
  collect $regs, $args, queue
  collect *(unsigned char *) $rsp@512
end

# 2: a job has been submitted, or turned away.
trace queue.c:36
actions
  teval $most_waiting = queue.put - queue.taken > $most_waiting ? queue.put - queue.taken : $most_waiting
  collect $regs, $args, $locals, queue, submitted, rejected, $most_waiting
  collect *(unsigned char *) $rsp@512
end

# 3: a job has come to its last unit of work.
trace queue.c:42
actions
  teval $runs = $runs + 1
  collect $regs, $args, *job, queue.taken, queue.put, finished, $runs
  collect *(unsigned char *) $rsp@512
end

# 4: the program begins.
trace main
actions
  collect $regs, $locals
  collect *(unsigned char *) $rsp@512
end

# 5: the last job of all: follow it into is_full(), one instruction a frame.
# (A condition would not do here: gdbserver goes stepping whether it holds or not.)
trace queue.c:71
actions
  collect $regs, $locals, queue
  collect *(unsigned char *) $rsp@512
  while-stepping 26
    collect $regs, queue
    collect *(unsigned char *) $rsp@192
  end
end

# The buffer is gone once the process is, so stop just before it exits.
break stop
tstart
continue
tstop the program is about to exit
tsave queue.tf
kill
