//! The packets of a source: the first stage of reading it.
//!
//! A packet is known by its first byte. Some are made short by what was told before (addresses, times, contexts), so
//! that a reader keeps the last values; a trace info packet sets them all back (Arm IHI 0064, the chapter on the
//! instruction trace protocol; for ETE, Arm DDI 0487, D5.3 and, as code, K10.5.2).

mod address;
mod atoms;
mod conditional;
mod context;
mod cycle_count;
mod data_synchronization;
mod exception;
mod extension;
mod history;
mod instrumentation;
mod number;
mod q;
mod source_address;
mod speculation;
mod timestamp;
mod trace_info;

use super::super::formatter::{Framing, Pieces};
use super::bytes::Bytes;
use super::configuration::{Configuration, Version};
use super::fault::{Damage, Fault};
use crate::format::itrace::Atoms;
use history::History;

pub use address::Address;
pub use context::Context;
pub use exception::ExceptionPacket;
pub use trace_info::TraceInfo;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Where packets begin can be known behind it (A-Sync).
    Alignment,
    /// What is speculated is thrown away: nothing is traced any more.
    Discard,
    /// The trace unit lost packets.
    Overflow,
    /// What was told before does not count any more.
    TraceInfo(TraceInfo),
    /// Tracing began.
    TraceOn,
    /// A function of an M-profile processor returned.
    FunctionReturn,
    /// An exception was taken.
    Exception(ExceptionPacket),
    /// A handler returned.
    ExceptionReturn,
    /// A program told something.
    Instrumentation {
        /// At which exception level, 0 to 3.
        exception_level: u8,
        /// What it told.
        value: u64,
    },
    /// A transaction began.
    TransactionStart,
    /// A transaction was completed.
    TransactionCommit,
    /// A transaction failed, and what was executed in it is undone.
    TransactionFailure,
    /// Cycles passed; None where their number is not known.
    CycleCount {
        /// How many P0 elements are committed before.
        commit: u32,
        /// How many cycles.
        cycles: Option<u64>,
    },
    /// Tracing of data is at a certain point.
    DataSynchronization,
    /// So many P0 elements are certain.
    Commit(u32),
    /// Elements were speculated in vain: atoms, then how many of the newest P0 elements are not true, then whether the
    /// atom that is newest then is the opposite of what was told.
    Cancel {
        /// Told before.
        atoms: Atoms,
        /// How many are not true.
        count: u32,
        /// Whether the newest atom is wrong.
        is_mispredicted: bool,
    },
    /// The newest atom is the opposite of what was told.
    Mispredict {
        /// Told before.
        atoms: Atoms,
    },
    /// How conditional instructions went.
    Conditional,
    /// Nothing.
    Ignore,
    /// Events happened: bit n is set for event n, 0 to 3.
    Event(u8),
    /// In which state instructions are executed.
    Context(Context),
    /// Where execution goes on.
    Address(Address),
    /// Where execution goes on, and in which state.
    AddressWithContext(Address, Context),
    /// The next timestamp is of here.
    TimestampMarker,
    /// Instructions were executed.
    Q {
        /// How many, if that is known.
        count: Option<u32>,
        /// Where execution goes on; else a packet behind says so.
        address: Option<Address>,
    },
    /// The branch at this address was taken, and none before.
    SourceAddress(Address),
    /// Branches were taken, or not.
    Atoms(Atoms),
    /// The time.
    Timestamp(u64),
}

/// Reads packets.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    bytes: Bytes<'a>,
    configuration: Configuration,
    history: History,
    context: Context,
    timestamp: u64,
    /// What is added to every cycle count.
    cycle_threshold: u32,
}

impl<'a> Packets<'a> {
    /// Starts at the first byte of a sink, which is taken for the first byte of a packet: see [`Packets::align`].
    pub fn new(sink: &'a [u8], framing: Framing, configuration: Configuration) -> Packets<'a> {
        Packets::of(Pieces::new(sink, framing), configuration)
    }

    /// Those in pieces of a sink.
    pub(super) fn of(pieces: Pieces<'a>, configuration: Configuration) -> Packets<'a> {
        let bytes = Bytes::new(pieces, configuration.trace_id);
        let (history, context) = (History::default(), Context::default());
        Packets { bytes, configuration, history, context, timestamp: 0, cycle_threshold: 0 }
    }

    /// The same place in the same bytes, lent by somebody else.
    pub(super) fn over<'b>(self, sink: &'b [u8]) -> Packets<'b> {
        let Packets { bytes, configuration, history, context, timestamp, cycle_threshold } = self;
        Packets { bytes: bytes.over(sink), configuration, history, context, timestamp, cycle_threshold }
    }

    /// Moves behind the next alignment synchronization. False if there is none.
    pub fn align(&mut self) -> bool {
        self.bytes.align()
    }

    /// A fault at the last byte that was read.
    pub(super) fn damage(&self, fault: Fault) -> Damage {
        Damage { at: self.bytes.last(), fault }
    }

