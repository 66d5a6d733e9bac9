//! Agent expressions: what gdb compiles conditions into, so that a target can test them itself (gdb manual, appendix
//! "The GDB Agent Expression Mechanism").

use super::Moment;

/// A compiled expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentExpression(Vec<u8>);

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoValue {
    /// It needs a register that was not collected.
    #[error("register {0} was not collected")]
    Register(u16),
    /// It needs memory that was not collected.
    #[error("memory at {0:#x} was not collected")]
    Memory(u64),
    /// It needs a trace state variable that was not collected.
    #[error("trace state variable {0} was not collected")]
    Variable(u16),
    /// It divides by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// It uses what is not possible here: floating point, or writing.
    #[error("bytecode {0:#04x} is not possible in a recording")]
    Unsupported(u8),
    /// It is no whole expression, or does not come to an end.
    #[error("the bytecode is damaged at offset {0}")]
    Damaged(usize),
}

/// How many values an expression may have on its stack; gdbserver's limit.
const STACK: usize = 100;

/// How many bytecodes are run at most. gdb makes no loops.
const STEPS: usize = 10_000;

impl AgentExpression {
    /// How many bytes an expression may have: what two bytes of a jump can name.
    pub const LIMIT: usize = 0xffff;

    /// Takes bytecodes as they are; what is wrong with them shows when they are run.
    pub fn new(bytecodes: Vec<u8>) -> AgentExpression {
        AgentExpression(bytecodes)
    }

    /// The value at a moment.
    pub(super) fn evaluate(&self, moment: &Moment<'_>) -> Result<u64, NoValue> {
        let mut machine = Machine { code: &self.0, at: 0, stack: Vec::new() };
        for _ in 0..STEPS {
            if let Some(value) = machine.step(moment)? {
                return Ok(value);
            }
        }
        Err(NoValue::Damaged(machine.at))
    }
}

struct Machine<'a> {
    code: &'a [u8],
    at: usize,
    stack: Vec<u64>,
}

