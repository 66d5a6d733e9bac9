//! The stretches of a source, one behind the other: read where they are asked for, and, if there are many, ahead of
//! that on a thread of their own. Where there are processors for it, several threads read parts of the source beside each
//! other, and that one puts together what they find.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::{self, Scope};

use super::super::instruction::Blocks;
use super::calls::Lately;
use super::memory::Memory;
use super::reader::{PART, Reader};
use super::stretch::{Checkpoint, Piece, Stretch};
use super::{Source, Trace};

/// So many stretches are read where they are asked for: whoever wants no more pays for no thread.
const FIRST: u32 = 4;

/// So many stretches are read ahead at most.
const AHEAD: usize = 8;

/// So many pieces each thread is ahead that reads a part, at most: 3 MB.
const PIECES_AHEAD: usize = 16;

/// So many threads read parts of one source at most: one puts together what they find, and one indexes it.
const MOST_READERS: usize = 8;

/// A stretch, and the place before it.
pub type Read = (Checkpoint, Stretch);

/// Reads a source from its beginning on.
struct Reading<'t> {
    trace: &'t Trace,
    source: &'t Source,
    checkpoint: Checkpoint,
    blocks: Blocks<Arc<Memory>>,
    lately: Lately,
}

impl Iterator for Reading<'_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        let Reading { trace, source, checkpoint, blocks, lately } = self;
        let sink = trace.sink(source);
        loop {
            let before = checkpoint.clone();
            match checkpoint.advance(sink, source, blocks, &trace.calls, lately) {
                Some(stretch) => return Some((before, stretch)),
                None => checkpoint.go_on(sink, source)?,
            }
        }
    }
}

/// A part of a source: what a thread reads of it, each with the place before it, or, where none is given, a reader of it.
enum Part {
    Thread(Receiver<(Reader, Piece)>),
    Here(Reader),
}

impl<'t> Reading<'t> {
    /// From the beginning of a source on, in parts of so many bytes at least.
    fn new(trace: &'t Trace, source: &'t Source, part: u64) -> Reading<'t> {
        let checkpoint = Checkpoint::first(trace.sink(source), &source.protocol, part);
        let blocks = Blocks::new(Arc::clone(&source.memory), source.protocol.ends());
        Reading { trace, source, checkpoint, blocks, lately: Lately::default() }
    }

    /// Sends what is read, until there is nothing more or nobody wants it.
    fn send(self, sender: &SyncSender<Read>) {
        for read in self {
            if sender.send(read).is_err() {
                return;
            }
        }
    }

    /// The same, read by so many threads, each of which reads a part at a time.
    fn send_in_parts<'s>(mut self, scope: &'s Scope<'s, 't>, readers: usize, sender: &SyncSender<Read>) {
        let (trace, source) = (self.trace, self.source);
        let (sink, protocol) = (trace.sink(source), &source.protocol);
        let (reader, mut following) = self.checkpoint.take_apart();
        let (mut next, mut parts) = (Some(reader), VecDeque::new());
        loop {
            while parts.len() < readers
                && let Some(reader) = next.take()
            {
                parts.push_back(part(scope, trace, source, reader.clone()));
                next = reader.part_behind(sink, protocol, &source.memory);
            }
            let mut send = |(before, piece): (Reader, Piece)| {
                let before = Checkpoint::at(before, &following);
                sender.send((before, piece.followed(&mut following, source, &trace.calls, &mut self.lately))).is_ok()
            };
            match parts.pop_front() {
                Some(Part::Thread(pieces)) => {
                    if !pieces.into_iter().all(&mut send) {
                        return;
                    }
                }
                Some(Part::Here(mut reader)) => loop {
                    let before = reader.clone();
                    let (piece, goes_on) = Piece::read(&mut reader, sink, protocol, &mut self.blocks);
                    if !send((before, piece)) {
                        return;
                    }
                    if !goes_on {
                        break;
                    }
                },
                None => return,
            }
        }
    }
}

/// Has a part read on a thread of its own, if the system gives one.
fn part<'s, 't>(scope: &'s Scope<'s, 't>, trace: &'t Trace, source: &'t Source, reader: Reader) -> Part {
    let (sender, receiver) = sync_channel(PIECES_AHEAD);
    let mut own = reader.clone();
    let read = move || {
        let (sink, protocol) = (trace.sink(source), &source.protocol);
        let mut blocks = Blocks::new(Arc::clone(&source.memory), protocol.ends());
        loop {
            let before = own.clone();
            let (piece, goes_on) = Piece::read(&mut own, sink, protocol, &mut blocks);
            if sender.send((before, piece)).is_err() || !goes_on {
                return;
            }
        }
    };
    match thread::Builder::new().name("part".to_owned()).spawn_scoped(scope, read) {
        Ok(_) => Part::Thread(receiver),
        Err(_) => Part::Here(reader),
    }
}

