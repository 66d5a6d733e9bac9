//! Recordings of the Linux kernel's tracers that trace-cmd saved: trace.dat files, versions 6 and 7.
//!
//! Each event is a frame. Its record is memory at an address that is made for it, its fields are trace state variables;
//! events are tracepoints, tasks are threads. What a probe fetched of registers and memory is registers and memory, and
//! a recorded stack of the kernel is one that gdb can unwind.
//!
//! What a person sees of such a file: [`page`].
//!
//! Owns: [`container`], from the first byte of the file to the pages of each CPU's ring buffer; [`events`], from a page
//! and the texts of event formats to events with fields and times; `btf`, the kernel's own types; and [`TraceDat`],
//! which makes frames of them.
//! Invariant: whatever the bytes are, what is whole is served, and what is not is named with its offset.

mod btf;
mod cache;
mod choices;
pub mod container;
mod event_types;
pub mod events;
mod frames;
mod last_boot;
mod losses;
mod machine;
mod merge;
mod open;
#[doc = include_str!("page.md")]
pub mod page {}
mod places;
mod positions;
mod probe;
mod program;
mod programs_place;
mod record_types;
mod recording;
mod status;
mod streams;
mod survey;
mod tasks;
mod trace_buffer;
mod variables;
mod words;

use std::collections::HashMap;
use std::sync::OnceLock;

use self::container::Container;
use self::event_types::{EventType, Roles};
use self::events::{Formats, Tasks};
use self::losses::Losses;
use self::places::Places;
use self::positions::Positions;
use self::probe::Probe;
use self::program::Program;
use self::programs_place::KernelFunctions;
use self::streams::Streams;
use self::survey::Survey;
use self::trace_buffer::Sequence;
use self::variables::Variables;
use crate::arch::{Machine, Target};
use crate::image::PlacedImage;
use crate::trace::{Damage, RunStatus, Thread, Tracepoint};

pub use self::choices::{ChoiceError, Choices, Names};
pub use self::container::MAGIC;
pub use self::probe::{Mapping, MappingError};

/// An open trace.dat file.
pub struct TraceDat {
    container: Container,
    formats: Formats,
    streams: Streams,
    /// The instances whose events are shown.
    instances: Vec<String>,
    positions: Positions,
    losses: Losses,
    survey: Survey,
    types: Vec<EventType>,
    /// For each number of an event 1 more than its place in `types`, or 0.
    by_id: Vec<u32>,
    roles: Roles,
    probes: HashMap<u16, Probe>,
    variables: Variables,
    places: Places,
    machine: Option<Machine>,
    kernel_functions: KernelFunctions,
    target: Target,
    program: Program,
    /// The process that was chosen.
    process: Option<u32>,
    /// The user's program, where it lay.
    shown_with: OnceLock<PlacedImage>,
    names: Tasks,
    threads: Vec<Thread>,
    tracepoints: Vec<Tracepoint>,
    status: RunStatus,
    remarks: Vec<String>,
    damage: Vec<Damage>,
    sequence: Sequence,
}

impl TraceDat {
    /// The kind of event that a record is, if it is one that was chosen.
    fn kind_of(&self, record: &[u8]) -> Option<&EventType> {
        let place = *self.by_id.get(usize::from(self.formats.id(record)?))?;
        self.types.get(usize::try_from(place.checked_sub(1)?).ok()?)
    }

    /// How many events there are.
    fn count(&self) -> u64 {
        self.survey.counts.values().sum()
    }
}
