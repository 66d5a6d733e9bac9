//! What became of elements that were told before they were certain: commit, cancel and mispredict packets.

use super::number::MOST_32;
use super::{Atoms, Fault, Packet, Packets};

const COMMIT: &str = "a commit packet";
const CANCEL: &str = "a cancel packet";
const NOT_SPECULATING: &str = "TRCIDR8 says that it does not speculate";

impl Packets<'_> {
    pub(super) fn speculation(&mut self, header: u8) -> Result<Packet, Fault> {
        let is_speculating = self.configuration.most_speculated > 0;
        let packet = if header == 0x2d { COMMIT } else { CANCEL };
        // A source that does not speculate still mispredicts.
        if !is_speculating && !matches!(header, 0x30..=0x33) {
            return Err(Fault::Impossible { packet, header, reason: NOT_SPECULATING });
        }
        let few = match header & 3 {
            0 => Atoms::new(0b0, 0),
            1 => Atoms::new(0b1, 1),
            2 => Atoms::new(0b11, 2),
            _ => Atoms::new(0b0, 1),
        };
        Ok(match header {
            0x2d => Packet::Commit(self.number(COMMIT, MOST_32)?),
            0x2e | 0x2f => {
                let count = self.number(CANCEL, MOST_32)?;
                Packet::Cancel { atoms: Atoms::default(), count, is_mispredicted: header & 1 == 1 }
            }
            0x30..=0x33 => Packet::Mispredict { atoms: few },
            0x34..=0x37 => Packet::Cancel { atoms: few, count: 1, is_mispredicted: true },
            _ => {
                let atoms = Atoms::new(0b1, header & 1);
                Packet::Cancel { atoms, count: u32::from((header >> 1) & 3) + 2, is_mispredicted: true }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETM, SPECULATING, damage, packets};
    use super::*;

    #[test]
    fn commits() {
        assert_eq!(packets(SPECULATING, &[0x2d, 0x03, 0x2d, 0x81, 0x01]), [Packet::Commit(3), Packet::Commit(0x81)]);
    }

    #[test]
    fn cancels_in_three_formats() {
        let cancel = |taken, atoms, count, is_mispredicted| {
            let atoms = Atoms::new(taken, atoms);
            Packet::Cancel { atoms, count, is_mispredicted }
        };
        let bytes = [0x2e, 0x02, 0x2f, 0x81, 0x01, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3f];
        let expected = [
            cancel(0, 0, 2, false),
            cancel(0, 0, 0x81, true),
            cancel(0, 0, 1, true),
            cancel(0b1, 1, 1, true),
            cancel(0b11, 2, 1, true),
            cancel(0b0, 1, 1, true),
            cancel(0b1, 0, 2, true),
            cancel(0b1, 1, 2, true),
            cancel(0b1, 1, 5, true),
        ];
        assert_eq!(packets(SPECULATING, &bytes), expected);
    }

    #[test]
    fn mispredictions() {
        let mispredict = |taken, atoms| Packet::Mispredict { atoms: Atoms::new(taken, atoms) };
        let expected = [mispredict(0, 0), mispredict(0b1, 1), mispredict(0b11, 2), mispredict(0, 1)];
        assert_eq!(packets(ETM, &[0x30, 0x31, 0x32, 0x33]), expected);
    }

    #[test]
    fn a_source_that_does_not_speculate_has_nothing_to_commit() {
        let said = "which this source cannot send: TRCIDR8 says that it does not speculate";
        assert_eq!(damage(ETM, &[0x2d, 0x01]), format!("at byte 0x0: found a commit packet (first byte 0x2d), {said}"));
        assert_eq!(damage(ETM, &[0x34]), format!("at byte 0x0: found a cancel packet (first byte 0x34), {said}"));
    }
}
