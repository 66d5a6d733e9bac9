//! Bookmarks: names for frames, shared by all clients, as long as the server lasts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bookmarks.
#[derive(Debug, Default)]
pub struct Marks {
    by_name: Mutex<BTreeMap<String, u64>>,
}

impl Marks {
    /// How many there may be.
    pub const LIMIT: usize = 1000;

    /// How many bytes a name may have.
    pub const NAME_LIMIT: usize = 100;

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names a frame, in place of another of that name; `false` if there are too many, or the name is too long.
    pub fn set(&self, name: &str, frame: u64) -> bool {
        let mut marks = self.lock();
        let fits = name.len() <= Self::NAME_LIMIT && (marks.len() < Self::LIMIT || marks.contains_key(name));
        if fits {
            marks.insert(name.to_owned(), frame);
        }
        fits
    }

    /// The frame of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.lock().get(name).copied()
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<(String, u64)> {
        self.lock().iter().map(|(name, frame)| (name.clone(), *frame)).collect()
    }
}
