//! Shared libraries.

use std::path::PathBuf;

/// A shared library that lay in memory while the program ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Library {
    /// Its file on the recorded machine.
    pub path: PathBuf,
    /// The run-time address at which its first byte was mapped.
    pub address: u64,
}
