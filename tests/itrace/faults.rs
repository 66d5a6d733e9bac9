//! Faults that befall a stream, and what is shown of the rest.
//!
//! Of some faults the trace itself tells: an overflow, the end of what was kept. There nothing may be shown that was not
//! executed. Others no reader can be sure to notice: neither ETMv4 nor E-Trace numbers its packets, so that one may be
//! missing, or say something else, and what is left still be a way through the program. There everything that is shown
//! must be such a way, and false instructions are counted.

use std::fmt;
use std::ops::Range;

use crate::program::Program;
use crate::random::Random;
use crate::shown::Shown;
use crate::stream::{Packet, Sink, next_synchronization, proven};

/// What happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Packets are lost up to a synchronization, and the source says so.
    Overflow,
    /// The oldest bytes are not there.
    Head,
    /// The newest bytes are not there.
    Tail,
    /// A buffer that was filled more than once, and not up to the end.
    Window,
    /// So many packets are missing.
    Missing(usize),
    /// A bit is changed.
    Bit,
    /// Bytes come in between.
    Inserted,
    /// Bytes are missing.
    Removed,
}

pub const FAULTS: [Fault; 10] = [
    Fault::Overflow,
    Fault::Head,
    Fault::Tail,
    Fault::Window,
    Fault::Missing(1),
    Fault::Missing(3),
    Fault::Missing(20),
    Fault::Bit,
    Fault::Inserted,
    Fault::Removed,
];

impl fmt::Display for Fault {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.pad(match self {
            Fault::Overflow => "an overflow",
            Fault::Head => "the head is cut",
            Fault::Tail => "the tail is cut",
            Fault::Window => "a wrapped buffer",
            Fault::Missing(1) => "a packet is missing",
            Fault::Missing(3) => "3 packets are missing",
            Fault::Missing(_) => "20 packets are missing",
            Fault::Bit => "a bit is changed",
            Fault::Inserted => "bytes come in between",
            Fault::Removed => "bytes are missing",
        })
    }
}

impl Fault {
    /// Whether the trace tells of it.
    fn is_told(self) -> bool {
        matches!(self, Fault::Overflow | Fault::Head | Fault::Tail | Fault::Window)
    }
}

/// A stream, and how it is read.
pub struct Subject<'a> {
    pub name: String,
    pub program: &'a Program,
    /// Every instruction that was executed.
    pub list: &'a [u64],
    pub packets: Vec<Packet>,
    /// What the source sends where it lost packets.
    pub loss: Vec<u8>,
    /// How many bytes are cut together.
    pub unit: usize,
    /// Whether reading can begin at any byte; else only where a packet begins.
    pub begins_anywhere: bool,
    /// Whether all that is told behind a synchronization is understood without what was before.
    pub resumes: bool,
    /// From which byte of a part on it can be said whose bytes they are.
    pub readable: fn(&[u8]) -> usize,
    pub frame: Box<dyn Fn(&Sink) -> Sink + 'a>,
    pub show: Box<dyn Fn(&Sink) -> Shown + 'a>,
}

/// What came of many cases of a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cases: usize,
    /// In how many a discontinuity was shown.
    pub noticed: usize,
    /// In how many something was shown that was not executed there.
    pub false_cases: usize,
    /// In how many of these no discontinuity was shown.
    pub silent: usize,
    /// How many instructions were executed, shown, and of these shown falsely.
    pub executed: usize,
    pub shown: usize,
    pub false_instructions: usize,
    /// In how many nothing was shown behind the first synchronization behind the fault.
    pub late: usize,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.noticed += other.noticed;
        self.false_cases += other.false_cases;
        self.silent += other.silent;
        self.executed += other.executed;
        self.shown += other.shown;
        self.false_instructions += other.false_instructions;
        self.late += other.late;
    }
}

/// What the numbers of a tally are.
pub const HEAD: &str = " cases | noticed | false | silent | recovered |      false | late";

impl fmt::Display for Tally {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        write!(
            form,
            "{:6} | {:7} | {:5} | {:6} | {:7.2} % | {:8.4} % | {:4}",
            self.cases,
            self.noticed,
            self.false_cases,
            self.silent,
            share(self.shown - self.false_instructions, self.executed),
            share(self.false_instructions, self.executed),
            self.late
        )
    }
}

/// A stream with a fault.
struct Case {
    sink: Sink,
    /// The first packet that the fault does not touch.
    behind: usize,
    /// What was executed and can still be known.
    executed: usize,
    what: String,
}

