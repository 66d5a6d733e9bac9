//! What was told, until what is told later agrees with it.
//!
//! A trace has no checksums, and its packets no numbers. Where one is missing, the bits behind it are taken for those of
//! other branches, and the way that is walked is one of the program's, but not the one that was executed. An address that
//! is told later mostly contradicts that: it is told at an instruction of which the program does not say where it leads,
//! and the walk stands elsewhere. By chance it may stand at another such. So what is walked waits until a few addresses
//! agreed.

use std::collections::VecDeque;

use super::step::{Discontinuity, Step};

/// How many addresses have to agree. With none, most of what is falsely shown where a packet is missing is contradicted
/// later; with one a tenth of it is, with four hardly any (`tests/itrace`).
const AGREEING: usize = 4;

/// How many steps wait at most. Few programs go on so long without a jump whose address is told.
const MOST: usize = 1 << 14;

/// Why a walk cannot go on. It is rare, and so takes no more room than a pointer.
pub(super) struct Wrong(Box<Why>);

enum Why {
    /// The source says so, or the bytes end: what was walked before is as certain as ever.
    Lost(String),
    /// Something does not fit: what was walked before may not be what was executed.
    Contradicted(String),
    /// Nothing is missing, but where execution goes on is only told later.
    Untold(String),
}

impl Wrong {
    #[cold]
    pub fn lost(reason: impl Into<String>) -> Wrong {
        Wrong(Box::new(Why::Lost(reason.into())))
    }

    #[cold]
    pub fn contradicted(reason: impl Into<String>) -> Wrong {
        Wrong(Box::new(Why::Contradicted(reason.into())))
    }

    #[cold]
    pub fn untold(reason: impl Into<String>) -> Wrong {
        Wrong(Box::new(Why::Untold(reason.into())))
    }

    /// Whether something does not fit.
    pub fn is_contradicted(&self) -> bool {
        matches!(*self.0, Why::Contradicted(_))
    }

    /// Whether nothing is missing.
    pub fn is_untold(&self) -> bool {
        matches!(*self.0, Why::Untold(_))
    }
}

/// Steps that wait, each with the place in the sink that told it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unconfirmed {
    steps: VecDeque<(u64, Step)>,
    /// How many there were, with those that wait no more.
    pushed: u64,
    /// How many there were when each of the last addresses agreed, the oldest first.
    agreed: [u64; AGREEING - 1],
    /// Whether a gap was told, and nothing was executed since.
    is_in_gap: bool,
}

impl Unconfirmed {
    /// Adds a step, which waits.
    #[inline]
    pub fn push(&mut self, at: u64, step: Step) {
        self.is_in_gap &= !matches!(step, Step::Run(_));
        self.steps.push_back((at, step));
        self.pushed += 1;
    }

    /// An address agrees with all that waits. `step` is given what waits no more.
    #[inline]
    pub fn agree(&mut self, step: &mut impl FnMut(u64, Step)) {
        let [enough, ..] = self.agreed;
        self.agreed.rotate_left(1);
        if let Some(newest) = self.agreed.last_mut() {
            *newest = self.pushed;
        }
        while self.pushed - (self.steps.len() as u64) < enough
            && let Some((at, told)) = self.steps.pop_front()
        {
            step(at, told);
        }
    }

    /// Gives away what is too much.
    #[inline]
    pub fn make_room(&mut self, step: &mut impl FnMut(u64, Step)) {
        if self.steps.len() > MOST {
            self.pass_on(step);
        }
    }

    /// Gives away everything.
    pub fn pass_on(&mut self, step: &mut impl FnMut(u64, Step)) {
        self.steps.drain(..).for_each(|(at, told)| step(at, told));
    }

    /// Something at a place in the sink does not fit, or tells that something is missing. One gap is one, whatever does not
    /// fit in it.
    pub fn break_off(&mut self, at: u64, wrong: Wrong, step: &mut impl FnMut(u64, Step)) {
        // What was executed before it waits with a gap of which it is not told yet.
        let tells = |(_, step): &(u64, Step)| matches!(step, Step::Discontinuity(_));
        if std::mem::replace(&mut self.is_in_gap, true) && !self.steps.iter().any(tells) {
            self.forget();
        } else {
            self.end_at(at, wrong, step);
        }
    }

