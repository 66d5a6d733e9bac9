//! `tfind` in all its forms (gdb manual, "Tracepoint Packets", `QTFrame`).

use super::{Cursor, Replay};
use crate::index::{Answer, Query};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// The frame of this number.
    Number(u64),
    /// The next frame, after the selected one, that the query matches. Without a selected frame, the first.
    Next(Query),
}

/// A frame that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Its number, from 0.
    pub frame: u64,
    /// The number of its tracepoint, as the recording machine counted.
    pub tracepoint: i32,
}

pub(super) fn find(replay: &Replay, cursor: &Cursor, find: Find) -> Answer<Selected> {
    let index = replay.index();
    let found = match find {
        Find::Number(number) => index.locate(number).map(|_| number),
        Find::Next(query) => index.find(cursor.selected().map_or(0, |frame| frame.saturating_add(1)), &query),
    };
    match found {
        Answer::Found(frame) => index.tracepoint(frame).map(|tracepoint| Selected { frame, tracepoint }),
        Answer::Nothing => Answer::Nothing,
        Answer::NotYet => Answer::NotYet,
    }
}
