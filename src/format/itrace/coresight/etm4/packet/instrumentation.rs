//! What a program told by itself: an ETE since version 1.3 traces the instruction TRCIT.

use super::{Fault, Packet, Packets, Version};

const INSTRUMENTATION: &str = "an instrumentation packet";

impl Packets<'_> {
    pub(super) fn instrumentation(&mut self, header: u8) -> Result<Packet, Fault> {
        if self.version() < (Version { major: 5, minor: 3 }) {
            let reason = "only an ETE of version 1.3 and later has it";
            return Err(Fault::Impossible { packet: INSTRUMENTATION, header, reason });
        }
        let exception_level = self.byte(INSTRUMENTATION)? & 3;
        let value = self.plain(INSTRUMENTATION, 8)?;
        Ok(Packet::Instrumentation { exception_level, value })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::*;

    #[test]
    fn a_level_and_a_value() {
        let expected = Packet::Instrumentation { exception_level: 1, value: 0x0807_0605_0403_0201 };
        assert_eq!(packets(ETE, &[0x09, 1, 1, 2, 3, 4, 5, 6, 7, 8]), [expected]);
        assert_eq!(
            damage(ETM, &[0x09]),
            "at byte 0x0: found an instrumentation packet (first byte 0x09), which this source cannot send: \
             only an ETE of version 1.3 and later has it"
        );
    }
}
