//! How conditional instructions went that are no branches. An ETM alone can trace that; what is executed does not depend
//! on it, so that these packets are passed over.

use super::number::MOST_32;
use super::{Fault, Packet, Packets};

const CONDITIONAL: &str = "a packet about conditional instructions";
/// A result has 4 bits beside its key.
const MOST_RESULT: u32 = 6;

impl Packets<'_> {
    pub(super) fn conditional(&mut self, header: u8) -> Result<Packet, Fault> {
        if matches!(header, 0x47 | 0x4b | 0x4f | 0x60..=0x67) {
            return Err(Fault::Reserved { header });
        }
        if !self.configuration.has_conditional {
            let reason = "TRCIDR0 says that it has none";
            return Err(Fault::Impossible { packet: CONDITIONAL, header, reason });
        }
        match header {
            // Results in format 1, with two keys or one.
            0x68..=0x6b => {
                self.number(CONDITIONAL, MOST_RESULT)?;
                self.number(CONDITIONAL, MOST_RESULT)?;
            }
            0x6e | 0x6f => {
                self.number(CONDITIONAL, MOST_RESULT)?;
            }
            // Instructions in format 1.
            0x6c => {
                self.number(CONDITIONAL, MOST_32)?;
            }
            // Results and instructions in format 3.
            0x50..=0x5f | 0x6d => {
                self.byte(CONDITIONAL)?;
            }
            // Instructions in format 2, results in formats 4 and 2, and flushes.
            _ => {}
        }
        Ok(Packet::Conditional)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{CONDITIONAL, ETM, damage, packets};
    use super::*;

    #[test]
    fn each_has_its_length() {
        let each: [&[u8]; 13] = [
            &[0x40],
            &[0x42],
            &[0x43],
            &[0x46],
            &[0x48],
            &[0x4e],
            &[0x50, 0xff],
            &[0x5f, 0x80],
            &[0x68, 0x81, 0x01, 0x02],
            &[0x6b, 0x01, 0x82, 0x82, 0x02],
            &[0x6c, 0x81, 0x01],
            &[0x6d, 0x81],
            &[0x6f, 0x81, 0x01],
        ];
        for bytes in each {
            assert_eq!(packets(CONDITIONAL, bytes), [Packet::Conditional], "{bytes:x?}");
        }
        assert_eq!(packets(CONDITIONAL, &each.concat()), [Packet::Conditional; 13]);
    }

    #[test]
    fn only_a_source_that_traces_them_sends_them() {
        assert_eq!(
            damage(ETM, &[0x43]),
            "at byte 0x0: found a packet about conditional instructions (first byte 0x43), which this source cannot send: \
             TRCIDR0 says that it has none"
        );
        assert_eq!(
            damage(CONDITIONAL, &[0x47]),
            "at byte 0x0: found a packet that begins with 0x47, which is reserved"
        );
    }
}
