//! What a source executed between two places from which its reading can go on.

use std::sync::Arc;

use super::super::instruction::{Block, Blocks, InstructionSet};
use super::super::state::State;
use super::super::step::{Discontinuity, Step};
use super::calls::{Calls, Chain, Follower, Lately};
use super::memory::Memory;
use super::reader::{Protocol, Reader};
use crate::trace::{InterruptionKind, nth_address};

/// How many runs a stretch has, if packets end there.
const RUNS: usize = 4096;

/// Of how many runs one has its place in the sink kept.
pub const PLACE_EVERY: usize = 64;

/// A place from which reading can go on.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// How many instructions the source executed before.
    pub executed: u64,
    reader: Reader,
    follower: Follower,
    /// Whether tracing was switched off, and nothing was executed since.
    is_off: bool,
    /// Whether the sink ended.
    is_over: bool,
}

/// Instructions that were executed as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    /// The number of the first among the source's.
    pub first: u64,
    /// Its address.
    pub start: u64,
    /// Bit n is set where an instruction begins 2n bytes behind the start.
    pub beginnings: u64,
    /// How they are encoded.
    pub instruction_set: InstructionSet,
    /// The calls that have not returned.
    pub chain: Chain,
}

impl Executed {
    /// The address of the instruction of this number, counted from 0.
    pub fn address(&self, nth: u64) -> Option<u64> {
        nth_address(self.start, self.beginnings, nth)
    }
}

/// What happened between instructions.
#[derive(Clone, Debug)]
pub enum Between {
    /// A gap, or an exception.
    Interruption(InterruptionKind),
    /// The source's clock showed this.
    Time(u64),
    /// What comes next was executed in this state.
    State(State),
}

/// What a source did, up to where its reading can go on.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// How many instructions the source executed before.
    pub first: u64,
    /// What it executed, in order.
    pub runs: Vec<Executed>,
    /// What happened between: before which of the runs, at which offset in the sink it is told, and what.
    pub between: Vec<(usize, u64, Between)>,
    /// For every 64th run the offset in the sink of what tells it.
    pub places: Vec<u64>,
}

impl Stretch {
    /// The run that holds the instruction of this number among the source's.
    pub fn holding(&self, number: u64) -> Option<&Executed> {
        let behind = self.runs.partition_point(|run| run.first <= number);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        (number - run.first < u64::from(run.beginnings.count_ones())).then_some(run)
    }
}

impl Checkpoint {
    /// The beginning of a sink.
    pub fn first(protocol: &Protocol) -> Checkpoint {
        let (reader, follower) = (protocol.reader(), Follower::default());
        Checkpoint { executed: 0, reader, follower, is_off: false, is_over: false }
    }

    /// Reads the next stretch, and moves behind it; `None` at the end.
    pub fn advance(
        &mut self,
        sink: &[u8],
        protocol: &Protocol,
        blocks: &mut Blocks<Arc<Memory>>,
        memory: &Memory,
        calls: &Calls,
        lately: &mut Lately,
    ) -> Option<Stretch> {
        if self.is_over {
            return None;
        }
        let Checkpoint { executed, reader, follower, is_off, is_over } = self;
        let mut stretch = Stretch { first: *executed, runs: Vec::with_capacity(RUNS), ..Stretch::default() };
        let Stretch { runs, between, places, .. } = &mut stretch;
        let goes_on = reader.read(sink, protocol, blocks, |at, step| {
            let gap = |reason| Between::Interruption(InterruptionKind::Gap(reason));
            let happened = match step {
                Step::Run(run) => {
                    if std::mem::take(is_off) {
                        between.push((runs.len(), at, gap(InterruptionKind::NOT_TRACED.to_owned())));
                    }
                    if runs.len().is_multiple_of(PLACE_EVERY) {
                        places.push(at);
                    }
                    let Block { start, beginnings, instruction_set, .. } = run;
                    let chain = follower.run(&run, calls, lately, memory);
                    runs.push(Executed { first: *executed, start, beginnings, instruction_set, chain });
                    *executed += u64::from(run.instructions());
                    return runs.len() >= RUNS;
                }
                Step::End => {
                    follower.lose();
                    *is_off = *executed > 0;
                    return false;
                }
                Step::Trap { cause, is_interrupt, at: returns_to } => {
                    follower.exception(returns_to, calls, lately, memory);
                    Between::Interruption(InterruptionKind::Exception(protocol.exception(cause, is_interrupt)))
                }
                Step::Discontinuity(Discontinuity { reason, .. }) => {
                    follower.lose();
                    *is_off = false;
                    gap(reason)
                }
                Step::Time(time) => Between::Time(time),
                Step::State(state) => Between::State(state),
            };
            between.push((runs.len(), at, happened));
            between.len() >= RUNS
        });
        *is_over = !goes_on;
        Some(stretch)
    }
}
