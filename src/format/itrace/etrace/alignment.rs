//! Where packets begin, behind damage or in a buffer that begins in the middle of one.
//!
//! Nothing in the bytes says it. Read from a wrong place on, they look like packets too, but not for long: of some the
//! header or the payload cannot be, others have more bytes than they say anything with. Then the next place is looked for
//! at which packets follow each other, beginning with a synchronization that tells an address of the program, from which
//! that has a way to what the next ones tell. The packets up to there are read as they seem to lie all the same, since
//! damage may have left lengths alone; one that would run over that place is none.
//!
//! Sound sinks have strange packets, too: an encoder may make all as long as the longest, data is traced, and other harts
//! tell things in other ways. So of other harts the headers alone are looked at, and a strange packet is believed if sound
//! ones follow it.
//!
//! It depends on the bytes and the program alone, so that whoever reads a part of a sink finds the same.

use riscv_etrace::packet::Error;
use riscv_etrace::packet::ext::Extension;
use riscv_etrace::packet::payload::InstructionTrace;
use riscv_etrace::packet::sync::Synchronization;

use super::packets::{Found, Packets, Rest, is_cut};
use super::parameters::{Kept, Parameters};
use super::reconstruction::{MOST_PREDICTED, Reconstruction};
use crate::format::itrace::instruction::{Blocks, Ends};

/// A packet as it lies in the bytes; `None` for one that fills a gap.
type Read = Result<Option<Found>, Error>;

/// How many packets have to follow each other. Read from a wrong place on, every second cannot be.
const FOLLOWING: usize = 12;

/// How many packets the program must have a way for.
const LEADING: usize = 6;

/// What is known of where packets begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Alignment {
    /// Nothing yet: the sink may begin in the middle of a packet.
    #[default]
    Unknown,
    /// There is no reason for doubt.
    Certain,
    /// There is: one certainly begins at this offset, or nowhere.
    Doubtful(Option<usize>),
}

/// What a packet looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// As an encoder makes it, or nobody knows: it is of another hart.
    Sound,
    /// Data, of which nothing is seen.
    Data,
    /// It has bytes that say nothing: they extend the sign of what it says.
    TooLong,
    /// It cannot be, or is of a hart that there is not.
    Unreadable,
}

