//! Q packets: instructions were executed, nobody knows which.

use super::address::Form;
use super::number::MOST_32;
use super::{Fault, Packet, Packets};

const Q: &str = "a Q packet";

impl Packets<'_> {
    pub(super) fn q(&mut self, header: u8) -> Result<Packet, Fault> {
        let form = match header & 0xf {
            index @ 0x0..=0x2 => Some(Form::ExactMatch(index)),
            0x5 => Some(Form::Short { is_is1: false }),
            0x6 => Some(Form::Short { is_is1: true }),
            0xa => Some(Form::Long32 { is_is1: false }),
            0xb => Some(Form::Long32 { is_is1: true }),
            0xc | 0xf => None,
            _ => return Err(Fault::Reserved { header }),
        };
        if !self.configuration.has_q {
            let reason = "TRCIDR0 says that it has none";
            return Err(Fault::Impossible { packet: Q, header, reason });
        }
        let address = form.map(|form| self.address_in(form, Q)).transpose()?;
        let count = if header & 0xf == 0xf { None } else { Some(self.number(Q, MOST_32)?) };
        Ok(Packet::Q { count, address })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::super::Address;
    use super::*;

    #[test]
    fn with_and_without_a_count_and_an_address() {
        let address = |address, is_is1, bits| Some(Address { address, is_is1, bits });
        let bytes = [0xaf, 0xac, 0x81, 0x01, 0xaa, 1, 0, 0, 0, 7, 0xa5, 0x81, 0x01, 7, 0xa6, 0x01, 7, 0xa1, 9];
        let expected = [
            (None, None),
            (Some(0x81), None),
            (Some(7), address(4, false, 32)),
            (Some(7), address(0x204, false, 17)),
            (Some(7), address(0x202, true, 8)),
            (Some(9), address(0x204, false, 0)),
        ];
        assert_eq!(packets(ETE, &bytes), expected.map(|(count, address)| Packet::Q { count, address }));
    }

    #[test]
    fn a_source_without_q_elements_sends_none() {
        assert_eq!(
            damage(ETM, &[0xaf]),
            "at byte 0x0: found a Q packet (first byte 0xaf), which this source cannot send: TRCIDR0 says that it has none"
        );
        assert_eq!(damage(ETE, &[0xa3]), "at byte 0x0: found a packet that begins with 0xa3, which is reserved");
    }
}
