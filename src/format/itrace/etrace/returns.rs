//! Where functions return to whose returns are not told ("Implicit return mode").

/// How many are kept at most, whatever the encoder says it can.
const MOST: usize = 1 << 12;

/// Where calls return to that were told, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    calls: Vec<u64>,
    most: usize,
    /// Whether the encoder has no others than these: nothing was lost since it had none.
    are_all: bool,
}

impl Returns {
    /// Of an encoder that keeps so many; it has others, as far as is known.
    pub fn new(most: usize) -> Returns {
        Returns { calls: Vec::new(), most: most.min(MOST), are_all: false }
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
    #[inline]
    pub fn call(&mut self, behind: u64) {
        if self.most > 0 {
            if self.calls.len() == self.most {
                self.calls.remove(0);
            }
            self.calls.push(behind);
        }
    }

    /// Where the newest returns to; it is gone then.
    pub fn pop(&mut self) -> Option<u64> {
        self.calls.pop()
    }
}
