//! ETMv4 and ETE: the trace units of Arm's processors since Armv7-M and Armv8-A.
//!
//! A source is read in two stages. [`Packets`] reads bytes: each packet is known by its first byte. [`Source`] makes
//! [`Element`]s of packets: a trace unit may tell instructions that a processor only speculates about, and later that
//! they are certain, or that it was wrong; a source holds back what is not certain.
//!
//! Neither walks code: atoms and addresses are passed on as they come.
//!
//! Where packets cannot be read, or something is missing between them, everything is thrown away up to the next place
//! where reading can begin: an alignment synchronization, then a trace info packet, then a context and an address. That
//! is said once, by [`ElementKind::Damaged`]. What comes before the first such place is passed over in silence: a buffer
//! that was filled more than once begins anywhere.
//!
//! (Arm IHI 0064 for ETMv4, Arm DDI 0487, D4, D5 and K10.5, for ETE.)

mod bytes;
mod configuration;
mod fault;
#[cfg(test)]
mod made;
mod packet;
mod position;
mod speculation;
#[cfg(test)]
mod tests;

use super::super::element::{Element, ElementKind};
use super::formatter::{Framing, Pieces};

use position::Position;
use speculation::{Speculation, Told};

pub use configuration::{Configuration, ConfigurationError, Version};
pub use fault::{Damage, Fault};
pub use packet::{Address, Context, ExceptionPacket, Packet, Packets, TraceInfo};

/// What a source told, in the order of execution.
///
/// It can be cloned to read on from the same place later; its size does not depend on that of the sink.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    packets: Packets<'a>,
    speculation: Speculation,
    position: Position,
    /// Why nothing that comes is connected to what was told, to be said when that has been handed out.
    gap: Option<Element>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody knows where packets begin.
    Unaligned,
    /// Packets can be read, but a trace info packet has yet to come.
    Aligned,
    Reading,
    /// There is nothing more to read.
    Ended,
}

impl<'a> Source<'a> {
    /// Starts at the first byte of a sink.
    pub fn new(sink: &'a [u8], framing: Framing, configuration: Configuration) -> Source<'a> {
        Source::of(Pieces::new(sink, framing), configuration)
    }

    /// Reads pieces of a sink from where they are on, nothing before the next alignment synchronization.
    pub fn of(pieces: Pieces<'a>, configuration: Configuration) -> Source<'a> {
        Source {
            packets: Packets::of(pieces, configuration),
            speculation: Speculation::new(&configuration),
            position: Position::new(&configuration),
            gap: None,
            state: State::Unaligned,
        }
    }

    /// The same place in the same bytes, lent by somebody else: a place can be kept without the bytes.
    pub fn over<'b>(self, sink: &'b [u8]) -> Source<'b> {
        let Source { packets, speculation, position, gap, state } = self;
        Source { packets: packets.over(sink), speculation, position, gap, state }
    }

    /// Where reading can begin anew in pieces of a sink, up to an offset: where the source begins anew and tells at once
    /// where execution is. The offset of what tells it.
    ///
    /// Of a source that speculates there is no such place, since what it told before can be taken back behind it.
    pub fn beginning(pieces: Pieces<'a>, configuration: Configuration, furthest: u64) -> Option<u64> {
        if configuration.most_speculated > 0 {
            return None;
        }
        let mut begun = None;
        for element in Source::of(pieces, configuration) {
            if element.at > furthest {
                return None;
            }
            match element.kind {
                ElementKind::Synchronized => begun = Some(element.at),
                ElementKind::Address(_) if begun.is_some() => return begun,
                kind if kind.moves_execution() => begun = None,
                _ => {}
            }
        }
        None
    }

    /// Reads on. False at the end.
    fn advance(&mut self) -> bool {
        match self.state {
            State::Ended => return false,
            State::Unaligned => {
                self.state = if self.packets.align() { State::Aligned } else { State::Ended };
                return true;
            }
            State::Reading => {
                if let Some((at, atoms)) = self.packets.atoms() {
                    if let Err(fault) = self.speculation.push(at, Told::Atoms(atoms)) {
                        self.damaged(self.packets.damage(fault));
                    }
                    return true;
                }
                if let Some(address) = self.packets.plain_address() {
                    let pushed = address.and_then(|(at, address)| {
                        let pushed = self.speculation.push(at, Told::Address(address));
                        pushed.map_err(|fault| self.packets.damage(fault))
                    });
                    if let Err(damage) = pushed {
                        self.damaged(damage);
                    }
                    return true;
                }
            }
            State::Aligned => {}
        }
        match self.packets.next() {
            None => {
                self.speculation.end();
                self.state = State::Ended;
            }
            Some(Ok((at, packet))) => {
                if let Err(fault) = self.take(at, packet) {
                    self.damaged(self.packets.damage(fault));
                }
            }
            Some(Err(damage)) => self.damaged(damage),
        }
        true
    }

