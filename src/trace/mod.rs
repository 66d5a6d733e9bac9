//! The model: what a recording is, whatever format it came in.
//!
//! Owns: [`Recording`], the one interface that a format implements and that the index, the session and the
//! protocol use; and the words it is made of: frames, register blocks, memory blocks, trace state variables,
//! tracepoints, the run's status, threads, damage.
//! Knows nothing of files, searches and packets.
//!
//! Invariant: a recording never changes once it is open, and every byte a [`Frame`] holds was recorded.

mod damage;
mod event;
mod frame;
mod instructions;
mod library;
mod recording;
mod status;
mod thread;
mod tracepoint;

pub use damage::{Damage, DamageList};
pub use event::{Event, FieldValue};
pub use frame::{Frame, MemoryBlock, MemoryView, ProgramCounter, RegisterBlock};
pub use instructions::{Instructions, Interruption, InterruptionKind, Placed, nth_address, without_lowest};
pub use library::Library;
pub use recording::{Item, Location, Recording};
pub use status::{RunStatus, StopReason};
pub use thread::Thread;
pub use tracepoint::{Condition, SourceStrings, TraceStateVariable, Tracepoint, TracepointKind};
