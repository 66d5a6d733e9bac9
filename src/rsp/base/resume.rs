//! Run control: gdbstub says how the client wants to move, and the session does.

use std::convert::Infallible;

use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::multithread::{
    MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::breakpoints::WatchKind;

use super::threads::{number, tid};
use crate::report;
use crate::rsp::client::Client;
use crate::session::{Access, Direction, Motion, Move, Stop};
use crate::trace::Placed;

/// Among how many gaps behind all instructions those of a thread are looked for.
const GAPS: usize = 100;

/// A signal that the client sends along was never delivered to anybody, and is dropped.
impl MultiThreadResume for Client {
    fn resume(&mut self) -> Result<(), Infallible> {
        self.session.set_off(Move { direction: Direction::Forward, motion: self.motion });
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.motion = Motion::Continue;
        self.locks_others = false;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _tid: Tid, _signal: Option<Signal>) -> Result<(), Infallible> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for Client {
    fn set_resume_action_step(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), Infallible> {
        self.motion = Motion::Step(number(tid));
        Ok(())
    }
}

impl MultiThreadRangeStepping for Client {
    /// `end` is the first address behind the range.
    fn set_resume_action_range_step(&mut self, tid: Tid, start: u64, end: u64) -> Result<(), Infallible> {
        let addresses = self.addresses();
        self.motion = match end.checked_sub(1) {
            Some(last) if start < end => Motion::Leave(number(tid), addresses.kept(start), addresses.kept(last)),
            _ => Motion::Step(number(tid)),
        };
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Client {
    /// What other threads did meanwhile is recorded and cannot be held back.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.locks_others = true;
        match self.motion {
            Motion::Step(thread) => self.motion = Motion::StepOver(thread),
            // Of several threads each step is told then, which gdb takes and goes on (gdb manual, `vCont;r`).
            Motion::Leave(thread, ..) if self.session.threads().len() > 1 => self.motion = Motion::StepOver(thread),
            _ => {}
        }
        Ok(())
    }
}

impl ReverseStep<Tid> for Client {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), Infallible> {
        self.session.set_off(Move { direction: Direction::Backward, motion: Motion::Step(number(tid)) });
        Ok(())
    }
}

impl ReverseCont<Tid> for Client {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.session.set_off(Move { direction: Direction::Backward, motion: Motion::Continue });
        Ok(())
    }
}

impl Client {
    /// What the user is told of a stop in words, before the client is told of it.
    pub fn words(&self, stop: Stop) -> Option<String> {
        match stop {
            Stop::Edge(direction) => {
                let gap = self.gap_behind().filter(|_| direction == Direction::Forward);
                let end = self.ends_in_words(direction).then_some(match direction {
                    Direction::Forward => "The recording ends here.\n",
                    Direction::Backward => "The recording begins here.\n",
                });
                (gap.is_some() || end.is_some()).then(|| gap.unwrap_or_default() + end.unwrap_or_default())
            }
            Stop::Gap(_) | Stop::Exception(_) => {
                Some(report::interruption(self.session.replay(), &self.session.interruption(stop)?))
            }
            _ => None,
        }
    }

    /// The gap behind the last instruction of the thread, in words, if there is one.
    fn gap_behind(&self) -> Option<String> {
        let (replay, thread) = (self.session.replay(), self.session.thread());
        let behind = replay.index().interruptions_behind(GAPS);
        let is_own = |gap: &&Placed| gap.interruption.kind.is_gap() && gap.interruption.thread == thread;
        Some(report::interruption(replay, behind.iter().find(is_own)?))
    }

    /// Whether the client must not be told of the end of what is recorded but in words.
    ///
    /// Where that comes while gdb steps over a breakpoint, which it has one thread do alone, gdb waits for the end of the
    /// step whatever is typed next, and for ever (gdb 13.1 to 18.1, infrun.c: `TARGET_WAITKIND_NO_HISTORY` leaves the
    /// step-over open). LLDB does not know it, and steps for ever where the program counter stays the same (LLDB 14).
    fn ends_in_words(&self, direction: Direction) -> bool {
        self.is_lldb || self.locks_others && direction == Direction::Forward
    }

    /// What gdbstub reports of a stop; `None` is one that the user typed ^C for.
    pub fn stop_reason(&self, stop: Option<Stop>) -> MultiThreadStopReason<u64> {
        let tid = tid(self.session.thread());
        match stop {
            // gdb says `Program stopped.`
            Some(Stop::Edge(direction)) if self.ends_in_words(direction) => {
                let signal = if self.is_lldb { Signal::SIGINT } else { Signal::SIGZERO };
                MultiThreadStopReason::SignalWithThread { tid, signal }
            }
            None => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGINT },
            Some(Stop::Done) => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP },
            // gdb says `Resource lost`; `handle SIGLOST nostop` runs through.
            Some(Stop::Gap(_)) => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGLOST },
            Some(Stop::Exception(_)) => MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP },
            Some(Stop::Breakpoint) => MultiThreadStopReason::SwBreak(tid),
            Some(Stop::Watchpoint(watchpoint)) => MultiThreadStopReason::Watch {
                tid,
                kind: match watchpoint.access {
                    Access::Write => WatchKind::Write,
                    Access::Read => WatchKind::Read,
                    Access::Any => WatchKind::ReadWrite,
                },
                addr: self.addresses().for_gdb(watchpoint.address),
            },
            Some(Stop::Edge(direction)) => MultiThreadStopReason::ReplayLog {
                tid: Some(tid),
                pos: match direction {
                    Direction::Forward => ReplayLogPosition::End,
                    Direction::Backward => ReplayLogPosition::Begin,
                },
            },
        }
    }
}
