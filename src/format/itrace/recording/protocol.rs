//! What a source is like, whatever its protocol.

use std::collections::BTreeSet;

use super::super::capture::{Framing, Protocol as Said, Sink, TraceSource};
use super::super::coresight::{self, etm4, formatter};
use super::super::element::ElementKind;
use super::super::etrace::{self, Fit};
use super::super::instruction::{Code, Ends, InstructionSet};
use super::exceptions;

/// What a source is like.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// An ETMv4, or an ETE.
    Etm4 {
        /// How sources are mixed in the sink.
        framing: formatter::Framing,
        /// What the trace unit can tell.
        configuration: etm4::Configuration,
    },
    /// A hart with an encoder of RISC-V E-Trace.
    ETrace(Hart),
}

/// A hart with an encoder of RISC-V E-Trace.
#[derive(Clone, Debug)]
pub struct Hart {
    /// How packets are told apart.
    pub framing: etrace::Framing,
    /// What the encoder is like.
    pub parameters: etrace::Parameters,
    /// The number of the hart, or of the source, in packets' headers.
    pub source: u64,
    /// Those of the others in the sink.
    pub others: Vec<u64>,
    /// What it executes.
    pub instruction_set: InstructionSet,
}

impl Hart {
    /// The packets of its sink from a place on.
    pub fn packets<'a>(&'a self, sink: &'a [u8], place: etrace::Place, code: &'a dyn Code) -> etrace::Packets<'a> {
        let packets = etrace::Packets::new(sink, self.framing, &self.parameters);
        packets.read_on(place, (self.source, &self.others), (code, self.instruction_set))
    }
}

/// The number of a hart in packets' headers.
fn number(source: &TraceSource) -> u64 {
    source.id.unwrap_or(0)
}

impl Protocol {
    /// The numbers of the harts that are in a sink of these bytes. Whoever looks for one alone need not name the others.
    pub fn harts(sink: &Sink, bytes: &[u8]) -> BTreeSet<u64> {
        let read = sink.sources.first().and_then(|source| Protocol::new(sink.framing, source, &BTreeSet::new()));
        let Some(Protocol::ETrace(hart)) = read else { return BTreeSet::new() };
        let mut harts = etrace::Packets::new(bytes, hart.framing, &hart.parameters).sources();
        harts.extend(sink.sources.iter().map(number));
        harts
    }

    /// How a source is read that is in a sink of such a framing, with these harts; `None` for a pair that no capture has.
    pub fn new(framing: Framing, source: &TraceSource, harts: &BTreeSet<u64>) -> Option<Protocol> {
        match (framing, source.protocol) {
            (Framing::CoreSight(framing), Said::Etm4(configuration)) => Some(Protocol::Etm4 { framing, configuration }),
            (Framing::RiscV(framing), Said::ETrace { parameters, instruction_set }) => {
                let own = number(source);
                let others = harts.iter().copied().filter(|hart| *hart != own).collect();
                Some(Protocol::ETrace(Hart { framing, parameters, source: own, others, instruction_set }))
            }
            (Framing::CoreSight(_), Said::ETrace { .. }) | (Framing::RiscV(_), Said::Etm4(_)) => None,
        }
    }

    /// The same, with what can only be found out from the sink and the program, and what was.
    pub fn fitted(mut self, sink: &[u8], code: &dyn Code) -> (Protocol, Fit) {
        let Protocol::ETrace(hart) = &mut self else { return (self, Fit::AsSaid) };
        let packets = hart.packets(sink, etrace::Place::default(), code);
        let (fitted, fit) = hart.parameters.fitted(hart.instruction_set, hart.source, &packets, code);
        hart.parameters = fitted;
        (self, fit)
    }

    /// What ends a block for a source of this kind.
    pub fn ends(&self) -> Ends {
        match self {
            Protocol::Etm4 { configuration, .. } => coresight::Reconstruction::ends(configuration),
            Protocol::ETrace(_) => Ends::default(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Etm4 { configuration, .. } => configuration.name(),
            Protocol::ETrace(_) => "E-Trace",
        }
    }

    /// How the first instructions are encoded that a sink tells of.
    pub fn instruction_set(&self, sink: &[u8]) -> Option<InstructionSet> {
        match self {
            Protocol::Etm4 { framing, configuration } => {
                let mut elements = etm4::Source::new(sink, *framing, *configuration);
                elements.find_map(|element| match element.kind {
                    ElementKind::Address(target) => Some(target.instruction_set),
                    _ => None,
                })
            }
            Protocol::ETrace(hart) => Some(hart.instruction_set),
        }
    }

    /// What an exception is called by a processor that is, or is not, of Arm's M-profile.
    pub fn exception(&self, cause: u64, is_interrupt: bool, is_m_profile: bool) -> String {
        match self {
            Protocol::Etm4 { .. } if is_m_profile => exceptions::of_arm_m(cause),
            Protocol::Etm4 { .. } => exceptions::of_arm(cause),
            Protocol::ETrace(_) => exceptions::of_riscv(cause, is_interrupt),
        }
    }

    /// Addresses that the first packets tell in full, as far as these can be read without a program: `most` at most.
    pub fn addresses(&self, sink: &[u8], most: usize) -> Vec<u64> {
        match self {
            Protocol::Etm4 { framing, configuration } => {
                let elements = etm4::Source::new(sink, *framing, *configuration);
                let full = elements.filter_map(|element| match element.kind {
                    ElementKind::Address(target) if target.is_full => Some(target.address),
                    _ => None,
                });
                full.take(most).collect()
            }
            Protocol::ETrace(hart) => {
                let packets = etrace::Packets::new(sink, hart.framing, &hart.parameters);
                let own = packets.filter(|packet| packet.source == Some(hart.source));
                own.filter_map(|packet| packet.full_address()).take(most).collect()
            }
        }
    }
}
