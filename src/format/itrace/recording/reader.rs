//! Where the reading of a source stands, whatever its protocol: the one place that knows all of them.

use std::cell::Cell;

use super::super::capture::{Framing, Protocol as Said, TraceSource};
use super::super::coresight::{self, etm4, formatter};
use super::super::element::ElementKind;
use super::super::etrace;
use super::super::instruction::{Blocks, Code, Ends, InstructionSet};
use super::super::step::Step;
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
        /// What it executes.
        instruction_set: InstructionSet,
    },
}

impl Protocol {
    /// How a source is read that is in a sink of such a framing; `None` for a pair that no capture has.
    pub fn new(framing: Framing, source: &TraceSource) -> Option<Protocol> {
        match (framing, source.protocol) {
            (Framing::CoreSight(framing), Said::Etm4(configuration)) => Some(Protocol::Etm4 { framing, configuration }),
            (Framing::RiscV(framing), Said::ETrace { parameters, instruction_set }) => {
                Some(Protocol::ETrace { framing, parameters, source: source.id.unwrap_or(0), instruction_set })
            }
            (Framing::CoreSight(_), Said::ETrace { .. }) | (Framing::RiscV(_), Said::Etm4(_)) => None,
        }
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

    /// What an exception is called.
    pub fn exception(&self, cause: u64, is_interrupt: bool) -> String {
        match self {
            Protocol::Etm4 { .. } => exceptions::of_arm(cause),
            Protocol::ETrace { .. } => exceptions::of_riscv(cause, is_interrupt),
        }
    }

    /// The beginning of a sink.
    pub fn reader(&self) -> Reader {
        match self {
            Protocol::Etm4 { framing, configuration } => Reader::Etm4(Box::new((
                etm4::Source::new(&[], *framing, *configuration),
                coresight::Reconstruction::new(configuration),
            ))),
            Protocol::ETrace { parameters, instruction_set, .. } => {
                Reader::ETrace(0, Box::new(etrace::Reconstruction::new(*instruction_set, parameters)))
            }
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

/// Where the reading of a source stands. It can be kept, and gone on from later.
#[derive(Clone, Debug)]
pub enum Reader {
    /// Of an ETMv4.
    Etm4(Box<(etm4::Source<'static>, coresight::Reconstruction)>),
    /// Of E-Trace, with the offset of the next packet.
    ETrace(u64, Box<etrace::Reconstruction>),
}

impl Reader {
    /// Reads on in the sink until `step`, which is told of each step and of the place in the sink that it is told at, has
    /// enough; whether there is more. `is_enough` is asked between packets.
    pub fn read<C: Code>(
        &mut self,
        sink: &[u8],
        protocol: &Protocol,
        blocks: &mut Blocks<C>,
        mut step: impl FnMut(u64, Step) -> bool,
    ) -> bool {
        let is_enough = Cell::new(false);
        let mut step = |at, told| is_enough.set(step(at, told) | is_enough.get());
        match (self, protocol) {
            (Reader::Etm4(state), Protocol::Etm4 { framing, configuration }) => {
                let nothing = etm4::Source::new(&[], *framing, *configuration);
                let mut source = std::mem::replace(&mut state.0, nothing).over(sink);
                while !is_enough.get() {
                    let Some(element) = source.next() else {
                        state.1.end(&mut step);
                        break;
                    };
                    state.1.take(&element, blocks, &mut step);
                }
                state.0 = source.over(&[]);
            }
            (Reader::ETrace(at, state), Protocol::ETrace { framing, parameters, source, .. }) => {
                let mut packets = etrace::Packets::from(sink, *at, *framing, parameters);
                while !is_enough.get() {
                    let Some(packet) = packets.next() else {
                        state.end(&mut step);
                        break;
                    };
                    if packet.source.is_none_or(|found| found == *source) {
                        state.take(&packet, blocks, &mut step);
                    }
                }
                *at = packets.at();
            }
            // One protocol makes only readers of its own.
            (Reader::Etm4(_), Protocol::ETrace { .. }) | (Reader::ETrace(..), Protocol::Etm4 { .. }) => {}
        }
        is_enough.get()
    }
}
