//! Tasks as threads.

use std::collections::HashSet;

use super::events::Tasks;
use crate::trace::Thread;

/// The kernel's largest number of a task (`PID_MAX_LIMIT`), behind which there is room for each CPU's idle task: these
/// all have number 0, which no thread of gdb's can have.
const LAST: u32 = 4 << 20;

/// More tasks than these are one thread: gdb asks for each at each stop.
const MOST: usize = 500;

/// The number of a CPU's idle task.
pub(super) fn idle(cpu: u32) -> u32 {
    (LAST + 1).saturating_add(cpu)
}

/// The threads for these tasks, by ascending number; none where there are too many.
pub(super) fn threads(seen: &HashSet<i32>, cpus: &[u32], tasks: &Tasks) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for pid in seen.iter().filter(|pid| **pid > 0) {
        threads.push(Thread { id: *pid as u32, name: tasks.last_name(*pid).unwrap_or(Tasks::UNKNOWN).to_owned() });
    }
    if seen.iter().any(|pid| *pid <= 0) {
        threads.extend(cpus.iter().map(|cpu| Thread { id: idle(*cpu), name: format!("{} of CPU {cpu}", Tasks::IDLE) }));
    }
    threads.sort_by_key(|thread| thread.id);
    threads.dedup_by_key(|thread| thread.id);
    if threads.len() > MOST { Vec::new() } else { threads }
}
