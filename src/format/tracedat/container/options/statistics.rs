//! The option CPUSTAT (2).

use super::text;

/// The kernel's `per_cpu/cpuN/stats` file of one CPU, lines such as `overrun: 12`. trace-cmd puts a line `CPU: N` in
/// front, and an option with the line `Buffer: NAME` in front of those of a tracing instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// The text.
    pub text: String,
}

impl Statistics {
    pub(super) fn read(data: &[u8]) -> Statistics {
        Statistics { text: text::text(data) }
    }

    /// What stands behind a name and a colon, such as `overrun` or `dropped events`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }
}
