//! Packets that begin with a zero: alignment synchronization, discard, overflow.

use super::super::bytes::{ALIGNMENT_END, ALIGNMENT_ZEROS};
use super::{Fault, Packet, Packets};

const EXTENSION: &str = "an extension packet";
const ALIGNMENT: &str = "an alignment synchronization";

impl Packets<'_> {
    pub(super) fn extension(&mut self) -> Result<Packet, Fault> {
        let mut zeros: u64 = 1;
        loop {
            match self.bytes.next() {
                Some(0) => zeros += 1,
                Some(0x03) if zeros == 1 => return Ok(Packet::Discard),
                Some(0x05) if zeros == 1 => return Ok(Packet::Overflow),
                Some(ALIGNMENT_END) if zeros >= u64::from(ALIGNMENT_ZEROS) => return Ok(Packet::Alignment),
                Some(found) if zeros == 1 => {
                    let expected = "00 (alignment synchronization), 03 (discard) or 05 (overflow)";
                    return Err(Fault::Unexpected { packet: EXTENSION, found, expected });
                }
                Some(found) => {
                    let expected = "at least 11 zeros and then 80";
                    return Err(Fault::Unexpected { packet: ALIGNMENT, found, expected });
                }
                // Zeros at the end tell nothing, so that nothing is missing where they are cut; some sinks are filled
                // up with them.
                None => return self.bytes.take_damage().map_or(Ok(Packet::Ignore), |damage| Err(Fault::Frame(damage))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ALIGNMENT, ETM, damage, packets};
    use super::*;

    #[test]
    fn three_kinds() {
        assert_eq!(packets(ETM, &[0x00, 0x03, 0x00, 0x05]), [Packet::Discard, Packet::Overflow]);
        assert_eq!(packets(ETM, &ALIGNMENT), [Packet::Alignment]);
        assert_eq!(packets(ETM, &[&[0, 0][..], &ALIGNMENT].concat()), [Packet::Alignment]);
        assert_eq!(packets(ETM, &[0, 0, 0]), [Packet::Ignore]);
    }

    #[test]
    fn anything_else_is_damage() {
        assert_eq!(
            damage(ETM, &[0x00, 0x04]),
            "at byte 0x1: found 0x04 in an extension packet, expected 00 (alignment synchronization), 03 (discard) or 05 \
             (overflow)"
        );
        assert_eq!(
            damage(ETM, &ALIGNMENT[1..]),
            "at byte 0xa: found 0x80 in an alignment synchronization, expected at least 11 zeros and then 80"
        );
    }
}
