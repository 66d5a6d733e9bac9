//! Where frames lie, and how they are found without looking at them again.
//!
//! Owns: the [`Index`] of a recording, built in one walk over it and shared by everyone who reads that recording;
//! the questions it takes ([`Query`], [`InterruptionQuery`]) and the shape of what it says ([`Answer`]).
//! Knows nothing of formats, registers' meaning, sockets and packets.
//!
//! Invariants: an answer that was found stays true while the index still grows; the index keeps a few bytes a frame
//! and never a frame, and of frames that are instructions a few bytes a run of them; a question never waits for the
//! walk.
//!
//! There is one sort of entry, the run: consecutive frames of one thread whose program counters are of one `kind`, an
//! address and the beginnings of instructions behind it. A frame of a recording that shows no instructions is a run
//! of one. Runs are found by the ranks of their kinds, which are in the order of their addresses; a run is short, so
//! that few kinds reach an address beside those that start there. Which frame of the run it is, the kind alone tells.
//!
//! From the ground up: a `packed` sequence holds ascending numbers in few bits, a `bits` vector counts its ones
//! in constant time, a `wavelet` matrix of such vectors counts the small numbers of a range and so finds the next one,
//! a `dictionary` holds distinct values in their order, values that are `ranked` in one become a `column`, a `segment`
//! holds the columns of a stretch of runs, `segments` are the stretches of a recording, `interruptions` are what lies
//! between the frames, `pc_counts` are sums over all, the `walk` meets the runs, the `builder` makes segments of them, on
//! a thread of its own where there are many, `shared` is where it shows them, and the `index` answers.

mod answer;
mod bits;
mod builder;
mod column;
mod dictionary;
#[cfg(test)]
pub(crate) mod fake;
#[expect(clippy::module_inception, reason = "the file of the type that the folder is named for")]
mod index;
mod interruptions;
mod kind;
mod packed;
mod pc_counts;
mod query;
mod ranked;
mod segment;
mod segments;
mod shared;
mod walk;
mod wavelet;

pub use answer::{Answer, Progress};
pub use index::Index;
pub use pc_counts::PcCounts;
pub use query::{InterruptionQuery, Query};
pub use walk::Inspector;
