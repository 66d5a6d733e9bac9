//! One value a run, and the ranks by which runs of certain values are searched.

use super::dictionary::Dictionary;
use super::ranked::Ranked;
use super::wavelet::Wavelet;

/// A column of values of `N` numbers each.
///
/// Kept as the sorted distinct values and, for every position, the rank of its value among them. Ranks take log2 of the
/// number of distinct values in bits; a column of one value takes none.
pub(super) struct Column<const N: usize> {
    values: Dictionary<N>,
    ranks: Wavelet,
}

impl<const N: usize> Column<N> {
    /// The column of these values.
    pub(super) fn new(Ranked { values, ranks }: &Ranked<N>) -> Column<N> {
        Column {
            values: values.iter().copied().collect(),
            ranks: Wavelet::new(ranks.len(), width(values.len()), ranks.iter().copied()),
        }
    }

    /// One column of what the values of several become, in their order. In each column the values must ascend as
    /// before.
    ///
    /// Takes, besides the result, 4 bytes for every distinct value of each column, and what [`Wavelet::new`] takes.
    pub(super) fn merge(columns: &[&Column<N>], turn: impl Fn([u64; N]) -> [u64; N]) -> Column<N> {
        // For every column the new ranks of its old ones; as long as it grows its length is the next old rank.
        let mut renamed: Vec<Vec<u32>> = columns.iter().map(|column| Vec::with_capacity(column.values.len())).collect();
        let next = |column: &Column<N>, rank: usize| column.values.get(rank).map(&turn);
        let mut heads: Vec<Option<[u64; N]>> = columns.iter().map(|column| next(column, 0)).collect();
        let mut rank = 0;
        let values: Dictionary<N> = std::iter::from_fn(|| {
            let least = heads.iter().flatten().min().copied()?;
            for ((column, renamed), head) in columns.iter().zip(&mut renamed).zip(&mut heads) {
                if *head == Some(least) {
                    renamed.push(rank);
                    *head = next(column, renamed.len());
                }
            }
            rank += 1;
            Some(least)
        })
        .collect();
        if columns.iter().all(|column| column.values.len() == values.len()) {
            // All have the same values, as those of a long loop have: then the ranks stay what they are.
            let ranks = columns.iter().map(|column| &column.ranks).collect::<Vec<_>>();
            return Column { values, ranks: Wavelet::joined(&ranks) };
        }
        let length = columns.iter().map(|column| column.ranks.len()).sum();
        let ranks = columns
            .iter()
            .zip(&renamed)
            .flat_map(|(column, renamed)| column.ranks.to_vec().into_iter().map(|rank| renamed[rank as usize]));
        let ranks = Wavelet::new(length, width(values.len()), ranks);
        Column { values, ranks }
    }

    /// All values, each once, in ascending order.
    pub(super) fn values(&self) -> &Dictionary<N> {
        &self.values
    }

    /// The ranks of the values.
    pub(super) fn ranks(&self) -> &Wavelet {
        &self.ranks
    }

    /// The value at a position.
    pub(super) fn get(&self, at: usize) -> Option<[u64; N]> {
        (at < self.ranks.len()).then(|| self.values.get(self.ranks.get(at) as usize))?
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        self.values.memory_use() + self.ranks.memory_use()
    }
}

/// The bits of the greatest rank.
fn width(values: usize) -> u32 {
    usize::BITS - values.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use proptest::prelude::*;

    use super::*;

    fn column(values: &[u64]) -> Column<1> {
        Column::new(&Ranked::new(values.iter().map(|value| [*value])))
    }

    fn next(column: &Column<1>, from: usize, values: &RangeInclusive<u64>) -> Option<usize> {
        column.ranks().next(from, &[column.values().ranks([*values.start()], [*values.end()])])
    }

    fn previous(column: &Column<1>, before: usize, values: &RangeInclusive<u64>) -> Option<usize> {
        column.ranks().previous(before, &[column.values().ranks([*values.start()], [*values.end()])])
    }

    #[test]
    fn a_column_of_one_value_takes_no_bits() {
        let column = column(&[7; 100_000]);
        assert!(column.memory_use() < 100);
        assert_eq!((column.get(99_999), column.get(100_000)), (Some([7]), None));
        assert_eq!(next(&column, 5, &(0..=7)), Some(5));
        assert_eq!(previous(&column, 5, &(7..=u64::MAX)), Some(4));
        assert_eq!(next(&column, 0, &(8..=u64::MAX)), None);
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        let few = prop_oneof![0_u64..12, u64::MAX - 3..=u64::MAX];
        prop_oneof![prop::collection::vec(few, 0..300), prop::collection::vec(any::<u64>(), 0..300)]
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
            let parts: Vec<Column<1>> = parts.iter().map(|part| column(part)).collect();
            let merged = Column::merge(&parts.iter().collect::<Vec<_>>(), |value| value);
            for column in [column(&scan), merged] {
                for (at, value) in scan.iter().enumerate() {
                    prop_assert_eq!(column.get(at), Some([*value]));
                }
                for range in &ranges {
                    let hits: Vec<usize> = (0..scan.len()).filter(|at| range.contains(&scan[*at])).collect();
                    for at in 0..scan.len() + 2 {
                        let reached = hits.partition_point(|hit| *hit < at);
                        prop_assert_eq!(next(&column, at, range), hits.get(reached).copied());
                        prop_assert_eq!(previous(&column, at, range), hits[..reached].last().copied());
                    }
                }
            }
        }

        #[test]
        fn values_become_others(
            given in prop::collection::vec([0..4_u64, 0..4, 0..4], 0..100),
            other in prop::collection::vec([0..4_u64, 0..4, 0..4], 0..100),
        ) {
            let turn = |[_, middle, last]: [u64; 3]| [0, middle, last];
            let turned = Column::new(&Ranked::new(given.iter().copied()).map(turn));
            let same: Vec<_> = other.iter().map(|[_, middle, last]| [3, *middle, *last]).collect();
            let merged = Column::merge(&[&turned, &Column::new(&Ranked::new(same.into_iter()))], turn);
            for (at, value) in given.iter().chain(&other).enumerate() {
                prop_assert_eq!(merged.get(at), Some(turn(*value)));
            }
            prop_assert!(merged.values().iter().is_sorted());
        }
    }
}