impl Machine<'_> {
    /// Runs a bytecode; the value of the expression, at its end.
    fn step(&mut self, moment: &Moment<'_>) -> Result<Option<u64>, NoValue> {
        let opcode = self.operand(1)? as u8;
        match opcode {
            0x02 => self.binary(|a, b| Some(a.wrapping_add(b)))?,
            0x03 => self.binary(|a, b| Some(a.wrapping_sub(b)))?,
            0x04 => self.binary(|a, b| Some(a.wrapping_mul(b)))?,
            0x05 => self.binary(|a, b| signed(a, b, |a, b| (b != 0).then(|| a.wrapping_div(b))))?,
            0x06 => self.binary(u64::checked_div)?,
            0x07 => self.binary(|a, b| signed(a, b, |a, b| (b != 0).then(|| a.wrapping_rem(b))))?,
            0x08 => self.binary(u64::checked_rem)?,
            0x09 => self.binary(|a, b| Some(shift(b).and_then(|b| a.checked_shl(b)).unwrap_or(0)))?,
            0x0a => {
                self.binary(|a, b| Some((a.cast_signed() >> shift(b).map_or(63, |b| b.min(63))).cast_unsigned()))?
            }
            0x0b => self.binary(|a, b| Some(shift(b).and_then(|b| a.checked_shr(b)).unwrap_or(0)))?,
            // What they would collect is of no use here.
            0x0c | 0x2f => {
                self.pop()?;
                self.pop()?;
            }
            0x0d => {
                self.operand(1)?;
            }
            0x30 | 0x2e => {
                self.operand(2)?;
            }
            0x0e => self.unary(|a| u64::from(a == 0))?,
            0x0f => self.binary(|a, b| Some(a & b))?,
            0x10 => self.binary(|a, b| Some(a | b))?,
            0x11 => self.binary(|a, b| Some(a ^ b))?,
            0x12 => self.unary(|a| !a)?,
            0x13 => self.binary(|a, b| Some(u64::from(a == b)))?,
            0x14 => self.binary(|a, b| Some(u64::from(a.cast_signed() < b.cast_signed())))?,
            0x15 => self.binary(|a, b| Some(u64::from(a < b)))?,
            0x16 => {
                let unused = unused_bits(self.operand(1)?);
                self.unary(|a| ((a << unused).cast_signed() >> unused).cast_unsigned())?;
            }
            0x17..=0x1a => {
                let address = self.pop()?;
                let value = moment.number(address, 1 << (opcode - 0x17));
                self.push(value.ok_or(NoValue::Memory(address))?)?;
            }
            0x20 => {
                let to = self.operand(2)?;
                if self.pop()? != 0 {
                    self.at = to as usize;
                }
            }
            0x21 => self.at = self.operand(2)? as usize,
            0x22..=0x25 => {
                let value = self.operand(1 << (opcode - 0x22))?;
                self.push(value)?;
            }
            0x26 => {
                let number = self.operand(2)? as u16;
                self.push(moment.register(number).ok_or(NoValue::Register(number))?)?;
            }
            0x27 => return self.pop().map(Some),
            0x28 => self.pick(0)?,
            0x29 => {
                self.pop()?;
            }
            0x2a => {
                let unused = unused_bits(self.operand(1)?);
                self.unary(|a| (a << unused) >> unused)?;
            }
            0x2b => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.push(b)?;
                self.push(a)?;
            }
            0x2c => {
                let number = self.operand(2)? as u16;
                let value = moment.variable(i32::from(number));
                self.push(value.ok_or(NoValue::Variable(number))?.cast_unsigned())?;
            }
            0x32 => {
                let depth = self.operand(1)?;
                self.pick(depth as usize)?;
            }
            0x33 => {
                let (c, b, a) = (self.pop()?, self.pop()?, self.pop()?);
                for value in [c, a, b] {
                    self.push(value)?;
                }
            }
            other => return Err(NoValue::Unsupported(other)),
        }
        Ok(None)
    }

    /// A big-endian number in the code.
    fn operand(&mut self, width: usize) -> Result<u64, NoValue> {
        let bytes = self.code.get(self.at..).and_then(|rest| rest.get(..width)).ok_or(NoValue::Damaged(self.at))?;
        self.at += width;
        Ok(bytes.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
    }

    fn push(&mut self, value: u64) -> Result<(), NoValue> {
        if self.stack.len() == STACK {
            return Err(NoValue::Damaged(self.at));
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, NoValue> {
        self.stack.pop().ok_or(NoValue::Damaged(self.at))
    }

    fn pick(&mut self, depth: usize) -> Result<(), NoValue> {
        let value = self.stack.iter().rev().nth(depth).copied();
        self.push(value.ok_or(NoValue::Damaged(self.at))?)
    }

    fn unary(&mut self, of: impl FnOnce(u64) -> u64) -> Result<(), NoValue> {
        let value = self.pop()?;
        self.push(of(value))
    }

    /// `None` is a division by zero.
    fn binary(&mut self, of: impl FnOnce(u64, u64) -> Option<u64>) -> Result<(), NoValue> {
        let (b, a) = (self.pop()?, self.pop()?);
        self.push(of(a, b).ok_or(NoValue::DivisionByZero)?)
    }
}

fn signed(a: u64, b: u64, of: impl FnOnce(i64, i64) -> Option<i64>) -> Option<u64> {
    of(a.cast_signed(), b.cast_signed()).map(i64::cast_unsigned)
}

/// By how many bits to shift, where any are left.
fn shift(by: u64) -> Option<u32> {
    u32::try_from(by).ok().filter(|by| *by < u64::BITS)
}

/// How many of 64 bits a value of so many does not use.
fn unused_bits(width: u64) -> u32 {
    u32::try_from(64_u64.saturating_sub(width)).unwrap_or(0).min(63)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;

    use super::super::{Programs, Replay};
    use super::*;
    use crate::index::fake::Fake;
    use crate::trace::{Frame, Location, MemoryBlock};

    /// The value in a frame with eight bytes of memory at `0x100`, and variable 3, which is -2.
    fn value(code: &[u8]) -> Result<u64, NoValue> {
        let replay = Arc::new(Replay::new(Arc::new(Fake::new(0, |_| unreachable!())), Programs::default()).unwrap());
        let mut frame = Frame::empty(Location(0), 1);
        let bytes = Cow::Owned(vec![0x81, 2, 3, 4, 5, 6, 7, 0xf8]);
        frame.memory = vec![MemoryBlock { address: 0x100, bytes }];
        frame.variables = vec![(3, -2)];
        AgentExpression::new(code.to_vec()).evaluate(&Moment::new(&replay, &frame))
    }

    /// Two constants, and an operation on them.
    fn binary(opcode: u8, a: i64, b: i64) -> Result<u64, NoValue> {
        let constant = |value: i64| [vec![0x25], value.to_be_bytes().to_vec()].concat();
        value(&[constant(a), constant(b), vec![opcode, 0x27]].concat())
    }

    fn signed(value: i64) -> Result<u64, NoValue> {
        Ok(value.cast_unsigned())
    }

    #[test]
    fn arithmetic_and_comparisons() {
        for (opcode, a, b, expected) in [
            (0x02, i64::MAX, 1, signed(i64::MIN)),
            (0x03, 3, 5, signed(-2)),
            (0x04, -3, 5, signed(-15)),
            (0x05, -7, 2, signed(-3)),
            (0x05, i64::MIN, -1, signed(i64::MIN)),
            (0x06, -1, 2, signed(i64::MAX)),
            (0x07, -7, 2, signed(-1)),
            (0x08, -1, 16, Ok(15)),
            (0x09, 1, 63, signed(i64::MIN)),
            (0x09, 1, 64, Ok(0)),
            (0x0a, -8, 1, signed(-4)),
            (0x0a, -8, 200, signed(-1)),
            (0x0b, -1, 60, Ok(15)),
            (0x0b, -1, 64, Ok(0)),
            (0x0f, 12, 10, Ok(8)),
            (0x10, 12, 10, Ok(14)),
            (0x11, 12, 10, Ok(6)),
            (0x13, 4, 4, Ok(1)),
            (0x13, 4, 5, Ok(0)),
            (0x14, -1, 1, Ok(1)),
            (0x15, -1, 1, Ok(0)),
            (0x05, 1, 0, Err(NoValue::DivisionByZero)),
            (0x06, 1, 0, Err(NoValue::DivisionByZero)),
            (0x07, 1, 0, Err(NoValue::DivisionByZero)),
            (0x08, 1, 0, Err(NoValue::DivisionByZero)),
        ] {
            assert_eq!(binary(opcode, a, b), expected, "{opcode:#04x} of {a} and {b}");
        }
        assert_eq!(value(&[0x22, 0, 0x0e, 0x27]), Ok(1));
        assert_eq!(value(&[0x22, 7, 0x0e, 0x27]), Ok(0));
        assert_eq!(value(&[0x22, 0, 0x12, 0x27]), Ok(u64::MAX));
    }

    #[test]
    fn values_of_all_widths() {
        assert_eq!(value(&[0x22, 0xfe, 0x16, 8, 0x27]), signed(-2));
        assert_eq!(value(&[0x22, 0xfe, 0x16, 64, 0x27]), Ok(0xfe));
        assert_eq!(value(&[0x24, 0xff, 0xff, 0xff, 0xfe, 0x2a, 4, 0x27]), Ok(14));
        for (opcode, expected) in [(0x17, 0x81), (0x18, 0x0281), (0x19, 0x0403_0281), (0x1a, 0xf807_0605_0403_0281)] {
            assert_eq!(value(&[0x23, 1, 0, opcode, 0x27]), Ok(expected), "{opcode:#04x}");
        }
        assert_eq!(value(&[0x23, 1, 4, 0x1a, 0x27]), Err(NoValue::Memory(0x104)));
        assert_eq!(value(&[0x2c, 0, 3, 0x27]), signed(-2));
        assert_eq!(value(&[0x2c, 0, 4, 0x27]), Err(NoValue::Variable(4)));
        assert_eq!(value(&[0x26, 0, 0, 0x27]), Err(NoValue::Register(0)));
    }

    #[test]
    fn the_stack_and_jumps() {
        assert_eq!(value(&[0x22, 1, 0x22, 2, 0x2b, 0x03, 0x27]), Ok(1));
        assert_eq!(value(&[0x22, 3, 0x28, 0x04, 0x27]), Ok(9));
        assert_eq!(value(&[0x22, 1, 0x22, 2, 0x29, 0x27]), Ok(1));
        assert_eq!(value(&[0x22, 1, 0x22, 2, 0x22, 3, 0x32, 2, 0x27]), Ok(1));
        // 1 2 3 becomes 3 1 2.
        assert_eq!(value(&[0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x27]), Ok(2));
        assert_eq!(value(&[0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x29, 0x29, 0x27]), Ok(3));
        for (tested, expected) in [(0, 5), (1, 6)] {
            assert_eq!(value(&[0x22, tested, 0x20, 0, 8, 0x22, 5, 0x27, 0x22, 6, 0x27]), Ok(expected));
        }
        assert_eq!(value(&[0x21, 0, 5, 0xff, 0xff, 0x22, 4, 0x27]), Ok(4));
        // What would be collected by it is passed over.
        assert_eq!(value(&[0x22, 7, 0x0d, 8, 0x30, 0, 8, 0x2e, 0, 1, 0x22, 0, 0x22, 0, 0x0c, 0x27]), Ok(7));
    }

    #[test]
    fn what_is_no_expression_has_no_value() {
        for wrong in
            [&[][..], &[0x27], &[0x22], &[0x25, 1, 2], &[0x22, 1, 0x02, 0x27], &[0x21, 0xff, 0xff], &[0x32, 0, 0x27]]
        {
            assert!(matches!(value(wrong), Err(NoValue::Damaged(_))), "{wrong:?}");
        }
        for unsupported in [0x00, 0x01, 0x1b, 0x1e, 0x2d, 0x34, 0xff] {
            assert_eq!(value(&[0x22, 1, unsupported, 0x27]), Err(NoValue::Unsupported(unsupported)));
        }
        // No end: a jump to itself, and a stack that only grows.
        assert_eq!(value(&[0x21, 0, 0]), Err(NoValue::Damaged(0)));
        assert!(matches!(value(&[0x22, 1, 0x21, 0, 0]), Err(NoValue::Damaged(_))));
    }
}
