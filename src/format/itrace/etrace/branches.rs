//! Which branches were taken, as packets told and no instruction has used yet.

use riscv_etrace::types::branch;

/// The branches, the oldest first. A packet tells 31 at most one by one, and one more of the packet before may be left.
/// Behind those there may be some that went as an encoder's predictor said, of which only the number is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Branches {
    /// Those that are told one by one, the oldest in the lowest bit; set where one was not taken.
    bits: u64,
    /// How many are left, with those that are predicted.
    count: u64,
    /// How many of them are predicted, and whether the last of these was predicted falsely.
    predicted: u64,
    fails: bool,
    /// Whether the predictor learns nothing of the oldest.
    is_learned: bool,
}

impl Branches {
    /// How many are left.
    #[inline]
    pub fn count(self) -> u64 {
        self.count
    }

    /// Adds one.
    pub fn push(&mut self, taken: bool) {
        self.bits |= u64::from(!taken).checked_shl(self.count as u32).unwrap_or(0);
        self.count += 1;
    }

    /// The predictor learned of the oldest one, if there is one.
    pub fn learned(&mut self) {
        self.is_learned = self.count > 0;
    }

    /// Adds those of a packet; `false` where there are too many.
    #[must_use]
    pub fn append(&mut self, map: branch::Map) -> bool {
        let (bits, count) = (u64::from(map.raw_map()), u64::from(map.count()));
        self.bits |= bits.checked_shl(self.count as u32).unwrap_or(0);
        self.count += count;
        self.count <= u64::BITS.into()
    }

    /// Adds some that went as predicted, and one that did not, if one `fails`.
    pub fn append_predicted(&mut self, count: u64, fails: bool) {
        (self.predicted, self.fails) = (count + u64::from(fails), fails);
        self.count += self.predicted;
    }

    /// Whether the oldest was taken; it is used then. There are none that are predicted.
    #[inline]
    pub fn pop(&mut self) -> Option<bool> {
        self.count = self.count.checked_sub(1)?;
        let taken = self.bits & 1 == 0;
        self.bits >>= 1;
        Some(taken)
    }

    /// Whether the oldest was taken, of which a predictor says something, and whether that learns of it.
    pub fn pop_predicted(&mut self, predicted: bool) -> Option<(bool, bool)> {
        if self.count > self.predicted {
            let learns = !std::mem::take(&mut self.is_learned);
            return Some((self.pop()?, learns));
        }
        self.count = self.count.checked_sub(1)?;
        self.predicted -= 1;
        Some((predicted != (self.fails && self.predicted == 0), true))
    }

    /// Tells the one that is left by itself, of which a predictor says something.
    pub fn settle(&mut self, predicted: bool) {
        if self.count == 1 && self.predicted == 1 {
            *self = Branches { bits: u64::from(predicted == self.fails), count: 1, ..Branches::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicted_ones_come_behind_those_that_are_told() {
        let mut branches = Branches::default();
        branches.push(false);
        branches.append_predicted(2, true);
        assert_eq!(branches.count(), 4);
        let said = [true, true, false, true].map(|predicted| branches.pop_predicted(predicted));
        assert_eq!(said, [Some((false, true)), Some((true, true)), Some((false, true)), Some((false, true))]);
        assert_eq!(branches.pop_predicted(true), None);
    }

    #[test]
    fn the_last_one_is_told_by_the_predictor_as_it_is_there() {
        for (fails, predicted) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut branches = Branches::default();
            branches.append_predicted(u64::from(!fails), fails);
            branches.settle(predicted);
            assert_eq!((branches.count(), branches.pop_predicted(!predicted)), (1, Some((predicted != fails, true))));
        }
    }

    #[test]
    fn of_one_that_a_synchronization_tells_the_predictor_learned_before() {
        let mut branches = Branches::default();
        branches.learned();
        branches.push(true);
        assert_eq!(branches.pop_predicted(false), Some((true, true)));
        branches.push(true);
        branches.learned();
        branches.push(false);
        assert_eq!(branches.pop_predicted(false), Some((true, false)));
        assert_eq!(branches.pop_predicted(false), Some((false, true)));
    }
}
