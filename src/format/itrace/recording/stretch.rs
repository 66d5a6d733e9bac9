//! What a source executed between two places from which its reading can go on.

use std::sync::Arc;

use super::super::instruction::{Block, Blocks, InstructionSet};
use super::super::state::State;
use super::super::step::{Discontinuity, Step};
use super::Source;
use super::calls::{Calls, Chain, Follower, Lately, can_call_or_return};
use super::memory::Memory;
use super::protocol::Protocol;
use super::reader::Reader;
use crate::trace::{InterruptionKind, nth_address};

/// How many runs a stretch has, if packets end there.
const RUNS: usize = 4096;

/// Of how many runs one has its place in the sink kept.
pub const PLACE_EVERY: usize = 64;

/// A place from which reading can go on.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    reader: Reader,
    /// Whether the part that it reads ended.
    is_over: bool,
    following: Following,
}

/// What a source did so far.
#[derive(Clone, Debug, Default)]
pub struct Following {
    /// How many instructions it executed.
    pub executed: u64,
    follower: Follower,
    /// What tells that tracing was switched off, if nothing was executed since.
    off: Option<u64>,
}

/// What is read of a stretch without knowing what came before it.
pub struct Piece {
    /// What was executed, numbered from 0, with no calls; and how many instructions that is.
    runs: Vec<Executed>,
    executed: u64,
    /// Those of the runs behind which other calls may not have returned.
    turns: Vec<(usize, Block)>,
    /// What happened between: before which of the runs, at which offset in the sink it is told, and what.
    between: Vec<(usize, u64, Step)>,
    /// As of a stretch.
    places: Vec<u64>,
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
    /// The beginning of a sink, read in parts of so many bytes at least.
    pub fn first(sink: &[u8], protocol: &Protocol, part: u64) -> Checkpoint {
        Checkpoint { reader: Reader::new(sink, protocol, part), is_over: false, following: Following::default() }
    }

    /// How many instructions the source executed before.
    pub fn executed(&self) -> u64 {
        self.following.executed
    }

    /// Reads the next stretch, and moves behind it; `None` at the end of the part.
    pub fn advance(
        &mut self,
        sink: &[u8],
        source: &Source,
        blocks: &mut Blocks<Arc<Memory>>,
        calls: &Calls,
        lately: &mut Lately,
    ) -> Option<Stretch> {
        if self.is_over {
            return None;
        }
        let (piece, goes_on) = Piece::read(&mut self.reader, sink, &source.protocol, blocks);
        self.is_over = !goes_on;
        Some(piece.followed(&mut self.following, source, calls, lately))
    }

    /// Goes on with the next part, if there is one.
    pub fn go_on(&mut self, sink: &[u8], source: &Source) -> Option<()> {
        self.reader = self.reader.part_behind(sink, &source.protocol, &source.memory)?;
        self.is_over = false;
        Some(())
    }

    /// Where reading can go on with a part's reader, behind what the source did before.
    pub fn at(reader: Reader, following: &Following) -> Checkpoint {
        Checkpoint { reader, is_over: false, following: following.clone() }
    }

    /// What was read apart from what goes on with it: its reader, and what the source did so far.
    pub fn take_apart(self) -> (Reader, Following) {
        (self.reader, self.following)
    }
}

impl Piece {
    /// The next of a part, to which `reader` is moved behind, and whether there are more.
    pub fn read(
        reader: &mut Reader,
        sink: &[u8],
        protocol: &Protocol,
        blocks: &mut Blocks<Arc<Memory>>,
    ) -> (Piece, bool) {
        let (mut runs, mut turns, mut between, mut places) =
            (Vec::with_capacity(RUNS), Vec::new(), Vec::new(), Vec::new());
        let mut executed = 0;
        let goes_on = reader.read(sink, protocol, blocks, |at, step| {
            if let Step::Run(run) = step {
                if runs.len().is_multiple_of(PLACE_EVERY) {
                    places.push(at);
                }
                if can_call_or_return(run.flow()) {
                    turns.push((runs.len(), run));
                }
                let Block { start, beginnings, instruction_set, .. } = run;
                runs.push(Executed { first: executed, start, beginnings, instruction_set, chain: Chain::default() });
                executed += u64::from(run.instructions());
            } else {
                between.push((runs.len(), at, step));
            }
            runs.len() >= RUNS || between.len() >= RUNS
        });
        (Piece { runs, executed, turns, between, places }, goes_on)
    }

    /// The stretch, behind what the source did before.
    pub fn followed(self, following: &mut Following, source: &Source, calls: &Calls, lately: &mut Lately) -> Stretch {
        let Piece { mut runs, executed, turns, between: happened, places, .. } = self;
        let memory = &source.memory;
        let Following { executed: first, follower, off } = following;
        let mut between = Vec::with_capacity(happened.len());
        let (mut turns, mut happened) = (turns.iter(), happened.into_iter().peekable());
        let (mut turn, mut left_by) = (turns.next(), None);
        let place = |happened: Option<&(usize, u64, Step)>| happened.map_or(usize::MAX, |(before, ..)| *before);
        let mut next = place(happened.peek());
        for number in 0..=runs.len() {
            while number == next
                && let Some((_, at, step)) = happened.next()
            {
                next = place(happened.peek());
                if let Some(block) = left_by.take() {
                    follower.leave_by(block);
                }
                let gap = |reason| Between::Interruption(InterruptionKind::Gap(reason));
                let happened = match step {
                    Step::End => {
                        follower.lose();
                        *off = (*first > 0 || number > 0).then_some(at);
                        continue;
                    }
                    Step::Trap { cause, is_interrupt, at: returns_to } => {
                        follower.exception(returns_to, calls, lately, memory);
                        let name = source.protocol.exception(cause, is_interrupt, memory.is_m_profile());
                        Between::Interruption(InterruptionKind::Exception(name))
                    }
                    Step::Discontinuity(Discontinuity { reason, .. }) => {
                        follower.lose();
                        *off = None;
                        gap(reason)
                    }
                    Step::Time(time) => Between::Time(time),
                    Step::State(state) => Between::State(state),
                    Step::Run(_) => continue,
                };
                between.push((number, at, happened));
            }
            let Some(run) = runs.get_mut(number) else { break };
            if off.is_some()
                && let Some(at) = off.take()
            {
                let not_traced = InterruptionKind::Gap(InterruptionKind::NOT_TRACED.to_owned());
                between.push((number, at, Between::Interruption(not_traced)));
            }
            run.first += *first;
            run.chain = follower.enter(left_by.take(), run.start, calls, lately, memory);
            if let Some((at, block)) = turn
                && *at == number
            {
                (turn, left_by) = (turns.next(), Some(block));
            }
        }
        if let Some(block) = left_by {
            follower.leave_by(block);
        }
        let stretch = Stretch { first: *first, runs, between, places };
        *first += executed;
        stretch
    }
}
