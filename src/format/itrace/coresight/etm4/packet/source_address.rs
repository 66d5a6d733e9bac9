//! Source addresses, which an ETE can tell instead of atoms: which branch was taken.

use super::address::Form;
use super::{Fault, Packet, Packets};

const SOURCE_ADDRESS: &str = "a source address packet";

impl Packets<'_> {
    pub(super) fn source_address(&mut self, header: u8) -> Result<Packet, Fault> {
        if !self.is_ete() {
            return Err(Fault::Impossible { packet: SOURCE_ADDRESS, header, reason: super::ONLY_ETE });
        }
        let is_is1 = header & 1 == 1;
        let form = match header {
            0xb0..=0xb2 => Form::ExactMatch(header & 3),
            0xb4 | 0xb5 => Form::Short { is_is1 },
            0xb6 | 0xb7 => Form::Long32 { is_is1 },
            _ => Form::Long64 { is_is1 },
        };
        Ok(Packet::SourceAddress(self.address_in(form, SOURCE_ADDRESS)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::super::Address;
    use super::*;

    #[test]
    fn in_the_forms_of_addresses() {
        let bytes = [
            0xb8, 1, 0, 0x34, 0x12, 0, 0, 0, 0x80, 0xb9, 1, 0, 0, 0, 0, 0, 0, 0, 0xb6, 1, 0, 0, 0, 0xb4, 2, 0xb5, 2,
            0xb2,
        ];
        let expected = [
            (0x8000_0000_1234_0004, false, 64),
            (2, true, 64),
            (4, false, 32),
            (8, false, 9),
            (4, true, 8),
            (4, false, 0),
        ];
        let expected = expected.map(|(address, is_is1, bits)| Packet::SourceAddress(Address { address, is_is1, bits }));
        assert_eq!(packets(ETE, &bytes), expected);
    }

    #[test]
    fn only_an_ete_sends_them() {
        assert_eq!(
            damage(ETM, &[0xb4, 2]),
            "at byte 0x0: found a source address packet (first byte 0xb4), which this source cannot send: it is not an ETE"
        );
    }
}
