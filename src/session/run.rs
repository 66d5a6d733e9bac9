//! Run control: a client moves along the frames, forward and backward, one at a time or to where it wants to stop.
//!
//! A move looks frames up and visits none: the next one, the next with a program counter that has a breakpoint, the
//! next of a thread outside a range of addresses. Only what watched memory held is read from the frames themselves,
//! once for all clients.

use std::sync::PoisonError;
use std::time::Instant;

use super::watchpoints::Watchpoint;
use super::{Moment, Session, Work};
use crate::index::{Answer, Index, InterruptionQuery, Query};
use crate::trace::Placed;

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
    /// One frame of this thread, which gdb steps alone over a breakpoint that it took away. A frame at which another
    /// thread comes to a breakpoint, this one included, ends it, as this thread's: gdb waits for none else, and would pass
    /// over what lies before this thread's own next frame (gdb 13.1 to 18.1, infrun.c: finish_step_over).
    StepOver(u32),
    /// A thread out of the addresses from the first to the second, both included: to a frame of it whose program
    /// counter is known and another.
    Leave(u32, u64, u64),
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
    /// Nobody knows what was executed between this frame and the one before it on the way.
    Gap(Direction),
    /// An exception was taken between this frame and the one before it on the way, and the client wants to know of that.
    Exception(Direction),
    /// There is no frame further on, in the direction of the move; this is the last one.
    Edge(Direction),
}

/// A move that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    movement: Move,
    /// The frame from which on breakpoints with conditions are still to be tested.
    reached: Option<u64>,
}

/// A frame to stop at, and why.
type Place = (u64, Stop);

impl Session {
    /// Begins a move; a selected frame is left when it ends.
    pub fn set_off(&mut self, movement: Move) {
        self.moving = Some(Moving { movement, reached: None });
    }

    /// Whether a move has not ended.
    pub fn is_moving(&self) -> bool {
        self.moving.is_some()
    }

    /// Ends a move where the client set off.
    pub fn halt(&mut self) {
        self.moving = None;
    }

    /// Goes on with the move that was begun, until `deadline` at the latest; why it ended. As long as it has not, the
    /// cursor stays where it is.
    ///
    /// Before the first move the client stands before the first frame.
    pub fn advance(&mut self, deadline: Instant) -> Work<Stop> {
        let Some(mut moving) = self.moving else { return Work::Done(Stop::Done) };
        let direction = moving.movement.direction;
        let mut waits = false;
        let place = self.place_by_index(moving.movement, &mut waits);
        let place = self.place_by_interruption(moving.movement, place, &mut waits);
        let place = self.place_by_memory(direction, place, &mut waits, deadline);
        let place = place.and_then(|place| self.place_by_condition(&mut moving, place, &mut waits, deadline));
        self.moving = Some(moving);
        let place = match place {
            Ok(place) => place,
            Err(frames) => return Work::Searching(frames),
        };
        let progress = self.replay.index().progress();
        if place.is_none() && (waits || direction == Direction::Forward && !progress.complete) {
            return Work::NotYet;
        }
        let (frame, stop) = match place {
            Some((frame, stop)) => (Some(frame), stop),
            None => {
                let last = match direction {
                    Direction::Forward => progress.frames.checked_sub(1),
                    Direction::Backward => self.cursor.visited().map(|_| 0),
                };
                (last, Stop::Edge(direction))
            }
        };
        match (frame, moving.movement.motion) {
            (Some(frame), Motion::StepOver(thread)) => self.cursor.visit_as(frame, thread),
            (Some(frame), _) => self.cursor.visit(frame),
            (None, _) => {}
        }
        self.moving = None;
        Work::Done(stop)
    }

