//! The places where a client wants to stop.

use std::collections::BTreeSet;

/// The breakpoints of one client.
///
/// gdb inserts them whenever it resumes and removes them at each stop, its own internal ones included.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    addresses: BTreeSet<u64>,
}

impl Breakpoints {
    /// How many a client may have at a time.
    pub const LIMIT: usize = 65_536;

    /// Adds one; `false` if there are too many.
    pub fn insert(&mut self, address: u64) -> bool {
        if self.addresses.len() >= Self::LIMIT && !self.addresses.contains(&address) {
            return false;
        }
        self.addresses.insert(address);
        true
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.addresses.iter().copied()
    }

    /// Removes one; removing what is not there is no error, as gdb may do it after a failed insertion.
    pub fn remove(&mut self, address: u64) {
        self.addresses.remove(&address);
    }
}
