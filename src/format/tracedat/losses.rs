//! Before which frames events were lost, by the number of the frame: filled by the first walk, read by everybody.
//!
//! The recording says it of pages. Behind a page without a frame, or that cannot be read, it is true of the next frame
//! of the same CPU, which may lie in another page; so a page alone does not tell it.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::events::LostEvents;

/// The table.
#[derive(Default)]
pub(super) struct Losses(RwLock<BTreeMap<u64, LostEvents>>);

impl Losses {
    /// Says what was lost before a frame.
    pub fn set(&self, number: u64, lost: LostEvents) {
        if lost != LostEvents::None {
            self.0.write().unwrap_or_else(PoisonError::into_inner).insert(number, lost);
        }
    }

    /// What was lost before a frame.
    pub fn get(&self, number: u64) -> LostEvents {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&number).copied().unwrap_or_default()
    }

    /// What was lost before the last frame before which anything was.
    pub fn last(&self) -> LostEvents {
        let losses = self.0.read().unwrap_or_else(PoisonError::into_inner);
        losses.last_key_value().map(|(_, lost)| *lost).unwrap_or_default()
    }
}

/// What `$lost_before` is where this was lost.
pub(super) fn value(lost: LostEvents) -> Option<i64> {
    match lost {
        LostEvents::None => None,
        LostEvents::Counted(count) => Some(count.cast_signed()),
        LostEvents::Unknown => Some(-1),
    }
}