impl Subject<'_> {
    fn all(&self) -> Sink {
        (self.frame)(&Sink::of(&self.packets, 0..self.packets.len()))
    }

    fn case(&self, fault: Fault, random: &mut Random) -> Option<Case> {
        let count = self.packets.len();
        let all = proven(&self.packets).len();
        // The first packets are a synchronization that everything hangs on.
        let packet = 6 + random.below(count - 7);
        let case = |sink, behind, what: String| Some(Case { sink, behind, executed: all, what });
        match fault {
            Fault::Overflow => {
                let next = next_synchronization(&self.packets, packet + 1 + random.below(40))?;
                let mut sink = Sink::of(&self.packets, 0..packet);
                sink.push(&self.loss, packet);
                let rest = Sink::of(&self.packets, next..count);
                rest.bytes.iter().zip(&rest.packets).for_each(|(byte, packet)| sink.push(&[*byte], *packet));
                case((self.frame)(&sink), next, format!("packets {packet} to {next}"))
            }
            Fault::Head | Fault::Tail | Fault::Window => {
                let all = self.all();
                let cut = |random: &mut Random, sink: &Sink| {
                    let at = random.below(sink.bytes.len()) / self.unit * self.unit;
                    if self.begins_anywhere {
                        return at;
                    }
                    let packet = sink.packets[at];
                    sink.packets.iter().position(|found| *found == packet).unwrap()
                };
                let start = if fault == Fault::Tail { 0 } else { cut(random, &all) };
                let end = if fault == Fault::Head {
                    all.bytes.len()
                } else {
                    start + (random.below(all.bytes.len() - start) / self.unit * self.unit)
                };
                let sink = all.part(start..end);
                // What lies between the first synchronization and the end.
                let readable = if start == 0 { 0 } else { (self.readable)(&sink.bytes) };
                let first = sink.packets.get(readable).map_or(count, |first| first + usize::from(start > 0));
                let first = next_synchronization(&self.packets, first).unwrap_or(count);
                let last = sink.packets.last().copied().unwrap_or(0);
                let executed = proven(self.packets.get(first..last).unwrap_or_default()).len();
                let behind = if end == all.bytes.len() { first } else { count };
                Some(Case { sink, behind, executed, what: format!("bytes {start} to {end}") })
            }
            Fault::Missing(missing) => {
                let end = (packet + missing).min(count);
                let sink = Sink::of(&self.packets, (0..packet).chain(end..count));
                case((self.frame)(&sink), end, format!("packets {packet} to {end}"))
            }
            Fault::Bit => {
                let mut sink = self.all();
                let at = random.below(sink.bytes.len());
                let bit = random.below(8);
                sink.bytes[at] ^= 1 << bit;
                let behind = sink.packets[at] + 1;
                case(sink, behind, format!("bit {bit} of byte {at}"))
            }
            Fault::Inserted | Fault::Removed => {
                let mut sink = Sink::of(&self.packets, 0..count);
                let at = random.below(sink.bytes.len() - 4);
                let touched = 1 + random.below(3);
                let bytes: Vec<u8> = (0..touched).map(|_| random.next() as u8).collect();
                let behind = sink.packets[at + touched] + 1;
                match fault {
                    Fault::Inserted => sink.splice(at..at, &bytes),
                    _ => sink.splice(at..at + touched, &[]),
                }
                case((self.frame)(&sink), behind, format!("{touched} bytes at {at}: {bytes:x?}"))
            }
        }
    }

    /// Puts so many cases of a fault to the test.
    pub fn suffer(&self, fault: Fault, cases: usize, seed: u64) -> Tally {
        let mut random = Random::new(seed);
        let mut tally = Tally::default();
        for _ in 0..cases {
            let Some(case) = self.case(fault, &mut random) else { continue };
            let what = format!("{}: {fault}, {}", self.name, case.what);
            let shown = (self.show)(&case.sink);
            shown.check_ways(self.program, &what);
            tally.cases += 1;
            tally.noticed += usize::from(!shown.discontinuities.is_empty());
            let list = shown.list();
            tally.executed += if fault.is_told() { case.executed.max(list.len()) } else { case.executed };
            tally.shown += list.len();
            let is_exact = !matches!(fault, Fault::Bit | Fault::Inserted | Fault::Removed);
            if let Err(number) = shown.places(self.list, &self.packets, is_exact) {
                let stretch = &shown.stretches[number];
                let words = &shown.discontinuities;
                assert!(
                    !fault.is_told(),
                    "{what}: stretch {number} of packet {} was not executed: {words:?}",
                    stretch.packet
                );
                tally.false_cases += 1;
                tally.silent += usize::from(words.is_empty());
                tally.false_instructions += false_instructions(&stretch.list, self.list);
            }
            // What is behind the next synchronization is shown, whatever was before.
            let next = next_synchronization(&self.packets, case.behind);
            if let Some(next) = next.filter(|next| !is_shown(&list, self.list, &self.packets[*next..])) {
                let is_late = !is_exact || !self.resumes;
                assert!(is_late, "{what}: not shown from packet {next} on: {:?}", shown.discontinuities);
                tally.late += 1;
            }
        }
        // What later packets contradict is hardly ever shown; what none does no reader can know. Bytes that are not where
        // they were may be taken for packets that say anything.
        let contradicted = tally.false_cases - tally.silent;
        let most = if matches!(fault, Fault::Inserted | Fault::Removed) { cases / 10 } else { cases / 25 };
        assert!(contradicted <= 2 + most, "{}: {fault}: {contradicted} of {cases}", self.name);
        tally
    }
}

/// Whether what is shown ends with all that packets prove.
fn is_shown(shown: &[u64], list: &[u64], packets: &[Packet]) -> bool {
    let mut rest = shown;
    for (number, packet) in packets.iter().enumerate().rev() {
        let Range { start, end } = packet.proves;
        // Of the first, what led to the place that it tells cannot be known.
        let start = if number == 0 { start.max(end.saturating_sub(1)) } else { start };
        match rest.strip_suffix(&list[start..end]) {
            Some(before) => rest = before,
            None => return false,
        }
    }
    true
}

/// How many instructions of a stretch are in no part of the list: what is left without the longest beginning and the
/// longest end that are.
fn false_instructions(stretch: &[u64], list: &[u64]) -> usize {
    let is_there = |part: &[u64]| part.is_empty() || list.windows(part.len()).any(|window| window == part);
    // How long a part is that is there, of those that are not longer than one that is not.
    let longest = |part: &dyn Fn(usize) -> Vec<u64>| {
        let (mut there, mut not_there) = (0, stretch.len());
        while not_there - there > 1 {
            let middle = usize::midpoint(there, not_there);
            if is_there(&part(middle)) { there = middle } else { not_there = middle }
        }
        there
    };
    let beginning = longest(&|length| stretch[..length].to_vec());
    let end = longest(&|length| stretch[stretch.len() - length..].to_vec());
    stretch.len().saturating_sub(beginning + end).max(1)
}
