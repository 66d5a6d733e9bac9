//! The one walk over a recording that makes its index.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::kind::Kind;
use super::segment::{Run, Segment};
use super::segments::Segments;
use super::shared::{Outcome, Shared, Snapshot};
use crate::trace::{Damage, Frame, Instructions, Item, Location, Recording};

/// What sees every frame, with its number, as the walk passes it; but not those that are instructions.
pub type Inspector = Box<dyn FnMut(u64, &Frame<'_>) + Send>;

/// Runs in a segment before any merging.
const SEGMENT: usize = 1 << 16;

/// What was walked over is made searchable this often, if the walk meets frames at all.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// But rarely enough that this takes no more than one part in so many of the time.
const PUBLISH_PART: u32 = 10;

/// The clock is asked once for so many runs.
const CLOCK_EVERY: usize = 64;

/// Of so many distinct trace state variables the last value is kept.
const VARIABLES: usize = 1 << 16;

/// A walk under way.
///
/// Memory: besides what stays, up to [`SEGMENT`] runs of 32 bytes and as much again while they become a segment, 4 MB
/// in all; and while segments are merged, the merged form beside the ones it replaces (which readers may hold on to)
/// and, unless all have the same values, up to twice its ranks at 1, 2 or 4 bytes. For a recording of 40 distinct
/// program counters that stays below 9 bytes a frame at the worst moment, and at 3.5 when done. Of 200 distinct runs
/// of instructions, each takes 2.6 bytes when done, and 3.8 where there are several threads.
pub(super) struct Walk {
    shared: Arc<Shared>,
    inspect: Option<Inspector>,
    segments: Segments,
    /// The runs behind the last whole segment.
    pending: Vec<Run>,
    /// The number of the first frame of those.
    pending_from: u64,
    /// How many frames were seen, the number of the next.
    frames: u64,
    /// How many runs they make.
    runs: u64,
    at: Location,
    published: Instant,
    /// How long the pending runs took to index the last time.
    took: Duration,
    last_values: BTreeMap<i32, i64>,
    /// Whether a variable was met for which [`VARIABLES`] left no room.
    too_many_variables: bool,
    cancelled: bool,
}

impl Walk {
    pub(super) fn new(shared: Arc<Shared>, inspect: Option<Inspector>) -> Walk {
        Walk {
            shared,
            inspect,
            segments: Segments::default(),
            pending: Vec::new(),
            pending_from: 0,
            frames: 0,
            runs: 0,
            at: Location(0),
            published: Instant::now(),
            took: Duration::ZERO,
            last_values: BTreeMap::new(),
            too_many_variables: false,
            cancelled: false,
        }
    }

    /// Walks until the end or until cancelled.
    pub(super) fn run(mut self, recording: &dyn Recording) {
        let walked = catch_unwind(AssertUnwindSafe(|| recording.walk(&mut |item| self.visit(item))));
        let end = walked.unwrap_or_else(|_| {
            // A defect of a reader must not leave clients waiting for ever. Where it would have ended is not known,
            // so the end is the last place that was surely reached.
            let what = format!(
                "reading failed at frame {}: it and what follows are not served (please report this)",
                self.frames
            );
            self.shared.add_damage(Damage { at: self.at.0, frame: None, what });
            self.at
        });
        if self.cancelled {
            return;
        }
        self.index_pending();
        let last_values = std::mem::take(&mut self.last_values);
        self.publish(Some(Arc::new(Outcome { end, last_values })));
    }

    fn visit(&mut self, item: Item<'_, '_>) -> ControlFlow<()> {
        if self.shared.is_cancelled() {
            self.cancelled = true;
            return ControlFlow::Break(());
        }
        match item {
            Item::Frame(frame) => self.add(frame),
            Item::Instructions(instructions) => self.add_instructions(&instructions),
            Item::Interruption(interruption) => self.shared.interruptions().push(self.frames, interruption),
            Item::Damage(damage) => self.shared.add_damage(damage),
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, frame: &Frame<'_>) {
        let number = self.frames;
        if let Some(inspect) = &mut self.inspect {
            inspect(number, frame);
        }
        if let Some(damage) = &frame.damage {
            self.shared.add_damage(Damage { frame: damage.frame.or(Some(number)), ..damage.clone() });
        }
        for (variable, value) in &frame.variables {
            self.keep_value(number, frame.location, *variable, *value);
        }
        let Frame { location, tracepoint, thread, .. } = *frame;
        self.add_run(Run { location, tracepoint, thread, kind: Kind::frame(frame.pc.address()) });
    }

    fn add_instructions(&mut self, instructions: &Instructions) {
        let Instructions { mut location, tracepoint, thread, start, beginnings } = *instructions;
        for kind in Kind::instructions(start, beginnings).into_iter().flatten() {
            self.add_run(Run { location, tracepoint, thread, kind });
            location.0 = location.0.wrapping_add(kind.count());
        }
    }

    fn add_run(&mut self, run: Run) {
        let count = run.kind.count();
        self.pending.push(run);
        self.runs += 1;
        self.frames += count;
        self.at = Location(run.location.0.wrapping_add(count - 1));
        // The first run at once, then each time their number has doubled, then by the clock.
        let whole = self.pending.len() == SEGMENT;
        let clock = self.pending.len().is_multiple_of(CLOCK_EVERY)
            && self.published.elapsed() >= PUBLISH_EVERY.max(self.took * PUBLISH_PART);
        if whole || clock || self.runs.is_power_of_two() {
            self.index_pending();
            self.publish(None);
        }
        if whole {
            self.pending.clear();
            self.pending_from = self.frames;
            while let Some(merged) = self.segments.merge_due() {
                self.segments.put(merged);
                self.shared.replace(self.snapshot(None));
            }
        }
    }

    fn keep_value(&mut self, number: u64, location: Location, variable: i32, value: i64) {
        if self.last_values.len() < VARIABLES || self.last_values.contains_key(&variable) {
            self.last_values.insert(variable, value);
        } else if !self.too_many_variables {
            self.too_many_variables = true;
            let what = format!(
                "the frames hold values of more than {VARIABLES} trace state variables: \
                 outside the frames, variable {variable} and those that first come behind it have no value"
            );
            self.shared.add_damage(Damage { at: location.0, frame: Some(number), what });
        }
    }

    /// Puts the pending runs into the index, as its last segment; they stay pending until that is whole.
    fn index_pending(&mut self) {
        if !self.pending.is_empty() {
            let began = Instant::now();
            self.segments.put(Segment::new(self.pending_from, &self.pending));
            self.took = began.elapsed();
        }
    }

    fn publish(&mut self, outcome: Option<Arc<Outcome>>) {
        self.shared.publish(self.snapshot(outcome));
        self.published = Instant::now();
    }

    fn snapshot(&self, outcome: Option<Arc<Outcome>>) -> Snapshot {
        Snapshot { segments: self.segments.clone(), at: self.at, outcome }
    }
}

/// However a walk ends, nobody waits for it any longer.
impl Drop for Walk {
    fn drop(&mut self) {
        self.shared.finish();
    }
}
