//! Exceptions, and what else is told like one.
//!
//! An address follows at once, like an address packet, with or without a context: where the handler is expected to
//! return to. An ETE makes one packet of it, and has a byte that says that there is no address.

use super::{Address, Context, Fault, Packet, Packets};

/// An exception that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionPacket {
    /// Its number.
    pub number: u16,
    /// The context that it was taken in, if that is told here.
    pub context: Option<Context>,
    /// Where the handler is expected to return to, if that is known.
    pub returns_to: Option<Address>,
    /// Whether that is also where the last branch led, of which no other packet tells.
    pub is_branch_target: bool,
}

const EXCEPTION: &str = "an exception packet";
/// The number that an ETE has for a transaction that failed.
const TRANSACTION_FAILURE: u16 = 0x18;
/// What stands for the address where there is none.
const UNKNOWN_ADDRESS: u8 = 0x70;

impl Packets<'_> {
    pub(super) fn exception(&mut self) -> Result<Packet, Fault> {
        let first = self.byte(EXCEPTION)?;
        let mut number = u16::from((first >> 1) & 0x1f);
        let is_branch_target = match (first & 0x40 != 0, first & 1 != 0) {
            (false, true) => false,
            (true, false) => true,
            _ => {
                let expected = "either bit 0 or bit 6 set";
                return Err(Fault::Unexpected { packet: EXCEPTION, found: first, expected });
            }
        };
        // An ETE has no numbers of more than 5 bits.
        if first & 0x80 != 0 {
            if self.is_ete() {
                let expected = "bit 7 not set";
                return Err(Fault::Unexpected { packet: EXCEPTION, found: first, expected });
            }
            number |= u16::from(self.byte(EXCEPTION)? & 0x1f) << 5;
        }
        let (context, returns_to) = self.returns_to()?;
        if self.is_ete() && number == TRANSACTION_FAILURE {
            return Ok(Packet::TransactionFailure);
        }
        Ok(Packet::Exception(ExceptionPacket { number, context, returns_to, is_branch_target }))
    }

    fn returns_to(&mut self) -> Result<(Option<Context>, Option<Address>), Fault> {
        let mut context = None;
        loop {
            match self.byte(EXCEPTION)? {
                header @ (0x90..=0x92 | 0x95 | 0x96 | 0x9a | 0x9b | 0x9d | 0x9e) => {
                    return Ok((context, Some(self.address(header)?)));
                }
                header @ (0x82 | 0x83 | 0x85 | 0x86) => {
                    let address = self.address(header)?;
                    return Ok((Some(self.context_bytes()?), Some(address)));
                }
                UNKNOWN_ADDRESS if self.is_ete() => {
                    self.history.add(Address::default());
                    return Ok((context, None));
                }
                // In an ETM these are packets of their own.
                header @ (0x80 | 0x81) if self.is_etm() && context.is_none() => context = Some(self.context(header)?),
                UNKNOWN_ADDRESS if self.has_ignore() => {}
                found => {
                    let expected = "the address that it returns to";
                    return Err(Fault::Unexpected { packet: EXCEPTION, found, expected });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{ETE, ETM, damage, packets};
    use super::*;

    fn exception(number: u16, returns_to: u64, is_branch_target: bool) -> ExceptionPacket {
        let returns_to = Some(Address { address: returns_to, is_is1: false, bits: 32 });
        ExceptionPacket { number, context: None, returns_to, is_branch_target }
    }

    #[test]
    fn with_the_address_behind_it() {
        let irq = exception(0x0e, 0x404, false);
        assert_eq!(packets(ETM, &[0x06, 0x1d, 0x9a, 0x01, 0x02, 0, 0]), [Packet::Exception(irq)]);
        assert_eq!(packets(ETE, &[0x06, 0x1d, 0x9a, 0x01, 0x02, 0, 0]), [Packet::Exception(irq)]);
        let at_target = exception(0x0e, 0x404, true);
        assert_eq!(packets(ETM, &[0x06, 0x5c, 0x9a, 0x01, 0x02, 0, 0]), [Packet::Exception(at_target)]);
    }

    #[test]
    fn a_number_of_more_than_5_bits() {
        let expected = exception(0x25, 0x404, false);
        assert_eq!(packets(ETM, &[0x06, 0x8b, 0x21, 0x9a, 0x01, 0x02, 0, 0]), [Packet::Exception(expected)]);
    }

    #[test]
    fn with_a_context() {
        let context = Context { exception_level: 1, is_64_bit: true, ..Context::default() };
        let expected = ExceptionPacket { context: Some(context), ..exception(1, 4, false) };
        assert_eq!(packets(ETM, &[0x06, 0x03, 0x81, 0x11, 0x9a, 1, 0, 0, 0]), [Packet::Exception(expected)]);
        assert_eq!(packets(ETE, &[0x06, 0x03, 0x82, 1, 0, 0, 0, 0x11]), [Packet::Exception(expected)]);
    }

    #[test]
    fn without_an_address() {
        let reset = ExceptionPacket { number: 0, context: None, returns_to: None, is_branch_target: false };
        assert_eq!(packets(ETE, &[0x06, 0x01, 0x70]), [Packet::Exception(reset)]);
        assert_eq!(packets(ETE, &[0x06, 0x31, 0x70]), [Packet::TransactionFailure]);
    }

    #[test]
    fn anything_else_behind_it_is_damage() {
        assert_eq!(
            damage(ETM, &[0x06, 0x1d, 0xf7]),
            "at byte 0x2: found 0xf7 in an exception packet, expected the address that it returns to"
        );
        assert_eq!(
            damage(ETM, &[0x06, 0x1c, 0x9a]),
            "at byte 0x1: found 0x1c in an exception packet, expected either bit 0 or bit 6 set"
        );
    }
}
