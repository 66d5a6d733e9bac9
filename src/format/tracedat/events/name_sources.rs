//! Events that tell the name of a process.

use super::format_text::EventFormat;

/// Two fields of an event: the id of a process, and the name it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameSource {
    /// The place of the id's field among the event's.
    pub(super) pid: usize,
    /// The place of the name's field among the event's.
    pub(super) name: usize,
    /// How it is meant.
    pub(super) meaning: Meaning,
}

/// What a name in an event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The process has it.
    Has,
    /// The process has it from this event on, and had another or was not there before.
    Gets,
    /// It is the path of the file that the process runs from this event on. The kernel makes what is behind the last
    /// slash, cut to 15 bytes, the name (`begin_new_exec` in the kernel's `fs/exec.c`).
    Runs,
}

use Meaning::{Gets, Has, Runs};

type Told = (&'static str, &'static str, &'static str, &'static str, Meaning);

/// System, event, field of the id, field of the name, how it is meant. `sched_process_wait` and others name one process
/// and number another; they are not here.
const TOLD: &[Told] = &[
    ("sched", "sched_switch", "prev_pid", "prev_comm", Has),
    ("sched", "sched_switch", "next_pid", "next_comm", Has),
    ("sched", "sched_waking", "pid", "comm", Has),
    ("sched", "sched_wakeup", "pid", "comm", Has),
    ("sched", "sched_wakeup_new", "pid", "comm", Has),
    ("sched", "sched_migrate_task", "pid", "comm", Has),
    ("sched", "sched_stat_runtime", "pid", "comm", Has),
    ("sched", "sched_stat_wait", "pid", "comm", Has),
    ("sched", "sched_stat_sleep", "pid", "comm", Has),
    ("sched", "sched_stat_iowait", "pid", "comm", Has),
    ("sched", "sched_stat_blocked", "pid", "comm", Has),
    ("sched", "sched_pi_setprio", "pid", "comm", Has),
    ("sched", "sched_process_fork", "parent_pid", "parent_comm", Has),
    ("sched", "sched_process_fork", "child_pid", "child_comm", Gets),
    ("sched", "sched_process_exec", "pid", "filename", Runs),
    ("sched", "sched_process_exit", "pid", "comm", Has),
    ("sched", "sched_process_free", "pid", "comm", Has),
    ("task", "task_newtask", "pid", "comm", Gets),
    ("task", "task_rename", "pid", "oldcomm", Has),
    ("task", "task_rename", "pid", "newcomm", Gets),
];

/// What an event of this format tells, in the order in which it is true.
pub(super) fn of(format: &EventFormat) -> Vec<NameSource> {
    let place = |name: &str| format.fields.iter().position(|field| field.name == name);
    let told = TOLD.iter().filter(|(system, event, ..)| (*system, *event) == (&format.system, &format.name));
    told.filter_map(|(_, _, pid, name, meaning)| {
        Some(NameSource { pid: place(pid)?, name: place(name)?, meaning: *meaning })
    })
    .collect()
}
