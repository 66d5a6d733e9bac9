//! What of a recording could not be read.

use std::fmt;

/// One thing in a file that could not be read, and where it lies.
///
/// Damage is data: a reader goes on behind it, and whoever opened the file decides what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset in the file, in bytes.
    pub at: u64,
    /// The frame it belongs to, counted from 0; `None` for what lies outside the frames.
    pub frame: Option<u64>,
    /// What was found, what was expected, and what is lost by it. Lower case, no full stop.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = self.frame {
            write!(f, "frame {frame} ")?;
        }
        write!(f, "at byte {:#x}: {}", self.at, self.what)
    }
}

/// A list of damage that cannot grow without bound: the first [`DamageList::KEPT`] are kept, all are counted.
#[derive(Clone, Debug, Default)]
pub struct DamageList {
    kept: Vec<Damage>,
    total: u64,
}

impl DamageList {
    /// How many entries are kept word for word.
    pub const KEPT: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, damage: Damage) {
        self.total += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(damage);
        }
    }

    /// The entries kept, in the order they were found.
    pub fn kept(&self) -> &[Damage] {
        &self.kept
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether nothing is damaged.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}
