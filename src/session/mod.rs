//! One client's view of a recording.
//!
//! Owns: the cursor, `tfind`, run control with its breakpoints and watchpoints, registers, memory and variables at a
//! position. Pure: no sockets, no waiting; where the index has not come far enough, the answer is [`Answer::NotYet`] and
//! the caller asks again later.
//! Knows nothing of packets.
//!
//! Invariant: two sessions share a [`Replay`] that never changes, and cannot affect each other.

mod agent;
mod breakpoints;
mod changes;
mod check;
mod cursor;
mod find;
mod libraries;
mod marks;
mod moment;
mod replay;
mod run;
mod search;
mod selection;
mod state;
mod threads;
mod told;
mod watchpoints;
mod work;

pub use agent::{AgentExpression, NoValue};
pub use breakpoints::Breakpoints;
pub use check::{Check, Subject};
pub use cursor::{Cursor, Position};
pub use find::{Find, Selected};
pub use marks::Marks;
pub use moment::Moment;
pub use replay::{NoTimes, Programs, Replay};
pub use run::{Direction, Motion, Move, Stop};
pub use search::{Comparison, Condition, Operand, Search};
pub use selection::Selection;
pub use state::RegisterBytes;
pub use told::Told;
pub use watchpoints::{Access, Watchpoint, Watchpoints};
pub use work::Work;

use std::sync::Arc;

use crate::index::Answer;

/// One client's view of a recording.
pub struct Session {
    replay: Arc<Replay>,
    cursor: Cursor,
    /// Where the client wants to stop.
    pub breakpoints: Breakpoints,
    watchpoints: Watchpoints,
    /// Whether the client wants to stop where an exception was taken.
    pub catches_exceptions: bool,
    /// Whether the client wants nothing told of gaps.
    pub passes_gaps: bool,
    moving: Option<run::Moving>,
}

impl Session {
    /// A fresh view: outside any frame, nothing visited yet.
    pub fn new(replay: Arc<Replay>) -> Session {
        Session {
            replay,
            cursor: Cursor::default(),
            breakpoints: Breakpoints::default(),
            watchpoints: Watchpoints::default(),
            catches_exceptions: false,
            passes_gaps: false,
            moving: None,
        }
    }

    /// What all clients share.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Where the client stands.
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Watches a piece of memory; `false` if there are too many, or if it is none that can be watched.
    pub fn watch(&mut self, watchpoint: Watchpoint) -> bool {
        self.watchpoints.insert(watchpoint, &self.replay)
    }

    /// Watches it no longer; what is not watched is no error.
    pub fn unwatch(&mut self, watchpoint: &Watchpoint) {
        self.watchpoints.remove(watchpoint);
    }

    /// Moves to a frame, outside of which the client then is; `false` if there is none of this number so far.
    pub fn go_to(&mut self, frame: u64) -> bool {
        let is_there = self.replay.index().locate(frame).found().is_some();
        if is_there {
            self.cursor.visit(frame);
        }
        is_there
    }

    /// Goes back to where it began: outside any frame, none visited.
    pub fn go_before_all(&mut self) {
        self.cursor = Cursor::default();
    }

    /// Leaves the selected frame (`tfind none`); the cursor stays where it was.
    pub fn leave_frame(&mut self) {
        self.cursor.leave();
    }

    /// Selects a frame. Where there is none, the selection stays as it was.
    pub fn find(&mut self, find: Find) -> Answer<Selected> {
        let answer = find::find(&self.replay, &self.cursor, find);
        if let Answer::Found(selected) = &answer {
            self.cursor.select(selected.frame);
        }
        answer
    }
}
