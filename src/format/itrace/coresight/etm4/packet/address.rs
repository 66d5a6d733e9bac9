//! Addresses: where execution goes on, in all the ways in which packets have them.

use super::{Fault, Packet, Packets};

/// An address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub address: u64,
    /// Whether its instruction set is the one of the two whose instructions can have 2 bytes (IS1: T32), or that whose
    /// instructions have 4 (IS0: A64 or A32).
    pub is_is1: bool,
    /// How many bits of it the packet had, from the lowest on. The others are those of an address before.
    pub bits: u8,
}

/// How a packet has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It is one of the last three.
    ExactMatch(u8),
    /// It has 1 or 2 bytes.
    Short { is_is1: bool },
    /// It has 4 bytes.
    Long32 { is_is1: bool },
    /// It has 8 bytes.
    Long64 { is_is1: bool },
}

const ADDRESS: &str = "an address packet";

impl Packets<'_> {
    /// Where execution goes on, in a packet that begins like an address packet.
    pub(super) fn address(&mut self, header: u8) -> Result<Address, Fault> {
        let form = match header {
            0x90..=0x92 => Form::ExactMatch(header & 3),
            0x95 | 0x96 => Form::Short { is_is1: header == 0x96 },
            0x82 | 0x83 | 0x9a | 0x9b => Form::Long32 { is_is1: header & 1 == 1 },
            0x85 | 0x86 | 0x9d | 0x9e => Form::Long64 { is_is1: header & 1 == 0 },
            _ => return Err(Fault::Reserved { header }),
        };
        self.address_in(form, ADDRESS)
    }

    pub(super) fn address_with_context(&mut self, header: u8) -> Result<Packet, Fault> {
        let address = self.address(header)?;
        let context = self.context_bytes()?;
        Ok(Packet::AddressWithContext(address, context))
    }

    /// Reads an address of a packet and remembers it.
    pub(super) fn address_in(&mut self, form: Form, packet: &'static str) -> Result<Address, Fault> {
        let address = match form {
            Form::ExactMatch(index) => {
                let match_ = self.history.get(index).ok_or(Fault::Unexpected {
                    packet,
                    found: index,
                    expected: "one of the last 3 addresses",
                })?;
                Address { bits: 0, ..match_ }
            }
            Form::Short { is_is1 } => {
                let low = self.byte(packet)?;
                let high = if low & 0x80 == 0 { None } else { Some(self.byte(packet)?) };
                let value = u64::from(low & 0x7f) | (u64::from(high.unwrap_or(0)) << 7);
                let shift = if is_is1 { 1 } else { 2 };
                self.replaced(value << shift, is_is1, shift + if high.is_some() { 15 } else { 7 })
            }
            Form::Long32 { is_is1 } => self.long(packet, is_is1, 4)?,
            Form::Long64 { is_is1 } => self.long(packet, is_is1, 8)?,
        };
        self.history.add(address);
        Ok(address)
    }

    /// An address of 4 or 8 bytes. The bits that are zero in every address of the instruction set are not in it.
    fn long(&mut self, packet: &'static str, is_is1: bool, bytes: u8) -> Result<Address, Fault> {
        let value = self.plain(packet, bytes)?;
        let value = if is_is1 {
            ((value & 0x7f) << 1) | (value & !0xff)
        } else {
            ((value & 0x7f) << 2) | ((value & 0x7f00) << 1) | (value & !0xffff)
        };
        Ok(self.replaced(value, is_is1, 8 * bytes))
    }

    /// The newest address with its lower bits replaced.
    fn replaced(&self, value: u64, is_is1: bool, bits: u8) -> Address {
        let replaced = u64::MAX.checked_shr(64 - u32::from(bits)).unwrap_or(0);
        Address { address: (self.history.newest().address & !replaced) | (value & replaced), is_is1, bits }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETM, packets};
    use super::*;

    fn addresses(bytes: &[u8]) -> Vec<(u64, bool, u8)> {
        packets(ETM, bytes)
            .into_iter()
            .map(|packet| match packet {
                Packet::Address(Address { address, is_is1, bits }) => (address, is_is1, bits),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn long_addresses() {
        assert_eq!(addresses(&[0x9d, 0x5c, 0x00, 0x40, 0, 0, 0, 0, 0]), [(0x40_0170, false, 64)]);
        assert_eq!(
            addresses(&[0x9d, 0x7f, 0x7f, 0x34, 0x12, 0x80, 0xff, 0xff, 0xff]),
            [(0xffff_ff80_1234_fffc, false, 64)]
        );
        assert_eq!(addresses(&[0x9e, 0x7f, 0xff, 0x34, 0x12, 0, 0, 0, 0x80]), [(0x8000_0000_1234_fffe, true, 64)]);
        assert_eq!(addresses(&[0x9a, 0x01, 0x01, 0x34, 0x12]), [(0x1234_0204, false, 32)]);
        assert_eq!(addresses(&[0x9b, 0x01, 0x01, 0x34, 0x12]), [(0x1234_0102, true, 32)]);
    }

    #[test]
    fn shorter_ones_keep_the_upper_bits_of_the_one_before() {
        let told = addresses(&[
            0x9d, 0x7f, 0x7f, 0x34, 0x12, 0x80, 0xff, 0xff, 0xff, // 64 bits
            0x9a, 0x01, 0x00, 0x00, 0x00, // 32
            0x95, 0x02, // 9
            0x95, 0x83, 0xff, // 17
            0x96, 0x04, // 8, T32
            0x96, 0x84, 0x80, // 16, T32
        ]);
        let expected = [
            (0xffff_ff80_1234_fffc, false, 64),
            (0xffff_ff80_0000_0004, false, 32),
            (0xffff_ff80_0000_0008, false, 9),
            (0xffff_ff80_0001_fe0c, false, 17),
            (0xffff_ff80_0001_fe08, true, 8),
            (0xffff_ff80_0001_8008, true, 16),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn an_exact_match_is_one_of_the_last_three_and_becomes_the_newest() {
        let told = addresses(&[
            0x9a, 1, 0, 0, 0, 0x9b, 2, 0, 0, 0, 0x9a, 3, 0, 0, 0, // 4, 4 in T32, 12
            0x92, 0x92, 0x90, 0x91,
        ]);
        let expected = [(4, false, 0), (4, true, 0), (4, true, 0), (4, true, 0)];
        assert_eq!(told[3..], expected);
    }
}
