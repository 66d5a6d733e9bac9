//! Frames by what the index knows of them.

use std::ops::Range;
use std::sync::OnceLock;

use super::{Direction, Replay};
use crate::index::{Answer, Query};

/// What frames must be, all of it at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// One query of each list must match.
    queries: Vec<Vec<Query>>,
    /// The first and the last time, in nanoseconds of the recording's clock.
    times: Option<(u64, u64)>,
    /// The frames of these times, once they are known.
    frames: OnceLock<Range<u64>>,
}

impl Selection {
    /// The frames that match one of these queries, too.
    pub fn add(&mut self, any_of: Vec<Query>) {
        self.queries.push(any_of);
    }

    /// The frames of the task of this number, as far as the index knows it: where frames have tasks, these are their
    /// threads, but for number 0 and where they are too many.
    pub fn add_task(&mut self, pid: Option<i128>, replay: &Replay) {
        let thread = pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0);
        if let Some(thread) = thread.filter(|_| !replay.recording().threads().is_empty()) {
            self.add(vec![Query::Thread(thread)]);
        }
    }

    /// Only frames that were recorded from one time to another, both included.
    pub fn between(&mut self, from: u64, to: u64) {
        let (low, high) = self.times.unwrap_or((0, u64::MAX));
        self.times = Some((low.max(from), high.min(to)));
    }

    /// The next of these frames: forward, from `at` on; backward, before it. `at` comes along, and `questions` is how many
    /// more times the index may be asked; where that is 0 in the end, frames from `at` on are still to be looked at.
    pub fn find(&self, replay: &Replay, direction: Direction, at: &mut u64, questions: &mut u64) -> Answer<u64> {
        let index = replay.index();
        let frames = match self.frames(replay) {
            Answer::Found(frames) => frames,
            Answer::Nothing => return Answer::Nothing,
            Answer::NotYet => return Answer::NotYet,
        };
        *at = if direction == Direction::Forward { frames.start.max(*at) } else { frames.end.min(*at) };
        // Each query moves on to its next hit, until all of them stay where they are.
        loop {
            let before = *at;
            for any_of in &self.queries {
                *questions = questions.saturating_sub(any_of.len() as u64);
                if *questions == 0 {
                    return Answer::NotYet;
                }
                let mut waits = false;
                let answers = any_of.iter().map(|query| (direction.find(index, *at, query), ()));
                match direction.nearest(answers, &mut waits) {
                    Some((frame, ())) if frames.contains(&frame) => *at = direction.standing(frame),
                    None if waits => return Answer::NotYet,
                    _ => return Answer::Nothing,
                }
            }
            if *at == before {
                break;
            }
        }
        match direction.next_frame(index, *at) {
            Answer::Found(frame) if !frames.contains(&frame) => Answer::Nothing,
            found => found,
        }
    }

    /// The frames of the times that were chosen, which are in the order of their times.
    fn frames(&self, replay: &Replay) -> Answer<Range<u64>> {
        let Some((from, to)) = self.times else { return Answer::Found(0..u64::MAX) };
        if let Some(frames) = self.frames.get() {
            return Answer::Found(frames.clone());
        }
        if !replay.index().progress().complete {
            return Answer::NotYet;
        }
        let behind = |time| replay.frame_at(time).ok().flatten().map_or(0, |frame| frame.saturating_add(1));
        let frames = from.checked_sub(1).map_or(0, behind)..behind(to);
        Answer::Found(self.frames.get_or_init(|| frames).clone())
    }
}
