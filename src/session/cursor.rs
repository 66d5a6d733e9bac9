//! Where a client stands in the recording.

/// The frame whose state a client sees, and in which mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Outside any frame, before the first move.
    Start,
    /// In a frame: its state and nothing else.
    Frame(u64),
    /// Outside any frame, the last visited one being this.
    After(u64),
}

/// A client's cursor. `tfind` and run control share it: what one has reached, the other goes on from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    visited: Option<u64>,
    in_frame: bool,
    /// The thread that the client takes for the one that made the visited frame.
    stand_in: Option<u32>,
}

impl Cursor {
    /// Where it stands.
    pub fn position(&self) -> Position {
        match (self.visited, self.in_frame) {
            (None, _) => Position::Start,
            (Some(frame), true) => Position::Frame(frame),
            (Some(frame), false) => Position::After(frame),
        }
    }

    /// The frame that is selected, as `tfind` counts it.
    pub fn selected(&self) -> Option<u64> {
        self.visited.filter(|_| self.in_frame)
    }

    /// The frame that was visited last, selected or not.
    pub fn visited(&self) -> Option<u64> {
        self.visited
    }

    /// The thread that the client takes for the one that made the visited frame, where that is another.
    pub(super) fn stand_in(&self) -> Option<u32> {
        self.stand_in
    }

    pub(super) fn select(&mut self, frame: u64) {
        *self = Cursor { visited: Some(frame), in_frame: true, stand_in: None };
    }

    pub(super) fn visit(&mut self, frame: u64) {
        *self = Cursor { visited: Some(frame), in_frame: false, stand_in: None };
    }

    pub(super) fn visit_as(&mut self, frame: u64, thread: u32) {
        *self = Cursor { visited: Some(frame), in_frame: false, stand_in: Some(thread) };
    }

    pub(super) fn leave(&mut self) {
        self.in_frame = false;
    }
}
