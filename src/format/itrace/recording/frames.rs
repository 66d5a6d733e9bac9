//! The recording that the rest of the program sees.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::super::instruction::{Blocks, InstructionSet};
use super::calls::{Call, Chain, Lately};
use super::stretch::{Executed, Stretch};
use super::timeline::Times;
use super::{InstructionTrace, Kept, Source, thread_of};
use crate::arch::Target;
use crate::image::{Activation, Image, PlacedImage, Placement, Unwinding, unwinding};
use crate::source::{self, Change};
use crate::trace::{
    Damage, Frame, Instructions, Item, Library, Location, MemoryBlock, ProgramCounter, Recording, RegisterBlock,
    RunStatus, Thread, TraceStateVariable, Tracepoint,
};

/// How many stretches are kept.
const STRETCHES: usize = 16;

/// How many callers are shown at most.
const MOST_CALLERS: usize = 1 << 12;

/// The bit of an Arm processor's status register that says that it executes T32 (Arm DDI 0406, "CPSR").
const THUMB: u64 = 1 << 5;
/// The same of the M-profile, where it is always set (Arm DDI 0403, "xPSR").
const THUMB_OF_M: u64 = 1 << 24;

/// What of frames was not recorded.
const MADE_UP: &str = "\
in a frame: a trace tells which instructions were executed, and nothing else: the pc is that. The stack pointer, and
  where the trace tells who called the return address, frame pointers and the words of the stack that lead gdb to the
  callers, are made, by the program's call frame information; on 32-bit Arm so is the bit of cpsr that says Thumb. They
  mean nothing but bt, up, step, next and finish. Where the trace does not tell who called, the stack ends. All other
  registers and memory that can change are unavailable; what finish prints as a value is not one.
";

/// An instruction that was executed, and what is known of it.
struct Found<'r> {
    source: &'r Source,
    number: usize,
    executed: u64,
    address: u64,
    run: Executed,
}

impl InstructionTrace {
    fn find(&self, location: Location) -> Option<Found<'_>> {
        let (number, executed) = self.trace.timeline.read().unwrap_or_else(PoisonError::into_inner).find(location.0)?;
        let source = self.trace.sources.get(number)?;
        let stretch = self.stretch(number, source, executed)?;
        let run = *stretch.holding(executed)?;
        Some(Found { source, number, executed, address: run.address(executed - run.first)?, run })
    }

    /// The stretch that holds an instruction of a source.
    fn stretch(&self, number: usize, source: &Source, executed: u64) -> Option<Arc<Stretch>> {
        let is_it = |kept: &Kept| kept.source == number && kept.stretch.holding(executed).is_some();
        let mut kept = self.stretches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().position(is_it).and_then(|at| kept.remove(at)) {
            let stretch = Arc::clone(&found.stretch);
            kept.push_back(found);
            return Some(stretch);
        }
        drop(kept);
        let timeline = self.trace.timeline.read().unwrap_or_else(PoisonError::into_inner);
        let checkpoint = timeline.checkpoint(number, executed)?.clone();
        drop(timeline);
        let stretch = Arc::new(self.read(source, checkpoint, executed)?);
        let mut kept = self.stretches.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == STRETCHES {
            kept.pop_front();
        }
        kept.push_back(Kept { source: number, stretch: Arc::clone(&stretch) });
        Some(stretch)
    }

    fn read(&self, source: &Source, mut checkpoint: super::Checkpoint, executed: u64) -> Option<Stretch> {
        let trace = &self.trace;
        let mut blocks = Blocks::new(Arc::clone(&source.memory), source.protocol.ends());
        let mut lately = Lately::default();
        // One without instructions may come before.
        loop {
            let sink = trace.sink(source);
            let stretch = checkpoint.advance(sink, source, &mut blocks, &trace.calls, &mut lately)?;
            if checkpoint.executed() > executed {
                return Some(stretch);
            }
        }
    }

    /// The functions that were called and have not returned, the innermost first.
    fn activations(&self, address: u64, chain: Chain) -> impl Iterator<Item = Activation> {
        let calls = &self.trace.calls;
        let mut next = Some((address, chain));
        let activations = std::iter::from_fn(move || {
            let (at, chain) = next?;
            // Behind an exception there is another stack, of which nobody knows.
            let call = calls.call(chain).filter(|call| !call.is_exception);
            next = call.map(|call| (call.at, call.outer));
            // The lowest bit of an address to which Thumb code returns is set.
            let is_thumb = |call: &Call| u64::from(call.instruction_set == InstructionSet::T32);
            let returns_to = call.map(|call| call.returns_to | is_thumb(&call));
            Some(Activation { at, frame_address: calls.frame_address(chain), returns_to })
        });
        activations.take(MOST_CALLERS)
    }

    fn unwinding(&self, found: &Found<'_>) -> Unwinding {
        let rule = |address| found.source.memory.caller_rule(address);
        unwinding(&self.machine, self.activations(found.address, found.run.chain), rule)
    }

    /// A register block in which the program counter is, and what was made.
    fn registers(&self, found: &Found<'_>, made: &Unwinding) -> Option<RegisterBlock<'static>> {
        let layout = self.target.layout.as_ref()?;
        let made = made.registers.iter();
        let made = made.filter_map(|(number, value)| Some((self.target.dwarf_register(*number)?, *value)));
        let thumb = found.run.instruction_set == InstructionSet::T32;
        let status = [("cpsr", THUMB), ("xpsr", THUMB_OF_M)];
        let is_arm = matches!(found.run.instruction_set, InstructionSet::T32 | InstructionSet::A32);
        let status = status.iter().filter(|_| is_arm).filter_map(|(name, bit)| Some((layout.by_name(name)?, *bit)));
        let status = status.map(|(register, bit)| (register, if thumb { bit } else { 0 }));
        let known = std::iter::once((layout.pc(), found.address)).chain(made).chain(status);
        let known = known.map(|(register, value)| (register.offset, register.size, value)).collect();
        Some(RegisterBlock::holding(layout.size(), self.target.byte_order, known))
    }

    fn times(&self, found: &Found<'_>) -> Times {
        let timeline = self.trace.timeline.read().unwrap_or_else(PoisonError::into_inner);
        timeline.times(found.number, found.executed)
    }
}

