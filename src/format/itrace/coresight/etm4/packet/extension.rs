//! Packets that begin with a zero: alignment synchronization, discard, overflow.

use super::super::bytes::{ALIGNMENT_END, ALIGNMENT_ZEROS};
use super::{Fault, Packet, Packets};

impl Packets<'_> {
    pub(super) fn extension(&mut self) -> Result<Packet, Fault> {
        const EXTENSION: &str = "an extension packet";
        const ALIGNMENT: &str = "an alignment synchronization";
        match self.byte(EXTENSION)? {
            0x03 => return Ok(Packet::Discard),
            0x05 => return Ok(Packet::Overflow),
            0x00 => {}
            found => {
                let expected = "00 (alignment synchronization), 03 (discard) or 05 (overflow)";
                return Err(Fault::Unexpected { packet: EXTENSION, found, expected });
            }
        }
        let mut zeros: u64 = 2;
        loop {
            match self.byte(ALIGNMENT)? {
                0 => zeros += 1,
                ALIGNMENT_END if zeros >= u64::from(ALIGNMENT_ZEROS) => return Ok(Packet::Alignment),
                found => {
                    let expected = "at least 11 zeros and then 80";
                    return Err(Fault::Unexpected { packet: ALIGNMENT, found, expected });
                }
            }
        }
    }
}
