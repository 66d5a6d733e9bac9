//! What is wrong with BTF.

use crate::source::OutOfBytes;

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at:#x}: {what}")]
pub struct Fault {
    /// Offset from the first byte of the BTF.
    pub at: u64,
    /// What was found. Lower case, no full stop.
    pub what: String,
}

impl From<OutOfBytes> for Fault {
    fn from(OutOfBytes { at, wanted, left }: OutOfBytes) -> Fault {
        Fault { at, what: format!("{wanted} bytes belong here, of which {left} are there") }
    }
}