    /// The nearest frame at which the motion ends, or that has a breakpoint without conditions.
    fn place_by_index(&self, Move { direction, motion }: Move, waits: &mut bool) -> Option<Place> {
        let (index, at) = (self.replay.index(), self.origin(direction));
        let end = match motion {
            Motion::Step(thread) | Motion::StepOver(thread) => direction.find(index, at, &Query::Thread(thread)),
            Motion::Leave(thread, low, high) => direction.find(index, at, &Query::ThreadOutside { thread, low, high }),
            Motion::Continue => Answer::Nothing,
        };
        let passed = match motion {
            Motion::StepOver(thread) => self.frame_of(thread).and_then(|frame| index.pc(frame).found().flatten()),
            _ => None,
        };
        let breakpoints = self.breakpoints.addresses(false).chain(passed);
        let breakpoints = breakpoints.map(|pc| (direction.find(index, at, &Query::Pc(pc)), Stop::Breakpoint));
        direction.nearest(std::iter::once((end, Stop::Done)).chain(breakpoints), waits)
    }

    /// The nearest frame behind a gap or an exception, if the client wants to know of those, if it is not behind `place`;
    /// else that. One that steps a thread need not know of the others'.
    fn place_by_interruption(&self, movement: Move, place: Option<Place>, waits: &mut bool) -> Option<Place> {
        let Move { direction, motion } = movement;
        let thread = match motion {
            Motion::Step(thread) | Motion::StepOver(thread) | Motion::Leave(thread, ..) => Some(thread),
            Motion::Continue => None,
        };
        let (gaps, exceptions) = (!self.passes_gaps, self.catches_exceptions);
        if !gaps && !exceptions {
            return place;
        }
        let mut at = self.origin(direction);
        loop {
            let between = InterruptionQuery { thread, gaps, exceptions };
            let (found, frame) = match direction.interruption(self.replay.index(), at, &between) {
                Answer::Found(found) => {
                    let frame = if direction == Direction::Forward { found.after } else { found.before };
                    (found, frame)
                }
                Answer::Nothing => return place,
                Answer::NotYet => {
                    *waits = true;
                    return place;
                }
            };
            let Some(frame) = frame.filter(|frame| place.is_none_or(|(found, _)| !direction.is_nearer(found, *frame)))
            else {
                return place;
            };
            // Before the first frame of a thread, and behind its last, there is nothing to go on from or to.
            if found.before.is_none() || found.after.is_none() {
                at = direction.past(frame);
                continue;
            }
            return Some((
                frame,
                if found.interruption.kind.is_gap() { Stop::Gap(direction) } else { Stop::Exception(direction) },
            ));
        }
    }

    /// The interruption at which a move ended.
    pub fn interruption(&self, stop: Stop) -> Option<Placed> {
        let (Stop::Gap(direction) | Stop::Exception(direction)) = stop else { return None };
        let between = InterruptionQuery {
            thread: None,
            gaps: matches!(stop, Stop::Gap(_)),
            exceptions: matches!(stop, Stop::Exception(_)),
        };
        let visited = self.cursor.visited()?;
        let at = if direction == Direction::Forward { visited } else { visited.saturating_add(1) };
        direction.interruption(self.replay.index(), at, &between).found()
    }

    /// The nearest frame with another value of watched memory, if it is not behind `place`; else that. `Err` where the
    /// time is up, with the frame that was come to.
    fn place_by_memory(
        &self,
        direction: Direction,
        mut place: Option<Place>,
        waits: &mut bool,
        deadline: Instant,
    ) -> Result<Option<Place>, u64> {
        for (watchpoint, changes) in self.watchpoints.iter() {
            let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
            let change = match (direction, self.cursor.visited()) {
                (Direction::Forward, _) => {
                    let last = place.map_or(u64::MAX, |(frame, _)| frame);
                    changes.next(self.origin(direction), last, &self.replay, deadline)
                }
                (Direction::Backward, Some(frame)) => changes.previous(frame, &self.replay, deadline),
                (Direction::Backward, None) => Work::Done(None),
            };
            match change {
                Work::Done(Some(frame)) if place.is_none_or(|(found, _)| !direction.is_nearer(found, frame)) => {
                    place = Some((frame, Stop::Watchpoint(*watchpoint)));
                }
                Work::Done(_) => {}
                Work::NotYet => *waits = true,
                Work::Searching(frames) => return Err(frames),
            }
        }
        Ok(place)
    }

