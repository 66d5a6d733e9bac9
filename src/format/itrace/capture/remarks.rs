//! What is remarked, in bounded room.

/// So many are kept: a file of nothing else could make millions.
const MOST: usize = 1000;

/// What was there and is not used.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    kept: Vec<String>,
    left_out: usize,
}

impl Remarks {
    pub(super) fn push(&mut self, remark: String) {
        if self.kept.len() < MOST {
            self.kept.push(remark);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn into_list(mut self) -> Vec<String> {
        if self.left_out > 0 {
            self.kept.push(format!("{} more remarks are left out", self.left_out));
        }
        self.kept
    }
}
