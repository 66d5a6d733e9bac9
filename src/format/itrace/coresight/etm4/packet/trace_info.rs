//! Trace info packets, behind which nothing counts that was told before.

use super::number::MOST_32;
use super::{Context, Fault, History, Packet, Packets};

/// What a trace info packet tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceInfo {
    /// How many P0 elements before it are not certain.
    pub speculated: u32,
    /// Whether execution is in a transaction.
    pub is_in_transaction: bool,
}

/// The sections that a trace info packet can have, by the bits of its second byte.
const INFORMATION: u32 = 1 << 0;
const KEY: u32 = 1 << 1;
const SPECULATION: u32 = 1 << 2;
const CYCLES: u32 = 1 << 3;
const WINDOW: u32 = 1 << 4;
/// The sections, without those that further bytes could say there are.
const ALL: u32 = INFORMATION | KEY | SPECULATION | CYCLES | WINDOW;

/// Bits of the information.
const HAS_CYCLE_COUNTS: u32 = 1 << 0;
const IS_IN_TRANSACTION: u32 = 1 << 6;

impl Packets<'_> {
    pub(super) fn trace_info(&mut self) -> Result<Packet, Fault> {
        const TRACE_INFO: &str = "a trace info packet";
        let sections = self.number(TRACE_INFO, MOST_32)?;
        if sections & !ALL != 0 {
            let found = sections as u8;
            let expected = "sections that are known, bits 0 to 4";
            return Err(Fault::Unexpected { packet: TRACE_INFO, found, expected });
        }
        let mut section = |present| if sections & present == 0 { Ok(0) } else { self.number(TRACE_INFO, MOST_32) };
        let information = section(INFORMATION)?;
        section(KEY)?;
        let speculated = section(SPECULATION)?;
        let cycle_threshold = section(CYCLES)?;
        section(WINDOW)?;
        self.history = History::default();
        self.context = Context::default();
        self.timestamp = 0;
        self.cycle_threshold = if information & HAS_CYCLE_COUNTS == 0 { 0 } else { cycle_threshold };
        Ok(Packet::TraceInfo(TraceInfo { speculated, is_in_transaction: information & IS_IN_TRANSACTION != 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::*;

    #[test]
    fn sections_and_what_they_hold() {
        let info = |speculated, is_in_transaction| Packet::TraceInfo(TraceInfo { speculated, is_in_transaction });
        assert_eq!(packets(ETM, &[0x01, 0x00]), [info(0, false)]);
        assert_eq!(packets(ETM, &[0x01, 0x01, 0x00]), [info(0, false)]);
        assert_eq!(packets(ETE, &[0x01, 0x0f, 0x41, 0x07, 0x82, 0x01, 0x04]), [info(0x82, true)]);
        // A second byte about sections, which names none.
        assert_eq!(packets(ETM, &[0x01, 0x81, 0x00, 0x00]), [info(0, false)]);
    }

    #[test]
    fn a_section_that_is_not_known_is_damage() {
        assert_eq!(
            damage(ETM, &[0x01, 0x21]),
            "at byte 0x1: found 0x21 in a trace info packet, expected sections that are known, bits 0 to 4"
        );
    }

    #[test]
    fn what_was_told_before_does_not_count() {
        let told = packets(ETM, &[0x9b, 0x78, 0x56, 0x34, 0x12, 0x01, 0x00, 0x96, 0x01]);
        let Some(Packet::Address(address)) = told.last() else { panic!("{told:?}") };
        assert_eq!(address.address, 2);
    }
}
