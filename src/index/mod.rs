//! Where frames lie, and how they are found without looking at them again.
//!
//! Owns: the [`Index`] of a recording, built in one walk over it and shared by everyone who reads that recording;
//! the questions it takes ([`Query`]) and the shape of what it says ([`Answer`]).
//! Knows nothing of formats, registers' meaning, sockets and packets.
//!
//! Invariants: an answer that was found stays true while the index still grows; the index keeps a few bytes a frame
//! and never a frame; a question never waits for the walk.
//!
//! From the ground up: a `packed` sequence holds ascending numbers in few bits, a `bits` vector counts its ones
//! in constant time, a `wavelet` matrix of such vectors counts the small numbers of a range, a `column` puts a
//! dictionary before it and so searches any numbers, a `segment` holds the columns of a run of frames,
//! `segments` are the runs of a recording, the `walk` makes them, `shared` is
//! where it shows them, and the `index` answers.

mod answer;
mod bits;
mod column;
#[cfg(test)]
pub(crate) mod fake;
#[expect(clippy::module_inception, reason = "the file of the type that the folder is named for")]
mod index;
mod packed;
mod query;
mod segment;
mod segments;
mod shared;
mod walk;
mod wavelet;

pub use answer::{Answer, Progress};
pub use index::Index;
pub use query::Query;
pub use walk::Inspector;
