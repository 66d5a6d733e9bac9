//! Where the handlers of exceptions are that are not told ("Implicit exception mode").

use riscv_etrace::types::Privilege;

/// The registers that say where handlers are, as they were while the trace was made, as far as somebody told. They are
/// those of the RISC-V privileged architecture ("Machine Trap-Vector Base-Address Register", and the like): the address,
/// and in the lowest two bits whether each interrupt has a handler of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Vectors {
    pub mtvec: Option<u64>,
    pub stvec: Option<u64>,
    pub vstvec: Option<u64>,
}

impl Vectors {
    /// Where the handler of an exception, or an interrupt, is that runs with a privilege; or why nobody knows.
    pub fn handler(self, privilege: Privilege, cause: u64, is_interrupt: bool) -> Result<u64, String> {
        let (name, register) = match privilege {
            Privilege::Machine => ("mtvec", self.mtvec),
            Privilege::Supervisor => ("stvec", self.stvec),
            Privilege::VirtSupervisor => ("vstvec", self.vstvec),
            other => return Err(format!("no register says where exceptions are handled in {other} mode")),
        };
        let register = register.ok_or_else(|| {
            format!("no packet tells where exceptions are handled: {name}, as it was while tracing, must be named")
        })?;
        let base = register & !0b11;
        match register & 0b11 {
            0 => Ok(base),
            1 if is_interrupt => Ok(base.wrapping_add(4 * cause)),
            1 => Ok(base),
            mode => Err(format!("{name} has mode {mode}, expected 0 or 1")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_says_where_handlers_are() {
        let vectors = Vectors { mtvec: Some(0x101), stvec: Some(0x200), vstvec: None };
        let of = |privilege, cause, is_interrupt| vectors.handler(privilege, cause, is_interrupt);
        assert_eq!(of(Privilege::Machine, 7, true), Ok(0x11c));
        assert_eq!(of(Privilege::Machine, 7, false), Ok(0x100));
        assert_eq!(of(Privilege::Supervisor, 7, true), Ok(0x200));
        assert!(of(Privilege::VirtSupervisor, 7, true).unwrap_err().contains("vstvec"));
        assert!(of(Privilege::User, 7, true).is_err());
        assert!(Vectors { mtvec: Some(0x103), ..vectors }.handler(Privilege::Machine, 7, true).is_err());
    }
}
