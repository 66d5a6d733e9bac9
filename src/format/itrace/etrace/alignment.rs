//! Where packets begin, behind damage or in a buffer that begins in the middle of one.
//!
//! Nothing in the bytes says it. Read from a wrong place on, they look like packets too, but not for long: of some the
//! header or the payload cannot be, others have more bytes than they say anything with. Then the next place is looked for
//! at which packets follow each other as an encoder makes them, beginning with a synchronization that tells an address of
//! the program. The packets up to there are read as they seem to lie all the same, since damage may have left lengths
//! alone; one that would run over that place is none.
//!
//! It depends on the bytes and the program alone, so that whoever reads a part of a sink finds the same.

use riscv_etrace::packet::Error;
use riscv_etrace::packet::payload::InstructionTrace;
use riscv_etrace::packet::sync::Synchronization;

use super::packets::{Found, Packets, is_cut};

/// A packet as it lies in the bytes; `None` for one that fills a gap.
type Read = Result<Option<Found>, Error>;

/// How many packets have to follow each other. Read from a wrong place on, every second cannot be.
const FOLLOWING: usize = 12;

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

impl Packets<'_> {
    /// Moves to the first packet of a sink that tells anything. Before the first place where one certainly begins that is
    /// a synchronization from which packets lead there; else there is the rest of a packet whose beginning is gone, or what
    /// is told behind a synchronization that is gone, and nothing is lost that could be read.
    pub(super) fn align_first(&mut self) {
        if !matches!(self.alignment, Alignment::Unknown) {
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
                found if !is_sound(&found) => first = None,
                Ok(Some(Found { payload: Ok(Some(InstructionTrace::Synchronization(told))), .. })) => {
                    let is_elsewhere = begins_at(&told).is_some_and(|address| !self.is_of_program(address));
                    first = first.or(Some(at).filter(|_| !is_elsewhere));
                }
                Ok(_) => {}
            }
        }
        self.next = first.filter(|_| packets.next == certain).unwrap_or(certain);
        self.alignment = Alignment::Certain;
    }

    /// What lies at an offset was read. If that runs over a place where a packet certainly begins, moves there; whether
    /// it does.
    pub(super) fn align(&mut self, at: usize, found: &Read) -> bool {
        // Of what is passed over nothing is seen.
        let is_doubtful = !is_sound(found) || matches!(found, Ok(Some(Found { payload: Ok(None), .. })));
        if matches!(self.alignment, Alignment::Certain) && is_doubtful {
            self.alignment = Alignment::Doubtful(self.next_synchronization(at.saturating_add(1)));
        }
        let Alignment::Doubtful(Some(certain)) = self.alignment else { return false };
        let is_astray = self.next > certain;
        if self.next >= certain {
            (self.next, self.alignment) = (certain, Alignment::Certain);
        }
        is_astray
    }

    /// From an offset on, where the next packet certainly begins.
    fn next_synchronization(&self, from: usize) -> Option<usize> {
        self.code?;
        let mut packets = self.clone();
        (from..self.len()).find(|at| {
            packets.next = *at;
            let found = packets.decode();
            let Ok(Some(Found { payload: Ok(Some(InstructionTrace::Synchronization(told))), .. })) = &found else {
                return false;
            };
            begins_at(told).is_some_and(|address| self.is_of_program(address))
                && is_sound(&found)
                && packets.clone().follow_each_other()
        })
    }

    /// Whether an instruction can begin at an address.
    fn is_of_program(&self, address: u64) -> bool {
        address & 1 == 0 && self.code.is_some_and(|code| !code.code(address & self.mask).is_empty())
    }

    /// Whether the next packets are as an encoder makes them.
    fn follow_each_other(mut self) -> bool {
        (0..FOLLOWING).all(|_| {
            !self.skip_fill() || {
                let found = self.decode();
                // The last one of a sink may be cut.
                is_sound(&found) || found.is_err_and(|error| is_cut(&error))
            }
        })
    }
}

/// The address from which on execution is known, if a synchronization tells it in full.
fn begins_at(told: &Synchronization) -> Option<u64> {
    match told {
        Synchronization::Start(start) => Some(start.address),
        Synchronization::Trap(trap) if trap.thaddr => Some(trap.address),
        _ => None,
    }
}

/// Whether what was read is as an encoder makes it.
fn is_sound(found: &Read) -> bool {
    match found {
        Ok(Some(found)) => found.payload.is_ok() && !found.is_too_long,
        Ok(None) => true,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::Place;
    use super::super::{Framing, Parameters};
    use super::*;
    use crate::format::itrace::instruction::Code;
    use crate::format::itrace::tests::data;

    struct Program;

    impl Code for Program {
        fn code(&self, address: u64) -> &[u8] {
            if (0x10000..0x11000).contains(&address) { &[0; 4] } else { &[] }
        }
    }

    /// The offset of each packet behind so many bytes, and what it says.
    fn packets(bytes: &[u8], ahead: usize) -> Vec<(usize, String)> {
        let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
        Packets::new(bytes, Framing::Siemens { hart_bits: 0 }, &parameters)
            .read_on(Place::default(), &Program)
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

    /// Another encoder may make every packet as long as the longest.
    #[test]
    fn bytes_that_say_nothing_are_no_damage() {
        let (bytes, all, _) = stream();
        let mut longer = Vec::new();
        for (number, (at, _)) in all.iter().enumerate() {
            let end = all.get(number + 1).map_or(bytes.len(), |(next, _)| *next);
            let payload = &bytes[at + 1..end];
            let sign = if payload.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
            longer.push(bytes[*at] & 0xe0 | 20);
            longer.extend((0..20).map(|nth| payload.get(nth).copied().unwrap_or(sign)));
        }
        assert!(packets(&longer, 0).iter().map(|(_, said)| said).eq(all.iter().map(|(_, said)| said)));
    }
}
