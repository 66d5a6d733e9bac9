//! What a trace encoder sends in the modes that the generator of `riscv-etrace` does not know.
//!
//! This is the specification's "Reference Compressed Branch Trace Algorithm", with its modes as chapter 5 has them: one
//! instruction after the other, each with the ones before and behind it in view.

use std::collections::VecDeque;
use std::ops::Range;

use riscv_etrace::packet::ext::{BranchCount, BranchKind, Extension, JumpTargetIndex};
use riscv_etrace::packet::payload::{AddressInfo, Branch, InstructionTrace};
use riscv_etrace::packet::sync::{Context, QualStatus, Start, Support, Synchronization, Trap};
use riscv_etrace::types::trap::Info;
use riscv_etrace::types::{Privilege, branch};
use traceframe::format::itrace::etrace::Framing;
use traceframe::format::itrace::instruction::{Branch as Jump, Flow, sequential_jump_target};

use super::Width;
use super::encoder::{CALL, Options, TIMER, packet};
use crate::execution::Execution;
use crate::program::Program;
use crate::random::Random;
use crate::stream::Packet;

/// A packet tells so many branches one by one.
const FULL: usize = 31;

struct Encoder<'a> {
    program: &'a Program,
    execution: &'a Execution,
    framing: Framing,
    width: Width,
    packets: Vec<Packet>,
    /// The first instruction that no packet proves yet.
    unproven: usize,
    last_address: u64,
    /// Branches that no packet told yet, and how many of them went as predicted.
    branches: Vec<bool>,
    predicted: usize,
    predictor: Vec<u8>,
    jump_targets: Vec<u64>,
    returns: VecDeque<u64>,
    /// Whether something returned since the last call, and whether there was a branch since.
    has_returned: bool,
    has_branched: bool,
}

/// What is around an instruction.
#[derive(Clone, Copy)]
struct Around {
    /// Whether the instruction before led here and nobody can infer it, or whether that was a return that can be inferred.
    is_target: bool,
    is_returned_to: bool,
    is_first: bool,
    /// Whether it is time for a synchronization, and whether it was already at the instruction before.
    is_due: bool,
    is_overdue: bool,
}

pub fn encode(
    program: &Program,
    execution: &Execution,
    options: &Options,
    framing: Framing,
    width: Width,
) -> Vec<Packet> {
    let mut encoder = Encoder {
        program,
        execution,
        framing,
        width,
        packets: Vec::new(),
        unproven: 0,
        last_address: 0,
        branches: Vec::new(),
        predicted: 0,
        predictor: Vec::new(),
        jump_targets: Vec::new(),
        returns: VecDeque::new(),
        has_returned: false,
        has_branched: false,
    };
    encoder.support(QualStatus::NoChange, 0);
    encoder.empty();
    let (mut since, mut is_target, mut is_returned_to, mut is_first) = (0, false, false, true);
    for at in 0..execution.list.len() {
        if let Some(lost) = options.lost.iter().find(|lost| lost.contains(&at)) {
            if lost.start == at {
                encoder.support(QualStatus::TraceLost, lost.end);
            }
            (is_target, is_returned_to, is_first) = (false, false, true);
            continue;
        }
        let (is_due, is_overdue) = (since == options.period, since > options.period);
        let around = Around { is_target, is_returned_to, is_first, is_due, is_overdue };
        since = if encoder.step(at, around) { 0 } else { since + 1 };
        (is_target, is_returned_to) = encoder.leads_on(at);
        is_first = false;
    }
    encoder.packets
}

