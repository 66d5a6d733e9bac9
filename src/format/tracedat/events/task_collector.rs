//! Collects the names of processes while the records of a recording are walked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::format_text::EventFormat;
use super::formats::Formats;
use super::name_sources::{self, Meaning, NameSource};
use super::tasks::{Change, Tasks, Told};
use crate::source::ByteOrder;

/// Takes names from the recording's table and from its events, and becomes [`Tasks`].
#[derive(Clone, Debug)]
pub struct TaskCollector {
    order: ByteOrder,
    /// What events tell, by their number.
    sources: Vec<Vec<NameSource>>,
    /// Each name once.
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    table: HashMap<i32, u32>,
    seen: HashMap<i32, Vec<Seen>>,
    /// How many there are in `seen`.
    count: usize,
}

/// A name that a process had from one time to another.
#[derive(Clone, Copy, Debug)]
struct Seen {
    name: u32,
    first: u64,
    last: u64,
    /// Whether the name before `first` was another.
    begins: bool,
}

impl TaskCollector {
    /// How many changes of names are kept at most; those that come later are left out.
    pub const KEPT: usize = 1 << 20;

    /// How many bytes of a name are kept at most. The kernel's names have 15 (`TASK_COMM_LEN`).
    const NAME: usize = 64;

    /// No names yet, of a recording with these formats.
    pub fn new(formats: &Formats) -> TaskCollector {
        let mut sources = Vec::new();
        for format in formats.all() {
            let told = name_sources::of(format);
            let place = usize::from(format.id);
            if !told.is_empty() {
                sources.resize(sources.len().max(place + 1), Vec::new());
                sources[place] = told;
            }
        }
        let (names, numbers) = (Vec::new(), HashMap::new());
        let (table, seen) = (HashMap::new(), HashMap::new());
        TaskCollector { order: formats.order(), sources, names, numbers, table, seen, count: 0 }
    }

    /// Adds a name from the recording's table; the first of a process counts.
    pub fn add(&mut self, pid: i32, name: &str) {
        if name != Tasks::UNKNOWN {
            let name = self.number(name);
            self.table.entry(pid).or_insert(name);
        }
    }

    /// Whether events of this number tell names.
    #[inline]
    pub fn tells(&self, id: u16) -> bool {
        self.sources.get(usize::from(id)).is_some_and(|sources| !sources.is_empty())
    }

    /// Takes the names that a record tells. Records can come in any order of time.
    pub fn see(&mut self, format: &EventFormat, record: &[u8], time: u64) {
        for at in 0.. {
            let Some(source) = self.sources.get(usize::from(format.id)).and_then(|sources| sources.get(at)) else {
                return;
            };
            let NameSource { pid, name, meaning } = *source;
            let (Some(pid), Some(name)) = (format.fields.get(pid), format.fields.get(name)) else { continue };
            let Some(pid) = pid.integer(record, self.order) else { continue };
            let Some(mut name) = name.text(record, self.order) else { continue };
            if meaning == Meaning::Runs {
                name = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
                name = name.get(..15).unwrap_or(name);
            }
            let name = name.get(..TaskCollector::NAME).unwrap_or(name);
            let pid = pid.bits() as i32;
            if pid != 0 && !name.is_empty() {
                self.see_name(pid, name, time, meaning != Meaning::Has);
            }
        }
    }

    fn see_name(&mut self, pid: i32, name: &[u8], time: u64, begins: bool) {
        if let Some(last) = self.seen.get_mut(&pid).and_then(|seen| seen.last_mut()) {
            let is = |known: &String| known.as_bytes() == name || String::from_utf8_lossy(name) == *known;
            let same = self.names.get(last.name as usize).is_some_and(is);
            if same && !begins && time >= last.last {
                last.last = time;
                return;
            }
        }
        if self.count < TaskCollector::KEPT {
            self.count += 1;
            let name = self.number(&String::from_utf8_lossy(name));
            self.seen.entry(pid).or_default().push(Seen { name, first: time, last: time, begins });
        }
    }

    /// Takes what another collector of the same recording was told, as if it came behind what this one was told.
    pub fn absorb(&mut self, other: TaskCollector) {
        if self.count >= TaskCollector::KEPT {
            return;
        }
        let numbers: Vec<u32> = other.names.iter().map(|name| self.number(name)).collect();
        for (pid, seen) in other.seen {
            let known = self.seen.entry(pid).or_default();
            for next in seen {
                let Some(name) = numbers.get(next.name as usize).copied() else { continue };
                match known.last_mut() {
                    Some(last) if last.name == name && !next.begins && next.first >= last.last => last.last = next.last,
                    _ if self.count < TaskCollector::KEPT => {
                        self.count += 1;
                        known.push(Seen { name, ..next });
                    }
                    _ => {}
                }
            }
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        match self.numbers.entry(name.to_owned()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.names.push(name.to_owned());
                *new.insert(self.names.len() as u32 - 1)
            }
        }
    }

    /// What was collected.
    pub fn finish(self) -> Tasks {
        let told = self.seen.into_iter().map(|(pid, seen)| {
            let until = seen.iter().map(|seen| seen.last).max().unwrap_or(0);
            let ends = |seen: Seen| {
                let first = Change { at: seen.first, name: seen.name, begins: seen.begins };
                [first, Change { at: seen.last, begins: false, ..first }]
            };
            let mut changes: Vec<Change> = seen.into_iter().flat_map(ends).collect();
            changes.sort_by_key(|change| change.at);
            changes.dedup_by_key(|change| change.name);
            (pid, Told { changes, until })
        });
        Tasks { names: self.names, table: self.table, told: told.collect() }
    }
}
