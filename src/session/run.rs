//! Run control: a client moves along the frames, forward and backward, one at a time or to where it wants to stop.
//!
//! A move looks frames up and visits none: the next one, the next with a program counter that has a breakpoint, the
//! next outside a range of addresses. Only what watched memory held is read from the frames themselves, once for all
//! clients.

use std::sync::PoisonError;
use std::time::Instant;

use super::Session;
use super::changes::Known;
use super::watchpoints::Watchpoint;
use crate::index::{Answer, Query};

/// Which way a client moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To later frames.
    Forward,
    /// To earlier frames.
    Backward,
}

/// How far a client moves, unless a place to stop comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One frame of this thread.
    Step(u32),
    /// Out of the addresses from the first to the second, both included: to a frame whose program counter is known and
    /// another.
    Leave(u64, u64),
    /// To the next place to stop.
    Continue,
}

/// A move of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which way.
    pub direction: Direction,
    /// How far.
    pub motion: Motion,
}

/// Why a move ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It went as far as it should.
    Done,
    /// The frame's program counter has a breakpoint.
    Breakpoint,
    /// The frame holds another value of watched memory than was recorded last, in the direction of the move.
    Watchpoint(Watchpoint),
    /// There is no frame further on, in the direction of the move; this is the last one.
    Edge(Direction),
}

/// How far a move has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It ended.
    Stopped(Stop),
    /// The index has not come far enough: go on after a change of it.
    NotYet,
    /// Its time is up: go on. The frames before this one have been looked at.
    Searching(u64),
}

impl Session {
    /// Moves, until `deadline` at the latest. As long as the move has not ended the cursor stays where it is, and the
    /// same call goes on with it. A selected frame is left.
    ///
    /// Before the first move the client stands before the first frame.
    pub fn advance(&mut self, Move { direction, motion }: Move, deadline: Instant) -> Moved {
        let mut place: Option<(u64, Stop)> = None;
        let mut waits = false;
        let breakpoints =
            self.breakpoints.iter().map(|address| (self.look(direction, Query::Pc(address)), Stop::Breakpoint));
        for (answer, stop) in std::iter::once((self.end_of(direction, motion), Stop::Done)).chain(breakpoints) {
            match answer {
                // What is found lies in the part that is indexed, and so before all that is not.
                Answer::Found(frame) if place.is_none_or(|(found, _)| direction.is_nearer(frame, found)) => {
                    place = Some((frame, stop));
                }
                Answer::Found(_) | Answer::Nothing => {}
                Answer::NotYet => waits = true,
            }
        }
        for (watchpoint, changes) in self.watchpoints.iter() {
            let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
            let change = match (direction, self.cursor.visited()) {
                (Direction::Forward, _) => {
                    let last = place.map_or(u64::MAX, |(frame, _)| frame);
                    changes.next(self.from(), last, &self.replay, deadline)
                }
                (Direction::Backward, Some(frame)) => changes.previous(frame, &self.replay, deadline),
                (Direction::Backward, None) => Known::Known(None),
            };
            match change {
                Known::Known(Some(frame)) if place.is_none_or(|(found, _)| !direction.is_nearer(found, frame)) => {
                    place = Some((frame, Stop::Watchpoint(*watchpoint)));
                }
                Known::Known(_) => {}
                Known::NotYet => waits = true,
                Known::Searching(frames) => return Moved::Searching(frames),
            }
        }
        let progress = self.replay.index().progress();
        match place {
            Some((frame, stop)) => {
                self.cursor.visit(frame);
                return Moved::Stopped(stop);
            }
            None if waits => return Moved::NotYet,
            None => {}
        }
        match (direction, self.cursor.visited(), progress.frames.checked_sub(1)) {
            (Direction::Forward, ..) if !progress.complete => return Moved::NotYet,
            (Direction::Forward, _, Some(last)) => self.cursor.visit(last),
            (Direction::Backward, Some(_), _) => self.cursor.visit(0),
            (Direction::Forward, _, None) | (Direction::Backward, None, _) => {}
        }
        Moved::Stopped(Stop::Edge(direction))
    }

    /// Where a motion ends that nothing stops.
    fn end_of(&self, direction: Direction, motion: Motion) -> Answer<u64> {
        match motion {
            Motion::Step(thread) => self.look(direction, Query::Thread(thread)),
            Motion::Leave(low, high) => self.look(direction, Query::Outside { low, high }),
            Motion::Continue => Answer::Nothing,
        }
    }

    /// The next frame that matches.
    fn look(&self, direction: Direction, query: Query) -> Answer<u64> {
        match direction {
            Direction::Forward => self.replay.index().find(self.from(), &query),
            Direction::Backward => self.replay.index().find_back(self.cursor.visited().unwrap_or(0), &query),
        }
    }

    /// The first frame on the way forward.
    fn from(&self) -> u64 {
        self.cursor.visited().map_or(0, |frame| frame.saturating_add(1))
    }
}

impl Direction {
    /// Whether a frame is met before another.
    fn is_nearer(self, frame: u64, than: u64) -> bool {
        match self {
            Direction::Forward => frame < than,
            Direction::Backward => frame > than,
        }
    }
}
