//! The time.

use super::number::MOST_CYCLES;
use super::{Fault, Packet, Packets};

const TIMESTAMP: &str = "a timestamp";
/// A time has at most this many bytes, and all bits of the last are its own.
const MOST: u32 = 9;

impl Packets<'_> {
    /// A timestamp. Bits that are not told are those of the one before. The cycles since the last cycle count, which it
    /// can have, are counted again by the next cycle count, so that they are passed over.
    pub(super) fn timestamp(&mut self, header: u8) -> Result<Packet, Fault> {
        if !self.configuration.has_timestamps {
            let reason = "TRCIDR0 says that it has none";
            return Err(Fault::Impossible { packet: TIMESTAMP, header, reason });
        }
        let mut time = 0;
        let mut bits = 0;
        for group in 1..=MOST {
            let byte = u64::from(self.byte(TIMESTAMP)?);
            if group == MOST {
                time |= byte << bits;
                bits = u64::BITS;
                break;
            }
            time |= (byte & 0x7f) << bits;
            bits += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        if header & 1 == 1 {
            self.number(TIMESTAMP, MOST_CYCLES)?;
        }
        let told = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        self.timestamp = (self.timestamp & !told) | time;
        Ok(Packet::Timestamp(self.timestamp))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::*;

    #[test]
    fn bits_that_are_not_told_are_those_of_the_one_before() {
        let bytes = [0x02, 0x81, 0x82, 0x83, 0x04, 0x02, 0x05, 0x02, 0x80, 0x00];
        let expected = [0x0080_c101, 0x0080_c105, 0x0080_c000].map(Packet::Timestamp);
        assert_eq!(packets(ETE, &bytes), expected);
    }

    #[test]
    fn the_ninth_byte_has_eight_bits_of_it() {
        let bytes = [0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!(packets(ETE, &bytes), [Packet::Timestamp(0xfeff_ffff_ffff_ffff)]);
    }

    #[test]
    fn cycles_behind_it_are_passed_over() {
        assert_eq!(packets(ETE, &[0x03, 0x05, 0x81, 0x01]), [Packet::Timestamp(5)]);
        assert_eq!(
            damage(ETE, &[0x03, 0x05, 0x81, 0x81, 0x81]),
            "at byte 0x4: found a number of more than 3 bytes in a timestamp"
        );
    }

    #[test]
    fn a_source_without_timestamps_sends_none() {
        assert_eq!(
            damage(ETM, &[0x02, 0x05]),
            "at byte 0x0: found a timestamp (first byte 0x02), which this source cannot send: TRCIDR0 says that it has none"
        );
    }
}