impl Encoder<'_> {
    fn address(&self, at: usize) -> u64 {
        self.execution.list[at]
    }

    fn privilege(&self, at: usize) -> Privilege {
        if self.program.handler().contains(&self.address(at)) { Privilege::Machine } else { Privilege::User }
    }

    /// Where execution went from an instruction, if no exception came.
    fn next(&self, at: usize) -> Option<u64> {
        let trap = self.execution.traps.get(&(at + 1));
        trap.map(|trap| trap.returns_to).or(self.execution.list.get(at + 1).copied())
    }

    /// Whether nobody can infer where an instruction leads, and whether it is a return of which that can be inferred.
    fn leads_on(&mut self, at: usize) -> (bool, bool) {
        let address = self.address(at);
        let instruction = self.program.instruction(address);
        let behind = address + u64::from(instruction.size);
        let set = self.program.instruction_set(0);
        let before = at.checked_sub(1).map(|at| self.address(at)).filter(|_| self.width.infers_sequences);
        let is_sequential = before
            .is_some_and(|from| from < address && sequential_jump_target(set, from, address, self.program).is_some());
        match instruction.flow {
            Flow::ExceptionReturn { .. } | Flow::Indirect { is_call: true, is_return: true, .. } => (true, false),
            Flow::Branch(Jump { is_call: true, .. }) => {
                self.call(behind);
                (false, false)
            }
            Flow::Indirect { is_return: true, .. } if !is_sequential => {
                let is_inferred = self.returns.back().is_some_and(|top| Some(*top) == self.next(at));
                if is_inferred {
                    self.returns.pop_back();
                    (self.has_returned, self.has_branched) = (true, false);
                }
                (!is_inferred, is_inferred)
            }
            Flow::Indirect { is_call, .. } => {
                if is_call {
                    self.call(behind);
                }
                (!is_sequential, false)
            }
            _ => (false, false),
        }
    }

    fn call(&mut self, behind: u64) {
        if self.width.returns > 0 {
            if self.returns.len() == 1 << self.width.returns {
                self.returns.pop_front();
            }
            self.returns.push_back(behind);
            self.has_returned = false;
        }
    }

    /// A branch was taken, or not.
    fn branch(&mut self, address: u64, taken: bool) {
        self.branches.push(taken);
        self.has_branched = true;
        let place = (address >> 1) as usize & self.predictor.len().wrapping_sub(1);
        if let Some(state) = self.predictor.get_mut(place) {
            let (predicts, was) = (*state >> 1, *state & 1);
            self.predicted += usize::from((predicts == 1) == taken);
            // It predicts what happened twice in a row.
            let now = u8::from(taken);
            *state = if was == now { now << 1 | now } else { predicts << 1 | now };
        }
    }

    /// An instruction. Whether a synchronization told it.
    fn step(&mut self, at: usize, around: Around) -> bool {
        let address = self.address(at);
        let mut own = None;
        if let Flow::Branch(Jump { is_conditional: true, target, .. }) = self.program.instruction(address).flow {
            let taken = self.next(at) == Some(target);
            own = Some(taken);
            self.branch(address, taken);
        }
        let trap = self.execution.traps.get(&at).filter(|_| !around.is_first);
        let changes = |at: usize| at > 0 && self.privilege(at) != self.privilege(at - 1);
        let ctx = Context { privilege: self.privilege(at), time: None, context: 0 };
        let branch = own != Some(true);
        let start = InstructionTrace::from(Start { branch, ctx, address });
        if let Some(trap) = trap {
            let info = Info {
                ecause: if trap.is_interrupt { TIMER } else { CALL },
                tval: if trap.is_interrupt { None } else { Some(0) },
            };
            // An exception that this program has no handler for is told as if it were at the target of a jump.
            if around.is_target || self.width.mtvec.is_some_and(|mtvec| mtvec != address) {
                let ctx = Context { privilege: self.privilege(at - 1), ..ctx };
                let told = Trap { branch, ctx, thaddr: false, address: trap.returns_to, info };
                self.send(told.into(), self.unproven..self.unproven);
                self.synchronize(start, at);
            } else {
                // Where handlers are need not be told.
                let address = if self.width.mtvec.is_some() { 0 } else { address };
                self.synchronize(Trap { branch, ctx, thaddr: true, address, info }.into(), at);
            }
            return true;
        }
        if around.is_first || changes(at) || around.is_overdue {
            self.synchronize(start, at);
            return true;
        }
        let is_last = at + 1 == self.execution.list.len();
        let is_before_trap = self.execution.traps.contains_key(&(at + 1));
        let is_before_synchronization = is_before_trap || !is_last && changes(at + 1) || around.is_due;
        let depth = self.depth(at, around, is_before_synchronization || is_last);
        let has_more = !self.branches.is_empty() || depth.is_some();
        if around.is_target || is_before_trap || is_last || is_before_synchronization && has_more {
            self.tell(at, around.is_target, is_before_synchronization, depth);
            if is_last {
                let status = if around.is_target { QualStatus::EndedNtr } else { QualStatus::EndedRep };
                self.support(status, at + 1);
            }
        } else if self.branches.len() == FULL && self.predicted < FULL {
            let branch_map = self.map();
            self.send(InstructionTrace::Branch(Branch { branch_map, address: None }), self.unproven..at + 1);
        } else if self.branches.len() > FULL && self.predicted < self.branches.len() {
            let branch_count = (self.predicted - FULL) as u32;
            self.send(BranchCount { branch_count, kind: BranchKind::NoAddr }.into(), self.unproven..at + 1);
        }
        false
    }

    /// How many calls there are, if that has to be told with the address of an instruction.
    fn depth(&self, at: usize, around: Around, is_before_synchronization: bool) -> Option<usize> {
        let depth = self.returns.len();
        let is_return = |at: usize| {
            let flow = self.program.instruction(self.address(at)).flow;
            matches!(flow, Flow::Indirect { is_call: false, is_return: true, .. })
        };
        if around.is_target && depth > 0 && is_return(at - 1) {
            return Some(depth);
        }
        if self.width.returns == 0 || !is_before_synchronization {
            return None;
        }
        // Of a return it is the number that there was when it was executed.
        let is_unclear = self.has_returned && !self.has_branched;
        if around.is_returned_to { Some(depth + 1) } else { is_unclear.then_some(depth) }
    }

    /// Tells the address of an instruction.
    fn tell(&mut self, at: usize, is_target: bool, is_before_synchronization: bool, irdepth: Option<usize>) {
        let address = self.address(at);
        let difference = if self.width.is_full { address } else { address.wrapping_sub(self.last_address) };
        let unused = 64 - u32::from(self.width.address);
        let difference = (difference << unused).cast_signed() >> unused;
        let updiscon = is_target && is_before_synchronization;
        let info = AddressInfo { address: difference, notify: false, updiscon, irdepth };
        let place = (address >> 1) as usize & self.jump_targets.len().wrapping_sub(1);
        let is_kept = is_target && self.jump_targets.get(place) == Some(&address);
        let told = if self.predicted >= FULL {
            let branch_count = (self.predicted - FULL) as u32;
            let is_predicted = self.predicted == self.branches.len();
            let kind = if is_predicted { BranchKind::Addr(info) } else { BranchKind::AddrFail(info) };
            BranchCount { branch_count, kind }.into()
        } else if is_kept {
            JumpTargetIndex { index: place, branch_map: self.map(), irdepth }.into()
        } else if self.branches.is_empty() {
            InstructionTrace::Address(info)
        } else {
            InstructionTrace::Branch(Branch { branch_map: self.map(), address: Some(info) })
        };
        if let Some(entry) = self.jump_targets.get_mut(place).filter(|_| is_target) {
            *entry = address;
        }
        self.last_address = address;
        self.send(told, self.unproven..at + 1);
    }

    fn map(&self) -> branch::Map {
        let mut map = branch::Map::default();
        for taken in &self.branches {
            map.push_branch_taken(*taken).unwrap();
        }
        map
    }

    fn synchronize(&mut self, told: InstructionTrace, at: usize) {
        self.last_address = self.address(at);
        self.send(told, self.unproven..at + 1);
        self.empty();
    }

    /// Forgets what it forgets at a synchronization.
    fn empty(&mut self) {
        let size = |bits: u8| if bits == 0 { 0 } else { 1 << bits };
        self.predictor = vec![0b01; size(self.width.predictor)];
        self.jump_targets = vec![0; size(self.width.jump_targets)];
        self.returns.clear();
        (self.has_returned, self.has_branched) = (false, false);
    }

    fn support(&mut self, qual_status: QualStatus, next: usize) {
        let told = Support { ienable: true, qual_status, ioptions: self.width.options(), ..Support::default() };
        self.send(told.into(), next..next);
    }

    fn send(&mut self, told: InstructionTrace, proves: Range<usize>) {
        self.unproven = proves.end;
        (self.branches, self.predicted) = (Vec::new(), 0);
        let mut packet = packet(&told, 0, self.framing, self.width);
        if let InstructionTrace::Extension(extension) = told
            && self.width.kinds() == 1
        {
            packet.bytes = with_kind(&packet.bytes, matches!(extension, Extension::JumpTargetIndex(_)));
        }
        // Of an exception whose handler is not told no address can be looked for.
        packet.is_synchronization &=
            self.width.mtvec.is_none() || !matches!(told, InstructionTrace::Synchronization(Synchronization::Trap(_)));
        self.packets.push(Packet { proves, ..packet });
    }
}

