//! Where functions return to whose returns are not told ("Implicit return mode").

use std::collections::VecDeque;

/// How many are kept at most, whatever the encoder says it can.
const MOST: usize = 1 << 14;

/// Where calls return to that were told, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    calls: VecDeque<u64>,
    /// How many the encoder keeps.
    most: usize,
    /// Whether the encoder has no others than these: nothing was lost since it had none.
    are_all: bool,
}

impl Returns {
    /// Of an encoder that keeps so many; it has others, as far as is known.
    pub fn new(most: usize) -> Returns {
        Returns { calls: VecDeque::new(), most, are_all: false }
    }

    /// The encoder has none.
    pub fn empty(&mut self) {
        self.calls.clear();
        self.are_all = true;
    }

    /// Something was lost.
    pub fn lose(&mut self) {
        self.calls.clear();
        self.are_all = false;
    }

    /// Whether there are no others than these.
    pub fn are_all(&self) -> bool {
        self.are_all
    }

    /// How many there are.
    pub fn depth(&self) -> usize {
        self.calls.len()
    }

    /// A call that returns to an address. Of too many the oldest is forgotten, as the encoder does.
    pub fn call(&mut self, behind: u64) {
        if self.most > 0 {
            if self.calls.len() == self.most.min(MOST) {
                self.calls.pop_front();
                // The encoder still has it, if it keeps more.
                self.are_all &= self.most <= MOST;
            }
            self.calls.push_back(behind);
        }
    }

    /// Where the newest returns to; it is gone then.
    pub fn pop(&mut self) -> Option<u64> {
        self.calls.pop_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_the_oldest_is_forgotten() {
        let mut returns = Returns::new(2);
        returns.empty();
        [1, 2, 3].into_iter().for_each(|behind| returns.call(behind));
        assert_eq!(
            ([returns.pop(), returns.pop(), returns.pop()], returns.are_all()),
            ([Some(3), Some(2), None], true)
        );
        // What an encoder still has is not known to be gone.
        let mut returns = Returns::new(usize::MAX);
        returns.empty();
        (0..=MOST as u64).for_each(|behind| returns.call(behind));
        assert_eq!((returns.depth(), returns.are_all()), (MOST, false));
    }
}
