//! The branch predictor of an encoder, of which the decoder has the same ("Branch prediction mode").

use std::collections::BTreeMap;

use super::entries::Entries;

/// How a branch is predicted: whether it is taken in bit 1, whether it was the last time in bit 0.
type State = u8;

/// Every entry behind a synchronization: it was taken, and is predicted not to be.
const FIRST: State = 0b01;

/// What is predicted of branches.
///
/// It is small where few branches were executed, however large the encoder's is: places in a trace are kept with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Predictor {
    /// Those of entries that are not [`FIRST`].
    states: BTreeMap<u16, State>,
    entries: Entries,
    /// Whether this is what the encoder's predicts: all that it learned since it was emptied is known.
    is_known: bool,
}

impl Predictor {
    /// Of which nothing is known.
    pub fn new(entries: Entries) -> Predictor {
        Predictor { states: BTreeMap::new(), entries, is_known: false }
    }

    /// Forgets what it learned, as the encoder's does.
    pub fn empty(&mut self) {
        self.states.clear();
        self.is_known = true;
    }

    /// Something was lost of which it did not learn.
    pub fn lose(&mut self) {
        self.is_known = false;
    }

    /// Whether it predicts what the encoder's does.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether the branch at an address is predicted to be taken.
    pub fn predicts(&self, at: u64) -> bool {
        self.entries.of(at).and_then(|entry| self.states.get(&entry)).is_some_and(|state| *state & 0b10 != 0)
    }

    /// It was, or was not.
    pub fn learn(&mut self, at: u64, taken: bool) {
        if let Some(entry) = self.entries.of(at) {
            let state = self.states.entry(entry).or_insert(FIRST);
            // What is predicted changes when it was wrong twice.
            *state = match (*state, taken) {
                (0b00, true) => 0b01,
                (0b11, false) => 0b10,
                (0b00..=0b10, false) => 0b00,
                (_, _) => 0b11,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification: what is predicted, and the state behind a branch that is taken, and is not.
    #[test]
    fn a_prediction_changes_when_it_failed_twice() {
        for (state, predicts, taken, not_taken) in
            [(0b00, false, 0b01, 0b00), (0b01, false, 0b11, 0b00), (0b11, true, 0b11, 0b10), (0b10, true, 0b11, 0b00)]
        {
            for (is_taken, next) in [(true, taken), (false, not_taken)] {
                let mut predictor = Predictor::new(Entries { size: 3, unused: 1 });
                predictor.states.insert(2, state);
                assert_eq!(predictor.predicts(0x14), predicts);
                predictor.learn(0x14, is_taken);
                assert_eq!(predictor.states, BTreeMap::from([(2, next)]));
            }
        }
    }

    #[test]
    fn without_entries_nothing_is_predicted() {
        let mut predictor = Predictor::new(Entries { size: 0, unused: 1 });
        predictor.learn(0x14, true);
        assert!(!predictor.predicts(0x14));
    }
}
