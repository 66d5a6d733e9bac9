//! Ascending numbers in few bits each, every one readable by itself.

/// Numbers in a block. A block of numbers of `width` bits fills exactly `2 * width` words.
const BLOCK: usize = 128;

/// A block: its numbers are kept as their distances from the first.
struct Block {
    first: u64,
    word: u32,
    width: u8,
}

/// A sequence of fewer than 2^31 numbers in frame-of-reference coding.
///
/// Equal numbers take 1 bit each. Ascending numbers that lie 300 apart take 2.1 bytes each. Any other sequence is
/// kept as faithfully, with up to 8.1 bytes a number.
pub(super) struct Packed {
    length: usize,
    blocks: Box<[Block]>,
    words: Box<[u64]>,
}

impl Packed {
    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The number at a position; `None` behind the end.
    pub(super) fn get(&self, at: usize) -> Option<u64> {
        if at >= self.length {
            return None;
        }
        let block = &self.blocks[at / BLOCK];
        let width = u32::from(block.width);
        if width == 0 {
            return Some(block.first);
        }
        let bit = at % BLOCK * width as usize;
        let word = block.word as usize + bit / 64;
        let shift = (bit % 64) as u32;
        let mut distance = self.words[word] >> shift;
        if shift + width > 64 {
            distance |= self.words[word + 1] << (64 - shift);
        }
        Some(block.first.wrapping_add(distance & (u64::MAX >> (64 - width))))
    }

    /// All numbers in order.
    #[cfg(test)]
    fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.length).filter_map(|at| self.get(at))
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.words)
    }
}

impl FromIterator<u64> for Packed {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> Packed {
        let mut packer = Packer::default();
        numbers.into_iter().for_each(|number| packer.push(number));
        packer.finish()
    }
}

/// What makes a [`Packed`] sequence, number for number.
#[derive(Default)]
pub(super) struct Packer {
    /// The numbers behind the last whole block.
    pending: Vec<u64>,
    blocks: Vec<Block>,
    words: Vec<u64>,
}

impl Packer {
    /// Adds a number.
    pub(super) fn push(&mut self, number: u64) {
        self.pending.push(number);
        if self.pending.len() == BLOCK {
            self.pack_pending();
        }
    }

    /// Adds the numbers of a sequence, each of them so much greater.
    ///
    /// Behind a whole number of blocks they are copied as they are packed.
    pub(super) fn append(&mut self, packed: &Packed, more: u64) {
        let whole = if self.pending.is_empty() { packed.length / BLOCK } else { 0 };
        let before = self.words.len() as u32;
        let shifted = packed.blocks[..whole].iter().map(|block| Block {
            first: block.first.wrapping_add(more),
            word: before + block.word,
            ..*block
        });
        self.blocks.extend(shifted);
        let end = packed.blocks.get(whole).map_or(packed.words.len(), |block| block.word as usize);
        self.words.extend(packed.words.get(..end).filter(|_| whole > 0).into_iter().flatten());
        let rest = (whole * BLOCK..packed.length).filter_map(|at| packed.get(at));
        rest.for_each(|number| self.push(number.wrapping_add(more)));
    }

    /// The sequence.
    pub(super) fn finish(mut self) -> Packed {
        let length = self.blocks.len() * BLOCK + self.pending.len();
        self.pack_pending();
        Packed { length, blocks: self.blocks.into(), words: self.words.into() }
    }

    fn pack_pending(&mut self) {
        let Some(&first) = self.pending.first() else { return };
        // Wrapping, so that numbers that do not ascend come back right as well, only in more bits.
        let distances = self.pending.iter().map(|number| number.wrapping_sub(first));
        let width = 64 - distances.clone().fold(0, |all, distance| all | distance).leading_zeros();
        self.blocks.push(Block { first, word: self.words.len() as u32, width: width as u8 });
        if width > 0 {
            pack(distances, width, &mut self.words);
        }
        self.pending.clear();
    }
}

/// Appends numbers of `width` bits to `words`, the first at a word's lowest bit.
fn pack(numbers: impl Iterator<Item = u64>, width: u32, words: &mut Vec<u64>) {
    let (mut word, mut used) = (0, 0);
    for number in numbers {
        word |= number << used;
        used += width;
        if used >= 64 {
            words.push(word);
            used -= 64;
            // The bits of `number` that had no room, none where it ended with the word.
            word = number.checked_shr(width - used).unwrap_or(0);
        }
    }
    if used > 0 {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn regular_distances_take_two_bytes() {
        let packed: Packed = (0..10_000).map(|number| 5000 + 300 * number).collect();
        assert!(packed.memory_use() < 22_000, "{}", packed.memory_use());
        assert_eq!(packed.get(9_999), Some(5000 + 300 * 9_999));
        assert_eq!(packed.get(10_000), None);
    }

    #[test]
    fn the_widest_distances_are_kept() {
        let numbers = [0, 1, u64::MAX - 1, u64::MAX];
        let packed: Packed = numbers.into_iter().collect();
        assert!(packed.iter().eq(numbers));
    }

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..400),
                prop::collection::vec(any::<u64>(), 3 * BLOCK),
            ], shift in 0_u32..64, sort: bool) {
            let mut numbers: Vec<u64> = numbers.into_iter().map(|number| number >> shift).collect();
            if sort {
                numbers.sort_unstable();
            }
            let packed: Packed = numbers.iter().copied().collect();
            prop_assert_eq!(packed.len(), numbers.len());
            prop_assert!(packed.iter().eq(numbers.iter().copied()));
            let mut packer = Packer::default();
            for more in [7, 0, u64::MAX] {
                packer.append(&packed, more);
            }
            let appended = packer.finish();
            let expected = [7, 0, u64::MAX].map(|more| numbers.iter().map(move |number| number.wrapping_add(more)));
            prop_assert!(appended.iter().eq(expected.into_iter().flatten()));
        }
    }
}
