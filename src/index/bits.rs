//! A sequence of bits that tells how many ones stand before any position.

use std::ops::Range;

/// Words of 64 bits for which one count is kept.
///
/// A count of 4 bytes for 64 bytes of bits: 6.25 % on top, and a rank looks at one count and at most 8 words.
const BLOCK_WORDS: usize = 8;

/// Whole words of fewer than 2^32 bits, with the number of ones before every 512th.
pub(super) struct BitVector {
    words: Box<[u64]>,
    ranks: Box<[u32]>,
}

impl BitVector {
    /// The bits of these words, the first as the lowest of the first word.
    pub(super) fn from_words(words: Vec<u64>) -> BitVector {
        // One count more than there are full blocks, so that the rank of the very end has its count too.
        let mut ranks = Vec::with_capacity(words.len() / BLOCK_WORDS + 1);
        let mut ones = 0;
        for (at, word) in words.iter().enumerate() {
            if at.is_multiple_of(BLOCK_WORDS) {
                ranks.push(ones);
            }
            ones += word.count_ones();
        }
        if words.len().is_multiple_of(BLOCK_WORDS) {
            ranks.push(ones);
        }
        BitVector { words: words.into(), ranks: ranks.into() }
    }

    /// Stretches of vectors, one behind the other.
    pub(super) fn joined<'a>(stretches: impl Iterator<Item = (&'a BitVector, Range<usize>)>) -> BitVector {
        let (mut words, mut length) = (Vec::new(), 0);
        for (bits, Range { start, end }) in stretches {
            for at in (start..end).step_by(64) {
                let count = (end - at).min(64);
                let word = bits.word_from(at) & (u64::MAX >> (64 - count));
                match words.last_mut() {
                    Some(last) if length % 64 != 0 => {
                        *last |= word << (length % 64);
                        if length % 64 + count > 64 {
                            words.push(word >> (64 - length % 64));
                        }
                    }
                    _ => words.push(word),
                }
                length += count;
            }
        }
        BitVector::from_words(words)
    }

    /// 64 bits from a position on, as far as there are any.
    fn word_from(&self, at: usize) -> u64 {
        let (word, shift) = (at / 64, at % 64);
        let next = self.words.get(word + 1).map_or(0, |next| next.checked_shl(64 - shift as u32).unwrap_or(0));
        self.words[word] >> shift | next
    }

    /// The bit at a position.
    pub(super) fn get(&self, at: usize) -> bool {
        (self.words[at / 64] >> (at % 64)) & 1 == 1
    }

    /// The bits, 64 in a word, the first as its lowest.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many ones stand before a position, which may be the end.
    pub(super) fn ones_before(&self, at: usize) -> usize {
        let word = at / 64;
        let block = word / BLOCK_WORDS;
        let whole: u32 = self.words[block * BLOCK_WORDS..word].iter().map(|word| word.count_ones()).sum();
        let partial = match at % 64 {
            0 => 0,
            bits => (self.words[word] << (64 - bits)).count_ones(),
        };
        (self.ranks[block] + whole + partial) as usize
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_right_at_the_edges_of_words_and_blocks() {
        for length in [0, 1, 63, 64, 65, 511, 512, 513, 1024, 1500] {
            let bit = |at: usize| at.is_multiple_of(3) || at % 64 == 63;
            let word = |start: usize| {
                (start..length.min(start + 64)).map(|at| u64::from(bit(at)) << (at - start)).sum::<u64>()
            };
            let bits = BitVector::from_words((0..length).step_by(64).map(word).collect());
            for at in 0..=length {
                assert_eq!(bits.ones_before(at), (0..at).filter(|at| bit(*at)).count(), "{at} of {length}");
            }
            assert!((0..length).all(|at| bits.get(at) == bit(at)));
        }
    }
}
