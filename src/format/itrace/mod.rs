//! Hardware instruction trace: what an on-chip trace unit told of the instructions that a processor executed.
//!
//! A dump of a sink (a trace buffer) holds the bytes of one or several trace sources, mixed by a funnel. Of each source
//! they are packets of one protocol, which tell where execution left the expected path; everything else follows from the
//! program's code.
//!
//! Owns: [`capture`], what a person says of such a dump; [`coresight`], from the bytes of a sink to the [`Element`]s of
//! each of its sources, and from these to what was executed; [`etrace`], the same for RISC-V; [`instruction`], which tells
//! from code where each instruction can lead; and [`recording`], in which each instruction is a frame. What a user needs to
//! know is on a [`page`].
//! Knows nothing of the index, of searches and of packets of gdb's.
//!
//! Invariant: loss is a gap, never a guess. No instruction is shown that the trace and the code together do not prove, nor
//! before addresses that are told later agree with it (`unconfirmed`).

mod atoms;
pub mod capture;
pub mod coresight;
mod element;
pub mod etrace;
pub mod instruction;
#[doc = include_str!("page.md")]
pub mod page {}
pub mod recording;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod unconfirmed;

pub use atoms::Atoms;
pub use element::{Element, ElementKind, Exception, Target, Transaction};
pub use state::State;
pub use step::{Discontinuity, Step};
