//! What makes segments of runs, and shows them to clients.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::segment::{Run, Segment};
use super::segments::Segments;
use super::shared::{Outcome, Shared, Snapshot};
use crate::trace::Location;

/// What was walked over is made searchable this often, if the walk meets frames at all.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// But rarely enough that this takes no more than one part in so many of the time.
const PUBLISH_PART: u32 = 10;

/// Runs behind those of the last whole segment.
pub(super) struct Batch {
    /// The number of the first frame.
    pub(super) first: u64,
    pub(super) runs: Vec<Run>,
    /// Where the last frame lies.
    pub(super) at: Location,
    /// Whether they make a segment that stays; else they come again, with more behind them.
    pub(super) is_whole: bool,
}

/// The segments so far.
pub(super) struct Builder {
    shared: Arc<Shared>,
    segments: Segments,
    at: Location,
    published: Instant,
    /// How long it took the last time to index runs that come again.
    took: Duration,
}

impl Builder {
    pub(super) fn new(shared: Arc<Shared>) -> Builder {
        let (segments, at) = (Segments::default(), Location(0));
        Builder { shared, segments, at, published: Instant::now(), took: Duration::ZERO }
    }

    /// Whether it is time to show runs that come again.
    pub(super) fn is_due(&self) -> bool {
        self.published.elapsed() >= PUBLISH_EVERY.max(self.took * PUBLISH_PART)
    }

    /// Indexes runs, and shows them.
    pub(super) fn add(&mut self, batch: &Batch) {
        self.put(batch);
        self.publish(None);
        if batch.is_whole {
            while let Some(merged) = self.segments.merge_due() {
                self.segments.put(merged);
                self.shared.replace(self.snapshot(None));
            }
        }
    }

    /// Indexes the last runs, and shows that these are all.
    pub(super) fn finish(mut self, batch: &Batch, outcome: Outcome) {
        self.put(batch);
        self.publish(Some(Arc::new(outcome)));
    }

    /// Indexes what comes, until nothing comes any more.
    pub(super) fn run(mut self, batches: &Receiver<Batch>) -> Builder {
        for batch in batches {
            let is_due = batch.is_whole || self.published.elapsed() >= self.took * PUBLISH_PART;
            if is_due && !self.shared.is_cancelled() {
                self.add(&batch);
            }
        }
        self
    }

    fn put(&mut self, batch: &Batch) {
        self.at = batch.at;
        if !batch.runs.is_empty() {
            let began = Instant::now();
            self.segments.put(Segment::new(batch.first, &batch.runs));
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
