//! How often each program counter was met.

use std::collections::BTreeMap;

use super::kind::Kind;

/// How many frames there are at each program counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PcCounts {
    /// Each program counter once, in ascending order, and how many frames have it.
    counts: Vec<(u64, u64)>,
    /// How many frames have none that is known.
    unknown: u64,
}

impl PcCounts {
    /// How many frames there are at a program counter.
    pub fn at(&self, pc: u64) -> u64 {
        let found = self.counts.binary_search_by_key(&pc, |(pc, _)| *pc).ok();
        found.and_then(|at| self.counts.get(at)).map_or(0, |(_, count)| *count)
    }

    /// Each program counter once, in ascending order, and how many frames have it.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().copied()
    }

    /// How many frames have no program counter that is known.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// How many frames have one that is known.
    pub fn known(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Adds runs of frames, by their kinds in ascending order, and how many runs there are of each.
    pub(super) fn add(&mut self, kinds: impl Iterator<Item = (Kind, u64)>) {
        let mut counts = Vec::new();
        // Kinds overlap, but what lies below the start of one is in none of those behind it.
        let mut open: BTreeMap<u64, u64> = BTreeMap::new();
        for (kind, count) in kinds {
            if kind == Kind::UNKNOWN {
                self.unknown += count;
            }
            while let Some(done) = open.first_entry().filter(|found| *found.key() < kind.start) {
                counts.push(done.remove_entry());
            }
            for pc in kind.addresses() {
                *open.entry(pc).or_default() += count;
            }
        }
        counts.extend(open);
        self.counts = merged(std::mem::take(&mut self.counts), counts);
    }
}

/// The sums of two lists, each in ascending order.
fn merged(one: Vec<(u64, u64)>, other: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    if one.is_empty() {
        return other;
    }
    let mut sums: Vec<(u64, u64)> = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    loop {
        let next = match (one.peek(), other.peek()) {
            (Some((left, _)), Some((right, _))) if left <= right => one.next(),
            (Some(_), None) => one.next(),
            (_, Some(_)) => other.next(),
            (None, None) => return sums,
        };
        let Some((pc, count)) = next else { return sums };
        match sums.last_mut() {
            Some((last, sum)) if *last == pc => *sum += count,
            _ => sums.push((pc, count)),
        }
    }
}
