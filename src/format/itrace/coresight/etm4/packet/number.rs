//! Numbers in packets.

use super::{Fault, Packets};

impl Packets<'_> {
    /// A number in groups of 7 bits, the lowest first; bit 7 says that another follows.
    pub(super) fn number(&mut self, packet: &'static str, most: u32) -> Result<u32, Fault> {
        let mut number = 0;
        for group in 0..most {
            let byte = self.byte(packet)?;
            // Bits above those of a register are not sent.
            number |= u32::from(byte & 0x7f).checked_shl(7 * group).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Fault::Overlong { packet, most })
    }

    /// A number of so many bytes, the lowest first.
    pub(super) fn plain(&mut self, packet: &'static str, bytes: u8) -> Result<u64, Fault> {
        // Addresses have 8 or 4, and are many.
        if bytes == 8
            && let Some(chunk) = self.bytes.chunk()
        {
            return Ok(u64::from_le_bytes(chunk));
        }
        if bytes == 4
            && let Some(chunk) = self.bytes.chunk()
        {
            return Ok(u32::from_le_bytes(chunk).into());
        }
        let mut number = 0;
        for place in 0..u32::from(bytes) {
            number |= u64::from(self.byte(packet)?) << (8 * place);
        }
        Ok(number)
    }
}

/// The most bytes of a number of 32 bits.
pub(super) const MOST_32: u32 = 5;
/// The most bytes of a cycle count.
pub(super) const MOST_CYCLES: u32 = 3;
