//! The memory that a client watches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::Replay;
use super::changes::Changes;

/// What of a piece of memory is watched. A recording does not tell reads from writes: each of these stops where the
/// recorded value differs, and only gdb's own words for it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// gdb's `watch`.
    Write,
    /// gdb's `rwatch`.
    Read,
    /// gdb's `awatch`.
    Any,
}

/// A piece of memory that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watchpoint {
    /// Address of its first byte.
    pub address: u64,
    /// How many bytes it has.
    pub length: usize,
    /// How gdb calls it.
    pub access: Access,
}

/// The watchpoints of one client.
#[derive(Clone, Debug, Default)]
pub struct Watchpoints {
    set: BTreeMap<Watchpoint, Arc<Mutex<Changes>>>,
}

impl Watchpoints {
    /// How many a client may have at a time.
    pub const LIMIT: usize = 64;

    /// How many bytes one may have.
    pub const LENGTH_LIMIT: usize = 1 << 16;

    /// Adds one; `false` if there are too many, or if it is none: empty, too long, or beyond the address space.
    pub fn insert(&mut self, watchpoint: Watchpoint, replay: &Replay) -> bool {
        let Watchpoint { address, length, .. } = watchpoint;
        let is_one = (1..=Self::LENGTH_LIMIT).contains(&length) && address.checked_add(length as u64 - 1).is_some();
        let has_room = self.set.len() < Self::LIMIT || self.set.contains_key(&watchpoint);
        if is_one && has_room {
            self.set.insert(watchpoint, replay.memory_changes(address, length));
        }
        is_one && has_room
    }

    /// Removes one; removing what is not there is no error.
    pub fn remove(&mut self, watchpoint: &Watchpoint) {
        self.set.remove(watchpoint);
    }

    /// All of them, and where their memory changes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Watchpoint, &Mutex<Changes>)> {
        self.set.iter().map(|(watchpoint, changes)| (watchpoint, &**changes))
    }
}