/// Where the next stretch comes from.
enum Supply<'t> {
    Here(Box<Reading<'t>>),
    Thread(Receiver<Read>),
    /// There is nothing more.
    Nowhere,
}

/// The stretches of a source.
pub struct Stretches<'s, 't> {
    /// Where threads live; `None` where none may be begun.
    scope: Option<&'s Scope<'s, 't>>,
    from: Supply<'t>,
    given: u32,
}

impl<'s, 't> Stretches<'s, 't> {
    /// From its beginning on. They are read ahead if there is a scope for that.
    pub fn new(trace: &'t Trace, source: &'t Source, scope: Option<&'s Scope<'s, 't>>) -> Stretches<'s, 't> {
        let reading = Reading::new(trace, source, PART);
        Stretches { scope, from: Supply::Here(Box::new(reading)), given: 0 }
    }

    /// Has the rest read on a thread of its own, if the system gives one.
    fn ahead(&self, reading: Box<Reading<'t>>) -> Supply<'t> {
        let Some(scope) = self.scope else { return Supply::Here(reading) };
        // The reading follows the thread, so that it is still there if none is given.
        let (give, given) = sync_channel::<Box<Reading<'t>>>(1);
        let (sender, receiver) = sync_channel(AHEAD);
        let read = move || {
            let Ok(reading) = given.recv() else { return };
            match readers(reading.trace.sources.len()) {
                0 | 1 => reading.send(&sender),
                readers => reading.send_in_parts(scope, readers, &sender),
            }
        };
        if thread::Builder::new().name("reading".to_owned()).spawn_scoped(scope, read).is_err() {
            return Supply::Here(reading);
        }
        match give.send(reading) {
            Ok(()) => Supply::Thread(receiver),
            Err(SendError(reading)) => Supply::Here(reading),
        }
    }
}

/// How many threads are to read each of so many sources: as many as there are processors beside those that put together
/// and index what is read.
fn readers(sources: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    (processors.saturating_sub(2) / sources.max(1)).min(MOST_READERS)
}

impl Iterator for Stretches<'_, '_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        if self.given == FIRST {
            self.from = match std::mem::replace(&mut self.from, Supply::Nowhere) {
                Supply::Here(reading) => self.ahead(reading),
                other => other,
            };
        }
        self.given = self.given.saturating_add(1);
        let next = match &mut self.from {
            Supply::Here(reading) => reading.next(),
            Supply::Thread(receiver) => receiver.recv().ok(),
            Supply::Nowhere => None,
        };
        if next.is_none() {
            self.from = Supply::Nowhere;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::InstructionTrace;
    use super::super::stretch::Executed;
    use super::super::tests::{etm, etrace, of};
    use super::*;
    use crate::format::itrace::instruction::{Branch, Flow, InstructionSet};
    use crate::format::itrace::tests::data;
    use crate::source;

    /// What is read of a source, in order.
    #[derive(Clone, Debug, PartialEq)]
    enum Found {
        Run(u64, u64, u32),
        Between(u64, String),
    }

    fn add(found: &mut Vec<Found>, stretch: &Stretch) {
        let mut between = stretch.between.iter().peekable();
        for number in 0..=stretch.runs.len() {
            while let Some((_, at, happened)) = between.next_if(|(before, ..)| *before == number) {
                found.push(Found::Between(*at, format!("{happened:?}")));
            }
            if let Some(Executed { start, beginnings, instruction_set, .. }) = stretch.runs.get(number) {
                found.push(Found::Run(*start, *beginnings, *instruction_set as u32));
            }
        }
    }

    /// What is read in parts of a size, by one thread, or by several.
    fn read(recording: &InstructionTrace, part: u64, readers: usize) -> Vec<Found> {
        let source = &recording.trace.sources[0];
        let reading = Reading::new(&recording.trace, source, part);
        let mut found = Vec::new();
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            scope.spawn(move || match readers {
                1 => reading.send(&sender),
                readers => reading.send_in_parts(scope, readers, &sender),
            });
            receiver.iter().for_each(|(_, stretch)| add(&mut found, &stretch));
        });
        found
    }

    /// Without times and states, which may be told twice where parts meet.
    fn executed(found: &[Found]) -> Vec<Found> {
        let is_executed = |found: &&Found| match found {
            Found::Run(..) => true,
            Found::Between(_, happened) => happened.starts_with("Interruption"),
        };
        found.iter().filter(is_executed).cloned().collect()
    }

    const CASES: [(&str, &str, &str); 5] = [
        ("gen-etm4-one/cstrace.bin", "prog.a64.200", "gen-etm4-one/etm_0.ini"),
        ("gen-etm4-two-rs/cstrace.bin", "prog.a64.200", "gen-etm4-two-rs/etm_0.ini"),
        ("rv64.200.te_inst", "prog.rv64.200", ""),
        ("rv64.200.ir.te_inst", "prog.rv64.200", "returns"),
        ("rv64.200.modes.te_inst", "prog.rv64.200", "modes"),
    ];

    fn recording((_, program, ini): (&str, &str, &str), bytes: Vec<u8>) -> InstructionTrace {
        let source = match ini {
            "" => etrace(&[]),
            "returns" => etrace(&[("return_stack_size_p", 8), ("call_counter_size_p", 8), ("keeps_returns", 1)]),
            "modes" => {
                etrace(&[("call_counter_size_p", 9), ("bpred_size_p", 7), ("cache_size_p", 7), ("f0s_width_p", 1)])
            }
            ini => etm(ini),
        };
        of(source::Source::from_vec("parts", bytes), program, &[source])
    }

    #[test]
    fn parts_have_what_the_whole_has() {
        let mut counts = Vec::new();
        for case in CASES {
            let bytes = std::fs::read(data(case.0)).unwrap();
            for bytes in [bytes.repeat(3), bytes] {
                let recording = recording(case, bytes);
                let whole = executed(&read(&recording, u64::MAX, 1));
                assert!(whole.len() > 10_000);
                for part in [500, 3000, 20_000] {
                    let parts = read(&recording, part, 1);
                    // Where one stream ends and the next begins, two parts can meet as well.
                    let gaps = whole.iter().filter(|found| matches!(found, Found::Between(..))).count();
                    if gaps == 0 {
                        let differs = whole.iter().zip(&executed(&parts)).position(|(one, other)| one != other);
                        assert_eq!((differs, executed(&parts).len()), (None, whole.len()), "{case:?} {part}");
                    }
                    assert!(parts == read(&recording, part, 3), "{case:?} {part}");
                    let source = &recording.trace.sources[0];
                    let sink = recording.trace.sink(source);
                    let first = Reader::new(sink, &source.protocol, part);
                    let all = std::iter::successors(Some(first), |reader| {
                        reader.part_behind(sink, &source.protocol, &source.memory)
                    });
                    counts.push((all.count(), case.2 == "returns"));
                }
            }
        }
        // Where calls tell returns nothing can begin anew.
        assert!(counts.iter().all(|(parts, returns)| !returns || *parts == 1), "{counts:?}");
        assert!(counts.iter().filter(|(parts, _)| *parts > 5).count() > 8, "{counts:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Damaged as it may be, what several threads find is what one finds, and is a way through the program.
        #[test]
        fn damaged_parts_are_read_alike(
            case in 0..CASES.len(), cut in any::<prop::sample::Index>(), part in 300..3000_u64,
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 0..6),
        ) {
            let case = CASES[case];
            let mut bytes = std::fs::read(data(case.0)).unwrap();
            for (at, bit) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= 1_u8 << bit;
            }
            let unit = if case.2.ends_with(".ini") { 16 } else { 1 };
            let cut = cut.index(bytes.len()) / unit * unit;
            let recording = recording(case, if cut % 3 == 0 { bytes.split_off(cut) } else { bytes });
            let found = read(&recording, part, 1);
            prop_assert!(found == read(&recording, part, 4));
            let source = &recording.trace.sources[0];
            let mut blocks = Blocks::new(Arc::clone(&source.memory), source.protocol.ends());
            let mut before = None;
            for found in &executed(&found) {
                let Found::Run(start, beginnings, set) = found else {
                    before = None;
                    continue;
                };
                if let Some((flow, end)) = before {
                    let leads_there = match flow {
                        Flow::Next | Flow::Barrier | Flow::Wait => *start == end,
                        Flow::Branch(Branch { target, .. }) => *start == end || *start == target,
                        _ => true,
                    };
                    prop_assert!(leads_there, "{flow:?} {end:#x} {start:#x}");
                }
                let sets = [InstructionSet::A64, InstructionSet::Rv64];
                let set = sets.into_iter().find(|known| *known as u32 == *set).unwrap();
                let block = *blocks.block(set, *start);
                let last = start + 2 * u64::from(beginnings.ilog2());
                let block = block.through(last);
                before = Some((block.flow(), block.end));
            }
        }
    }
}
