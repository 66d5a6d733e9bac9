//! What a trace unit sends (Arm IHI 0064, chapters 4 to 6): one that does not speculate.

use std::ops::Range;

use traceframe::format::itrace::instruction::{Branch, Flow, InstructionSet};

use super::address::History;
use super::atoms;
use crate::execution::{Execution, Trap};
use crate::program::Program;
use crate::random::Random;
use crate::stream::Packet;

/// What a trace unit is told to do, and what becomes of it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub has_return_stack: bool,
    pub has_timestamps: bool,
    pub has_cycle_counts: bool,
    pub has_contexts: bool,
    /// How many instructions come between two synchronizations.
    pub period: usize,
    /// Instructions that a filter keeps from being traced.
    pub filtered: Vec<Range<usize>>,
    /// Instructions whose packets are lost by an overflow.
    pub overflows: Vec<Range<usize>>,
    /// Whether the unit is switched off at the end.
    pub ends_with_discard: bool,
}

/// How many returns a trace unit keeps: units differ, and none keeps more than 15.
const RETURNS: usize = 12;

const ALIGNMENT: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];
const TRACE_ON: u8 = 0x04;
const EXCEPTION: u8 = 0x06;
const EXCEPTION_RETURN: u8 = 0x07;
const OVERFLOW: [u8; 2] = [0x00, 0x05];
const DISCARD: [u8; 2] = [0x00, 0x03];
/// Numbers of exceptions (Arm IHI 0064, "Exception instruction trace packet").
const CALL: u8 = 0x02;
const IRQ: u8 = 0x0e;

/// The packets of an execution.
pub fn encode(program: &Program, execution: &Execution, options: &Options) -> Vec<Packet> {
    let mut encoder = Encoder {
        program,
        options,
        packets: Vec::new(),
        history: History::default(),
        atoms: String::new(),
        ends: Vec::new(),
        proven: 0,
        returns: Vec::new(),
        time: 0x12_3456,
        identifier: 0x1000,
        random: Random::new(execution.list.len() as u64),
        is_target_untold: false,
        is_matched: false,
    };
    encoder.all(execution);
    encoder.packets
}

struct Encoder<'a> {
    program: &'a Program,
    options: &'a Options,
    packets: Vec<Packet>,
    history: History,
    /// Atoms that are not sent yet, and how many instructions are proven with each.
    atoms: String,
    ends: Vec<usize>,
    /// How many instructions what was sent, and the atoms that wait, prove or pass over.
    proven: usize,
    returns: Vec<(u64, InstructionSet)>,
    time: u64,
    identifier: u32,
    random: Random,
    /// Whether the last atom was of an indirect branch whose target is to be told yet.
    is_target_untold: bool,
    /// Whether the last atom was of a return whose target is not told.
    is_matched: bool,
}

