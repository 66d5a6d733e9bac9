//! A wavelet matrix: a sequence of small numbers that counts those of a range, in any stretch of it.
//!
//! After F. Claude, G. Navarro and A. Ordóñez, "The wavelet matrix" (Information Systems 47, 2015). Level 0 holds
//! the highest bit of every number. From level to level the numbers whose bit is 0 go to the front and those whose
//! bit is 1 behind them, each lot in its old order; the next level holds the next bit of the numbers so arranged.

use std::ops::{BitOr, Range, Shl};

use super::bits::BitVector;

struct Level {
    bits: BitVector,
    zeros: usize,
}

/// Fewer than 2^31 numbers of `width` bits each, in `1.0625 * width` bits each.
pub(super) struct Wavelet {
    length: usize,
    levels: Vec<Level>,
}

impl Wavelet {
    /// The matrix of `length` numbers, all of which are smaller than 2^`width`.
    ///
    /// While it is made it takes, besides the result, up to twice the numbers at 1, 2 or 4 bytes each.
    pub(super) fn new(length: usize, width: u32, numbers: impl Iterator<Item = u32>) -> Wavelet {
        let levels = match width {
            0 => Vec::new(),
            1..=8 => arrange::<u8>(length, width, numbers.map(|number| number as u8)),
            9..=16 => arrange::<u16>(length, width, numbers.map(|number| number as u16)),
            _ => arrange::<u32>(length, width, numbers),
        };
        Wavelet { length, levels }
    }

