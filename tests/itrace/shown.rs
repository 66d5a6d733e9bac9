//! What traceframe shows, and whether it is true.

use std::collections::BTreeSet;

use traceframe::format::itrace::instruction::{Block, Code, InstructionSet, decode};
use traceframe::format::itrace::{Discontinuity, Step};

use crate::program::Program;
use crate::stream::{Packet, Sink};

/// Instructions that are shown as executed one behind the other, with nothing lost between them.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    pub list: Vec<u64>,
    /// How each is said to be encoded.
    pub sets: Vec<InstructionSet>,
    /// The number of the packet that proves the first.
    pub packet: usize,
    /// Before which of them an exception is shown.
    pub traps: BTreeSet<usize>,
}

/// Everything that is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    pub stretches: Vec<Stretch>,
    pub discontinuities: Vec<Discontinuity>,
    pub traps: usize,
    pub ends: usize,
    is_going_on: bool,
}

impl Shown {
    /// Takes a step, which an element or packet at this place in the sink told.
    pub fn take(&mut self, program: &Program, sink: &Sink, at: u64, step: Step) {
        match step {
            Step::Run(run) => {
                if !self.is_going_on {
                    let packet = sink.packets.get(at as usize).copied().unwrap_or(0);
                    self.stretches.push(Stretch { packet, ..Stretch::default() });
                    self.is_going_on = true;
                }
                let stretch = self.stretches.last_mut().unwrap();
                expand(program, &run, &mut stretch.list);
                stretch.sets.resize(stretch.list.len(), run.instruction_set);
            }
            Step::Trap { .. } => {
                self.traps += 1;
                if let Some(stretch) = self.stretches.last_mut().filter(|_| self.is_going_on) {
                    stretch.traps.insert(stretch.list.len());
                }
            }
            Step::Discontinuity(discontinuity) => {
                assert!(discontinuity.at <= sink.bytes.len() as u64, "{discontinuity:?}");
                self.discontinuities.push(discontinuity);
                self.is_going_on = false;
            }
            Step::End => {
                self.ends += 1;
                self.is_going_on = false;
            }
            Step::State(_) | Step::Time(_) => {}
        }
    }

    /// Every instruction.
    pub fn list(&self) -> Vec<u64> {
        self.stretches.iter().flat_map(|stretch| &stretch.list).copied().collect()
    }

    /// Finds for each stretch where it was executed: all of them in order, none over another, and each begins with what
    /// the packet that told it proves. None if one was executed nowhere: the first such.
    pub fn places(&self, truth: &[u64], packets: &[Packet], is_exact: bool) -> Result<Vec<(usize, usize)>, usize> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut from = 0;
        for (number, stretch) in self.stretches.iter().enumerate() {
            let length = stretch.list.len();
            let proves = packets.get(stretch.packet).map_or(0..0, |packet| packet.proves.clone());
            let (first, end) = if is_exact { (proves.start.max(from), proves.end) } else { (from, truth.len()) };
            let found = (first..end).find(|at| truth.get(*at..at + length) == Some(&stretch.list[..]));
            let Some(at) = found else { return Err(number) };
            places.push((at, at + length));
            from = at + length;
        }
        Ok(places)
    }

    /// Checks that each stretch is a way that the program lets execution go.
    pub fn check_ways(&self, program: &Program, what: &str) {
        for stretch in &self.stretches {
            for (at, pair) in stretch.list.windows(2).enumerate() {
                assert!(
                    stretch.traps.contains(&(at + 1)) || program.allows(stretch.sets[at], pair[0], pair[1]),
                    "{what}: {:#x} does not lead to {:#x}",
                    pair[0],
                    pair[1]
                );
            }
        }
    }
}

fn expand(program: &Program, run: &Block, list: &mut Vec<u64>) {
    let mut at = run.start;
    for nth in 0..run.instructions() {
        let instruction = decode(run.instruction_set, at, program.code(at)).expect("what is shown can be executed");
        list.push(at);
        if nth + 1 == run.instructions() {
            assert_eq!(Some(at), run.last(), "{run:x?}");
        }
        at += u64::from(instruction.size);
    }
}
