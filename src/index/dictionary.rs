//! The distinct values of a column.

use std::ops::Range;

use super::packed::{Packed, Packer};

/// Values of `N` numbers each, in ascending order, each once; their places are their ranks.
pub(super) struct Dictionary<const N: usize> {
    length: usize,
    numbers: [Packed; N],
}

impl<const N: usize> Dictionary<N> {
    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The value of a rank.
    pub(super) fn get(&self, rank: usize) -> Option<[u64; N]> {
        let mut value = [0; N];
        for (number, numbers) in value.iter_mut().zip(&self.numbers) {
            *number = numbers.get(rank)?;
        }
        Some(value)
    }

    /// All values in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = [u64; N]> {
        (0..self.length).filter_map(|rank| self.get(rank))
    }

    /// The ranks of the values from one to another, both included.
    pub(super) fn ranks(&self, low: [u64; N], high: [u64; N]) -> Range<u32> {
        let start = self.partition_point(|value| value < low);
        let end = self.partition_point(|value| value <= high);
        start..end.max(start)
    }

    fn partition_point(&self, before: impl Fn([u64; N]) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.length);
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(&before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as u32
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        self.numbers.iter().map(Packed::memory_use).sum()
    }
}

impl<const N: usize> FromIterator<[u64; N]> for Dictionary<N> {
    fn from_iter<T: IntoIterator<Item = [u64; N]>>(values: T) -> Dictionary<N> {
        let mut length = 0;
        let mut packers = [(); N].map(|()| Packer::default());
        for value in values {
            length += 1;
            for (packer, number) in packers.iter_mut().zip(value) {
                packer.push(number);
            }
        }
        Dictionary { length, numbers: packers.map(Packer::finish) }
    }
}