/// A packet of format 0 with the bit that tells of which kind it is, which the crate's encoder leaves out: it comes behind
/// the two of the format. Before them there is a header with the number of bytes.
fn with_kind(packet: &[u8], is_jump_target: bool) -> Vec<u8> {
    let (header, payload) = packet.split_first().unwrap();
    let unused = 128 - 8 * payload.len();
    let mut bytes = [0; 16];
    bytes[..payload.len()].copy_from_slice(payload);
    let bits = i128::from_le_bytes(bytes) << unused >> unused;
    let mut payload = (bits >> 2 << 3 | i128::from(is_jump_target) << 2 | bits & 0b11).to_le_bytes().to_vec();
    // Bytes that say what the sign of those before says are left out.
    while let [.., before, last] = payload[..]
        && last == if before & 0x80 == 0 { 0 } else { 0xff }
    {
        payload.pop();
    }
    [&[header & 0xe0 | payload.len() as u8], &payload[..]].concat()
}

/// An encoder in all modes.
pub fn all(program: &Program) -> Width {
    let width = Width { returns: 5, infers_sequences: true, predictor: 6, jump_targets: 4, ..Width::of(program) };
    Width { mtvec: Some(program.handler().start), ..width }
}

/// A program, where its handler's address is one that a register can have, and a way through it with long loops and with
/// so many interrupts.
pub fn way(program: &Program, interrupts: usize) -> (Program, Execution) {
    let mut random = Random::new(1);
    let execution = Execution::of(program).with_long_loops(program, &mut random);
    let execution = execution.with_interrupts(program, interrupts, true, &mut random);
    // The register has bits 0 and 1 for something else.
    let bias = program.handler().start % 4;
    (program.at_bias(bias), execution.at_bias(bias))
}

