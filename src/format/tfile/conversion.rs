//! A recording of any format in the words of this one.
//!
//! Nothing is invented for what was not recorded, and the format has no word for a register that was not: where the
//! frames that have registers have the same ones, these can become the first of the target description, which is all
//! that a block then holds; else they are left out.
//!
//! gdb's own reader goes through the registers in the order of its own numbers, up to the first that lies outside the
//! block (tracefile-tfile.c, `tfile_target::fetch_registers`). What it passes over is unavailable, also the program
//! counter, for which it takes the tracepoint's address in frames without any registers; without one `tdump` fails (seen
//! with gdb 13.1 and 18.1). So such blocks are written only if somebody asks for them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::{Description, register_order, tracepoint};
use crate::trace::{Frame, Recording, RegisterBlock, Tracepoint};

/// What becomes of a recording.
#[derive(Debug)]
pub struct Conversion {
    /// The description section.
    pub description: Description,
    /// The bytes of its registers that a block holds; `None` where frames have no registers in the file.
    block: Option<Vec<Range<usize>>>,
    /// What the file lacks, each in a few words.
    pub lost: Vec<String>,
    /// Whether gdb's own reader makes little of the file's blocks.
    pub is_partial: bool,
}

impl Conversion {
    /// Plans it. `survey` has seen all frames; with `partial_registers` blocks are written that gdb's own reader makes
    /// little of.
    pub fn new(recording: &dyn Recording, survey: &Survey, partial_registers: bool) -> Conversion {
        let target = recording.target();
        let layout = target.layout.as_ref();
        let mut xml = target.description.clone();
        let (mut block, mut is_partial) = (None, false);
        if let Some(registers) = survey.registers.as_ref().filter(|_| survey.blocks_are_alike) {
            let end = registers.known.last().map_or(0, |range| range.end);
            let pc_is_known = || layout.is_some_and(|layout| layout.pc().end() <= end);
            let is_one_piece = matches!(registers.known.as_slice(), [whole] if whole.start == 0);
            let is_prefix = is_one_piece && (end == registers.size || pc_is_known());
            if is_prefix {
                block = Some(registers.known.clone());
            } else if let (true, Some(layout), Some(all)) = (partial_registers, layout, xml.as_deref()) {
                let known = |range: &Range<usize>| {
                    registers.known.iter().any(|found| found.start <= range.start && range.end <= found.end)
                };
                let whole: Vec<_> =
                    layout.registers().iter().filter(|found| known(&(found.offset..found.end()))).collect();
                let numbers: Vec<usize> = whole.iter().map(|register| register.number).collect();
                if let Some(ordered) = register_order::beginning_with(all, &numbers).filter(|_| !numbers.is_empty()) {
                    (xml, is_partial) = (Some(ordered), true);
                    block = Some(whole.iter().map(|register| register.offset..register.end()).collect());
                }
            }
        }
        let has_registers = block.is_some();
        let declared = match &block {
            Some(ranges) => ranges.iter().map(ExactSizeIterator::len).sum(),
            None => layout.map_or(0, crate::arch::Layout::size),
        };
        let tracepoints = recording.tracepoints().iter().map(|found| survey.tracepoint(found, has_registers));
        let description = Description {
            // gdb refuses a file that declares no register block, or an empty one. Where no frame has registers, it means
            // nothing how many there would be.
            register_block_size: Some(if declared > 0 { declared } else { target.address_size }),
            target_description: xml,
            status: recording.status().clone(),
            variables: recording.variables().to_vec(),
            tracepoints: tracepoints.collect(),
            unknown_lines: recording.unknown_lines().to_vec(),
        };
        let lost = survey.lost(recording, has_registers);
        Conversion { description, block, lost, is_partial }
    }

    /// The frame as it is written.
    pub fn frame<'a>(&self, mut frame: Frame<'a>) -> Frame<'a> {
        frame.registers = match (&self.block, frame.registers) {
            (Some(ranges), Some(registers)) => {
                let bytes = match ranges.as_slice() {
                    [whole] if *whole == (0..registers.bytes.len()) => registers.bytes,
                    ranges => Cow::Owned(
                        ranges
                            .iter()
                            .filter_map(|range| registers.bytes.get(range.clone()))
                            .flatten()
                            .copied()
                            .collect(),
                    ),
                };
                Some(RegisterBlock { bytes, unavailable: Vec::new() })
            }
            _ => None,
        };
        frame
    }
}

/// What must be known of all frames before the first is written.
#[derive(Debug, Default)]
pub struct Survey {
    frames: u64,
    with_registers: u64,
    registers: Option<Registers>,
    blocks_are_alike: bool,
    with_time: u64,
    damaged: u64,
    by_tracepoint: HashMap<i32, Places>,
}

