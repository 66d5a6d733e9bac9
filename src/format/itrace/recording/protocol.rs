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
    ETrace {
        /// How packets are told apart.
        framing: etrace::Framing,
        /// What the encoder is like.
        parameters: etrace::Parameters,
        /// The number of the hart, or of the source, in packets' headers.
        source: u64,
        /// Those of the others in the sink.
        others: Vec<u64>,
        /// What it executes.
        instruction_set: InstructionSet,
    },
}

/// The number of a hart in packets' headers.
fn number(source: &TraceSource) -> u64 {
    source.id.unwrap_or(0)
}

impl Protocol {
    /// The numbers of the harts that are in a sink of these bytes. Whoever looks for one alone need not name the others.
    pub fn harts(sink: &Sink, bytes: &[u8]) -> BTreeSet<u64> {
        let read = sink.sources.first().and_then(|source| Protocol::new(sink.framing, source, &BTreeSet::new()));
        let Some(Protocol::ETrace { framing, parameters, .. }) = read else { return BTreeSet::new() };
        let mut harts = etrace::Packets::new(bytes, framing, &parameters).sources();
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
                Some(Protocol::ETrace { framing, parameters, source: own, others, instruction_set })
            }
            (Framing::CoreSight(_), Said::ETrace { .. }) | (Framing::RiscV(_), Said::Etm4(_)) => None,
        }
    }

    /// The same, with what can only be found out from the sink and the program, and what was.
    pub fn fitted(mut self, sink: &[u8], code: &dyn Code) -> (Protocol, Fit) {
        let Protocol::ETrace { framing, parameters, source, others, instruction_set } = &mut self else {
            return (self, Fit::AsSaid);
        };
        let packets = etrace::Packets::new(sink, *framing, parameters);
        let packets = packets.read_on(etrace::Place::default(), (*source, others), code);
        let (fitted, fit) = parameters.fitted(*instruction_set, *source, &packets, code);
        *parameters = fitted;
        (self, fit)
    }

    /// What ends a block for a source of this kind.
    pub fn ends(&self) -> Ends {
        match self {
            Protocol::Etm4 { configuration, .. } => coresight::Reconstruction::ends(configuration),
            Protocol::ETrace { .. } => Ends::default(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Etm4 { configuration, .. } => configuration.name(),
            Protocol::ETrace { .. } => "E-Trace",
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
            Protocol::ETrace { instruction_set, .. } => Some(*instruction_set),
        }
    }

    /// What an exception is called by a processor that is, or is not, of Arm's M-profile.
    pub fn exception(&self, cause: u64, is_interrupt: bool, is_m_profile: bool) -> String {
        match self {
            Protocol::Etm4 { .. } if is_m_profile => exceptions::of_arm_m(cause),
            Protocol::Etm4 { .. } => exceptions::of_arm(cause),
            Protocol::ETrace { .. } => exceptions::of_riscv(cause, is_interrupt),
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
            Protocol::ETrace { framing, parameters, source, .. } => {
                let packets = etrace::Packets::new(sink, *framing, parameters);
                let own = packets.filter(|packet| packet.source == Some(*source));
                own.filter_map(|packet| packet.full_address()).take(most).collect()
            }
        }
    }
}
