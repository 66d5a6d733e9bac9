//! The events of all streams in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::container::Container;
use super::events::LostEvents;
use super::positions::Position;
use super::streams::{Found, Streams, Taken};
use crate::trace::Damage;

/// What comes next.
pub(super) enum Next<'m> {
    /// An event.
    Event {
        position: Position,
        found: Found,
        record: &'m [u8],
        /// Whether events of its CPU were lost before it.
        lost: LostEvents,
    },
    /// A page, or a part of one, that cannot be read.
    Damage(Damage),
}

/// How many bytes of pages are held at most, if there is more than one.
const HELD: usize = 128 << 20;

/// A place in a stream.
struct Place<'a> {
    number: u64,
    /// The page; taken apart again where it was given up.
    taken: Option<Taken<'a>>,
    next: usize,
    /// Of the page that begins, until its first record is given out.
    lost: LostEvents,
}

/// The merge under way. Events of one time come in the order of their streams, and those of one stream in its order,
/// whatever their times are.
pub(super) struct Merge<'a> {
    container: &'a Container,
    streams: &'a Streams,
    places: Vec<Place<'a>>,
    /// The next event of each stream but of `first`.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// The stream whose event comes next, if that is known already.
    first: Option<usize>,
    damage: Vec<Damage>,
    /// How many bytes the pages take, and may take.
    held: usize,
    most: usize,
}

impl<'a> Merge<'a> {
    pub fn new(container: &'a Container, streams: &'a Streams) -> Merge<'a> {
        let place = |_| Place { number: 0, taken: None, next: 0, lost: LostEvents::None };
        let places: Vec<Place<'a>> = streams.all().iter().map(place).collect();
        let (heads, damage) = (BinaryHeap::new(), Vec::new());
        let mut merge = Merge { container, streams, places, heads, first: None, damage, held: 0, most: HELD };
        for stream in 0..merge.places.len().min(Position::STREAMS) {
            merge.turn_to(stream, 0, Vec::new());
        }
        merge.damage.reverse();
        merge
    }

    /// Turns to a page, or to the first behind it that holds a record.
    fn turn_to(&mut self, stream: usize, mut number: u64, mut records: Vec<Found>) {
        let mut lost = LostEvents::None;
        while number < Position::PAGES {
            let Some(page) = self.streams.page(self.container, stream, number, std::mem::take(&mut records)) else {
                return;
            };
            match page {
                Ok(mut taken) => {
                    self.damage.extend(taken.damage.take());
                    lost = lost.and(taken.lost);
                    if let Some(first) = taken.records.first() {
                        self.heads.push(Reverse((first.time, stream)));
                        self.hold(stream, Place { number, taken: None, next: 0, lost }, taken);
                        return;
                    }
                    records = taken.records;
                }
                Err(damage) => {
                    // All pages of a chunk are lost with it.
                    if self.damage.last() != Some(&damage) {
                        self.damage.push(damage);
                    }
                    // Nobody knows what was in it.
                    lost = LostEvents::Unknown;
                }
            }
            number += 1;
        }
    }

    /// Keeps a page at its place, and gives up those of all others where they take too much.
    fn hold(&mut self, stream: usize, place: Place<'a>, taken: Taken<'a>) {
        let size = taken.size();
        if self.held.saturating_add(size) > self.most {
            self.places.iter_mut().for_each(|place| place.taken = None);
            self.held = 0;
        }
        self.held += size;
        if let Some(kept) = self.places.get_mut(stream) {
            *kept = Place { taken: Some(taken), ..place };
        }
    }

    /// Calls `visit` with what comes next; `None` at the end.
    pub fn next<R>(&mut self, visit: impl FnOnce(Next<'_>) -> R) -> Option<R> {
        if let Some(damage) = self.damage.pop() {
            return Some(visit(Next::Damage(damage)));
        }
        let (stream, found) = self.head()?;
        let place = self.places.get_mut(stream)?;
        let taken = place.taken.as_ref()?;
        let position = Position { stream, page: place.number, offset: found.offset };
        let lost = std::mem::replace(&mut place.lost, LostEvents::None);
        let result = visit(Next::Event { position, found, record: taken.bytes(found), lost });
        place.next += 1;
        if let Some(next) = taken.records.get(place.next) {
            self.first = Some(match self.heads.peek_mut() {
                Some(mut head) if head.0 < (next.time, stream) => {
                    let Reverse((_, first)) = std::mem::replace(&mut *head, Reverse((next.time, stream)));
                    first
                }
                _ => stream,
            });
        } else {
            self.first = None;
            let number = place.number + 1;
            let records = place.taken.take().map_or_else(Vec::new, |taken| {
                self.held = self.held.saturating_sub(taken.size());
                taken.records
            });
            self.turn_to(stream, number, records);
            self.damage.reverse();
        }
        Some(result)
    }

    /// The stream whose event comes next, and that event. The page is held then.
    fn head(&mut self) -> Option<(usize, Found)> {
        loop {
            let stream = match self.first.take() {
                Some(stream) => stream,
                None => self.heads.pop()?.0.1,
            };
            let place = self.places.get(stream)?;
            if place.taken.is_none() {
                let (number, next, lost) = (place.number, place.next, place.lost);
                if let Some(Ok(taken)) = self.streams.page(self.container, stream, number, Vec::new()) {
                    self.hold(stream, Place { number, taken: None, next, lost }, taken);
                }
            }
            let place = self.places.get(stream)?;
            // Of a file that has changed meanwhile the page may be another.
            if let Some(found) = place.taken.as_ref().and_then(|taken| taken.records.get(place.next)) {
                return Some((stream, *found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TraceDat;
    use super::*;
    use crate::format::OpenOptions;
    use crate::source::Source;

    #[test]
    fn pages_that_were_given_up_are_taken_again() {
        for name in ["sched-v7-zstd", "instances-v7-zlib", "lost-v7-zstd"] {
            let path = format!("{}/tests/data/tracedat/{name}.dat", env!("CARGO_MANIFEST_DIR"));
            let file = TraceDat::open(Source::open(path.as_ref()).unwrap(), &OpenOptions::default()).unwrap();
            let events = |most| {
                let mut merge = Merge::new(&file.container, &file.streams);
                merge.most = most;
                let mut events = Vec::new();
                let mut add = |next: Next<'_>| {
                    if let Next::Event { position, found, record, lost } = next {
                        events.push((position, found.time, record.to_vec(), lost));
                    }
                };
                while merge.next(&mut add).is_some() {}
                events
            };
            let all = events(HELD);
            assert_eq!(all.len() as u64, file.count(), "{name}");
            assert!(all.is_sorted_by_key(|(_, time, ..)| *time), "{name}");
            assert!(events(0) == all, "{name}");
        }
    }
}
