//! Sets of addresses, and tables of overlapping address ranges.
//!
//! Ranges hold their last address and not the one behind it, so that a range may end at 2^64.

/// The last of `size` addresses from `first`, at most 2^64 - 1; `None` for no addresses.
pub(super) fn last(first: u64, size: u64) -> Option<u64> {
    size.checked_sub(1).map(|more| first.saturating_add(more))
}

/// A set of addresses, as sorted ranges that neither overlap nor touch.
#[derive(Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl FromIterator<(u64, u64)> for Ranges {
    /// Unites ranges that are given by first address and size.
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(ranges: I) -> Ranges {
        let mut sorted: Vec<(u64, u64)> =
            ranges.into_iter().filter_map(|(first, size)| Some((first, last(first, size)?))).collect();
        sorted.sort_unstable();
        let mut united: Vec<(u64, u64)> = Vec::new();
        for (first, last) in sorted {
            match united.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => united.push((first, last)),
            }
        }
        Ranges(united)
    }
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        self.end_of(address).is_some()
    }

    /// The last address of the range that holds `address`.
    pub(super) fn end_of(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|(first, _)| *first <= address);
        let (_, last) = self.0.get(after.checked_sub(1)?)?;
        (address <= *last).then_some(*last)
    }
}

/// A range of addresses with something that belongs to it.
#[derive(Debug)]
pub(super) struct Span<T> {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) value: T,
    /// The greatest `last` of this span and all before it: where a search downwards may end.
    reach: u64,
}

impl<T> Span<T> {
    pub(super) fn new(first: u64, last: u64, value: T) -> Span<T> {
        Span { first, last, value, reach: last }
    }
}

/// Ranges that may overlap, found by an address in them.
#[derive(Debug)]
pub(super) struct Spans<T>(Vec<Span<T>>);

impl<T> Default for Spans<T> {
    fn default() -> Self {
        Spans(Vec::new())
    }
}

impl<T> Spans<T> {
    /// Of spans with the same first address, the last given is found first.
    pub(super) fn new(mut spans: Vec<Span<T>>) -> Spans<T> {
        spans.sort_by_key(|span| span.first);
        let mut reach = 0;
        for span in &mut spans {
            reach = span.last.max(reach);
            span.reach = reach;
        }
        Spans(spans)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Span<T>> {
        self.0.iter()
    }

    /// The spans that hold `address`, the one that begins nearest to it first.
    pub(super) fn containing(&self, address: u64) -> impl Iterator<Item = &Span<T>> {
        let after = self.0.partition_point(|span| span.first <= address);
        let below = self.0.get(..after).unwrap_or(&[]);
        below.iter().rev().take_while(move |span| address <= span.reach).filter(move |span| address <= span.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_unite_and_may_end_at_the_last_address() {
        let ranges: Ranges =
            [(0x20, 0x10), (0x10, 0x10), (0x25, 2), (0x40, 0), (u64::MAX - 1, 100)].into_iter().collect();
        assert_eq!(ranges.0, [(0x10, 0x2f), (u64::MAX - 1, u64::MAX)]);
        assert!(!ranges.contains(0xf) && ranges.contains(0x10) && ranges.contains(0x2f) && !ranges.contains(0x30));
        assert!(!ranges.contains(0x40));
        assert_eq!(ranges.end_of(u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn spans_are_found_from_the_inside_out() {
        let spans = Spans::new(vec![
            Span::new(0, 99, "all"),
            Span::new(10, 19, "inner"),
            Span::new(20, 29, "next"),
            Span::new(10, 14, "alias"),
        ]);
        let at = |address| spans.containing(address).map(|span| span.value).collect::<Vec<_>>();
        assert_eq!(at(12), ["alias", "inner", "all"]);
        assert_eq!(at(15), ["inner", "all"]);
        assert_eq!(at(50), ["all"]);
        assert_eq!(at(100), [""; 0]);
    }
}
