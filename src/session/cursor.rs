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

    pub(super) fn select(&mut self, frame: u64) {
        self.visited = Some(frame);
        self.in_frame = true;
    }

    pub(super) fn visit(&mut self, frame: u64) {
        self.visited = Some(frame);
        self.in_frame = false;
    }

    pub(super) fn leave(&mut self) {
        self.in_frame = false;
    }
}