    /// The nearest frame that has a breakpoint with a condition that holds there, if it is before `place`; else that.
    /// `Err` where the time is up, with the frame that was come to.
    fn place_by_condition(
        &self,
        moving: &mut Moving,
        place: Option<Place>,
        waits: &mut bool,
        deadline: Instant,
    ) -> Result<Option<Place>, u64> {
        if !self.breakpoints.has_conditions() {
            return Ok(place);
        }
        let (index, direction) = (self.replay.index(), moving.movement.direction);
        loop {
            let at = *moving.reached.get_or_insert(self.origin(direction));
            if Instant::now() >= deadline {
                return Err(at);
            }
            let addresses = self.breakpoints.addresses(true);
            let hits = addresses.map(|address| (direction.find(index, at, &Query::Pc(address)), address));
            let nearest = direction.nearest(hits, waits);
            let is_before = |frame: u64| place.is_none_or(|(found, _)| direction.is_nearer(frame, found));
            let Some((number, address)) = nearest.filter(|(frame, _)| is_before(*frame)) else { return Ok(place) };
            let frame = self.replay.frame(number);
            if frame.is_none_or(|frame| self.breakpoints.stops_at(address, &Moment::new(&self.replay, &frame))) {
                return Ok(Some((number, Stop::Breakpoint)));
            }
            moving.reached = Some(direction.past(number));
        }
    }

