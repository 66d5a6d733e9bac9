//! Searches for frames by what they hold: in slices, since frames have to be looked at.

use std::collections::BTreeMap;
use std::time::Instant;

use super::{AgentExpression, Check, Direction, Moment, Replay, Selection, Session, Work};
use crate::index::{Answer, Query};

/// How often the index is asked before the time is looked at.
const QUESTIONS: u64 = 1000;

/// What a frame must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// What the index knows.
    Index(Query),
    /// What the index knows, and of these frames those for which all checks hold.
    All(Selection, Vec<Check>),
    /// A value that compares so with a number. Trace state variables have a sign; what else has none is taken to have
    /// one where the number is negative.
    Compares(Operand, Comparison, i128),
    /// Another value than was recorded last: than the frame before holds, on the way of the search, and where it begins
    /// than the last one up to there.
    Changes(Operand),
}

/// A value in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register, by its number in the target description.
    Register(u16),
    /// A number of 1 to 8 bytes in memory.
    Memory {
        /// Its address.
        address: u64,
        /// How many bytes it has.
        length: usize,
    },
    /// A trace state variable.
    Variable(i32),
    /// Expressions as gdb compiled them for a program counter each; in frames with another there is no value.
    Compiled(BTreeMap<u64, AgentExpression>),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A search under way.
#[derive(Clone, Debug)]
pub struct Search {
    condition: Condition,
    direction: Direction,
    /// Forward, the next frame to be looked at; backward, the frame behind it.
    at: u64,
    most: usize,
    /// How many frames are still looked at.
    left: u64,
    /// The value recorded last on the way.
    last: Option<u64>,
    /// The frame where it is to be looked for before the search begins: the last one that holds it where that does.
    behind: Option<u64>,
    /// The frames that were found, in the order of the search.
    pub found: Vec<u64>,
    /// How many frames were looked at that have no such value.
    pub without_value: u64,
}

impl Search {
    /// A search for up to `most` frames, from the one behind the last visited on, or the one before it.
    pub fn new(session: &Session, condition: Condition, direction: Direction, most: usize) -> Search {
        let (found, last, behind) = (Vec::new(), None, None);
        let search =
            Search { condition, direction, at: 0, most, left: u64::MAX, last, behind, found, without_value: 0 };
        search.from(session.origin(direction))
    }

    /// The same, from this frame on, or from the one before it.
    pub fn from(self, at: u64) -> Search {
        let behind = match (&self.condition, self.direction) {
            (Condition::Changes(_), Direction::Forward) => at.checked_sub(1),
            (Condition::Changes(_), Direction::Backward) => Some(at),
            _ => None,
        };
        Search { at, behind, ..self }
    }

    /// The same, which looks at so many frames at most.
    pub fn looking_at(self, left: u64) -> Search {
        Search { left, ..self }
    }

    /// The next frame to be looked at; backward, the frame behind it.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Goes on, until `deadline` at the latest. It is done when as many frames were found or looked at as were wanted, or
    /// there are no more; then it tells where another search would go on, if there is anything left to look at.
    pub fn advance(&mut self, replay: &Replay, deadline: Instant) -> Work<Option<u64>> {
        while let Some(number) = self.behind {
            if Instant::now() >= deadline {
                return Work::Searching(self.at);
            }
            self.look_behind(number, replay);
        }
        while self.found.len() < self.most && self.left > 0 {
            if Instant::now() >= deadline {
                return Work::Searching(self.at);
            }
            match self.next_candidate(replay) {
                Answer::Found(Some(number)) => self.look_at(number, replay),
                Answer::Found(None) => {}
                Answer::Nothing => return Work::Done(None),
                Answer::NotYet => return Work::NotYet,
            }
        }
        Work::Done(Some(self.at))
    }