/// Which bytes of a register block were recorded.
#[derive(Debug, PartialEq, Eq)]
struct Registers {
    size: usize,
    known: Vec<Range<usize>>,
}

/// Where the frames of a tracepoint were, in frames.
#[derive(Debug, Default)]
struct Places {
    address: Option<u64>,
    /// With registers.
    with_registers: u64,
    /// With a program counter that is the tracepoint's only address, recorded or inferred.
    there: u64,
    /// With another.
    elsewhere: u64,
    /// With an unknown one.
    unknown: u64,
}

impl Survey {
    /// Has seen no frame yet.
    pub fn new(recording: &dyn Recording) -> Survey {
        let mut by_tracepoint: HashMap<i32, Places> = HashMap::new();
        for tracepoint in recording.tracepoints() {
            let places = by_tracepoint.entry(tracepoint.number);
            let address = Some(tracepoint.address);
            places.and_modify(|several| several.address = None).or_insert(Places { address, ..Places::default() });
        }
        Survey { by_tracepoint, ..Survey::default() }
    }

    /// Sees the next frame.
    pub fn add(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        self.with_time += u64::from(frame.time.is_some());
        self.damaged += u64::from(frame.damage.is_some());
        if let Some(block) = &frame.registers {
            self.with_registers += 1;
            let known = Registers { size: block.bytes.len(), known: known(block) };
            match &self.registers {
                None => {
                    self.registers = Some(known);
                    self.blocks_are_alike = true;
                }
                Some(first) => self.blocks_are_alike &= *first == known,
            }
        }
        let places = self.by_tracepoint.entry(frame.tracepoint).or_default();
        places.with_registers += u64::from(frame.registers.is_some());
        match frame.pc.address() {
            None => places.unknown += 1,
            Some(pc) if places.address == Some(pc) => places.there += 1,
            Some(_) => places.elsewhere += 1,
        }
    }

    /// The tracepoint as it is written. One that steps, as far as its definition goes, though all of its frames were at its
    /// address, is written as one that does not, so that their place can be inferred; unless they have it themselves.
    fn tracepoint(&self, found: &Tracepoint, has_registers: bool) -> Tracepoint {
        let mut written = found.clone();
        let has_its_place = |places: &Places| {
            let has_none = !has_registers || places.with_registers == 0;
            has_none && places.there > 0 && places.elsewhere == 0 && places.unknown == 0
        };
        if found.step_count > 0 && self.by_tracepoint.get(&found.number).is_some_and(has_its_place) {
            written.step_count = 0;
            written.step_actions.clear();
            let steps = written.source.commands.iter().position(|command| command.starts_with("while-stepping"));
            written.source.commands.truncate(steps.unwrap_or(usize::MAX));
            written.pieces = tracepoint::pieces(&written);
        }
        written
    }

    fn lost(&self, recording: &dyn Recording, has_registers: bool) -> Vec<String> {
        let mut lost = Vec::new();
        let mut add = |frames: u64, what: &str, why: &str| {
            if frames > 0 {
                lost.push(format!("the {what} of {frames} {}{why}", if frames == 1 { "frame" } else { "frames" }));
            }
        };
        add(self.with_time, "times", "");
        add(if recording.threads().is_empty() { 0 } else { self.frames }, "threads", "");
        let why = if self.blocks_are_alike { " (see --partial-registers)" } else { " (not the same in each)" };
        add(if has_registers { 0 } else { self.with_registers }, "registers", why);
        let steps: HashMap<i32, u64> = recording
            .tracepoints()
            .iter()
            .map(|found| (found.number, self.tracepoint(found, has_registers).step_count))
            .collect();
        let pcs = self.by_tracepoint.iter().map(|(number, places)| {
            let known = places.there.saturating_add(places.elsewhere);
            let kept = if has_registers { places.with_registers } else { 0 };
            let inferred = if steps.get(number) == Some(&0) { places.there } else { 0 };
            known.saturating_sub(kept.saturating_add(inferred))
        });
        add(pcs.sum(), "program counters", "");
        add(self.damaged, "damaged rest", "");
        if recording.tracepoints().iter().any(|found| recording.event_name(found.number).is_some()) {
            lost.push("the names of events".to_owned());
        }
        if recording.program().is_some() {
            lost.push("the symbols".to_owned());
        }
        lost
    }
}

/// The recorded parts of a block, merged where they touch.
fn known(block: &RegisterBlock<'_>) -> Vec<Range<usize>> {
    let mut known = Vec::new();
    let mut at = 0;
    for hole in &block.unavailable {
        if at < hole.start {
            known.push(at..hole.start);
        }
        at = at.max(hole.end);
    }
    if at < block.bytes.len() {
        known.push(at..block.bytes.len());
    }
    known
}
