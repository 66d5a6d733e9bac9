//! From the bytes of a sink to the packets of each hart.

use std::collections::{BTreeMap, BTreeSet};

use riscv_etrace::packet::decoder::Decoder;
use riscv_etrace::packet::ext::{BranchKind, JumpTargetIndex};
use riscv_etrace::packet::payload::InstructionTrace;
use riscv_etrace::packet::smi::TraceType;
use riscv_etrace::packet::sync::Synchronization;
use riscv_etrace::packet::unit::{Reference, ReferenceIOptions};
use riscv_etrace::packet::{self, Error};

use super::super::instruction::{Code, InstructionSet};
use super::alignment::{Alignment, begins_at};
use super::parameters::Parameters;

/// So many packets are looked at to see whose there are.
const COUNTED: usize = 1 << 16;

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

/// The same as it lies in the bytes.
pub(super) struct Found {
    pub source: u64,
    time: Option<u64>,
    pub payload: Result<Option<InstructionTrace>, Error>,
    pub rest: Rest,
}

/// What bytes of a packet are behind what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// There are none.
    None,
    /// They only extend its sign, as any encoder may have them.
    Sign,
    /// No encoder makes such.
    Other,
}

impl Rest {
    fn of(bytes: &[u8]) -> Rest {
        match bytes {
            [] => Rest::None,
            bytes if bytes.iter().all(|byte| *byte == 0) || bytes.iter().all(|byte| *byte == 0xff) => Rest::Sign,
            _ => Rest::Other,
        }
    }
}

impl Packet {
    /// Whether what is told behind it can be read without what was told before.
    pub fn begins(&self) -> bool {
        matches!(&self.payload, Ok(Some(InstructionTrace::Synchronization(told))) if begins_at(told).is_some())
    }

    /// Whether it tells how the encoder tells things.
    pub fn tells_options(&self) -> bool {
        matches!(&self.payload, Ok(Some(InstructionTrace::Synchronization(Synchronization::Support(_)))))
    }

    /// The address that it tells in full, where it begins a trace.
    pub fn full_address(&self) -> Option<u64> {
        match &self.payload {
            Ok(Some(InstructionTrace::Synchronization(Synchronization::Start(start)))) => Some(start.address),
            _ => None,
        }
    }
}

/// A place in a sink from which its packets can be read on; its beginning by default, which may lie in the middle of one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    next: u64,
    alignment: Alignment,
    /// What the encoder was last switched to.
    options: Option<ReferenceIOptions>,
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
    pub(super) next: usize,
    pub(super) alignment: Alignment,
    /// The number of the hart that is read, and those of the others.
    pub(super) own: u64,
    pub(super) others: &'a [u64],
    /// The program, which tells synchronizations from what looks like one, and how its instructions are encoded.
    pub(super) program: Option<(&'a dyn Code, InstructionSet)>,
    pub(super) parameters: Parameters,
    /// What the encoder was last switched to, as far as that is known.
    pub(super) options: Option<ReferenceIOptions>,
}