#[cfg(test)]
mod tests {
    use super::super::{SIEMENS, judged, show};
    use super::*;
    use crate::stream::Sink;

    /// Each mode by itself, and all together.
    fn widths(program: &Program) -> Vec<Width> {
        let width = Width::of(program);
        let mtvec = Some(program.handler().start);
        vec![
            Width { returns: 5, ..width },
            Width { returns: 1, is_full: true, ..width },
            Width { infers_sequences: true, ..width },
            Width { predictor: 4, ..width },
            Width { predictor: 9, ..width },
            Width { jump_targets: 1, ..width },
            Width { jump_targets: 6, ..width },
            Width { mtvec, ..width },
            all(program),
        ]
    }

    #[test]
    fn what_is_told_in_each_mode_is_read_back() {
        for name in judged::PROGRAMS {
            for interrupts in [0, 40] {
                let (program, execution) = way(&Program::open(name), interrupts);
                let third = execution.list.len() / 3;
                let lost = vec![third / 2..third - 10, third + 400..third + 401];
                for width in widths(&program) {
                    for (period, lost) in [(700, Vec::new()), (90, Vec::new()), (3500, lost.clone())] {
                        let what = format!("{name}, {width:?}, every {period}, {lost:?}");
                        let options = Options { period, lost, ..Options::default() };
                        let packets = encode(&program, &execution, &options, SIEMENS, width);
                        let sink = Sink::of(&packets, 0..packets.len());
                        let shown = show(&program, &sink, SIEMENS, width);
                        judged::assert_read_back(&shown, &execution, &packets, &options, &what);
                    }
                }
            }
        }
    }

    /// The modes are there to tell less; each of them is used.
    #[test]
    fn each_mode_tells_less() {
        let (program, execution) = way(&Program::open("walk.rv64"), 40);
        let length = |width: Width| -> usize {
            let options = Options { period: 3500, ..Options::default() };
            let packets = encode(&program, &execution, &options, SIEMENS, width);
            packets.iter().map(|packet| packet.bytes.len()).sum()
        };
        let plain = length(Width::of(&program));
        // The program's jumps lead nowhere by themselves.
        for width in widths(&program).into_iter().filter(|width| !width.is_full && !width.infers_sequences) {
            assert!(length(width) < plain, "{width:?}: {} of {plain}", length(width));
        }
    }
}
