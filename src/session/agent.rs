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
