//! An instruction trace as a recording: each instruction that was executed is a frame.
//!
//! Owns: the order of what several sources executed (`merge`), which are read in parts (`reader`) on threads of their own
//! (`ahead`), where each instruction is found again (`timeline`, `stretch`), the calls that have not returned (`calls`), and
//! what a debugger is given to show them (`frames`).
//! Knows nothing of the index and of packets of gdb's.
//!
//! Nothing is kept of an instruction. Every few thousand there is a place from which its source can be read on, so that
//! one is found by reading a stretch again; the last few stretches are kept.

mod ahead;
mod beginning;
mod calls;
mod exceptions;
mod frames;
mod memory;
mod merge;
mod open;
mod protocol;
mod reader;
mod stretch;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, Scope};

use self::calls::Calls;
use self::merge::Cursor;
use self::stretch::{Between, Checkpoint, Stretch};
use self::timeline::Timeline;
use crate::arch::{Machine, Target};
use crate::image::PlacedImage;
use crate::source;
use crate::trace::{Instructions, Interruption, Item, Location, RunStatus, Thread};

pub use self::memory::{Dump, Memory};
pub use self::open::{OpenError, OpenOptions, Opened};
pub use self::protocol::{Hart, Protocol};

/// A trace source: a processor core, or a hart.
#[derive(Clone)]
pub struct Source {
    /// What it is called.
    pub name: String,
    /// Which of the sinks holds what it told.
    pub sink: usize,
    /// How it is read.
    pub protocol: Protocol,
    /// What lay in memory, as it saw it.
    pub memory: Arc<Memory>,
}

/// What an instruction trace consists of.
pub struct Parts {
    /// The file that the user named.
    pub name: PathBuf,
    /// The dumps of sinks.
    pub sinks: Vec<source::Source>,
    /// The sources in them.
    pub sources: Vec<Source>,
    /// All programs that lay in memory, that of the user first.
    pub programs: Vec<PlacedImage>,
    /// The machine, and how gdb sees it.
    pub machine: Machine,
    /// The registers.
    pub target: Target,
    /// What a person should know.
    pub remarks: Vec<String>,
    /// Why a person should not believe what is shown.
    pub doubts: Vec<String>,
}

/// What a walk needs.
struct Trace {
    sinks: Vec<source::Source>,
    sources: Vec<Source>,
    calls: Calls,
    timeline: RwLock<Timeline>,
}

/// An instruction trace.
pub struct InstructionTrace {
    name: PathBuf,
    trace: Trace,
    machine: Machine,
    target: Target,
    threads: Vec<Thread>,
    status: RunStatus,
    programs: Vec<PlacedImage>,
    remarks: Vec<String>,
    doubts: Vec<String>,
    /// The stretches that were looked at last, the newest at the end.
    stretches: Mutex<VecDeque<Kept>>,
}

/// A stretch, and the number of its source.
struct Kept {
    source: usize,
    stretch: Arc<Stretch>,
}

/// Where the made stack may end, the first that fits.
const TOPS: [u64; 6] =
    [0x7fff_ffff_f000, 0x3fff_ffff_f000, 0xffff_0000_7fff_f000, 0x7fff_f000, 0xdfff_f000, 0x3fff_f000];

/// How much memory above and below that must be nobody's.
const STACK: u64 = 1 << 24;

impl InstructionTrace {
    /// A trace of these parts.
    pub fn new(parts: Parts) -> InstructionTrace {
        let Parts { name, sinks, sources, programs, machine, target, remarks, doubts } = parts;
        let threads = (0..).zip(&sources);
        let threads = threads.map(|(at, source)| Thread { id: thread_of(at), name: source.name.clone() }).collect();
        let is_free = |top: &&u64| {
            let last = top.saturating_add(STACK);
            let is_reached = |source: &Source| source.memory.reaches(top.saturating_sub(STACK), last);
            last <= machine.last_address() && !sources.iter().any(is_reached)
        };
        let top = TOPS.iter().find(is_free).copied().unwrap_or(machine.last_address() & !0xfff);
        let timeline = RwLock::new(Timeline::new(sources.len()));
        let calls = Calls::new(machine, top);
        let trace = Trace { sinks, sources, calls, timeline };
        let (status, stretches) = (RunStatus::default(), Mutex::default());
        InstructionTrace { name, trace, machine, target, threads, status, programs, remarks, doubts, stretches }
    }
}

