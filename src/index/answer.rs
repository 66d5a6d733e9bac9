//! What an index says, which may still be growing.

use crate::trace::Location;

/// The answer of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// This, and what is still to be indexed cannot change it.
    Found(T),
    /// There is none, whatever is still to be indexed.
    Nothing,
    /// What is indexed so far does not tell; ask again after a change
    /// ([`Index::poll_change`](super::Index::poll_change)).
    NotYet,
}

impl<T> Answer<T> {
    /// What was found, if it was.
    pub fn found(self) -> Option<T> {
        match self {
            Answer::Found(found) => Some(found),
            Answer::Nothing | Answer::NotYet => None,
        }
    }

    /// The answer with what was found turned into something else.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Answer::Found(found) => Answer::Found(turn(found)),
            Answer::Nothing => Answer::Nothing,
            Answer::NotYet => Answer::NotYet,
        }
    }

    /// `found`, or what it means that nothing was.
    pub(super) fn new(found: Option<T>, complete: bool) -> Answer<T> {
        match found {
            Some(found) => Answer::Found(found),
            None if complete => Answer::Nothing,
            None => Answer::NotYet,
        }
    }
}

/// How far the walk over a recording has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many frames can be found; once complete, how many there are.
    pub frames: u64,
    /// Whether that is all.
    pub complete: bool,
    /// The location of the last frame that can be found.
    pub at: Location,
    /// A location that no frame reaches.
    pub end: Location,
}

impl Progress {
    /// How much of the recording is indexed, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        if self.complete {
            1.0
        } else if self.end.0 == 0 {
            0.0
        } else {
            (self.at.0 as f64 / self.end.0 as f64).min(1.0)
        }
    }
}
