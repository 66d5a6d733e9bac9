//! The registers of a target description, and where each lies in the `g` reply.

use super::DescriptionError;
use super::description::quoted;

/// One register of a target description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// gdb's name.
    pub name: String,
    /// gdb's number in the remote protocol (`regnum`).
    pub number: usize,
    /// Offset in the `g` reply, in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

impl Register {
    /// The offset behind the register's last byte.
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.size)
    }
}

/// The registers of a target description in the order of the `g` reply.
///
/// gdb lays a `g` reply out by ascending register number, without gaps (gdb's remote.c, `map_regcache_remote_table`).
/// Names may occur twice (gdb takes that, and some simulators send it); numbers may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    registers: Vec<Register>,
    size: usize,
    pc: usize,
    sp: Option<usize>,
}

impl Layout {
    /// The longest `g` reply in bytes: beyond all vector and matrix registers of any machine.
    pub const MAXIMUM_SIZE: usize = 1 << 20;

    /// Lays out registers, whose offsets are not looked at.
    ///
    /// `pc` and `sp` are the numbers of the registers that have these roles.
    pub(super) fn new(
        mut registers: Vec<Register>,
        pc: Option<usize>,
        sp: Option<usize>,
    ) -> Result<Layout, DescriptionError> {
        registers.sort_by_key(|register| register.number);
        let mut size = 0usize;
        let mut previous: Option<&Register> = None;
        for register in &mut registers {
            if let Some(other) = previous.filter(|other| other.number == register.number) {
                return Err(DescriptionError::SameNumber {
                    number: register.number,
                    first: quoted(&other.name),
                    second: quoted(&register.name),
                });
            }
            register.offset = size;
            size = size.saturating_add(register.size);
            previous = Some(register);
        }
        if size > Layout::MAXIMUM_SIZE {
            return Err(DescriptionError::TooManyBytes(size));
        }
        let place = |number: Option<usize>| {
            number.and_then(|number| registers.binary_search_by_key(&number, |register| register.number).ok())
        };
        let pc = place(pc).ok_or(DescriptionError::NoProgramCounter)?;
        let sp = place(sp);
        Ok(Layout { registers, size, pc, sp })
    }

    /// The registers in the order of the `g` reply.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// The length of a whole `g` reply in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The program counter.
    pub fn pc(&self) -> &Register {
        &self.registers[self.pc]
    }

    /// The stack pointer; `None` where the description does not tell which register it is.
    pub fn sp(&self) -> Option<&Register> {
        self.sp.and_then(|sp| self.registers.get(sp))
    }

    /// The register of this number.
    pub fn by_number(&self, number: usize) -> Option<&Register> {
        let place = self.registers.binary_search_by_key(&number, |register| register.number).ok()?;
        self.registers.get(place)
    }

    /// The first register of this name.
    pub fn by_name(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(name: &str, number: usize, size: usize) -> Register {
        Register { name: name.to_owned(), number, offset: usize::MAX, size }
    }

    #[test]
    fn registers_are_packed_by_ascending_number() {
        let registers = vec![register("pc", 64, 8), register("r1", 1, 4), register("r0", 0, 2)];
        let layout = Layout::new(registers, Some(64), Some(1)).unwrap();
        let places: Vec<_> = layout.registers().iter().map(|r| (r.name.as_str(), r.offset, r.end())).collect();
        assert_eq!(places, [("r0", 0, 2), ("r1", 2, 6), ("pc", 6, 14)]);
        assert_eq!(layout.size(), 14);
        assert_eq!(layout.pc().name, "pc");
        assert_eq!(layout.sp().unwrap().name, "r1");
        assert_eq!(layout.by_number(64), layout.by_name("pc"));
        assert_eq!(layout.by_number(2), None);
        assert_eq!(layout.by_name("r2"), None);
    }

    #[test]
    fn what_cannot_be_laid_out_is_refused() {
        let twice = vec![register("a", 3, 4), register("pc", 0, 4), register("b", 3, 4)];
        assert_eq!(
            Layout::new(twice, Some(0), None),
            Err(DescriptionError::SameNumber { number: 3, first: "a".into(), second: "b".into() })
        );
        assert_eq!(Layout::new(vec![register("a", 0, 4)], None, None), Err(DescriptionError::NoProgramCounter));
        let long = vec![register("a", 0, Layout::MAXIMUM_SIZE), register("pc", 1, 1)];
        assert_eq!(Layout::new(long, Some(1), None), Err(DescriptionError::TooManyBytes(Layout::MAXIMUM_SIZE + 1)));
    }
}