impl Recording for InstructionTrace {
    fn format(&self) -> &'static str {
        "instruction trace"
    }

    fn name(&self) -> &Path {
        &self.name
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn tracepoints(&self) -> &[Tracepoint] {
        &[]
    }

    fn variables(&self) -> &[TraceStateVariable] {
        &[]
    }

    fn threads(&self) -> &[Thread] {
        &self.threads
    }

    fn libraries(&self, program: &PlacedImage) -> Vec<Library> {
        let others = self.programs.iter().filter(|found| found.image.path() != program.image.path());
        let library = |found: &PlacedImage| Library {
            path: found.image.path().to_owned(),
            address: found.image.first_page().wrapping_add(found.bias),
        };
        others.map(library).collect()
    }

    fn placement(&self, image: &Image) -> Option<(u64, Placement)> {
        let placed = self.programs.iter().find(|found| found.image.path() == image.path());
        placed.map(|found| (found.bias, found.placement.clone()))
    }

    fn is_instruction_trace(&self) -> bool {
        true
    }

    fn without_made<'a>(&self, mut frame: Frame<'a>) -> Frame<'a> {
        frame.memory.clear();
        if let (Some(block), Some(layout)) = (&mut frame.registers, &self.target.layout) {
            let pc = layout.pc();
            block.unavailable = vec![0..pc.offset, pc.end()..block.bytes.len()];
            block.unavailable.retain(|hole| !hole.is_empty());
        }
        frame
    }

    fn instructions(&self, location: Location) -> Option<Instructions> {
        let Found { number, executed, run, .. } = self.find(location)?;
        let thread = thread_of(number);
        let first = Location(location.0.checked_sub(executed - run.first)?);
        let Executed { start, beginnings, .. } = run;
        Some(Instructions { location: first, tracepoint: thread.cast_signed(), thread, start, beginnings })
    }

    fn made_up(&self) -> Option<&'static str> {
        Some(MADE_UP)
    }

    fn code(&self, address: u64) -> &[u8] {
        let mut dumped = self.trace.sources.iter().map(|source| source.memory.dumped(address));
        dumped.find(|bytes| !bytes.is_empty()).unwrap_or_default()
    }

    fn maker(&self, frame: &Frame<'_>) -> Option<String> {
        // One core alone needs no name.
        let source = usize::try_from(frame.thread).ok()?.checked_sub(1)?;
        (self.trace.sources.len() > 1).then_some(())?;
        Some(self.trace.sources.get(source)?.name.clone())
    }

    fn label(&self, frame: &Frame<'_>) -> Option<String> {
        let found = self.find(frame.location)?;
        let Times { from, to } = self.times(&found);
        let time = match (from, to) {
            (Some(from), Some(to)) if to < from => format!(", time {from} or later, then its clock went back to {to}"),
            (Some(from), Some(to)) => format!(", time {from} to {to}"),
            (Some(from), None) => format!(", time {from} or later"),
            (None, Some(to)) => format!(", time {to} or before"),
            (None, None) => String::new(),
        };
        let timeline = self.trace.timeline.read().unwrap_or_else(PoisonError::into_inner);
        let state = timeline.state(found.number, found.executed);
        let state = state.map_or_else(String::new, |state| format!(", {state}"));
        Some(format!("{}{state}{time}", found.source.name))
    }

    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn doubts(&self) -> &[String] {
        &self.doubts
    }

    fn damage(&self) -> &[Damage] {
        &[]
    }

    fn change(&self) -> Option<Change> {
        self.files().find_map(source::Source::change)
    }

    fn change_seen(&self) -> Option<Change> {
        self.files().find_map(source::Source::change_seen)
    }

    fn end(&self) -> Location {
        Location(u64::MAX)
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        self.trace.walk(visit)
    }

    fn frame(&self, location: Location) -> Frame<'_> {
        let Some(found) = self.find(location) else { return Frame::empty(location, 0) };
        let made = self.unwinding(&found);
        let thread = thread_of(found.number);
        let mut frame = Frame::empty(location, thread.cast_signed());
        frame.thread = thread;
        frame.pc = ProgramCounter::Recorded(found.address);
        frame.registers = self.registers(&found, &made);
        frame.memory = made.words.iter().map(|(address, value)| self.word(*address, *value)).collect();
        frame
    }

    fn trace_buffer(&self, _end: Location, _offset: u64, _length: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }
}

impl InstructionTrace {
    /// The files that it is read from, but for programs.
    fn files(&self) -> impl Iterator<Item = &source::Source> {
        let dumps = self.trace.sources.iter().flat_map(|source| source.memory.files());
        self.trace.sinks.iter().chain(dumps)
    }

    fn word(&self, address: u64, value: u64) -> MemoryBlock<'static> {
        let mut bytes = vec![0; self.target.address_size];
        self.target.byte_order.store(value, &mut bytes);
        MemoryBlock { address: address & self.machine.last_address(), bytes: Cow::Owned(bytes) }
    }
}
