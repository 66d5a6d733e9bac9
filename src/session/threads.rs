//! Threads at a position: each stands at the last frame it made, up to where the client is.

use super::{Position, Session};
use crate::index::Query;
use crate::trace::Thread;

/// The thread of a recording that knows no threads.
static ONLY: [Thread; 1] = [Thread { id: 1, name: String::new() }];

impl Session {
    /// All threads of the recording; never none.
    pub fn threads(&self) -> &[Thread] {
        match self.replay.recording().threads() {
            [] => &ONLY,
            threads => threads,
        }
    }

    /// The thread whose frame the client is in or visited last, or that stands in for it; before the first move, the first
    /// frame's.
    pub fn thread(&self) -> u32 {
        if let Some(thread) = self.cursor.stand_in() {
            return thread;
        }
        let frame = self.cursor.visited().unwrap_or(0);
        let thread = self.replay.index().thread(frame).found();
        thread.or(self.threads().first().map(|thread| thread.id)).unwrap_or(1)
    }

    /// The frame at which a thread stands; `None` if it has made none so far.
    ///
    /// A selected frame is where every thread stands: gdb asks for its registers with whatever thread was the last to
    /// stop, as it would ask gdbserver.
    pub fn frame_of(&self, thread: u32) -> Option<u64> {
        match self.cursor.position() {
            Position::Start => None,
            Position::Frame(frame) => Some(frame),
            Position::After(frame) if self.cursor.stand_in() == Some(thread) => Some(frame),
            Position::After(frame) => {
                self.replay.index().find_back(frame.saturating_add(1), &Query::Thread(thread)).found()
            }
        }
    }
}