impl Packets<'_> {
    /// Moves to the first packet of a sink that tells anything. If no trace begins there, that is a synchronization from
    /// which packets lead to the first place where one certainly begins, or that place: before it is the rest of a packet
    /// whose beginning is gone, or what was told behind a synchronization that is gone, and nothing is lost that could be
    /// read.
    pub(super) fn align_first(&mut self) {
        if !matches!(self.alignment, Alignment::Unknown) {
            return;
        }
        self.alignment = Alignment::Certain;
        if let Some(first) = self.clone().beginning() {
            self.next = first;
            return;
        }
        let Some(certain) = self.next_synchronization(self.next) else {
            self.alignment = Alignment::Doubtful(None);
            return;
        };
        let (mut packets, mut first) = (self.clone(), None);
        while packets.skip_fill() && packets.next < certain {
            let at = packets.next;
            match packets.decode() {
                Err(_) => break,
                found if matches!(self.look(&found), Look::TooLong | Look::Unreadable) => first = None,
                found => {
                    let is_elsewhere = |told| begins_at(told).is_some_and(|address: u64| !self.is_of_program(address));
                    first = first.or(synchronization(&found).filter(|told| !is_elsewhere(*told)).map(|_| at));
                }
            }
        }
        self.next = first.filter(|_| packets.next == certain).unwrap_or(certain);
    }

    /// What lies at an offset was read. If that runs over a place where a packet certainly begins, moves there; whether
    /// it does.
    pub(super) fn align(&mut self, at: usize, found: &Read) -> bool {
        let is_doubtful = |look| match look {
            Look::Sound => false,
            Look::Data | Look::TooLong => !self.clone().follow_each_other(),
            Look::Unreadable => true,
        };
        if matches!(self.alignment, Alignment::Certain) && is_doubtful(self.look(found)) {
            self.alignment = Alignment::Doubtful(self.next_synchronization(at.saturating_add(1)));
        }
        let Alignment::Doubtful(Some(certain)) = self.alignment else { return false };
        let is_astray = self.next > certain;
        if self.next >= certain {
            (self.next, self.alignment) = (certain, Alignment::Certain);
        }
        is_astray
    }

    /// From an offset on, where the next packet of the hart certainly begins that tells an address of the program.
    fn next_synchronization(&self, from: usize) -> Option<usize> {
        self.program?;
        let mut packets = self.clone();
        (from..self.len()).find(|at| {
            packets.next = *at;
            let found = packets.decode();
            synchronization(&found).and_then(begins_at).is_some_and(|address| self.is_of_program(address))
                && self.look(&found) == Look::Sound
                && self.is_own(&found)
                && packets.clone().follow_each_other()
                && packets.clone().leads_on(*at)
        })
    }

    /// Whether an instruction can begin at an address.
    fn is_of_program(&self, address: u64) -> bool {
        let address = address & self.parameters.address_mask();
        address & 1 == 0 && self.program.is_some_and(|(code, _)| !code.code(address).is_empty())
    }

    /// Whether the next packets are as an encoder makes them.
    fn follow_each_other(mut self) -> bool {
        (0..FOLLOWING).all(|_| {
            !self.skip_fill() || {
                let found = self.decode();
                // The last one of a sink may be cut.
                match self.look(&found) {
                    Look::Sound | Look::Data => true,
                    Look::TooLong => false,
                    Look::Unreadable => found.is_err_and(|error| is_cut(&error)),
                }
            }
        })
    }

    /// Whether the program has a way from a synchronization at an offset to what the hart's next packets tell.
    fn leads_on(mut self, at: usize) -> bool {
        let (Some((code, instruction_set)), Some(options)) = (self.program, self.options) else { return true };
        let mut blocks = Blocks::new(code, Ends::default());
        // What is kept over the synchronization depends on what is not seen here.
        let Kept { returns, predictions } = self.parameters.kept;
        let kept = Kept { returns: returns.or(Some(true)), predictions: predictions.or(Some(true)) };
        let parameters = Parameters { options: Some(options), kept, ..self.parameters };
        let mut reconstruction = Reconstruction::new(instruction_set, &parameters);
        let own = self.own;
        (self.next, self.alignment, self.program) = (at, Alignment::Certain, None);
        // Where the encoder says something of itself, another trace may begin.
        let packets = self.filter(|packet| packet.source == Some(own)).take_while(|packet| !packet.tells_options());
        packets.take(LEADING).all(|packet| {
            reconstruction.take(&packet, &mut blocks, &mut |_, _| {});
            reconstruction.contradictions() == 0
        })
    }

    /// The offset of the hart's next packet, if it is the first of a trace: how the encoder tells things, or where
    /// execution begins; and if there is what an encoder makes behind that.
    fn beginning(mut self) -> Option<usize> {
        let (mut first, mut own, mut is_to_begin) = (None, 0, true);
        while own < FOLLOWING && self.skip_fill() {
            let at = self.next;
            let found = self.decode();
            if let Err(error) = &found {
                return first.filter(|_| is_cut(error));
            }
            let look = self.look(&found);
            if own == 0 && look == Look::Unreadable {
                return None;
            }
            if !self.is_own(&found) || own > 0 && look == Look::Data {
                continue;
            }
            let begins = |told: &Synchronization| match told {
                Synchronization::Support(_) => true,
                told => begins_at(told).is_some_and(|address| self.is_of_program(address)),
            };
            // Where the encoder tells how it tells things, it goes on with where execution begins.
            let is_sound = if is_to_begin { synchronization(&found).is_some_and(begins) } else { look == Look::Sound };
            if !is_sound {
                return None;
            }
            let is_of_encoder = matches!(synchronization(&found), Some(Synchronization::Support(_)));
            if own > 0 && is_to_begin && !is_of_encoder {
                // Nothing else looks like both, one behind the other, whatever was damaged behind them.
                return first;
            }
            is_to_begin = is_of_encoder;
            first = first.or(Some(at));
            own += 1;
        }
        first
    }

    /// Whether a packet is of the hart that is read.
    fn is_own(&self, found: &Read) -> bool {
        matches!(found, Ok(Some(found)) if found.source == self.own)
    }

    /// Whether the encoder can send a packet of format 0 that says this.
    fn can_be(&self, told: &Extension) -> bool {
        match told {
            Extension::BranchCount(count) => {
                self.parameters.predictor_size > 0 && u64::from(count.branch_count) < MOST_PREDICTED
            }
            Extension::JumpTargetIndex(_) => self.parameters.fields.cache_size_p > 0,
        }
    }

    fn look(&self, found: &Read) -> Look {
        match found {
            Err(_) => Look::Unreadable,
            Ok(Some(found)) if found.source == self.own => match found.payload {
                Err(_) => Look::Unreadable,
                Ok(Some(InstructionTrace::Extension(told))) if !self.can_be(&told) => Look::Unreadable,
                Ok(None) => Look::Data,
                Ok(Some(_)) => match found.rest {
                    Rest::None => Look::Sound,
                    Rest::Sign => Look::TooLong,
                    Rest::Other => Look::Unreadable,
                },
            },
            Ok(Some(found)) if !self.others.contains(&found.source) => Look::Unreadable,
            Ok(_) => Look::Sound,
        }
    }
}

