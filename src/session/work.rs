//! Work that takes more than a moment and is done in turns.

/// How far a piece of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work<T> {
    /// It is done, and this came of it.
    Done(T),
    /// The index has not come far enough: go on after a change of it.
    NotYet,
    /// Its time is up: go on. It has come to this frame.
    Searching(u64),
}

impl<T> Work<T> {
    /// The same with what came of it turned into something else.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Work<U> {
        match self {
            Work::Done(done) => Work::Done(turn(done)),
            Work::NotYet => Work::NotYet,
            Work::Searching(frame) => Work::Searching(frame),
        }
    }
}
