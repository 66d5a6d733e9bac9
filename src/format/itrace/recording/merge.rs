//! The instructions of several sources in one order.
//!
//! Of instructions of two sources it is known which came first where a time of one lies between them. Where it is not,
//! as without timestamps, those come first that stand first in the sink. What comes between two times of a source, or, if
//! that is long, a part of it, is never taken apart.

use std::ops::Range;
use std::thread::Scope;

use super::ahead::Stretches;
use super::stretch::{Between, PLACE_EVERY, Stretch};
use super::{Source, Trace};

/// A part of a stretch.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The first run, and the one behind the last.
    runs: (usize, usize),
    /// The same of what happened between.
    between: (usize, usize),
}

/// Reads a source, piece by piece.
pub struct Cursor<'s, 't> {
    trace: &'t Trace,
    source: usize,
    stretches: Stretches<'s, 't>,
    stretch: Stretch,
    /// The next piece; `None` at the end.
    piece: Option<Piece>,
    /// The last time that was told before that piece.
    time: Option<u64>,
    /// The place in the sink of that piece.
    at: u64,
}

impl<'s, 't> Cursor<'s, 't> {
    /// At the beginning of a source, which is read ahead if there is a scope for that.
    pub fn new(
        trace: &'t Trace,
        number: usize,
        source: &'t Source,
        scope: Option<&'s Scope<'s, 't>>,
    ) -> Cursor<'s, 't> {
        let mut cursor = Cursor {
            trace,
            source: number,
            stretches: Stretches::new(trace, source, scope),
            stretch: Stretch::default(),
            piece: Some(Piece { runs: (0, 0), between: (0, 0) }),
            time: None,
            at: 0,
        };
        cursor.go_on();
        // What comes before its first time is earlier than whatever comes behind another's.
        let has_times = cursor.stretch.between.iter().any(|(_, _, between)| matches!(between, Between::Time(_)));
        cursor.time = has_times.then_some(0);
        cursor
    }

    /// Whether the next piece of this source comes before that of another.
    pub fn is_before(&self, other: &Cursor<'_, '_>) -> bool {
        match (self.time, other.time) {
            (Some(time), Some(others)) if time != others => time < others,
            _ => (self.sink(), self.at, self.source) < (other.sink(), other.at, other.source),
        }
    }

    fn sink(&self) -> usize {
        self.trace.sources.get(self.source).map_or(0, |source| source.sink)
    }

    /// Whether there is nothing more.
    pub fn is_over(&self) -> bool {
        self.piece.is_none()
    }

    /// The number of the source.
    pub fn source(&self) -> usize {
        self.source
    }

    /// The next piece: its stretch, and which runs, and which of what happened between, are in it.
    pub fn piece(&self) -> Option<(&Stretch, Range<usize>, Range<usize>)> {
        let Piece { runs, between } = self.piece?;
        Some((&self.stretch, runs.0..runs.1, between.0..between.1))
    }

    /// Moves behind the next piece.
    pub fn go_on(&mut self) {
        let Some(Piece { runs: (_, runs), between: (_, between) }) = self.piece else { return };
        let (mut from, mut between) = (runs, between);
        if let Some((.., Between::Time(time))) = between.checked_sub(1).and_then(|last| self.stretch.between.get(last))
        {
            self.time = Some(*time);
        }
        while from == self.stretch.runs.len() && between == self.stretch.between.len() {
            let Some((checkpoint, stretch)) = self.stretches.next() else {
                self.piece = None;
                return;
            };
            self.trace.add_checkpoint(self.source, checkpoint);
            (self.stretch, from, between) = (stretch, 0, 0);
        }
        self.piece = Some(self.next_piece(from, between));
    }

    fn next_piece(&mut self, from: usize, between: usize) -> Piece {
        let Stretch { runs, between: happened, places, .. } = &self.stretch;
        let place = places.get(from / PLACE_EVERY).copied();
        self.at = place.or_else(|| happened.get(between).map(|(_, at, _)| *at)).unwrap_or(self.at);
        let is_time = |(_, _, between): &&(usize, u64, Between)| matches!(between, Between::Time(_));
        let rest = happened.get(between..).unwrap_or_default();
        let time = rest.iter().find(is_time).map_or(runs.len(), |(before, ..)| *before);
        // One source alone needs no order.
        let longest = if self.trace.sources.len() > 1 { from - from % PLACE_EVERY + PLACE_EVERY } else { runs.len() };
        let end = time.min(longest).min(runs.len());
        let behind = match rest.iter().position(|found| found.0 > end || is_time(&found)) {
            // The time itself belongs to the piece that it ends.
            Some(at) if rest.get(at).is_some_and(|found| found.0 == end && is_time(&found)) => between + at + 1,
            Some(at) => between + at,
            None => happened.len(),
        };
        Piece { runs: (from, end), between: (between, behind) }
    }
}
