//! What a trace encoder sends, by the generator of `riscv-etrace`.

use std::ops::Range;

use riscv_etrace::generator::hart2enc::{CType, JumpType};
use riscv_etrace::generator::step::{Kind, Step};
use riscv_etrace::generator::{self, Event, Generator};
use riscv_etrace::instruction::Size;
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
use riscv_etrace::packet::sync::{QualStatus, Support, Synchronization};
use riscv_etrace::packet::unit::ReferenceIOptions;
use riscv_etrace::packet::{self, encap, smi};
use riscv_etrace::types::trap::Info;
use riscv_etrace::types::{Context, Privilege};
use traceframe::format::itrace::etrace::{self, Framing, Packets};
use traceframe::format::itrace::instruction::{Branch, Flow};

use super::Width;
use crate::execution::Execution;
use crate::program::Program;
use crate::stream::Packet;

/// The number of the source in encapsulated packets.
pub const SOURCE: u16 = 3;

/// What an encoder is told to do, and what becomes of it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether every address is told as a whole.
    pub has_full_addresses: bool,
    /// How many instructions come between two synchronizations.
    pub period: usize,
    /// Instructions that a filter keeps from being traced.
    pub filtered: Vec<Range<usize>>,
    /// Instructions whose packets are lost, as the encoder says.
    pub lost: Vec<Range<usize>>,
}

/// Causes (the RISC-V privileged architecture, table "mcause").
pub const CALL: u16 = 8;
pub const TIMER: u16 = 5;

#[derive(Clone, Copy, Debug)]
struct Executed {
    address: u64,
    kind: Kind,
    privilege: Privilege,
}