impl Trace {
    fn sink(&self, source: &Source) -> &[u8] {
        self.sinks.get(source.sink).map_or(&[], source::Source::bytes)
    }

    fn add_checkpoint(&self, source: usize, checkpoint: Checkpoint) {
        self.timeline.write().unwrap_or_else(PoisonError::into_inner).add_checkpoint(source, checkpoint);
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        thread::scope(|scope| self.walk_within(scope, visit))
    }

    fn walk_within<'s, 't>(
        &'t self,
        scope: &'s Scope<'s, 't>,
        visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>,
    ) -> Location {
        // One core has nobody beside the walk.
        let threads = thread::available_parallelism().map_or(0, NonZero::get);
        let scope = |at: usize| (threads > 1 && at < threads).then_some(scope);
        let mut cursors: Vec<Cursor<'_, '_>> =
            (0..).zip(&self.sources).map(|(at, found)| Cursor::new(self, at, found, scope(at))).collect();
        let mut next = Location(0);
        loop {
            cursors.retain(|cursor| !cursor.is_over());
            let earlier = |best: usize, at: usize| match (cursors.get(at), cursors.get(best)) {
                (Some(cursor), Some(other)) if cursor.is_before(other) => at,
                _ => best,
            };
            let first = (1..cursors.len()).fold(0, earlier);
            let Some(cursor) = cursors.get_mut(first) else { return next };
            if self.show(cursor, &mut next, visit).is_break() {
                return next;
            }
            cursor.go_on();
        }
    }

    /// Shows the next piece of a source.
    fn show(
        &self,
        cursor: &Cursor<'_, '_>,
        next: &mut Location,
        visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((stretch, runs, between)) = cursor.piece() else { return ControlFlow::Continue(()) };
        let thread = thread_of(cursor.source());
        let mut happened = stretch.between.get(between).unwrap_or_default().iter().peekable();
        let mut timeline = self.timeline.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = stretch.runs.get(runs.start) {
            timeline.add_slice(next.0, cursor.source(), first.first);
        }
        let executed = |at: usize| match (stretch.runs.get(at), stretch.runs.last()) {
            (Some(run), _) => run.first,
            (None, Some(last)) => last.first + u64::from(last.beginnings.count_ones()),
            (None, None) => stretch.first,
        };
        for (before, _, between) in happened.clone() {
            match between {
                Between::Time(time) => timeline.add_time(cursor.source(), executed(*before), *time),
                Between::State(state) => timeline.add_state(cursor.source(), executed(*before), *state),
                Between::Interruption(_) => {}
            }
        }
        drop(timeline);
        let tell = |(_, at, between): &(usize, u64, Between)| match between {
            Between::Interruption(kind) => {
                Some(Item::Interruption(Interruption { thread, at: *at, kind: kind.clone() }))
            }
            Between::Time(_) | Between::State(_) => None,
        };
        for at in runs {
            while let Some(found) = happened.next_if(|(before, ..)| *before <= at) {
                tell(found).map_or(ControlFlow::Continue(()), &mut *visit)?;
            }
            let Some(run) = stretch.runs.get(at) else { break };
            let item = Instructions {
                location: *next,
                tracepoint: thread.cast_signed(),
                thread,
                start: run.start,
                beginnings: run.beginnings,
            };
            next.0 += u64::from(item.count());
            visit(Item::Instructions(item))?;
        }
        happened.filter_map(tell).try_for_each(visit)
    }
}

/// Sources are threads, from 1 on.
fn thread_of(source: usize) -> u32 {
    u32::try_from(source).map_or(u32::MAX, |source| source.saturating_add(1))
}
