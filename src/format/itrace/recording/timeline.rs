//! Where each instruction is found again: the order of the sources' instructions among each other, and places from which
//! reading can go on.
//!
//! It is written by whoever walks over the recording first, and every walk finds the same.

use super::super::state::State;
use super::stretch::Checkpoint;

/// Instructions of one source that come one behind the other among all.
#[derive(Clone, Copy, Debug)]
struct Slice {
    /// The number of the first among all.
    first: u64,
    source: usize,
    /// Its number among the source's.
    executed: u64,
}

/// What is kept of a source.
#[derive(Default)]
struct Line {
    /// Places from which reading can go on, each behind more instructions than the one before.
    checkpoints: Vec<Checkpoint>,
    /// What the source's clock showed, behind so many of its instructions.
    times: Vec<(u64, u64)>,
    /// In which state it was, behind so many of its instructions.
    states: Vec<(u64, State)>,
}

/// See above.
#[derive(Default)]
pub struct Timeline {
    slices: Vec<Slice>,
    lines: Vec<Line>,
}

/// Between which times of its source's clock an instruction was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// At this time or later.
    pub from: Option<u64>,
    /// At this time or before.
    pub to: Option<u64>,
}

impl Timeline {
    /// Of so many sources.
    pub fn new(sources: usize) -> Timeline {
        Timeline { slices: Vec::new(), lines: (0..sources).map(|_| Line::default()).collect() }
    }

    /// From this number on instructions are those of a source, from this number of its own on.
    pub fn add_slice(&mut self, first: u64, source: usize, executed: u64) {
        let goes_on = |last: &Slice| last.source == source && last.executed + (first - last.first) == executed;
        match self.slices.last() {
            Some(last) if last.first >= first || goes_on(last) => {}
            _ => self.slices.push(Slice { first, source, executed }),
        }
    }

    /// Reading of a source can go on here.
    pub fn add_checkpoint(&mut self, source: usize, checkpoint: Checkpoint) {
        if let Some(line) = self.lines.get_mut(source)
            && line.checkpoints.last().is_none_or(|last| last.executed() < checkpoint.executed())
        {
            line.checkpoints.push(checkpoint);
        }
    }

    /// A source's clock showed a time behind so many of its instructions. Of several there the first counts.
    pub fn add_time(&mut self, source: usize, executed: u64, time: u64) {
        if let Some(line) = self.lines.get_mut(source)
            && line.times.last().is_none_or(|(last, _)| *last < executed)
        {
            line.times.push((executed, time));
        }
    }

    /// A source was in a state behind so many of its instructions. Of several there the last counts.
    pub fn add_state(&mut self, source: usize, executed: u64, state: State) {
        let Some(line) = self.lines.get_mut(source) else { return };
        match line.states.last_mut() {
            Some((last, _)) if *last > executed => {}
            Some((last, known)) if *last == executed => *known = state,
            Some((_, known)) if *known == state => {}
            _ => line.states.push((executed, state)),
        }
    }

    /// In which state an instruction of a source was executed.
    pub fn state(&self, source: usize, executed: u64) -> Option<State> {
        let states = &self.lines.get(source)?.states;
        let behind = states.partition_point(|(before, _)| *before <= executed);
        Some(states.get(behind.checked_sub(1)?)?.1)
    }

    /// The source of an instruction, and its number among the source's.
    pub fn find(&self, number: u64) -> Option<(usize, u64)> {
        let behind = self.slices.partition_point(|slice| slice.first <= number);
        let slice = self.slices.get(behind.checked_sub(1)?)?;
        Some((slice.source, slice.executed + (number - slice.first)))
    }

    /// The last place before an instruction of a source from which reading can go on.
    pub fn checkpoint(&self, source: usize, executed: u64) -> Option<&Checkpoint> {
        let checkpoints = &self.lines.get(source)?.checkpoints;
        let behind = checkpoints.partition_point(|checkpoint| checkpoint.executed() <= executed);
        checkpoints.get(behind.checked_sub(1)?)
    }

    /// Between which times an instruction of a source was executed.
    pub fn times(&self, source: usize, executed: u64) -> Times {
        let times = self.lines.get(source).map_or(&[][..], |line| &line.times);
        let behind = times.partition_point(|(before, _)| *before <= executed);
        let at = |place: Option<usize>| Some(times.get(place?)?.1);
        Times { from: at(behind.checked_sub(1)), to: at(Some(behind)) }
    }
}