/// What a packet tells, if that is a synchronization.
fn synchronization(found: &Read) -> Option<&Synchronization> {
    match found {
        Ok(Some(Found { payload: Ok(Some(InstructionTrace::Synchronization(told))), .. })) => Some(told),
        _ => None,
    }
}

/// The address from which on execution is known, if a synchronization tells it in full.
pub(super) fn begins_at(told: &Synchronization) -> Option<u64> {
    match told {
        Synchronization::Start(start) => Some(start.address),
        Synchronization::Trap(trap) if trap.thaddr => Some(trap.address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::Place;
    use super::super::{Framing, Parameters};
    use super::*;
    use crate::format::itrace::instruction::{Code, InstructionSet};
    use crate::format::itrace::tests::data;
    use crate::image::Image;

    struct Program(Image);

    impl Code for Program {
        fn code(&self, address: u64) -> &[u8] {
            self.0.read_only(address)
        }
    }

    fn program() -> Program {
        Program(Image::open(&data("prog.rv64.200")).unwrap())
    }

    /// The offset of each packet behind so many bytes, and what it says.
    fn packets(bytes: &[u8], ahead: usize) -> Vec<(usize, String)> {
        let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
        Packets::new(bytes, Framing::Siemens { hart_bits: 0 }, &parameters)
            .read_on(Place::default(), (0, &[]), (&program(), InstructionSet::Rv64))
            .map(|packet| (packet.at as usize + ahead, format!("{:?}", packet.payload)))
            .collect()
    }

    /// The beginning of a stream, what it says, and where it can be begun to read.
    fn stream() -> (Vec<u8>, Vec<(usize, String)>, Vec<usize>) {
        let mut bytes = std::fs::read(data("rv64.200.te_inst")).unwrap();
        bytes.truncate(1500);
        let all = packets(&bytes, 0);
        let begins = all.iter().filter(|(_, said)| said.contains("Start")).map(|(at, _)| *at).collect();
        (bytes, all, begins)
    }

    #[test]
    fn a_sink_begins_in_the_middle_of_a_packet() {
        let (bytes, all, begins) = stream();
        assert_eq!((all.len(), begins.len()), (466, 14));
        for cut in 0..bytes.len() {
            let found = packets(&bytes[cut..], cut);
            let Some(begin) = begins.iter().find(|begin| **begin >= cut) else { break };
            let from = all.iter().position(|(at, _)| at == begin).unwrap();
            assert!(found.ends_with(&all[from..]), "{cut}");
            // What is there of the packets before is passed over, unless that is no more than what is told at the beginning.
            assert!(cut == 0 || found.len() <= all.len() - from + 1, "{cut}: {:?}", &found[..4]);
        }
    }

    #[test]
    fn behind_damage_packets_are_found_again_at_the_next_synchronization() {
        let (bytes, all, begins) = stream();
        let (mut late, mut cases) = ([0; 3], 0);
        for at in 0..1300 {
            let begin = *begins.iter().find(|begin| **begin > at + 1).unwrap();
            let from = all.iter().position(|(at, _)| *at == begin).unwrap();
            let rest = all[from..].iter().map(|(_, said)| said);
            let (mut changed, mut longer, mut shorter) = (bytes.clone(), bytes.clone(), bytes.clone());
            changed[at] ^= 1 << (at % 5);
            longer.insert(at, (at % 251) as u8);
            shorter.remove(at);
            for (late, damaged) in late.iter_mut().zip([changed, longer, shorter]) {
                let found = packets(&damaged, 0);
                let found = found[found.len().saturating_sub(rest.len())..].iter().map(|(_, said)| said);
                *late += usize::from(!found.eq(rest.clone()));
            }
            cases += 1;
        }
        assert!(late.iter().all(|late| late * 25 < cases), "{late:?} of {cases}");
    }

    /// Of how the encoder tells things nothing is lost if something behind the first packets is damaged.
    #[test]
    fn a_trace_that_begins_with_the_sink_is_read_from_there_whatever_is_behind() {
        let (bytes, all, _) = stream();
        for bit in all[2].0 * 8..all[16].0 * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(packets(&changed, 0)[..2] == all[..2], "bit {bit}");
        }
    }

    /// The same packets as other bytes: the last argument is given the header and the payload of each.
    fn otherwise(bytes: &[u8], all: &[(usize, String)], mut other: impl FnMut(u8, &[u8]) -> Vec<u8>) -> Vec<u8> {
        let ends = all.iter().skip(1).map(|(at, _)| *at).chain([bytes.len()]);
        all.iter().zip(ends).flat_map(|((at, _), end)| other(bytes[*at], &bytes[at + 1..end])).collect()
    }

    /// Another encoder may make every packet as long as the longest, or as some.
    #[test]
    fn bytes_that_say_nothing_are_no_damage() {
        let (bytes, all, _) = stream();
        for length in [4, 8, 9, 12, 20] {
            let longer = otherwise(&bytes, &all, |header, payload| {
                let sign = if payload.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
                let length = payload.len().max(length);
                let mut packet = vec![header & 0xe0 | length as u8];
                packet.extend((0..length).map(|nth| payload.get(nth).copied().unwrap_or(sign)));
                packet
            });
            assert!(packets(&longer, 0).iter().map(|(_, said)| said).eq(all.iter().map(|(_, said)| said)), "{length}");
        }
    }

    /// Data look like anything, a synchronization too.
    #[test]
    fn data_are_passed_over() {
        let (bytes, all, begins) = stream();
        let begin = all.iter().position(|(at, _)| *at == begins[1]).unwrap();
        let synchronization = &bytes[begins[1]..all[begin + 1].0];
        let with_data = otherwise(&bytes, &all, |header, payload| {
            let data = [payload, synchronization].concat();
            [&[header], payload, &[0x60 | data.len() as u8], &data].concat()
        });
        let found = packets(&with_data, 0);
        let found = found.iter().map(|(_, said)| said).filter(|said| *said != "Ok(None)");
        assert!(found.eq(all.iter().map(|(_, said)| said)));
    }

    /// Another hart's encoder may tell things in other ways, and be there earlier.
    #[test]
    fn other_harts_are_passed_over() {
        let (bytes, all, _) = stream();
        let foreign = [0x49, 1, 0x73, 0, 0, 0, 0, 0, 0, 0, 0];
        let two = otherwise(&bytes, &all, |header, payload| [foreign.as_slice(), &[header, 0], payload].concat());
        let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
        let framing = Framing::Siemens { hart_bits: 1 };
        let program = program();
        let found = |others: &[u64]| -> Vec<_> {
            let found = Packets::new(&two, framing, &parameters).read_on(
                Place::default(),
                (0, others),
                (&program, InstructionSet::Rv64),
            );
            found.filter(|packet| packet.source == Some(0)).map(|packet| format!("{:?}", packet.payload)).collect()
        };
        assert!(found(&[1]).iter().eq(all.iter().map(|(_, said)| said)));
        // Nor is anything lost if nobody named it.
        assert!(found(&[]).iter().eq(all.iter().map(|(_, said)| said)));
    }
}
