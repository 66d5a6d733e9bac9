//! Contexts: in which state instructions are executed.

use super::{Fault, Packets};

/// In which state instructions are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The exception level, 0 to 3.
    pub exception_level: u8,
    /// Whether in AArch64 state.
    pub is_64_bit: bool,
    /// Not in secure state, or, with `is_extended`, in realm state.
    pub is_non_secure: bool,
    /// In one of the states that the Realm Management Extension adds: root, or realm.
    pub is_extended: bool,
    /// The context ID that was last told.
    pub context: u32,
    /// The ID of the virtual machine that was last told.
    pub machine: u32,
}

const CONTEXT: &str = "a context packet";
/// The bit of the information byte that no context sets.
const RESERVED: u8 = 1 << 2;

impl Packets<'_> {
    /// A context packet. One without bit 0 says that nothing changed.
    pub(super) fn context(&mut self, header: u8) -> Result<Context, Fault> {
        if header & 1 == 1 { self.context_bytes() } else { Ok(self.context) }
    }

    /// What of a context stands in a packet, together with what was told before.
    pub(super) fn context_bytes(&mut self) -> Result<Context, Fault> {
        let found = self.byte(CONTEXT)?;
        if found & RESERVED != 0 {
            return Err(Fault::Unexpected { packet: CONTEXT, found, expected: "bit 2 not set" });
        }
        let (has_machine, has_context) = (found & 0x40 != 0, found & 0x80 != 0);
        let machine =
            if has_machine { self.identifier(self.configuration.machine_bytes, found)? } else { self.context.machine };
        let context =
            if has_context { self.identifier(self.configuration.context_bytes, found)? } else { self.context.context };
        self.context = Context {
            exception_level: found & 3,
            is_64_bit: found & 0x10 != 0,
            is_non_secure: found & 0x20 != 0,
            is_extended: found & 0x08 != 0,
            context,
            machine,
        };
        Ok(self.context)
    }

    fn identifier(&mut self, bytes: u8, found: u8) -> Result<u32, Fault> {
        match bytes {
            0 => {
                Err(Fault::Unexpected { packet: CONTEXT, found, expected: "no ID, which TRCIDR2 says there cannot be" })
            }
            // It has at most 4 bytes.
            _ => self.plain(CONTEXT, bytes).map(|identifier| identifier as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::super::Packet;
    use super::*;

    #[test]
    fn levels_and_states() {
        let expected = Context { exception_level: 1, is_64_bit: true, ..Context::default() };
        assert_eq!(packets(ETM, &[0x81, 0x11]), [Packet::Context(expected)]);
        let realm = Context { exception_level: 2, is_non_secure: true, is_extended: true, ..expected };
        assert_eq!(packets(ETE, &[0x81, 0x3a]), [Packet::Context(realm)]);
    }

    #[test]
    fn ids_stay_until_they_are_told_again() {
        // The ID of a virtual machine has 1 byte in the ETM, and 4 in the ETE.
        let both = Context { is_64_bit: true, context: 0x0403_0201, machine: 0x77, ..Context::default() };
        let bytes = [0x81, 0xd0, 0x77, 1, 2, 3, 4, 0x81, 0x10, 0x80];
        assert_eq!(packets(ETM, &bytes), [Packet::Context(both); 3]);
        let wide = Context { is_64_bit: true, machine: 0x4433_2211, ..Context::default() };
        assert_eq!(packets(ETE, &[0x81, 0x50, 0x11, 0x22, 0x33, 0x44]), [Packet::Context(wide)]);
    }

    #[test]
    fn behind_an_address() {
        let context = Context { exception_level: 2, is_non_secure: true, is_64_bit: true, ..Context::default() };
        let told = packets(ETM, &[0x85, 1, 0, 0, 0, 0, 0, 0, 0, 0x32]);
        assert!(matches!(told[..], [Packet::AddressWithContext(address, it)] if address.address == 4 && it == context));
        let told = packets(ETM, &[0x83, 1, 0, 0, 0, 0x32]);
        assert!(matches!(told[..], [Packet::AddressWithContext(address, it)] if address.is_is1 && it == context));
    }

    #[test]
    fn a_reserved_bit_is_damage() {
        assert_eq!(damage(ETM, &[0x81, 0x14]), "at byte 0x1: found 0x14 in a context packet, expected bit 2 not set");
    }
}
