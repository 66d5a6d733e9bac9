//! Where the reading of a source stands, whatever its protocol.
//!
//! A source is read in parts, each of which begins where the source begins anew and needs nothing of what was before, so
//! that several threads can read. The one before is read up to there, and over the first address, so that it is known
//! whether it leads there. Where parts begin depends on the bytes of the sink alone, and so what is found is the same
//! however many threads read.

use std::cell::Cell;

use super::super::coresight::etm4::Configuration;
use super::super::coresight::{self, etm4, formatter};
use super::super::element::ElementKind;
use super::super::etrace;
use super::super::instruction::{Blocks, Code};
use super::super::step::Step;
use super::protocol::{Hart, Protocol};

/// How many bytes of the sink a part has at least, if nobody says otherwise.
pub const PART: u64 = 1 << 17;

/// In how many times as many bytes behind that it has to end: where a source begins anew more seldom, the rest is one part.
const FURTHEST: u64 = 4;

/// Where the reading of a source stands. It can be kept, and gone on from later.
#[derive(Clone, Debug)]
pub struct Reader {
    /// How many bytes of the sink a part has at least.
    size: u64,
    of: Of,
}

#[derive(Clone, Debug)]
enum Of {
    Etm4(Box<Etm4>),
    ETrace(Box<ETrace>),
}

#[derive(Clone, Debug)]
struct Etm4 {
    /// From where on the part behind is looked for.
    behind: formatter::Pieces<'static>,
    source: etm4::Source<'static>,
    reconstruction: coresight::Reconstruction,
    /// The offset in the sink of what tells that the source begins anew, from which on it is read.
    from: u64,
    /// The same of the part behind; `None` where this one is the last.
    until: Option<u64>,
    /// Whether that was read, and not yet the address behind it.
    is_at_end: bool,
    is_over: bool,
}

#[derive(Clone, Debug)]
struct ETrace {
    /// Where the next packet is.
    next: etrace::Place,
    reconstruction: etrace::Reconstruction,
    /// Whether that packet is where the hart begins anew.
    is_anew: bool,
    /// The part ends with a synchronization at this offset or behind it.
    until: u64,
    /// Where the part behind begins, once this one was read.
    behind: Option<Box<ETrace>>,
    is_over: bool,
}

impl Etm4 {
    /// A part that begins at an offset, which was looked for from a place on.
    fn part(at: formatter::Pieces<'_>, configuration: &Configuration, from: u64, size: u64) -> Etm4 {
        let nearest = from.saturating_add(size);
        let mut behind = at.clone();
        behind.pass(nearest);
        let furthest = nearest.saturating_add(FURTHEST.saturating_mul(size));
        let until = etm4::Source::beginning(behind.clone(), *configuration, furthest);
        let reconstruction = match from {
            0 => coresight::Reconstruction::new(configuration),
            _ => coresight::Reconstruction::anew(configuration),
        };
        let source = etm4::Source::of(at, *configuration).over(&[]);
        Etm4 { behind: behind.over(&[]), source, reconstruction, from, until, is_at_end: false, is_over: false }
    }

    fn read<C: Code>(
        &mut self,
        sink: &[u8],
        (framing, configuration): (formatter::Framing, &Configuration),
        blocks: &mut Blocks<C>,
        is_enough: &Cell<bool>,
        step: &mut impl FnMut(u64, Step),
    ) {
        let nothing = etm4::Source::new(&[], framing, *configuration);
        let mut source = std::mem::replace(&mut self.source, nothing).over(sink);
        while !is_enough.get() && !self.is_over {
            let Some(element) = source.next() else {
                if let Some(until) = self.until {
                    self.reconstruction.end_astray(until, step);
                }
                self.reconstruction.end(step);
                self.is_over = true;
                break;
            };
            if element.at < self.from {
                continue;
            }
            let Some(until) = self.until.filter(|until| element.at >= *until) else {
                self.reconstruction.take(&element, blocks, step);
                continue;
            };
            self.is_at_end |= element.at == until && element.kind == ElementKind::Synchronized;
            match &element.kind {
                ElementKind::Synchronized => self.reconstruction.take(&element, blocks, step),
                // What else is told there of circumstances is read with the part behind.
                kind if !kind.moves_execution() => {}
                ElementKind::Address(_) if self.is_at_end => {
                    self.reconstruction.take(&element, blocks, step);
                    self.reconstruction.end(step);
                    self.is_over = true;
                }
                _ => {
                    self.reconstruction.end_astray(until, step);
                    self.is_over = true;
                }
            }
        }
        self.source = source.over(&[]);
    }
}

