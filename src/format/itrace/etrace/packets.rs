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
    /// The time at which it was made, by a clock that its source shares with the others of the sink, if its
    /// encapsulation tells it. The Siemens Messaging Infrastructure tells the lowest 16 bits of a time alone, which is none.
    pub time: Option<u64>,
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
    /// The same for packets in an encapsulation without a timestamp.
    without_timestamps: Decoder<'a, Reference>,
    framing: Framing,
    bytes: &'a [u8],
    /// Offset of the next packet.
    next: usize,
}

impl<'a> Packets<'a> {
    /// Those in the bytes of a sink, of encoders that are all alike.
    pub fn new(bytes: &'a [u8], framing: Framing, parameters: &Parameters) -> Packets<'a> {
        Packets::from(bytes, 0, framing, parameters)
    }

    /// Those from an offset on, where a packet begins.
    pub fn from(bytes: &'a [u8], at: u64, framing: Framing, parameters: &Parameters) -> Packets<'a> {
        let builder = packet::builder().with_params(&parameters.0);
        let (bits, timestamp_bytes) = match framing {
            Framing::Siemens { hart_bits } => (hart_bits.min(64), 0),
            Framing::Encapsulation { source_bits, timestamp_bytes } => (source_bits.min(16), timestamp_bytes.min(8)),
        };
        let decoder =
            |timestamp_bytes| builder.with_hart_index_width(bits).with_timestamp_width(timestamp_bytes).decoder(&[]);
        let next = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        Packets { decoder: decoder(timestamp_bytes), without_timestamps: decoder(0), framing, bytes, next }
    }

    /// Offset in the sink of the next packet.
    pub fn at(&self) -> u64 {
        self.next as u64
    }

    /// A packet, and moves behind it; `None` for one that fills a gap.
    fn decode(&mut self) -> Result<Option<Packet>, Error> {
        let at = self.at();
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        // Bit 7 of an encapsulation's header says whether there is a timestamp. The crate reckons with its bytes always.
        let is_short = matches!(self.framing, Framing::Encapsulation { .. })
            && rest.first().is_some_and(|header| header & 0x80 == 0);
        let decoder = if is_short { &mut self.without_timestamps } else { &mut self.decoder };
        decoder.reset(rest);
        let said = |payload: Result<Payload, Error>| match payload {
            Ok(Payload::InstructionTrace(payload)) => Ok(Some(payload)),
            Ok(Payload::DataTrace) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        let found = match self.framing {
            Framing::Siemens { .. } => {
                let packet = decoder.decode_smi_packet()?;
                let source = Some(packet.hart());
                Some(Packet { at, source, payload: said(packet.decode_payload()), is_cut: false, time: None })
            }
            Framing::Encapsulation { .. } => decoder.decode_encap_packet()?.into_normal().map(|packet| {
                let (source, time) = (Some(u64::from(packet.src_id())), packet.timestamp());
                Packet { at, source, payload: said(packet.decode_payload()), is_cut: false, time }
            }),
        };
        self.next = self.bytes.len().saturating_sub(decoder.bytes_left());
        Ok(found)
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    /// The next packet. A last one that is cut has words for its payload.
    fn next(&mut self) -> Option<Packet> {
        loop {
            if let Framing::Siemens { .. } = self.framing {
                // A packet of no bytes tells nothing: a buffer that is not full ends in such.
                let rest = self.bytes.get(self.next..).unwrap_or_default();
                self.next += rest.iter().take_while(|byte| **byte == 0).count();
            }
            let at = self.at();
            if self.next >= self.bytes.len() {
                return None;
            }
            match self.decode() {
                Ok(Some(packet)) => return Some(packet),
                // One that fills a gap.
                Ok(None) => {}
                Err(error) => {
                    self.next = self.bytes.len();
                    let is_cut = matches!(error, Error::InsufficientData(_));
                    return Some(Packet { at, source: None, payload: Err(error.to_string()), is_cut, time: None });
                }
            }
        }
    }
}
