//! The two orders of bytes.

/// The order of the bytes of a multi-byte integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The integer that at most 8 bytes spell; `None` for more than 8.
    pub fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        if bytes.len() > 8 {
            return None;
        }
        let join = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(match self {
            ByteOrder::Big => bytes.iter().fold(0, join),
            ByteOrder::Little => bytes.iter().rev().fold(0, join),
        })
    }

    /// Writes the low `bytes.len()` bytes of `value`.
    pub fn store(self, value: u64, bytes: &mut [u8]) {
        let length = bytes.len();
        for (at, byte) in bytes.iter_mut().enumerate() {
            let power = match self {
                ByteOrder::Little => at,
                ByteOrder::Big => length - 1 - at,
            };
            *byte = u32::try_from(8 * power)
                .ok()
                .and_then(|shift| value.checked_shr(shift))
                .map_or(0, |shifted| (shifted & 0xff) as u8);
        }
    }
}

impl std::fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_integers_read_back_at_every_width() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for width in 1..=8 {
                let mut bytes = vec![0; width];
                let value = 0x8182_8384_8586_8788u64 & (u64::MAX >> (64 - 8 * width as u32));
                order.store(value, &mut bytes);
                assert_eq!(order.unsigned(&bytes), Some(value));
            }
            let mut wide = [0xaa; 16];
            order.store(7, &mut wide);
            assert_eq!(wide.iter().filter(|byte| **byte == 7).count(), 1);
            assert_eq!(wide.iter().filter(|byte| **byte == 0).count(), 15);
        }
    }

    #[test]
    fn of_more_than_eight_bytes_there_is_no_integer() {
        assert_eq!(ByteOrder::Big.unsigned(&[0xff, 0xfe, 0]), Some(0xfffe00));
        assert_eq!(ByteOrder::Little.unsigned(&[0; 9]), None);
    }
}
