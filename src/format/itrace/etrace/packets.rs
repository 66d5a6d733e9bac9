//! From the bytes of a sink to the packets of each hart.

use riscv_etrace::packet::decoder::Decoder;
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
use riscv_etrace::packet::sync::Synchronization;
use riscv_etrace::packet::unit::Reference;
use riscv_etrace::packet::{self, Error};

use super::parameters::Parameters;

/// How packets are told apart in a sink, and whose they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The Siemens Messaging Infrastructure (specification, chapter 7).
    Siemens {
        /// How many bits of a header are the number of the hart.
        hart_bits: u8,
    },
    /// "Unformatted Trace & Diagnostic Data Packet Encapsulation for RISC-V".
    Encapsulation {
        /// How many bits of a header are the number of the source.
        source_bits: u8,
        /// How many bytes a timestamp has.
        timestamp_bytes: u8,
    },
}

/// A packet.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Offset in the sink's bytes of its header.
    pub at: u64,
    /// The hart, or the source, as its header has it; `None` where the header itself cannot be read.
    pub source: Option<u64>,
    /// What it says; words where that cannot be read. `None` for a packet that says nothing of instructions.
    pub payload: Result<Option<InstructionTrace>, String>,
    /// Whether it cannot be read because the bytes end in it.
    pub is_cut: bool,
}

impl Packet {
    /// The address that it tells in full, where it begins a trace.
    pub fn full_address(&self) -> Option<u64> {
        match &self.payload {
            Ok(Some(InstructionTrace::Synchronization(Synchronization::Start(start)))) => Some(start.address),
            _ => None,
        }
    }
}

/// The packets of a sink, of all sources.
#[derive(Clone)]
pub struct Packets<'a> {
    decoder: Decoder<'a, Reference>,
    framing: Framing,
    length: usize,
}

impl<'a> Packets<'a> {
    /// Those in the bytes of a sink, of encoders that are all alike.
    pub fn new(bytes: &'a [u8], framing: Framing, parameters: &Parameters) -> Packets<'a> {
        Packets::from(bytes, 0, framing, parameters)
    }

    /// Those from an offset on, where a packet begins.
    pub fn from(bytes: &'a [u8], at: u64, framing: Framing, parameters: &Parameters) -> Packets<'a> {
        let builder = packet::builder().with_params(&parameters.0);
        let builder = match framing {
            Framing::Siemens { hart_bits } => builder.with_hart_index_width(hart_bits.min(64)),
            Framing::Encapsulation { source_bits, timestamp_bytes } => {
                builder.with_hart_index_width(source_bits.min(16)).with_timestamp_width(timestamp_bytes.min(8))
            }
        };
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        Packets { decoder: builder.decoder(rest), framing, length: bytes.len() }
    }

    /// Offset in the sink of the next packet.
    pub fn at(&self) -> u64 {
        self.length.saturating_sub(self.decoder.bytes_left()) as u64
    }

    fn decode(&mut self, at: u64) -> Result<Option<Packet>, Error> {
        let said = |payload: Result<Payload, Error>| match payload {
            Ok(Payload::InstructionTrace(payload)) => Ok(Some(payload)),
            Ok(Payload::DataTrace) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        Ok(match self.framing {
            Framing::Siemens { .. } => {
                let packet = self.decoder.decode_smi_packet()?;
                Some(Packet { at, source: Some(packet.hart()), payload: said(packet.decode_payload()), is_cut: false })
            }
            Framing::Encapsulation { .. } => self.decoder.decode_encap_packet()?.into_normal().map(|packet| {
                let source = Some(u64::from(packet.src_id()));
                Packet { at, source, payload: said(packet.decode_payload()), is_cut: false }
            }),
        })
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    /// The next packet. A last one that is cut has words for its payload.
    fn next(&mut self) -> Option<Packet> {
        loop {
            let at = Some(self.at()).filter(|at| *at < self.length as u64)?;
            match self.decode(at) {
                Ok(Some(packet)) => return Some(packet),
                // One that fills a gap.
                Ok(None) => {}
                Err(error) => {
                    self.decoder.reset(&[]);
                    let is_cut = matches!(error, Error::InsufficientData(_));
                    return Some(Packet { at, source: None, payload: Err(error.to_string()), is_cut });
                }
            }
        }
    }
}
