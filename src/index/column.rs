//! One value a frame, and the search for the next frame whose value lies in a range.

use std::ops::{Range, RangeInclusive};

use super::packed::Packed;
use super::wavelet::Wavelet;

/// How many values are remembered while a column is made.
const LATELY: usize = 256;

/// Where a value is remembered; those that lie next to each other, or a power of two apart, at different places.
fn place(value: u64) -> usize {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - LATELY.ilog2())) as usize
}

/// A column of values, some of which may be unknown.
///
/// Kept as the sorted distinct values and, for every position, the rank of its value among them. The rank behind
/// the last value stands for an unknown one, so that no range of values holds it. Ranks take
/// log2 of the number of distinct values in bits; a column of one value takes none.
pub(super) struct Column {
    values: Packed,
    ranks: Wavelet,
    unknown: bool,
}

impl Column {
    /// The column of these values.
    pub(super) fn new(column: &[Option<u64>]) -> Column {
        // Most columns have few values, so that one is mostly among those met last.
        let mut lately = [None; LATELY];
        let is_new = |value: &u64| lately[place(*value)].replace(*value) != Some(*value);
        let mut values: Vec<u64> = column.iter().flatten().copied().filter(is_new).collect();
        values.sort_unstable();
        values.dedup();
        let unknown = column.contains(&None);
        let mut lately = [(None, 0); LATELY];
        let rank = |value: &Option<u64>| match value {
            Some(value) => {
                let known = &mut lately[place(*value)];
                if known.0 != Some(*value) {
                    *known = (Some(*value), values.partition_point(|found| found < value) as u32);
                }
                known.1
            }
            None => values.len() as u32,
        };
        let ranks = Wavelet::new(column.len(), width(values.len(), unknown), column.iter().map(rank));
        Column { values: values.iter().copied().collect(), ranks, unknown }
    }

    /// One column of several, in their order.
    ///
    /// Takes, besides the result, 4 bytes for every distinct value of each column, and what [`Wavelet::new`] takes.
    pub(super) fn merge(columns: &[&Column]) -> Column {
        // For every column the new ranks of its old ones; as long as it grows its length is the next old rank.
        let mut renamed: Vec<Vec<u32>> =
            columns.iter().map(|column| Vec::with_capacity(column.values.len() + 1)).collect();
        let mut rank = 0;
        let values: Packed = std::iter::from_fn(|| {
            let heads = columns.iter().zip(&renamed).map(|(column, renamed)| column.values.get(renamed.len()));
            let least = heads.flatten().min()?;
            for (column, renamed) in columns.iter().zip(&mut renamed) {
                if column.values.get(renamed.len()) == Some(least) {
                    renamed.push(rank);
                }
            }
            rank += 1;
            Some(least)
        })
        .collect();
        for renamed in &mut renamed {
            renamed.push(rank);
        }
        let unknown = columns.iter().any(|column| column.unknown);
        let length = columns.iter().map(|column| column.ranks.len()).sum();
        let ranks = columns
            .iter()
            .zip(&renamed)
            .flat_map(|(column, renamed)| column.ranks.to_vec().into_iter().map(|rank| renamed[rank as usize]));
        let ranks = Wavelet::new(length, width(values.len(), unknown), ranks);
        Column { values, ranks, unknown }
    }

    /// All values that are known, each once, in ascending order.
    pub(super) fn distinct(&self) -> impl Iterator<Item = u64> {
        self.values.iter()
    }

    /// Whether a value is not known.
    pub(super) fn has_unknown(&self) -> bool {
        self.unknown
    }

    /// The value at a position, if it is known.
    pub(super) fn get(&self, at: usize) -> Option<u64> {
        self.values.get(self.ranks.get(at) as usize)
    }