    #[inline]
    fn packet(&mut self, header: u8) -> Result<Packet, Fault> {
        match header {
            0xc0..=0xff => match atoms::ATOMS.get(usize::from(header)) {
                Some(atoms) if !atoms.is_empty() => Ok(Packet::Atoms(*atoms)),
                _ => Err(Fault::Reserved { header }),
            },
            0x00 => self.extension(),
            0x01 => self.trace_info(),
            0x02 | 0x03 => self.timestamp(header),
            0x04 => Ok(Packet::TraceOn),
            0x05 => {
                self.only(header, "a function return", Self::has_function_returns, M_PROFILE, Packet::FunctionReturn)
            }
            0x06 => self.exception(),
            0x07 => self.only(header, "an exception return", Self::is_etm, NOT_ETE, Packet::ExceptionReturn),
            0x09 => self.instrumentation(header),
            0x0a => self.only(header, "a transaction start", Self::is_ete, ONLY_ETE, Packet::TransactionStart),
            0x0b => self.only(header, "a transaction commit", Self::is_ete, ONLY_ETE, Packet::TransactionCommit),
            0x0c..=0x1f => self.cycle_count(header),
            0x20..=0x2c => self.data_synchronization(header),
            0x2d..=0x3f => self.speculation(header),
            0x40..=0x6f => self.conditional(header),
            0x70 => self.only(header, "an ignore packet", Self::has_ignore, SINCE_4_3, Packet::Ignore),
            0x71..=0x7f => Ok(Packet::Event(header & 0xf)),
            0x80 | 0x81 => Ok(Packet::Context(self.context(header)?)),
            0x82 | 0x83 | 0x85 | 0x86 => self.address_with_context(header),
            0x88 => self.only(header, "a timestamp marker", Self::has_markers, SINCE_4_6, Packet::TimestampMarker),
            0x90..=0x92 | 0x95 | 0x96 | 0x9a | 0x9b | 0x9d | 0x9e => Ok(Packet::Address(self.address(header)?)),
            0xa0..=0xaf => self.q(header),
            0xb0..=0xb2 | 0xb4..=0xb9 => self.source_address(header),
            _ => Err(Fault::Reserved { header }),
        }
    }

    /// The next packet, where it is one of atoms and it is plain to see. Most packets are, and this is the short way.
    #[inline]
    pub(super) fn atoms(&mut self) -> Option<(u64, Atoms)> {
        let atoms = atoms::ATOMS.get(usize::from(self.bytes.peek()?)).filter(|atoms| !atoms.is_empty())?;
        self.bytes.next()?;
        Some((self.bytes.last(), *atoms))
    }

    /// The next packet, where it is one of an address and it is plain to see: the short way of the many others.
    #[inline]
    pub(super) fn plain_address(&mut self) -> Option<Result<(u64, Address), Damage>> {
        let header = self
            .bytes
            .peek()
            .filter(|header| matches!(header, 0x90..=0x92 | 0x95 | 0x96 | 0x9a | 0x9b | 0x9d | 0x9e))?;
        self.bytes.next()?;
        let at = self.bytes.last();
        Some(self.address(header).map(|address| (at, address)).map_err(|fault| self.damage(fault)))
    }

    /// A packet of one byte that only some sources send.
    fn only(
        &self,
        header: u8,
        packet: &'static str,
        is_possible: fn(&Self) -> bool,
        reason: &'static str,
        meaning: Packet,
    ) -> Result<Packet, Fault> {
        if is_possible(self) { Ok(meaning) } else { Err(Fault::Impossible { packet, header, reason }) }
    }

    fn version(&self) -> Version {
        self.configuration.version
    }

    fn is_ete(&self) -> bool {
        self.version().is_ete()
    }

    fn is_etm(&self) -> bool {
        !self.is_ete()
    }

    fn has_function_returns(&self) -> bool {
        self.is_etm() && self.version() >= Version { major: 4, minor: 2 }
    }

    fn has_ignore(&self) -> bool {
        self.version() >= Version { major: 4, minor: 3 }
    }

    fn has_markers(&self) -> bool {
        self.version() >= Version { major: 4, minor: 6 }
    }

    /// The next byte of a packet.
    fn byte(&mut self, packet: &'static str) -> Result<u8, Fault> {
        self.bytes.next().ok_or_else(|| self.bytes.end_in(packet))
    }
}

impl Iterator for Packets<'_> {
    /// A packet, with the offset in the sink of its first byte.
    ///
    /// Behind damage nothing that comes is sure to be a packet before [`Packets::align`].
    type Item = Result<(u64, Packet), Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Some(header) = self.bytes.next() else {
            let fault = Fault::Frame(self.bytes.take_damage()?);
            return Some(Err(self.damage(fault)));
        };
        let at = self.bytes.last();
        Some(self.packet(header).map(|packet| (at, packet)).map_err(|fault| self.damage(fault)))
    }
}

const NOT_ETE: &str = "it is an ETE";
const ONLY_ETE: &str = "it is not an ETE";
const M_PROFILE: &str = "only an ETM of version 4.2 and later has it, for M-profile processors";
const SINCE_4_3: &str = "only an ETM of version 4.3 and later has it";
const SINCE_4_6: &str = "only an ETM of version 4.6 and later has it";
