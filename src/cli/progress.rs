//! Showing how far something is that takes long, where a person watches.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a terminal is written to, and how long nothing is said at first.
const REFRESH: Duration = Duration::from_millis(200);

/// A line on a terminal that changes, and is gone in the end.
pub struct Progress {
    terminal: bool,
    drawn: Cell<Instant>,
    is_there: Cell<bool>,
}

impl Progress {
    pub fn new() -> Progress {
        let terminal = std::io::stderr().is_terminal();
        Progress { terminal, drawn: Cell::new(Instant::now()), is_there: Cell::new(false) }
    }

    /// So far it is now.
    pub fn show(&self, text: impl FnOnce() -> String) {
        if self.terminal && self.drawn.get().elapsed() > REFRESH {
            self.drawn.set(Instant::now());
            self.is_there.set(true);
            let mut error = std::io::stderr().lock();
            let _ = write!(error, "\r{}\x1b[K", text());
            let _ = error.flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_there.get() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