impl Encoder<'_> {
    fn all(&mut self, execution: &Execution) {
        let list = &execution.list;
        let starts = |ranges: &[Range<usize>], at| ranges.iter().find(|range| range.start == at).cloned();
        self.synchronize(list[0], 0, true);
        let mut last_synchronization = 0;
        let mut at = 0;
        while at < list.len() {
            if let Some(range) = starts(&self.options.filtered, at) {
                at = range.end;
                self.begin_anew(at);
                self.send(&[TRACE_ON]);
                self.send_context();
                self.place(list[at]);
            } else if let Some(range) = starts(&self.options.overflows, at) {
                at = range.end;
                self.begin_anew(at);
                self.send(&OVERFLOW);
                self.synchronize(list[at], at, true);
                last_synchronization = at;
            } else if let Some(trap) = execution.traps.get(&at) {
                self.exception(*trap, at);
                self.place(list[at]);
            }
            let is_waypoint = self.instruction(list, at, execution.traps.get(&(at + 1)));
            at += 1;
            let is_quiet = !execution.traps.contains_key(&at)
                && starts(&self.options.filtered, at).is_none()
                && starts(&self.options.overflows, at).is_none();
            if is_waypoint && is_quiet && at < list.len() {
                self.asides(list[at]);
                if at - last_synchronization >= self.options.period {
                    last_synchronization = at;
                    self.flush();
                    self.synchronize(list[at], at, false);
                }
            }
        }
        self.flush();
        if self.options.ends_with_discard {
            self.send(&DISCARD);
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.flush();
        let proven = self.proven;
        self.packets.push(Packet { bytes: bytes.to_vec(), proves: proven..proven, is_synchronization: false });
    }

    /// Sends the atoms that wait.
    fn flush(&mut self) {
        while !self.atoms.is_empty() {
            let (header, count) = atoms::header(&self.atoms);
            let start = self.ends[0];
            let end = self.ends[count];
            self.packets.push(Packet { bytes: vec![header], proves: start..end, is_synchronization: false });
            self.atoms.drain(..count);
            self.ends.drain(..count);
        }
        self.ends.clear();
    }

    /// Nothing is known of what was executed before this instruction.
    fn begin_anew(&mut self, at: usize) {
        self.flush();
        self.proven = at;
        self.returns.clear();
        self.is_target_untold = false;
    }

    fn synchronize(&mut self, address: u64, at: usize, is_beginning: bool) {
        self.packets.push(Packet { bytes: ALIGNMENT.to_vec(), proves: at..at, is_synchronization: true });
        // Whether cycles are counted, and the threshold of cycle counts.
        let info: &[u8] = if self.options.has_cycle_counts { &[0x01, 0x09, 0x01, 0x04] } else { &[0x01, 0x01, 0x00] };
        self.send(info);
        self.history = History::default();
        self.returns.clear();
        self.is_target_untold = false;
        if is_beginning {
            self.send(&[TRACE_ON]);
        }
        if self.options.has_timestamps {
            let bytes = self.timestamp(u64::MAX);
            self.send(&bytes);
        }
        let context = self.context();
        let set = self.program.instruction_set(address);
        let bytes = self.history.full_with_context(address, set, &context);
        self.send(&bytes);
    }

    /// The bytes of a context: EL0, not secure.
    fn context(&self) -> Vec<u8> {
        let is_64_bit = self.program.instruction_set(0) == InstructionSet::A64;
        let mut bytes = vec![0x20 | u8::from(is_64_bit) << 4];
        if self.options.has_contexts {
            bytes[0] |= 0x80;
            bytes.extend(self.identifier.to_le_bytes());
        }
        bytes
    }

    fn send_context(&mut self) {
        let context = self.context();
        self.send(&[&[0x81][..], &context].concat());
    }

    /// Sends where execution goes on.
    fn place(&mut self, address: u64) {
        self.flush();
        let bytes = self.history.short(address, self.program.instruction_set(address));
        self.send(&bytes);
        self.is_target_untold = false;
    }

    fn timestamp(&self, changed: u64) -> Vec<u8> {
        let mut bytes = vec![0x02];
        let (mut time, mut changed) = (self.time, changed);
        loop {
            let group = bytes.len() - 1;
            if group == 8 {
                bytes.push(time as u8);
                return bytes;
            }
            (time, changed) = {
                let more = if changed >> 7 == 0 { 0 } else { 0x80 };
                bytes.push((time & 0x7f) as u8 | more);
                if more == 0 {
                    return bytes;
                }
                (time >> 7, changed >> 7)
            };
        }
    }

    /// Sends what has nothing to do with where execution goes.
    fn asides(&mut self, next: u64) {
        if self.options.has_cycle_counts && self.random.below(3) == 0 {
            let cycles = self.random.below(300);
            let bytes = if cycles < 0x80 { vec![0x0e, cycles as u8] } else { vec![0x0e, cycles as u8 | 0x80, 2] };
            self.send(&bytes);
        }
        if self.options.has_timestamps && self.random.below(40) == 0 {
            let before = self.time;
            self.time += self.random.below(5000) as u64;
            let bytes = self.timestamp(before ^ self.time);
            self.send(&bytes);
        }
        if self.options.has_contexts && !self.is_matched && self.random.below(60) == 0 {
            self.identifier += 1;
            // OpenCSD takes a context for one of the instruction set of the last address: so that is told again.
            let (set, context) = (self.program.instruction_set(next), self.context());
            let bytes = self.history.full_with_context(next, set, &context);
            self.send(&bytes);
        }
    }

    fn exception(&mut self, trap: Trap, at: usize) {
        let number = if trap.is_interrupt { IRQ } else { CALL };
        // Bits 0 and 6 tell whether the address is where the last branch led as well.
        let kind = if self.is_target_untold { 0x40 } else { 0x01 };
        self.flush();
        let start = self.proven;
        let set = self.program.instruction_set(trap.returns_to);
        let address = self.history.short(trap.returns_to, set);
        self.is_target_untold = false;
        let bytes = [&[EXCEPTION, kind | number << 1][..], &address].concat();
        self.packets.push(Packet { bytes, proves: start..at, is_synchronization: false });
        self.proven = at;
    }

    fn atom(&mut self, taken: bool, at: usize) {
        self.is_matched = false;
        if self.ends.is_empty() {
            self.ends.push(self.proven);
        }
        self.atoms.push(if taken { 'E' } else { 'N' });
        self.ends.push(at + 1);
        self.proven = at + 1;
        if self.atoms.len() == 40 {
            self.flush();
        }
    }

    /// Tells of an instruction, if it is a waypoint.
    fn instruction(&mut self, list: &[u64], at: usize, trap: Option<&Trap>) -> bool {
        let address = list[at];
        let set = self.program.instruction_set(address);
        let instruction = self.program.instruction(address);
        let behind = address + u64::from(instruction.size);
        // Before an exception the list does not have where a branch led, which is where the handler returns to.
        let next = trap.map(|trap| trap.returns_to).or(list.get(at + 1).copied());
        // Nobody knows where the last one led.
        let Some(next) = next else { return false };
        match instruction.flow {
            Flow::Next | Flow::Call | Flow::Wait => return false,
            Flow::Barrier => {
                self.atom(true, at);
                return true;
            }
            _ => {}
        }
        let (is_call, is_taken) = match instruction.flow {
            Flow::Branch(Branch { is_call, target, .. }) => (is_call, next == target),
            // In A64 none is conditional; one can lead to the next instruction, as by a table of places.
            Flow::Indirect { is_call, .. } => (is_call, next != behind || set == InstructionSet::A64),
            _ => (false, true),
        };
        self.atom(is_taken, at);
        if is_taken && matches!(instruction.flow, Flow::Indirect { .. }) {
            let target = (next, self.program.instruction_set(next));
            if self.options.has_return_stack && self.returns.last() == Some(&target) {
                self.returns.pop();
                self.is_matched = true;
            } else if trap.is_some() {
                self.is_target_untold = true;
            } else {
                self.place(next);
            }
        }
        if is_taken && is_call && self.options.has_return_stack {
            if self.returns.len() == RETURNS {
                self.returns.remove(0);
            }
            self.returns.push((behind, set));
        }
        if matches!(instruction.flow, Flow::ExceptionReturn { .. }) {
            self.send(&[EXCEPTION_RETURN]);
            self.place(next);
        }
        true
    }
}
