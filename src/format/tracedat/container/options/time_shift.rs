//! The option TIME_SHIFT (12).

use super::Wrong;
use crate::source::Cursor;

/// How a guest's timestamps become those of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeShift {
    /// The number of the peer's tracing session, usually the host's.
    pub peer: u64,
    /// Flags of the protocol. Bit 0: offsets are interpolated between two corrections.
    pub flags: u32,
    /// The corrections of each CPU, by ascending time, no two of the same time.
    pub cpus: Vec<Vec<Correction>>,
}

/// `((timestamp * scaling) >> fraction) + offset` (trace-cmd's trace-input.c, `timestamp_correction_calc`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Correction {
    /// When it was measured, in the guest's time.
    pub time: i64,
    /// What is added.
    pub offset: i64,
    /// What is multiplied by.
    pub scaling: i64,
    /// How many of the product's bits are a fraction. trace-cmd.dat.v7(5) does not have this array, and files of older
    /// versions neither: then it is 0.
    pub fraction: i64,
}

impl TimeShift {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<TimeShift, Wrong> {
        let peer = cursor.u64()?;
        let flags = cursor.u32()?;
        let mut cpus = Vec::new();
        for _ in 0..cursor.u32()? {
            let count = cursor.u32()?;
            let mut corrections = Vec::new();
            for _ in 0..count {
                corrections.push(Correction { time: cursor.i64()?, ..Correction::default() });
            }
            for correction in &mut corrections {
                correction.offset = cursor.i64()?;
            }
            for correction in &mut corrections {
                correction.scaling = cursor.i64()?;
            }
            cpus.push(corrections);
        }
        if !cursor.is_at_end() {
            for correction in cpus.iter_mut().flatten() {
                correction.fraction = cursor.i64()?;
            }
        }
        for corrections in &mut cpus {
            // A stable sort: of those with the same time, the first in the file stays.
            corrections.sort_by_key(|correction| correction.time);
            corrections.dedup_by_key(|correction| correction.time);
        }
        Ok(TimeShift { peer, flags, cpus })
    }
}
