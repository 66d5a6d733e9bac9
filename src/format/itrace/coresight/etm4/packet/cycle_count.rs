//! Cycle counts: how many cycles passed since the last one.
//!
//! With TRCIDR0.COMMOPT 0 each also says how many P0 elements are committed before it. Every count is so much above the
//! threshold that the trace info packet tells.

use super::number::{MOST_32, MOST_CYCLES};
use super::{Fault, Packet, Packets};

const CYCLE_COUNT: &str = "a cycle count";

impl Packets<'_> {
    pub(super) fn cycle_count(&mut self, header: u8) -> Result<Packet, Fault> {
        if !self.configuration.has_cycle_counts {
            let reason = "TRCIDR0 says that it has none";
            return Err(Fault::Impossible { packet: CYCLE_COUNT, header, reason });
        }
        let is_committing = self.configuration.has_commits_in_cycle_counts;
        let (commit, count) = match header {
            // Format 2.
            0x0c | 0x0d => {
                let byte = self.byte(CYCLE_COUNT)?;
                let high = u32::from(byte >> 4);
                let commit = if header & 1 == 0 {
                    high + 1
                } else {
                    (self.configuration.most_speculated.saturating_add(high)).saturating_sub(15)
                };
                (commit, Some(u32::from(byte & 0xf)))
            }
            // Format 1.
            0x0e | 0x0f => {
                let commit = if is_committing { self.number(CYCLE_COUNT, MOST_32)? } else { 0 };
                let count = if header & 1 == 0 { Some(self.number(CYCLE_COUNT, MOST_CYCLES)?) } else { None };
                (commit, count)
            }
            // Format 3.
            _ => (u32::from((header >> 2) & 3) + 1, Some(u32::from(header & 3))),
        };
        let commit = if is_committing { commit } else { 0 };
        let cycles = count.map(|count| u64::from(self.cycle_threshold) + u64::from(count));
        Ok(Packet::CycleCount { commit, cycles })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{COUNTING, ETM, SPECULATING, damage, packets};
    use super::*;

    /// A trace info packet with cycle counts and a threshold of 0x104.
    const THRESHOLD: [u8; 5] = [0x01, 0x09, 0x01, 0x84, 0x02];

    fn counts(configuration: &[(&'static str, u64)], bytes: &[u8]) -> Vec<(u32, Option<u64>)> {
        packets(configuration, &[&THRESHOLD, bytes].concat())
            .into_iter()
            .skip(1)
            .map(|packet| match packet {
                Packet::CycleCount { commit, cycles } => (commit, cycles),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn without_commits() {
        let bytes = [0x13, 0x0d, 0xf5, 0x0c, 0x05, 0x0e, 0x85, 0x01, 0x0f];
        let expected = [(0, Some(0x107)), (0, Some(0x109)), (0, Some(0x109)), (0, Some(0x189)), (0, None)];
        assert_eq!(counts(COUNTING, &bytes), expected);
    }

    #[test]
    fn with_commits() {
        // At most 0x78 elements are speculated.
        let bytes = [0x1b, 0x0c, 0x25, 0x0d, 0x05, 0x0d, 0xf5, 0x0e, 0x85, 0x01, 0x02, 0x0f, 0x03];
        let expected = [
            (3, Some(0x107)),
            (3, Some(0x109)),
            (0x69, Some(0x109)),
            (0x78, Some(0x109)),
            (0x85, Some(0x106)),
            (3, None),
        ];
        assert_eq!(counts(SPECULATING, &bytes), expected);
    }

    #[test]
    fn a_source_without_cycle_counts_sends_none() {
        assert_eq!(
            damage(ETM, &[0x10]),
            "at byte 0x0: found a cycle count (first byte 0x10), which this source cannot send: TRCIDR0 says that it has none"
        );
    }
}
