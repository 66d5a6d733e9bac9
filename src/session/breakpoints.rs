//! The places where a client wants to stop.

use std::collections::BTreeMap;

use super::{AgentExpression, Moment};

/// The breakpoints of one client: addresses, each with conditions, any of which makes it stop there. Without one it
/// always does.
///
/// gdb inserts them whenever it resumes and removes them at each stop, its own internal ones included.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    by_address: BTreeMap<u64, Vec<AgentExpression>>,
    /// How many conditions there are.
    conditions: usize,
}

impl Breakpoints {
    /// How many a client may have at a time.
    pub const LIMIT: usize = 65_536;

    /// How many conditions all of them together may have.
    pub const CONDITIONS_LIMIT: usize = 1024;

    /// Adds one, in place of one at the same address; `false` if there are too many.
    pub fn insert(&mut self, address: u64, conditions: Vec<AgentExpression>) -> bool {
        let before = self.by_address.get(&address).map(Vec::len);
        let conditions_then = self.conditions - before.unwrap_or(0) + conditions.len();
        let is_full = before.is_none() && self.by_address.len() >= Self::LIMIT;
        if is_full || conditions_then > Self::CONDITIONS_LIMIT.max(self.conditions) {
            return false;
        }
        self.conditions = conditions_then;
        self.by_address.insert(address, conditions);
        true
    }

    /// Removes one; removing what is not there is no error, as gdb may do it after a failed insertion.
    pub fn remove(&mut self, address: u64) {
        self.conditions -= self.by_address.remove(&address).map_or(0, |conditions| conditions.len());
    }

    /// Whether any has a condition.
    pub(super) fn has_conditions(&self) -> bool {
        self.conditions > 0
    }

    /// Those with conditions, or those that always stop.
    pub(super) fn addresses(&self, with_conditions: bool) -> impl Iterator<Item = u64> {
        let wanted = self.by_address.iter().filter(move |(_, conditions)| conditions.is_empty() != with_conditions);
        wanted.map(|(address, _)| *address)
    }

    /// Whether the breakpoint at an address stops at a moment: where a condition cannot be tested there, gdb is to say
    /// why.
    pub(super) fn stops_at(&self, address: u64, moment: &Moment<'_>) -> bool {
        let conditions = self.by_address.get(&address).map_or(&[][..], Vec::as_slice);
        conditions.is_empty() || conditions.iter().any(|condition| condition.evaluate(moment) != Ok(0))
    }
}