    /// The next frame that may be one; none where there is more to ask of the index.
    fn next_candidate(&mut self, replay: &Replay) -> Answer<Option<u64>> {
        let index = replay.index();
        let found = match (&self.condition, self.direction) {
            (Condition::Index(query), direction) => direction.find(index, self.at, query),
            (Condition::All(selection, _), direction) => {
                let mut questions = QUESTIONS;
                let found = selection.find(replay, direction, &mut self.at, &mut questions);
                if questions == 0 {
                    return Answer::Found(None);
                }
                found
            }
            (_, direction) => direction.next_frame(index, self.at),
        };
        found.map(Some)
    }

    fn look_behind(&mut self, number: u64, replay: &Replay) {
        let (Condition::Changes(operand), Some(frame)) = (&self.condition, replay.frame(number)) else {
            self.behind = None;
            return;
        };
        self.last = operand.value(&Moment::new(replay, &frame)).map(|value| value.0);
        self.behind = if self.last.is_some() { None } else { number.checked_sub(1) };
    }

    fn look_at(&mut self, number: u64, replay: &Replay) {
        self.at = self.direction.past(number);
        self.left -= 1;
        let operand = match &self.condition {
            Condition::Index(_) => return self.found.push(number),
            Condition::All(_, checks) if checks.is_empty() => return self.found.push(number),
            Condition::All(_, checks) => {
                let Some(frame) = replay.frame(number) else { return };
                match Check::all(checks, replay, &frame) {
                    Some(true) => self.found.push(number),
                    Some(false) => {}
                    None => self.without_value += 1,
                }
                return;
            }
            Condition::Compares(operand, ..) | Condition::Changes(operand) => operand,
        };
        let Some(frame) = replay.frame(number) else { return };
        let Some(value) = operand.value(&Moment::new(replay, &frame)) else {
            self.without_value += 1;
            return;
        };
        let fits = match &self.condition {
            Condition::Compares(operand, comparison, wanted) => {
                let is_signed = *wanted < 0 || matches!(operand, Operand::Variable(_));
                comparison.holds(in_full(value, is_signed), *wanted)
            }
            _ => self.last.replace(value.0).is_some_and(|last| last != value.0),
        };
        if fits {
            self.found.push(number);
        }
    }
}

impl Operand {
    /// The value at a moment, and of how many bits it is.
    fn value(&self, moment: &Moment<'_>) -> Option<(u64, u32)> {
        match self {
            Operand::Register(number) => Some((moment.register(*number)?, moment.register_bits(*number)?)),
            Operand::Memory { address, length } => {
                Some((moment.number(*address, *length)?, u32::try_from(*length * 8).ok()?))
            }
            Operand::Variable(number) => Some((moment.variable(*number)?.cast_unsigned(), u64::BITS)),
            Operand::Compiled(by_pc) => {
                let expression = by_pc.get(&moment.pc()?)?;
                Some((expression.evaluate(moment).ok()?, u64::BITS))
            }
        }
    }
}

/// A value as it is to be compared, with its sign or without one.
fn in_full((value, bits): (u64, u32), is_signed: bool) -> i128 {
    let unused = u64::BITS.saturating_sub(bits).min(63);
    match is_signed {
        true => i128::from((value << unused).cast_signed() >> unused),
        false => i128::from(value),
    }
}

impl Comparison {
    /// The comparison that is written so.
    pub fn from_text(text: &str) -> Option<Comparison> {
        Some(match text {
            "==" | "=" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Greater,
            ">=" => Comparison::AtLeast,
            _ => return None,
        })
    }

    pub(super) fn holds(self, one: i128, other: i128) -> bool {
        match self {
            Comparison::Equal => one == other,
            Comparison::Unequal => one != other,
            Comparison::Less => one < other,
            Comparison::AtMost => one <= other,
            Comparison::Greater => one > other,
            Comparison::AtLeast => one >= other,
        }
    }

    /// The same of texts, which are equal or not.
    pub(super) fn of_texts(self, one: &[u8], other: &[u8]) -> Option<bool> {
        match self {
            Comparison::Equal => Some(one == other),
            Comparison::Unequal => Some(one != other),
            _ => None,
        }
    }
}