    /// Where the way begins: forward, the first frame on it; backward, the frame behind that.
    pub(super) fn origin(&self, direction: Direction) -> u64 {
        self.cursor.visited().map_or(0, |frame| direction.past(frame))
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

    /// The next frame that matches: forward, from `at` on; backward, before it.
    pub(super) fn find(self, index: &Index, at: u64, query: &Query) -> Answer<u64> {
        match self {
            Direction::Forward => index.find(at, query),
            Direction::Backward => index.find_back(at, query),
        }
    }

    /// The next interruption: forward, the first that is left at `at` or behind it; backward, the last that is entered before
    /// it.
    fn interruption(self, index: &Index, at: u64, between: &InterruptionQuery) -> Answer<Placed> {
        match self {
            Direction::Forward => index.next_interruption(at, between),
            Direction::Backward => index.previous_interruption(at, between),
        }
    }

    /// The next frame, as far as it is indexed: forward, that at `at`; backward, the one before it.
    pub(super) fn next_frame(self, index: &Index, at: u64) -> Answer<u64> {
        match self {
            Direction::Forward => index.locate(at).map(|_| at),
            Direction::Backward => {
                let last = at.min(index.progress().frames).checked_sub(1);
                last.map_or(Answer::Nothing, Answer::Found)
            }
        }
    }

    /// Where a search goes on that is to find a frame again.
    pub(super) fn standing(self, frame: u64) -> u64 {
        match self {
            Direction::Forward => frame,
            Direction::Backward => frame.saturating_add(1),
        }
    }

    /// Where to go on from a frame that is done with.
    pub(super) fn past(self, frame: u64) -> u64 {
        match self {
            Direction::Forward => frame.saturating_add(1),
            Direction::Backward => frame,
        }
    }

    /// The frame that is met first, among equals the first in the list; `waits` is set if some are not known yet. What
    /// is found lies in the part that is indexed, and so before all that is not.
    pub(super) fn nearest<T>(
        self,
        answers: impl Iterator<Item = (Answer<u64>, T)>,
        waits: &mut bool,
    ) -> Option<(u64, T)> {
        let mut nearest: Option<(u64, T)> = None;
        for (answer, what) in answers {
            match answer {
                Answer::Found(frame) if nearest.as_ref().is_none_or(|(found, _)| self.is_nearer(frame, *found)) => {
                    nearest = Some((frame, what));
                }
                Answer::Found(_) | Answer::Nothing => {}
                Answer::NotYet => *waits = true,
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::{Access, AgentExpression, Programs, Replay};
    use super::*;
    use crate::index::fake::Fake;
    use crate::trace::{Frame, Location, MemoryBlock, ProgramCounter, Thread};

    const WATCHED: u64 = 0x100;

    /// What matters of a frame here.
    #[derive(Clone, Debug)]
    struct Fact {
        thread: u32,
        pc: Option<u64>,
        /// The watched byte, where it was collected.
        value: Option<u8>,
    }

    fn frame(number: u64, fact: &Fact) -> Frame<'static> {
        let mut frame = Frame::empty(Location(number), 1);
        frame.thread = fact.thread;
        frame.pc = fact.pc.map_or(ProgramCounter::Unknown, ProgramCounter::Recorded);
        let bytes = fact.value.map(|value| Cow::Owned(vec![value]));
        frame.memory = bytes.into_iter().map(|bytes| MemoryBlock { address: WATCHED, bytes }).collect();
        frame
    }

    fn session(facts: &[Fact]) -> Session {
        let kept = facts.to_vec();
        let mut fake = Fake::new(facts.len() as u64, move |number| frame(number, &kept[number as usize % kept.len()]));
        fake.threads = (1..4).map(|id| Thread { id, name: String::new() }).collect();
        let replay = Arc::new(Replay::new(Arc::new(fake), Programs::default()).unwrap());
        replay.index().wait();
        Session::new(replay)
    }

    /// `*(unsigned char *) 0x100 == 2`.
    fn is_two() -> AgentExpression {
        AgentExpression::new(vec![0x23, 1, 0, 0x17, 0x22, 2, 0x13, 0x27])
    }

    /// Moves with as many calls as it takes.
    fn advance(session: &mut Session, movement: Move) -> Stop {
        session.set_off(movement);
        loop {
            match session.advance(Instant::now() + Duration::from_micros(50)) {
                Work::Done(stop) => return stop,
                Work::Searching(_) => {}
                Work::NotYet => panic!("all is indexed"),
            }
        }
    }

    /// What a look at one frame after the other finds: where the move ends, and why.
    fn look_at_each(
        facts: &[Fact],
        visited: Option<usize>,
        Move { direction, motion }: Move,
        breakpoints: &BTreeMap<u64, bool>,
        watches: bool,
    ) -> (Option<usize>, Stop) {
        let way: Vec<usize> = match (direction, visited) {
            (Direction::Forward, None) => (0..facts.len()).collect(),
            (Direction::Forward, Some(at)) => (at + 1..facts.len()).collect(),
            (Direction::Backward, at) => (0..at.unwrap_or(0)).rev().collect(),
        };
        let watchpoint = Watchpoint { address: WATCHED, length: 1, access: Access::Write };
        let recorded = |until: usize| facts[..until].iter().rev().find_map(|fact| fact.value);
        let mut last = visited.and_then(|at| recorded(at + 1));
        for at in way {
            let fact = &facts[at];
            let changed = fact.value.is_some() && last.is_some() && fact.value != last;
            last = fact.value.or(last);
            if watches && changed {
                return (Some(at), Stop::Watchpoint(watchpoint));
            }
            match motion {
                Motion::Step(thread) if fact.thread == thread => return (Some(at), Stop::Done),
                Motion::Leave(thread, low, high)
                    if fact.thread == thread && fact.pc.is_some_and(|pc| pc < low || high < pc) =>
                {
                    return (Some(at), Stop::Done);
                }
                _ => {}
            }
            let breakpoint = fact.pc.and_then(|pc| breakpoints.get(&pc));
            let holds = |is_conditional: &bool| !is_conditional || fact.value.is_none_or(|value| value == 2);
            if breakpoint.is_some_and(holds) {
                return (Some(at), Stop::Breakpoint);
            }
        }
        let edge = match direction {
            Direction::Forward => facts.len().checked_sub(1),
            Direction::Backward => visited.map(|_| 0),
        };
        (edge, Stop::Edge(direction))
    }

    fn fact() -> impl Strategy<Value = Fact> {
        let pc = prop::option::weighted(0.9, 0x10_u64..0x16);
        (1..4_u32, pc, prop::option::of(1..4_u8)).prop_map(|(thread, pc, value)| Fact { thread, pc, value })
    }

    fn movement() -> impl Strategy<Value = Move> {
        let direction = prop_oneof![Just(Direction::Forward), Just(Direction::Backward)];
        let motion = prop_oneof![
            (1..4_u32).prop_map(Motion::Step),
            (1..4_u32, 0x10_u64..0x16, 0x10_u64..0x16).prop_map(|(thread, one, other)| Motion::Leave(
                thread,
                one.min(other),
                one.max(other)
            )),
            Just(Motion::Continue),
        ];
        (direction, motion).prop_map(|(direction, motion)| Move { direction, motion })
    }

    proptest! {
        #[test]
        fn moves_end_where_a_look_at_each_frame_finds_them(
            facts in prop::collection::vec(fact(), 1..150),
            breakpoints in prop::collection::btree_map(0x0f_u64..0x17, any::<bool>(), 0..3),
            watches: bool,
            moves in prop::collection::vec(movement(), 1..20),
        ) {
            let mut session = session(&facts);
            for (address, is_conditional) in &breakpoints {
                let conditions = if *is_conditional { vec![is_two()] } else { Vec::new() };
                prop_assert!(session.breakpoints.insert(*address, conditions), "refused");
            }
            if watches {
                let watchpoint = Watchpoint { address: WATCHED, length: 1, access: Access::Write };
                prop_assert!(session.watch(watchpoint), "refused");
            }
            let mut visited = None;
            for movement in moves {
                let (to, stop) = look_at_each(&facts, visited, movement, &breakpoints, watches);
                prop_assert_eq!(advance(&mut session, movement), stop, "{:?} from {:?}", movement, visited);
                prop_assert_eq!(session.cursor().visited(), to.map(|to| to as u64), "{:?} from {:?}", movement, visited);
                visited = to;
            }
        }

        /// Back, back, forward is back.
        #[test]
        fn a_way_back_is_the_way_there(facts in prop::collection::vec(fact(), 3..50), start in 2..50_usize) {
            let mut session = session(&facts);
            let start = (start % facts.len()) as u64;
            session.cursor.visit(start);
            let pcs: BTreeSet<u64> = facts.iter().filter_map(|fact| fact.pc).take(2).collect();
            for pc in pcs {
                session.breakpoints.insert(pc, Vec::new());
            }
            let go = |session: &mut Session, direction| {
                let stop = advance(session, Move { direction, motion: Motion::Continue });
                (stop, session.cursor().visited())
            };
            let back = go(&mut session, Direction::Backward);
            if let (Stop::Breakpoint, (Stop::Breakpoint, _)) = (back.0, go(&mut session, Direction::Backward)) {
                prop_assert_eq!(go(&mut session, Direction::Forward), back);
            }
        }
    }

    #[test]
    fn a_selected_frame_is_where_a_move_begins() {
        let facts = vec![Fact { thread: 1, pc: Some(0x10), value: None }; 5];
        let mut session = session(&facts);
        session.find(crate::session::Find::Number(2));
        session.leave_frame();
        let step = Move { direction: Direction::Forward, motion: Motion::Step(1) };
        assert_eq!(advance(&mut session, step), Stop::Done);
        assert_eq!(session.cursor().position(), crate::session::Position::After(3));
    }

    #[test]
    fn a_thread_leaves_a_range_and_what_others_do_outside_it_does_not_count() {
        let facts: Vec<Fact> = [(1, 0x10), (2, 0x30), (1, 0x12), (3, 0x40), (2, 0x31), (1, 0x14), (2, 0x33), (3, 0x12)]
            .map(|(thread, pc)| Fact { thread, pc: Some(pc), value: None })
            .into();
        let mut session = session(&facts);
        session.breakpoints.insert(0x33, Vec::new());
        let mut leave = |direction, thread| {
            let stop = advance(&mut session, Move { direction, motion: Motion::Leave(thread, 0x10, 0x13) });
            (session.cursor.visited(), stop)
        };
        assert_eq!(leave(Direction::Forward, 1), (Some(5), Stop::Done));
        assert_eq!(leave(Direction::Backward, 3), (Some(3), Stop::Done));
        assert_eq!(leave(Direction::Backward, 2), (Some(1), Stop::Done));
        assert_eq!(leave(Direction::Forward, 2), (Some(4), Stop::Done));
        assert_eq!(leave(Direction::Forward, 1), (Some(5), Stop::Done));
        assert_eq!(leave(Direction::Forward, 3), (Some(6), Stop::Breakpoint), "of another thread");
        assert_eq!(leave(Direction::Forward, 3), (Some(7), Stop::Edge(Direction::Forward)));
        assert_eq!(leave(Direction::Backward, 1), (Some(6), Stop::Breakpoint));
        assert_eq!(leave(Direction::Backward, 1), (Some(5), Stop::Done));
    }

    #[test]
    fn a_step_over_a_breakpoint_passes_over_no_frame_that_has_one() {
        let facts: Vec<Fact> = [(1, 0x10), (2, 0x20), (2, 0x10), (1, 0x20), (3, 0x30), (1, 0x30)]
            .map(|(thread, pc)| Fact { thread, pc: Some(pc), value: None })
            .into();
        let mut session = session(&facts);
        session.cursor.visit(0);
        session.breakpoints.insert(0x30, Vec::new());
        // gdb has taken that at 0x10 away, which thread 1 is at.
        let mut step = |thread| {
            session.set_off(Move { direction: Direction::Forward, motion: Motion::StepOver(thread) });
            let stop = session.advance(Instant::now() + Duration::from_secs(60));
            (session.cursor.visited(), stop, session.thread(), session.frame_of(thread))
        };
        assert_eq!(step(1), (Some(2), Work::Done(Stop::Breakpoint), 1, Some(2)), "where thread 2 comes to it");
        assert_eq!(step(1), (Some(3), Work::Done(Stop::Done), 1, Some(3)));
        assert_eq!(step(1), (Some(4), Work::Done(Stop::Breakpoint), 1, Some(4)), "where thread 3 comes to another");
        assert_eq!(step(1), (Some(5), Work::Done(Stop::Done), 1, Some(5)));
        assert_eq!(step(1), (Some(5), Work::Done(Stop::Edge(Direction::Forward)), 1, Some(5)));
        session.cursor.visit(4);
        assert_eq!((session.thread(), session.frame_of(1)), (3, Some(3)));
    }

    #[test]
    fn threads_stand_at_their_own_frames() {
        let facts: Vec<Fact> = [2, 1, 1, 3, 2].map(|thread| Fact { thread, pc: Some(0x10), value: None }).into();
        let mut session = session(&facts);
        assert_eq!((session.thread(), session.frame_of(2)), (2, None));
        for (at, stands) in
            [[None, Some(0), None], [Some(1), Some(0), None], [Some(2), Some(0), None]].iter().enumerate()
        {
            session.cursor.visit(at as u64);
            assert_eq!([1, 2, 3].map(|thread| session.frame_of(thread)), *stands);
            assert_eq!(session.thread(), facts[at].thread);
        }
    }
}