impl Step for Executed {
    fn address(&self) -> u64 {
        self.address
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn ctype(&self) -> CType {
        CType::Unreported
    }

    fn context(&self) -> Context {
        Context { privilege: self.privilege, context: 0 }
    }
}

/// The instruction with this number, and before it the interrupt that came, if one did.
fn executed(program: &Program, execution: &Execution, at: usize) -> Vec<Executed> {
    let address = execution.list[at];
    let instruction = program.instruction(address);
    let insn_size = if instruction.size == 2 { Size::Compressed } else { Size::Normal };
    let next = execution.list.get(at + 1);
    let next_trap = execution.traps.get(&(at + 1));
    let jump = |kind| Kind::Jump { insn_size, kind, sequentially_inferable: false };
    let kind = match instruction.flow {
        Flow::Branch(Branch { is_conditional: true, target, .. }) => {
            let next = next_trap.map(|trap| trap.returns_to).or(next.copied());
            Kind::Branch { insn_size, taken: next == Some(target) }
        }
        Flow::Branch(Branch { is_call: true, .. }) => jump(JumpType::InferCall),
        Flow::Branch(_) => jump(JumpType::InferOther),
        Flow::Indirect { is_call: true, is_return: true, .. } => jump(JumpType::CoRoutineSwap),
        Flow::Indirect { is_call: true, .. } => jump(JumpType::UnferCall),
        Flow::Indirect { is_return: true, .. } => jump(JumpType::Return),
        Flow::Indirect { .. } => jump(JumpType::UnferOther),
        Flow::ExceptionReturn { .. } => Kind::TrapReturn { insn_size },
        // Of the last one, which ends the program, no handler is executed.
        Flow::Call if next.is_some() => {
            Kind::Trap { insn_size: Some(insn_size), info: Info { ecause: CALL, tval: Some(0) } }
        }
        _ => Kind::Retirement { insn_size },
    };
    let privilege = if program.handler().contains(&address) { Privilege::Machine } else { Privilege::User };
    let mut steps = Vec::new();
    if let Some(trap) = execution.traps.get(&at).filter(|trap| trap.is_interrupt) {
        let kind = Kind::Trap { insn_size: None, info: Info { ecause: TIMER, tval: None } };
        steps.push(Executed { address: trap.returns_to, kind, privilege: Privilege::User });
    }
    steps.push(Executed { address, kind, privilege });
    steps
}

/// The packets of an execution. What each of them proves is not known here, a judge tells; but where it tells that
/// tracing begins, it has the number of the first instruction.
pub fn encode(
    program: &Program,
    execution: &Execution,
    options: &Options,
    framing: Framing,
    width: Width,
) -> Vec<Packet> {
    let ioptions = ReferenceIOptions { full_address: options.has_full_addresses, ..ReferenceIOptions::default() };
    let mut packets = Vec::new();
    let mut send = |payload: InstructionTrace, at: usize| packets.push(packet(&payload, at, framing, width));
    let began = || -> (Generator<Executed>, Support) {
        let mut generator = generator::builder().with_params(&width.theirs()).build().unwrap();
        let support = generator.begin_qualification(ioptions, Default::default()).unwrap();
        (generator, support)
    };
    let (mut generator, support) = began();
    send(support.into(), 0);
    let mut at = 0;
    let mut since = 0;
    while at < execution.list.len() {
        let starts = |ranges: &[Range<usize>]| ranges.iter().find(|range| range.start == at).cloned();
        if let Some(range) = starts(&options.filtered) {
            generator.end_qualification(true).for_each(|payload| send(payload.unwrap(), 0));
            let (begun, support) = began();
            send(support.into(), range.end);
            (generator, at, since) = (begun, range.end, 0);
        } else if let Some(range) = starts(&options.lost) {
            let (begun, support) = began();
            send(Support { qual_status: QualStatus::TraceLost, ..support }.into(), range.end);
            (generator, at, since) = (begun, range.end, 0);
        }
        for step in executed(program, execution, at) {
            let event = (since >= options.period && !matches!(step.kind, Kind::Trap { .. })).then_some(Event::ReSync);
            if event.is_some() {
                since = 0;
            }
            generator.process_step(step, event).for_each(|payload| send(payload.unwrap(), 0));
        }
        at += 1;
        since += 1;
    }
    generator.end_qualification(true).for_each(|payload| send(payload.unwrap(), 0));
    packets
}

pub fn packet(payload: &InstructionTrace, at: usize, framing: Framing, width: Width) -> Packet {
    let mut buffer = [0; 64];
    let builder = packet::builder().with_params(&width.theirs());
    let uncommitted = match framing {
        Framing::Siemens { hart_bits } => {
            let mut encoder = builder.with_hart_index_width(hart_bits).encoder(&mut buffer);
            encoder.encode(&smi::Packet::new(0b10, 0, *payload)).unwrap();
            encoder.uncommitted()
        }
        Framing::Encapsulation { source_bits, timestamp_bytes } => {
            let builder = builder.with_hart_index_width(source_bits).with_timestamp_width(timestamp_bytes);
            let mut encoder = builder.encoder(&mut buffer);
            let payload = Payload::InstructionTrace(*payload);
            encoder.encode(&encap::Normal::new(0, SOURCE, payload).with_timestamp(0x1234)).unwrap();
            encoder.uncommitted()
        }
    };
    Packet {
        bytes: buffer[..buffer.len() - uncommitted].to_vec(),
        proves: at..at,
        is_synchronization: is_synchronization(payload),
    }
}

/// What an encoder sends where it lost packets.
pub fn loss(framing: Framing, width: Width) -> Vec<u8> {
    let ioptions = width.options();
    let support: Support =
        Support { ienable: true, qual_status: QualStatus::TraceLost, ioptions, ..Support::default() };
    packet(&support.into(), 0, framing, width).bytes
}

/// The packets in a sink.
pub fn split(bytes: &[u8], framing: Framing, width: Width) -> Vec<Packet> {
    let parameters = width.ours();
    let found: Vec<_> = Packets::new(bytes, framing, &parameters).collect();
    let ends = found.iter().skip(1).map(|packet| packet.at as usize).chain([bytes.len()]);
    let packet = |(found, end): (&etrace::Packet, usize)| {
        let payload = found.payload.clone().unwrap().unwrap();
        let bytes = bytes[found.at as usize..end].to_vec();
        Packet { bytes, proves: 0..0, is_synchronization: is_synchronization(&payload) }
    };
    found.iter().zip(ends).map(packet).collect()
}

fn is_synchronization(payload: &InstructionTrace) -> bool {
    match payload {
        InstructionTrace::Synchronization(Synchronization::Start(_)) => true,
        InstructionTrace::Synchronization(Synchronization::Trap(trap)) => trap.thaddr,
        _ => false,
    }
}
