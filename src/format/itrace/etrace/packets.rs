//! From the bytes of a sink to the packets of each hart.

use riscv_etrace::packet::decoder::Decoder;
use riscv_etrace::packet::payload::{InstructionTrace, Payload};
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
    /// The hart, or the source, as its header has it.
    pub source: u64,
    /// What it says; words where that cannot be read. `None` for a packet that says nothing of instructions.
    pub payload: Result<Option<InstructionTrace>, String>,
}

/// The packets of a sink, of all sources.
pub struct Packets<'a> {
    decoder: Decoder<'a, Reference>,
    framing: Framing,
    length: usize,
}

impl<'a> Packets<'a> {
    /// Those in the bytes of a sink, of encoders that are all alike.
    pub fn new(bytes: &'a [u8], framing: Framing, parameters: &Parameters) -> Packets<'a> {
        let builder = packet::builder().with_params(&parameters.0);
        let builder = match framing {
            Framing::Siemens { hart_bits } => builder.with_hart_index_width(hart_bits.min(64)),
            Framing::Encapsulation { source_bits, timestamp_bytes } => {
                builder.with_hart_index_width(source_bits.min(16)).with_timestamp_width(timestamp_bytes.min(8))
            }
        };
        Packets { decoder: builder.decoder(bytes), framing, length: bytes.len() }
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
                Some(Packet { at, source: packet.hart(), payload: said(packet.decode_payload()) })
            }
            Framing::Encapsulation { .. } => self.decoder.decode_encap_packet()?.into_normal().map(|packet| {
                let source = u64::from(packet.src_id());
                Packet { at, source, payload: said(packet.decode_payload()) }
            }),
        })
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    /// The next packet. A last one that is cut has words for its payload.
    fn next(&mut self) -> Option<Packet> {
        loop {
            let at = self.length.checked_sub(self.decoder.bytes_left()).filter(|at| *at < self.length)?;
            match self.decode(at as u64) {
                Ok(Some(packet)) => return Some(packet),
                // One that fills a gap.
                Ok(None) => {}
                Err(error) => {
                    self.decoder.reset(&[]);
                    self.length = 0;
                    return Some(Packet { at: at as u64, source: 0, payload: Err(error.to_string()) });
                }
            }
        }
    }
}
