//! The names of processes.

use std::collections::HashMap;

/// Which process had which name, and when.
///
/// A recording has a table of names as they were at its end, in which many are missing, because the kernel keeps few.
/// Events tell names too: `sched_switch`, `sched_wakeup`, forks, new programs, renamings.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// Each name once.
    pub(super) names: Vec<String>,
    /// The names of the recording's table, by the id of the process.
    pub(super) table: HashMap<i32, u32>,
    /// What events told, by the id of the process.
    pub(super) told: HashMap<i32, Told>,
}

/// The names of a process that events told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// In the order of time; no two neighbours have one name.
    pub(super) changes: Vec<Change>,
    /// The time of the last event that told a name.
    pub(super) until: u64,
}

/// A name that a process has from a time on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) at: u64,
    pub(super) name: u32,
    /// Whether it had another name before.
    pub(super) begins: bool,
}

impl Tasks {
    /// The name of process 0, which stands for all idle CPUs.
    pub const IDLE: &str = "<idle>";

    /// What is shown for a process whose name nothing tells.
    pub const UNKNOWN: &str = "<...>";

    /// The last name of a process that is known: that of the recording's table, or else of the last event that told
    /// one. `None` if nothing tells it.
    pub fn last_name(&self, pid: i32) -> Option<&str> {
        let told = || self.told.get(&pid)?.changes.last().map(|change| change.name);
        self.of(pid, self.table.get(&pid).copied().or_else(told))
    }

    /// The name of a process at a time, of the same kind of times as were collected: that of the last event until then
    /// that told one, or else of the first behind it, unless the process got the name only there. Behind all events
    /// that told its name, and if there are none, that of the recording's table.
    pub fn name_at(&self, pid: i32, time: u64) -> Option<&str> {
        let name = match self.told.get(&pid) {
            Some(told) if time <= told.until => {
                let behind = told.changes.partition_point(|change| change.at <= time);
                let before = behind.checked_sub(1).and_then(|last| told.changes.get(last));
                before.or(told.changes.first().filter(|first| !first.begins)).map(|change| change.name)
            }
            _ => return self.last_name(pid),
        };
        self.of(pid, name)
    }

    fn of(&self, pid: i32, name: Option<u32>) -> Option<&str> {
        if pid == 0 {
            return Some(Tasks::IDLE);
        }
        self.names.get(usize::try_from(name?).ok()?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Formats, LongSize, TaskCollector};
    use crate::source::ByteOrder;
    use crate::trace::DamageList;

    /// A renaming: `pid` at 8, `oldcomm` at 12, `newcomm` at 16; a wakeup: `comm` at 8, `pid` at 12; a new program: the
    /// place of `filename` at 8, `pid` at 12.
    fn collector() -> (Formats, TaskCollector) {
        let mut formats = Formats::new(ByteOrder::Big, LongSize::Four);
        for (system, text) in [
            (
                "task",
                "name: task_rename\nID: 1\n\tfield:pid_t pid; offset:8; size:4; signed:1;\n\
                field:char oldcomm[4]; offset:12; size:4; signed:0;\n\
                field:char newcomm[4]; offset:16; size:4; signed:0;",
            ),
            (
                "sched",
                "name: sched_wakeup\nID: 2\nfield:char comm[4]; offset:8; size:4; signed:0;\n\
                field:pid_t pid; offset:12; size:4; signed:1;",
            ),
            (
                "sched",
                "name: sched_process_exec\nID: 300\nfield:__data_loc char[] filename; offset:8; size:4; signed:0;\n\
                field:pid_t pid; offset:12; size:4; signed:1;",
            ),
        ] {
            formats.add(system, text.as_bytes(), 0, &mut DamageList::default());
        }
        let collector = TaskCollector::new(&formats);
        (formats, collector)
    }

    fn see(tasks: &mut (Formats, TaskCollector), id: u16, time: u64, own: &[&[u8]]) {
        let record = [&id.to_be_bytes()[..], &[0; 6], &own.concat()].concat();
        let (formats, tasks) = tasks;
        assert!(tasks.tells(id));
        tasks.see(formats.of(&record).unwrap(), &record, time);
    }

    #[test]
    fn names_change_with_time_in_whatever_order_they_are_told() {
        let mut tasks = collector();
        let pid = 7u32.to_be_bytes();
        see(&mut tasks, 2, 50, &[b"new\0", &pid]);
        see(&mut tasks, 2, 60, &[b"new\0", &pid]);
        see(&mut tasks, 1, 40, &[&pid, b"mid\0", b"new\0"]);
        see(&mut tasks, 2, 10, &[b"old\0", &pid]);
        see(&mut tasks, 2, 20, &[b"mid\0", &pid]);
        see(&mut tasks, 2, 15, &[b"old\0", &pid]);
        let mut with_table = tasks.1.clone();
        with_table.add(7, "end");
        let tasks = tasks.1.finish();
        let at = |time| tasks.name_at(7, time).unwrap();
        assert_eq!([1, 10, 19, 20, 39, 40, 99].map(at), ["old", "old", "old", "mid", "mid", "new", "new"]);
        assert_eq!(tasks.last_name(7), Some("new"));
        assert_eq!((tasks.name_at(8, 20), tasks.last_name(8)), (None, None));
        assert_eq!((tasks.name_at(0, 20), tasks.last_name(0)), (Some("<idle>"), Some("<idle>")));
        // The table is of the end: it counts behind all that events tell.
        let tasks = with_table.finish();
        let at = |time| tasks.name_at(7, time).unwrap();
        assert_eq!([1, 20, 60, 61].map(at), ["old", "mid", "new", "end"]);
        assert_eq!(tasks.last_name(7), Some("end"));
    }

    #[test]
    fn a_new_program_gives_the_name_of_its_file_from_then_on() {
        let mut tasks = collector();
        let path = b"/usr/bin/a-very-long-name\0";
        let place = ((path.len() as u32) << 16 | 16).to_be_bytes();
        see(&mut tasks, 300, 10, &[&place, &7u32.to_be_bytes(), path]);
        // A path that is not in the record, a process 0, a record that is cut.
        see(&mut tasks, 300, 20, &[&[0, 9, 0xff, 0xff], &8u32.to_be_bytes()]);
        see(&mut tasks, 2, 20, &[b"zero", &[0; 4]]);
        see(&mut tasks, 2, 20, &[b"ab"]);
        let tasks = tasks.1.finish();
        assert_eq!(
            [9, 10, 11].map(|time| tasks.name_at(7, time)),
            [None, Some("a-very-long-nam"), Some("a-very-long-nam")]
        );
        assert_eq!((tasks.last_name(8), tasks.last_name(0)), (None, Some("<idle>")));
    }

    #[test]
    fn the_kernel_s_mark_for_a_name_it_lost_is_no_name() {
        let mut tasks = collector();
        see(&mut tasks, 2, 20, &[b"ab\0\0", &7u32.to_be_bytes()]);
        tasks.1.add(7, "<...>");
        assert_eq!(tasks.1.finish().last_name(7), Some("ab"));
    }
}