    /// The distinct values that are known, ascending, each with the number of its positions.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u64, usize)> {
        self.values.iter().map(|value| (value, self.count(value)))
    }

    /// At how many positions a value stands.
    pub(super) fn count(&self, value: u64) -> usize {
        self.ranks.count(0..self.ranks.len(), &self.ranks_of(&(value..=value)))
    }

    /// The first position from `from` on whose value lies in `values`.
    pub(super) fn next(&self, from: usize, values: &RangeInclusive<u64>) -> Option<usize> {
        let ranks = self.ranks_of(values);
        let any = |positions| self.ranks.count(positions, &ranks) > 0;
        let length = self.ranks.len();
        if ranks.is_empty() || from >= length || !any(from..length) {
            return None;
        }
        // Ever longer steps up to one that holds a match, so that a near match is found at once; then halves.
        let (mut start, mut end, mut step) = (from, length, 1);
        while step < end - start {
            if any(start..start + step) {
                end = start + step;
            } else {
                start += step;
                step *= 2;
            }
        }
        while end - start > 1 {
            let middle = start.midpoint(end);
            if any(start..middle) {
                end = middle;
            } else {
                start = middle;
            }
        }
        Some(start)
    }

    /// The last position before `before` whose value lies in `values`.
    pub(super) fn previous(&self, before: usize, values: &RangeInclusive<u64>) -> Option<usize> {
        let ranks = self.ranks_of(values);
        let any = |positions| self.ranks.count(positions, &ranks) > 0;
        let before = before.min(self.ranks.len());
        if ranks.is_empty() || !any(0..before) {
            return None;
        }
        let (mut start, mut end, mut step) = (0, before, 1);
        while step < end - start {
            if any(end - step..end) {
                start = end - step;
            } else {
                end -= step;
                step *= 2;
            }
        }
        while end - start > 1 {
            let middle = start.midpoint(end);
            if any(middle..end) {
                start = middle;
            } else {
                end = middle;
            }
        }
        Some(start)
    }

    fn ranks_of(&self, values: &RangeInclusive<u64>) -> Range<u32> {
        let start = self.values.partition_point(|value| value < *values.start());
        let end = self.values.partition_point(|value| value <= *values.end());
        start as u32..end.max(start) as u32
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        self.values.memory_use() + self.ranks.memory_use()
    }
}

/// The bits of the greatest rank.
fn width(values: usize, unknown: bool) -> u32 {
    let ranks = values + usize::from(unknown);
    usize::BITS - ranks.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_column_of_one_value_takes_no_bits() {
        let column = Column::new(&[Some(7); 100_000]);
        assert!(column.memory_use() < 100);
        assert_eq!(column.get(99_999), Some(7));
        assert_eq!(column.next(5, &(0..=7)), Some(5));
        assert_eq!(column.previous(5, &(7..=u64::MAX)), Some(4));
        assert_eq!(column.next(0, &(8..=u64::MAX)), None);
        let column = Column::new(&[None; 1000]);
        assert_eq!((column.get(0), column.next(0, &(0..=u64::MAX))), (None, None));
    }

    fn values() -> impl Strategy<Value = Vec<Option<u64>>> {
        let few = prop::option::weighted(0.9, prop_oneof![0_u64..12, u64::MAX - 3..=u64::MAX]);
        let many = prop::option::weighted(0.9, any::<u64>());
        prop_oneof![prop::collection::vec(few, 0..300), prop::collection::vec(many, 0..300)]
    }

    fn range() -> impl Strategy<Value = RangeInclusive<u64>> {
        let small = (0_u64..14, 0_u64..14).prop_map(|(low, high)| low..=high);
        let any = any::<[u64; 2]>().prop_map(|[low, high]| low.min(high)..=low.max(high));
        prop_oneof![small, any, Just(0..=u64::MAX)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn searches_as_a_scan_does(
            parts in prop::collection::vec(values(), 1..5),
            ranges in prop::collection::vec(range(), 6),
        ) {
            let scan = parts.concat();
            let parts: Vec<Column> = parts.iter().map(|part| Column::new(part)).collect();
            let merged = Column::merge(&parts.iter().collect::<Vec<_>>());
            for column in [Column::new(&scan), merged] {
                for (at, value) in scan.iter().enumerate() {
                    prop_assert_eq!(column.get(at), *value);
                }
                for (value, count) in column.counts() {
                    prop_assert_eq!(count, scan.iter().filter(|found| **found == Some(value)).count());
                }
                for range in &ranges {
                    let hits: Vec<usize> =
                        (0..scan.len()).filter(|at| scan[*at].is_some_and(|value| range.contains(&value))).collect();
                    for at in 0..scan.len() + 2 {
                        let reached = hits.partition_point(|hit| *hit < at);
                        prop_assert_eq!(column.next(at, range), hits.get(reached).copied());
                        prop_assert_eq!(column.previous(at, range), hits[..reached].last().copied());
                    }
                }
            }
        }
    }
}