impl<'a> Packets<'a> {
    /// Those in the bytes of a sink, the first of which is the first of a packet, of encoders that are all alike.
    pub fn new(bytes: &'a [u8], framing: Framing, parameters: &Parameters) -> Packets<'a> {
        let builder = packet::builder().with_params(&parameters.fields);
        let (bits, timestamp_bytes) = match framing {
            Framing::Siemens { hart_bits } => (hart_bits.min(64), 0),
            Framing::Encapsulation { source_bits, timestamp_bytes } => (source_bits.min(16), timestamp_bytes.min(8)),
        };
        let decoder =
            |timestamp_bytes| builder.with_hart_index_width(bits).with_timestamp_width(timestamp_bytes).decoder(&[]);
        Packets {
            decoder: decoder(timestamp_bytes),
            without_timestamps: decoder(0),
            framing,
            bytes,
            next: 0,
            alignment: Alignment::Certain,
            own: 0,
            others: &[],
            program: None,
            parameters: *parameters,
            options: parameters.options,
        }
    }

    /// Those from a place on. Where packets do not follow each other, because the sink begins in the middle of one or
    /// bytes were damaged, they are found again at a synchronization of the hart, or source, of a number, that tells an
    /// address of the program. There are `others`, and any further are a reason for doubt.
    pub fn read_on(
        self,
        place: Place,
        (own, others): (u64, &'a [u64]),
        program: (&'a dyn Code, InstructionSet),
    ) -> Packets<'a> {
        let next = usize::try_from(place.next).unwrap_or(usize::MAX).min(self.bytes.len());
        let options = place.options.or(self.options);
        Packets { next, alignment: place.alignment, options, own, others, program: Some(program), ..self }
    }

    /// The numbers of the harts, or sources, that are there, as the first packets have them. One of which there is hardly
    /// a packet is none: behind damage any bytes may look like one.
    pub fn sources(self) -> BTreeSet<u64> {
        let (mut counts, mut all) = (BTreeMap::new(), 0_u32);
        for number in self.take(COUNTED).filter_map(|packet| packet.source) {
            *counts.entry(number).or_insert(0) += 1;
            all += 1;
        }
        counts.into_iter().filter(|(_, count)| *count >= 4.max(all / 256)).map(|(number, _)| number).collect()
    }

    /// The place of the next packet.
    pub fn place(&self) -> Place {
        Place { next: self.next as u64, alignment: self.alignment, options: self.options }
    }

    /// A packet, and moves behind it; `None` for one that fills a gap.
    pub(super) fn decode(&mut self) -> Result<Option<Found>, Error> {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        // Bit 7 of an encapsulation's header says whether there is a timestamp. The crate reckons with its bytes always.
        let is_short = matches!(self.framing, Framing::Encapsulation { .. })
            && rest.first().is_some_and(|header| header & 0x80 == 0);
        let decoder = if is_short { &mut self.without_timestamps } else { &mut self.decoder };
        decoder.reset(rest);
        let has_jump_targets_alone = self.parameters.has_jump_targets_alone();
        let read = |source, time, payload: &mut Decoder<Reference>| {
            let found = match has_jump_targets_alone.then(|| jump_target(payload)).flatten() {
                Some(found) => found,
                None => payload.decode_payload(),
            };
            let found = found.map(Some);
            // The byte that it ended in is counted among those that are left.
            let rest = Rest::of(payload.remaining_data().get(1..).unwrap_or_default());
            Found { source, time, payload: found, rest }
        };
        let found = match self.framing {
            Framing::Siemens { .. } => {
                let mut packet = decoder.decode_smi_packet()?;
                let (source, kind) = (packet.hart(), packet.raw_trace_type());
                Some(match packet.trace_type() {
                    Some(TraceType::Instruction) => read(source, None, packet.payload_mut()),
                    Some(TraceType::Data) => Found { source, time: None, payload: Ok(None), rest: Rest::None },
                    None => {
                        let payload = Err(Error::UnknownTraceType(kind));
                        Found { source, time: None, payload, rest: Rest::None }
                    }
                })
            }
            Framing::Encapsulation { .. } => decoder
                .decode_encap_packet()?
                .into_normal()
                .map(|mut packet| read(packet.src_id().into(), packet.timestamp(), packet.payload_mut())),
        };
        self.next = self.bytes.len().saturating_sub(decoder.bytes_left());
        Ok(found)
    }

    /// How many bytes the sink has.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Moves to the next packet, if there is one.
    pub(super) fn skip_fill(&mut self) -> bool {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        if let Framing::Siemens { .. } = self.framing {
            // A packet of no bytes tells nothing: a buffer that is not full ends in such.
            self.next += rest.iter().take_while(|byte| **byte == 0).count();
        }
        self.next < self.bytes.len()
    }
}

impl Iterator for Packets<'_> {
    type Item = Packet;

    /// The next packet. A last one that is cut has words for its payload.
    fn next(&mut self) -> Option<Packet> {
        self.align_first();
        while self.skip_fill() {
            let at = self.next;
            let found = self.decode();
            if found.is_err() {
                self.next = self.bytes.len();
            }
            let is_astray = self.align(at, &found);
            let at = at as u64;
            let unread =
                |words: String, is_cut| Some(Packet { at, source: None, payload: Err(words), is_cut, time: None });
            match found {
                _ if is_astray => return unread("the next packet begins before it ends".to_owned(), false),
                Ok(Some(Found { source, time, payload, .. })) => {
                    if let Ok(Some(InstructionTrace::Synchronization(Synchronization::Support(support)))) = &payload
                        && source == self.own
                    {
                        self.options = Some(support.ioptions);
                    }
                    let payload = payload.map_err(|error| error.to_string());
                    return Some(Packet { at, source: Some(source), payload, is_cut: false, time });
                }
                // One that fills a gap.
                Ok(None) => {}
                Err(error) => return unread(error.to_string(), is_cut(&error)),
            }
        }
        None
    }
}

/// What a packet of format 0 tells, if it is one, that can only tell a place in the cache of jump targets. The crate takes
/// one without a subformat for a count of branches.
fn jump_target(payload: &mut Decoder<Reference>) -> Option<Result<InstructionTrace, Error>> {
    let mut rest = payload.clone();
    // The format has two bits, as this has, and is 0 where this is.
    let Ok(BranchKind::NoAddr) = rest.decode() else { return None };
    let found = rest.decode::<JumpTargetIndex>().map(InstructionTrace::from);
    *payload = rest;
    Some(found)
}

/// Whether the bytes end in a packet.
pub(super) fn is_cut(error: &Error) -> bool {
    matches!(error, Error::InsufficientData(_))
}