impl ETrace {
    fn read<C: Code + Clone>(
        &mut self,
        sink: &[u8],
        (hart, size): (&Hart, u64),
        blocks: &mut Blocks<C>,
        is_enough: &Cell<bool>,
        step: &mut impl FnMut(u64, Step),
    ) {
        let code = blocks.code().clone();
        let mut packets = hart.packets(sink, self.next, &code);
        while !is_enough.get() && !self.is_over {
            let at = packets.place();
            let Some(packet) = packets.next() else {
                self.reconstruction.end(step);
                self.is_over = true;
                break;
            };
            if packet.source.is_some_and(|found| found != hart.source) {
                continue;
            }
            if std::mem::take(&mut self.is_anew) {
                self.reconstruction.begin_with(&packet, blocks);
                continue;
            }
            let agrees = self.reconstruction.take(&packet, blocks, step);
            if self.ends_with(&packet) {
                // Of a synchronization that does not fit not even its own instruction is certain.
                if !agrees {
                    self.reconstruction.forget();
                }
                self.reconstruction.end(step);
                self.behind = Some(Box::new(self.part_behind(at, &packet, size)));
                self.is_over = true;
            }
        }
        self.next = packets.place();
    }

    /// Whether the part ends with a packet.
    fn ends_with(&self, packet: &etrace::Packet) -> bool {
        packet.at >= self.until && packet.full_address().is_some() && self.reconstruction.can_begin_anew()
    }

    /// The part that begins with a packet, which is at a place.
    fn part_behind(&self, at: etrace::Place, packet: &etrace::Packet, size: u64) -> ETrace {
        let reconstruction = self.reconstruction.anew();
        let until = packet.at.saturating_add(size);
        ETrace { next: at, reconstruction, is_anew: true, until, behind: None, is_over: false }
    }
}

impl Reader {
    /// The beginning of a sink, of which each part has so many bytes at least.
    pub fn new(sink: &[u8], protocol: &Protocol, size: u64) -> Reader {
        let of = match protocol {
            Protocol::Etm4 { framing, configuration } => {
                Of::Etm4(Box::new(Etm4::part(formatter::Pieces::new(sink, *framing), configuration, 0, size)))
            }
            Protocol::ETrace(hart) => Of::ETrace(Box::new(ETrace {
                next: etrace::Place::default(),
                reconstruction: etrace::Reconstruction::new(hart.instruction_set, &hart.parameters),
                is_anew: false,
                until: size,
                behind: None,
                is_over: false,
            })),
        };
        Reader { size, of }
    }

    /// Reads on in the sink until `step`, which is told of each step and of the place in the sink that it is told at, has
    /// enough; whether there is more in this part. `is_enough` is asked between packets.
    pub fn read<C: Code + Clone>(
        &mut self,
        sink: &[u8],
        protocol: &Protocol,
        blocks: &mut Blocks<C>,
        mut step: impl FnMut(u64, Step) -> bool,
    ) -> bool {
        let is_enough = Cell::new(false);
        let mut step = |at, told| is_enough.set(step(at, told) | is_enough.get());
        match (&mut self.of, protocol) {
            (Of::Etm4(part), Protocol::Etm4 { framing, configuration }) => {
                part.read(sink, (*framing, configuration), blocks, &is_enough, &mut step);
                !part.is_over
            }
            (Of::ETrace(part), Protocol::ETrace(hart)) => {
                part.read(sink, (hart, self.size), blocks, &is_enough, &mut step);
                !part.is_over
            }
            // One protocol makes only readers of its own.
            (Of::Etm4(_), Protocol::ETrace(_)) | (Of::ETrace(_), Protocol::Etm4 { .. }) => false,
        }
    }

    /// The part behind this one, of which nothing needs to have been read; `None` if this one is the last.
    pub fn part_behind(&self, sink: &[u8], protocol: &Protocol, code: &dyn Code) -> Option<Reader> {
        let of = match (&self.of, protocol) {
            (Of::Etm4(part), Protocol::Etm4 { configuration, .. }) => {
                let (at, from) = (part.behind.clone().over(sink), part.until?);
                Of::Etm4(Box::new(Etm4::part(at, configuration, from, self.size)))
            }
            (Of::ETrace(part), Protocol::ETrace(hart)) => match &part.behind {
                Some(behind) => Of::ETrace(behind.clone()),
                None if part.is_over => return None,
                None => {
                    let mut part = part.clone();
                    let mut packets = hart.packets(sink, part.next, code);
                    loop {
                        let at = packets.place();
                        let packet = packets.next()?;
                        if packet.source.is_some_and(|found| found != hart.source) {
                            continue;
                        }
                        part.reconstruction.note_options(&packet);
                        if part.ends_with(&packet) {
                            break Of::ETrace(Box::new(part.part_behind(at, &packet, self.size)));
                        }
                    }
                }
            },
            (Of::Etm4(_), Protocol::ETrace(_)) | (Of::ETrace(_), Protocol::Etm4 { .. }) => return None,
        };
        Some(Reader { size: self.size, of })
    }
}