    /// The matrix of the numbers of several, of the same width, in their order.
    ///
    /// The arrangement of stretches of bits is that of the bits themselves: those of zeros go to the front. So it
    /// takes a few steps a word, not for each number.
    pub(super) fn joined(parts: &[&Wavelet]) -> Wavelet {
        let width = parts.iter().map(|part| part.levels.len()).min().unwrap_or(0);
        let mut stretches: Vec<(&Wavelet, Range<usize>)> = parts.iter().map(|part| (*part, 0..part.length)).collect();
        let level = |at: usize| {
            let bits =
                BitVector::joined(stretches.iter().map(|(part, stretch)| (&part.levels[at].bits, stretch.clone())));
            let (mut zeros, mut ones) = (Vec::new(), Vec::new());
            for (part, stretch) in &stretches {
                let level = &part.levels[at];
                let [start, end] = [stretch.start, stretch.end].map(|at| level.bits.ones_before(at));
                zeros.push((*part, stretch.start - start..stretch.end - end));
                ones.push((*part, level.zeros + start..level.zeros + end));
            }
            zeros.retain(|(_, stretch)| !stretch.is_empty());
            ones.retain(|(_, stretch)| !stretch.is_empty());
            let count = zeros.iter().map(|(_, stretch)| stretch.len()).sum();
            zeros.append(&mut ones);
            stretches = zeros;
            Level { bits, zeros: count }
        };
        let levels = (0..width).map(level).collect();
        Wavelet { length: parts.iter().map(|part| part.length).sum(), levels }
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The number at a position.
    pub(super) fn get(&self, mut at: usize) -> u32 {
        let mut number = 0;
        for level in &self.levels {
            let ones = level.bits.ones_before(at);
            if level.bits.get(at) {
                number = number << 1 | 1;
                at = level.zeros + ones;
            } else {
                number <<= 1;
                at -= ones;
            }
        }
        number
    }

    /// How many of the numbers at `positions` lie in `numbers`.
    pub(super) fn count(&self, positions: Range<usize>, numbers: &Range<u32>) -> usize {
        // A plain difference, since none is below the start that is not below the end.
        self.count_below(positions.clone(), numbers.end) - self.count_below(positions, numbers.start)
    }

    /// The numbers of a range that are there, in ascending order, and how often each is.
    ///
    /// Takes two ranks a level for each of them at most, however often it is there.
    pub(super) fn counts(&self, numbers: &Range<u32>) -> Vec<(u32, u64)> {
        let mut found = Vec::new();
        // At each level, numbers that begin with the same bits lie side by side.
        let mut stretches = vec![(0, 0..self.length, 0_u64)];
        while let Some((at, positions, bits)) = stretches.pop() {
            let rest = self.levels.len() - at;
            let is_within = (bits + 1) << rest > u64::from(numbers.start) && bits << rest < u64::from(numbers.end);
            if positions.is_empty() || !is_within {
                continue;
            }
            let Some(level) = self.levels.get(at) else {
                found.push((bits as u32, positions.len() as u64));
                continue;
            };
            let Range { start, end } = positions;
            let ones = level.bits.ones_before(start)..level.bits.ones_before(end);
            stretches.push((at + 1, level.zeros + ones.start..level.zeros + ones.end, bits << 1 | 1));
            stretches.push((at + 1, start - ones.start..end - ones.end, bits << 1));
        }
        found
    }

    /// The first position from `from` on whose number lies in one of these ranges.
    pub(super) fn next(&self, from: usize, numbers: &[Range<u32>]) -> Option<usize> {
        let (mut found, mut end) = (None, self.length);
        for range in numbers {
            if let Some(nearer) = self.next_within(from..end, range) {
                (found, end) = (Some(nearer), nearer);
            }
        }
        found
    }

    /// The last position before `before` whose number lies in one of these ranges.
    pub(super) fn previous(&self, before: usize, numbers: &[Range<u32>]) -> Option<usize> {
        let (mut found, mut start) = (None, 0);
        for range in numbers {
            if let Some(nearer) = self.previous_within(start..before.min(self.length), range) {
                (found, start) = (Some(nearer), nearer + 1);
            }
        }
        found
    }

    fn next_within(&self, positions: Range<usize>, numbers: &Range<u32>) -> Option<usize> {
        let any = |positions| self.count(positions, numbers) > 0;
        if numbers.is_empty() || positions.is_empty() || !any(positions.clone()) {
            return None;
        }
        // Ever longer steps up to one that holds a match, so that a near match is found at once; then halves.
        let (Range { mut start, mut end }, mut step) = (positions, 1);
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

    fn previous_within(&self, positions: Range<usize>, numbers: &Range<u32>) -> Option<usize> {
        let any = |positions| self.count(positions, numbers) > 0;
        if numbers.is_empty() || positions.is_empty() || !any(positions.clone()) {
            return None;
        }
        let (Range { mut start, mut end }, mut step) = (positions, 1);
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

    fn count_below(&self, positions: Range<usize>, bound: u32) -> usize {
        let Range { mut start, mut end } = positions;
        if bound.checked_shr(self.levels.len() as u32).unwrap_or(0) != 0 {
            return end - start;
        }
        let mut below = 0;
        for (level, shift) in self.levels.iter().zip((0..self.levels.len()).rev()) {
            if start == end {
                break;
            }
            let ones = level.bits.ones_before(start)..level.bits.ones_before(end);
            if (bound >> shift) & 1 == 1 {
                below += (end - start) - ones.len();
                (start, end) = (level.zeros + ones.start, level.zeros + ones.end);
            } else {
                (start, end) = (start - ones.start, end - ones.end);
            }
        }
        below
    }

    /// All numbers in order: the arrangement undone level by level, which is much faster than asking for each.
    pub(super) fn to_vec(&self) -> Vec<u32> {
        match self.levels.len() {
            0..=8 => self.restored::<u8>(),
            9..=16 => self.restored::<u16>(),
            _ => self.restored::<u32>(),
        }
    }

    fn restored<T: Number>(&self) -> Vec<u32> {
        let mut numbers = vec![T::default(); self.length];
        let mut before = numbers.clone();
        for (level, shift) in self.levels.iter().rev().zip(0..) {
            let (mut zero, mut one) = (0, level.zeros);
            for (part, word) in before.chunks_mut(64).zip(level.bits.words()) {
                for (number, at) in part.iter_mut().zip(0..) {
                    let bit = (word >> at) & 1 == 1;
                    *number = numbers[either(bit, one, zero)] | T::from(bit) << shift;
                    one += usize::from(bit);
                    zero += usize::from(!bit);
                }
            }
            std::mem::swap(&mut numbers, &mut before);
        }
        numbers.into_iter().map(T::into).collect()
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        self.levels.iter().map(|level| size_of::<Level>() + level.bits.memory_use()).sum()
    }
}

/// `one` where the bit is set, else `zero`; without a branch, which on such bits is mispredicted half of the time.
fn either(bit: bool, one: usize, zero: usize) -> usize {
    let mask = usize::from(bit).wrapping_neg();
    (one & mask) | (zero & !mask)
}

/// A type that numbers are held in while they are arranged.
trait Number: Copy + Default + Into<u32> + From<bool> + BitOr<Output = Self> + Shl<u32, Output = Self> {}

impl Number for u8 {}
impl Number for u16 {}
impl Number for u32 {}

/// The levels of numbers that are held in the smallest type they fit.
fn arrange<T: Number>(length: usize, width: u32, numbers: impl Iterator<Item = T>) -> Vec<Level> {
    let mut order = Vec::with_capacity(length);
    numbers.for_each(|number| order.push(number));
    let mut ones = vec![T::default(); length];
    let level = |shift: u32| {
        let mut words = Vec::with_capacity(length.div_ceil(64));
        let (mut zero, mut one) = (0, 0);
        for start in (0..length).step_by(64) {
            let mut word = 0;
            for at in start..length.min(start + 64) {
                let number = order[at];
                let bit = (number.into() >> shift) & 1;
                word |= u64::from(bit) << (at - start);
                // Each goes to both places, and what comes next there overwrites it where it does not belong. Without a
                // branch, which on such bits is mispredicted half of the time.
                order[zero] = number;
                ones[one] = number;
                one += bit as usize;
                zero += 1 - bit as usize;
            }
            words.push(word);
        }
        order[zero..].copy_from_slice(&ones[..one]);
        Level { bits: BitVector::from_words(words), zeros: zero }
    };
    (0..width).rev().map(level).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    proptest! {
        #[test]
        fn counts_as_a_scan_does(
            width in 0_u32..20,
            numbers in prop::collection::vec(any::<u32>(), 0..1200),
            asked in prop::collection::vec((any::<Index>(), any::<Index>(), any::<[u32; 2]>()), 8),
        ) {
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number & ((1 << width) - 1)).collect();
            let wavelet = Wavelet::new(numbers.len(), width, numbers.iter().copied());
            prop_assert_eq!(wavelet.to_vec(), numbers.clone());
            let (front, back) = numbers.split_at(numbers.len() / 3);
            let parts = [back, front, &[], back].map(|part| Wavelet::new(part.len(), width, part.iter().copied()));
            let joined = Wavelet::joined(&parts.iter().collect::<Vec<_>>());
            prop_assert_eq!(joined.to_vec(), [back, front, back].concat());
            prop_assert_eq!(joined.count(0..joined.len(), &(0..1 << width)), joined.len());
            for (at, number) in numbers.iter().enumerate() {
                prop_assert_eq!(wavelet.get(at), *number);
            }
            for (one, other, bounds) in asked {
                let (one, other) = (one.index(numbers.len() + 1), other.index(numbers.len() + 1));
                let positions = one.min(other)..one.max(other);
                let mut bounds = bounds.map(|bound| bound % ((1 << width) + 2));
                bounds.sort_unstable();
                let range = bounds[0]..bounds[1];
                let expected = numbers[positions.clone()].iter().filter(|number| range.contains(number)).count();
                prop_assert_eq!(wavelet.count(positions, &range), expected);
                let mut each = std::collections::BTreeMap::new();
                for number in numbers.iter().filter(|number| range.contains(number)) {
                    *each.entry(*number).or_insert(0_u64) += 1;
                }
                prop_assert_eq!(wavelet.counts(&range), each.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