    fn damaged(&mut self, damage: Damage) {
        let words = damage.fault.to_string();
        let is_whole_before = damage.fault.is_cut();
        self.lose(damage.at, if is_whole_before { ElementKind::Cut(words) } else { ElementKind::Damaged(words) });
    }

    /// What comes is not connected to what was told.
    fn lose(&mut self, at: u64, why: ElementKind) {
        self.speculation.discard();
        self.gap = Some(Element { at, kind: why });
        self.state = State::Unaligned;
    }

    fn take(&mut self, at: u64, packet: Packet) -> Result<(), Fault> {
        let speculation = &mut self.speculation;
        match (self.state, packet) {
            (State::Reading, Packet::TraceInfo(info)) => return speculation.check(at, info),
            (_, Packet::TraceInfo(info)) => {
                speculation.begin(at, info)?;
                self.state = State::Reading;
                return Ok(());
            }
            (State::Reading, _) => {}
            _ => return Ok(()),
        }
        match packet {
            Packet::Atoms(atoms) => speculation.push(at, Told::Atoms(atoms))?,
            Packet::Address(address) => speculation.push(at, Told::Address(address))?,
            Packet::Context(context) => speculation.push(at, Told::Context(context))?,
            Packet::AddressWithContext(address, context) => {
                speculation.push(at, Told::Context(context))?;
                speculation.push(at, Told::Address(address))?;
            }
            Packet::SourceAddress(address) => speculation.push(at, Told::SourceAddress(address))?,
            Packet::Exception(exception) => {
                if let Some(context) = exception.context {
                    speculation.push(at, Told::Context(context))?;
                }
                if let Some(target) = exception.returns_to.filter(|_| exception.is_branch_target) {
                    speculation.push(at, Told::Address(target))?;
                }
                speculation.push(at, Told::Exception { number: exception.number, returns_to: exception.returns_to })?;
            }
            Packet::ExceptionReturn => speculation.push(at, Told::ExceptionReturn)?,
            Packet::FunctionReturn => speculation.push(at, Told::FunctionReturn)?,
            Packet::Q { count, address } => {
                speculation.push(at, Told::Unknown(count))?;
                if let Some(address) = address {
                    speculation.push(at, Told::Address(address))?;
                }
            }
            Packet::TraceOn => speculation.push(at, Told::TraceOn)?,
            Packet::TransactionStart => speculation.push(at, Told::TransactionStart)?,
            Packet::TransactionCommit => speculation.push(at, Told::TransactionCommit)?,
            Packet::TransactionFailure => speculation.push(at, Told::TransactionFailure)?,
            Packet::Timestamp(time) => speculation.push(at, Told::Timestamp(time))?,
            Packet::TimestampMarker => speculation.push(at, Told::TimestampMarker)?,
            Packet::Event(events) => speculation.push(at, Told::Events(events))?,
            Packet::Instrumentation { exception_level, value } => {
                speculation.push(at, Told::Instrumentation { exception_level, value })?;
            }
            Packet::CycleCount { commit, cycles } => {
                speculation.commit(commit)?;
                speculation.count_cycles(at, cycles)?;
            }
            Packet::Commit(count) => speculation.commit(count)?,
            Packet::Cancel { atoms, count, is_mispredicted } => {
                speculation.push(at, Told::Atoms(atoms))?;
                speculation.cancel(count)?;
                if is_mispredicted {
                    speculation.mispredict()?;
                }
            }
            Packet::Mispredict { atoms } => {
                speculation.push(at, Told::Atoms(atoms))?;
                speculation.mispredict()?;
            }
            Packet::Overflow => self.lose(at, ElementKind::Overflow),
            Packet::Discard => self.lose(at, ElementKind::TraceOff),
            Packet::TraceInfo(_)
            | Packet::Alignment
            | Packet::Ignore
            | Packet::Conditional
            | Packet::DataSynchronization => {}
        }
        Ok(())
    }
}

impl Iterator for Source<'_> {
    type Item = Element;

    #[inline]
    fn next(&mut self) -> Option<Element> {
        loop {
            if let Some(element) = self.position.take_waiting() {
                return Some(element);
            }
            if let Some((at, told)) = self.speculation.next() {
                if let Some(kind) = self.position.kind(at, told) {
                    return Some(Element { at, kind });
                }
                continue;
            }
            if let Some(gap) = self.gap.take() {
                self.position.lose();
                return Some(gap);
            }
            if !self.advance() {
                return None;
            }
        }
    }
}
