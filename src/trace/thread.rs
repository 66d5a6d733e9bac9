//! The threads of a recording.

/// A thread, or what a recording has in place of threads: a CPU, a trace source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, greater than 0, as [`Frame::thread`](super::Frame::thread) has it.
    pub id: u32,
    /// What it is called; empty where nothing is known.
    pub name: String,
}