    /// Ends in a discontinuity, which something at a place in the sink tells.
    fn end_at(&mut self, at: u64, wrong: Wrong, step: &mut impl FnMut(u64, Step)) {
        let reason = match *wrong.0 {
            Why::Lost(reason) => {
                self.pass_on(step);
                reason
            }
            Why::Contradicted(reason) => match self.forget() {
                Some(first) if first < at => {
                    format!("{reason}; what was told from byte {first:#x} on is not believed either")
                }
                _ => reason,
            },
            // What comes later can contradict what was before all the same.
            Why::Untold(reason) => return self.push(at, Step::Discontinuity(Discontinuity { at, reason })),
        };
        step(at, Step::Discontinuity(Discontinuity { at, reason }));
    }

    /// Forgets everything. The place in the sink of the first instructions of that.
    pub fn forget(&mut self) -> Option<u64> {
        let first = self.steps.iter().find(|(_, step)| matches!(step, Step::Run(_))).map(|(at, _)| *at);
        self.steps.clear();
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::itrace::instruction::{Blocks, Code, Ends, InstructionSet};

    /// What was given away, and the gaps in words.
    #[derive(Default)]
    struct Given(Vec<u64>, Vec<String>);

    impl Given {
        fn take(&mut self, at: u64, step: Step) {
            match step {
                Step::Time(_) => self.0.push(at),
                Step::Discontinuity(gap) => self.1.push(gap.reason),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Steps at these places, and an address behind each that agrees.
    fn waiting(places: std::ops::Range<u64>, given: &mut Given) -> Unconfirmed {
        let mut unconfirmed = Unconfirmed::default();
        for at in places {
            unconfirmed.push(at, Step::Time(0));
            unconfirmed.agree(&mut |at, step| given.take(at, step));
        }
        unconfirmed
    }

    #[test]
    fn what_is_shown_has_agreed_with_a_few_addresses() {
        let mut given = Given::default();
        let mut unconfirmed = waiting(0..AGREEING as u64 - 1, &mut given);
        assert_eq!(given.0, [] as [u64; 0]);
        unconfirmed.agree(&mut |at, step| given.take(at, step));
        assert_eq!(given.0, [0]);
        waiting(0..10, &mut given).pass_on(&mut |at, step| given.take(at, step));
        assert_eq!(given.0[1..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_contradiction_takes_back_what_waits_and_a_loss_does_not() {
        for (wrong, shown, waits) in [
            (Wrong::contradicted("it does not fit"), 7, false),
            (Wrong::lost("it was lost"), 10, false),
            (Wrong::untold("it is told later"), 7, true),
        ] {
            let mut given = Given::default();
            let mut unconfirmed = waiting(0..10, &mut given);
            unconfirmed.break_off(10, wrong, &mut |at, step| given.take(at, step));
            assert_eq!((given.0.len(), given.1.len()), (shown, usize::from(!waits)));
            unconfirmed.pass_on(&mut |at, step| given.take(at, step));
            assert_eq!((given.0.len(), given.1.len()), (if waits { 10 } else { shown }, 1));
        }
    }

    struct Nop;

    impl Code for Nop {
        fn code(&self, address: u64) -> &[u8] {
            if address == 0 { &[0x1f, 0x20, 0x03, 0xd5] } else { &[] }
        }
    }

    #[test]
    fn one_gap_is_one_whatever_does_not_fit_in_it() {
        let mut given = Given::default();
        let mut unconfirmed = waiting(0..10, &mut given);
        // A `nop` at 0.
        let mut blocks = Blocks::new(Nop, Ends::default());
        let block = *blocks.block(InstructionSet::A64, 0);
        let mut break_off = |unconfirmed: &mut Unconfirmed, wrong| {
            unconfirmed.break_off(10, wrong, &mut |at, step| given.take(at, step));
            given.1.len()
        };
        assert_eq!(break_off(&mut unconfirmed, Wrong::lost("it was lost")), 1);
        unconfirmed.push(11, Step::Time(0));
        assert_eq!(break_off(&mut unconfirmed, Wrong::contradicted("it does not fit")), 1);
        unconfirmed.push(12, Step::Run(block));
        assert_eq!(break_off(&mut unconfirmed, Wrong::contradicted("it does not fit")), 2);
        // One that waits is none yet.
        unconfirmed.push(13, Step::Run(block));
        assert_eq!(break_off(&mut unconfirmed, Wrong::untold("it is told later")), 2);
        assert_eq!(break_off(&mut unconfirmed, Wrong::contradicted("it does not fit")), 3);
    }

    #[test]
    fn no_more_waits_than_has_room() {
        let mut given = Given::default();
        let mut unconfirmed = Unconfirmed::default();
        for at in 0..=MOST as u64 {
            unconfirmed.push(at, Step::Time(0));
            unconfirmed.make_room(&mut |at, step| given.take(at, step));
        }
        assert_eq!(given.0.len(), MOST + 1);
    }
}
