//! A gdbstub architecture whose registers are known only when a recording is open.

use gdbstub::arch::{Arch, RegId, Registers};

/// Registers of any machine, as bytes that may be missing. Addresses are 64 bits wide, those of 32-bit machines too.
pub enum AnyMachine {}

impl Arch for AnyMachine {
    type Usize = u64;
    type Registers = AnyRegisters;
    type BreakpointKind = usize;
    type RegId = NoRegister;
}

/// A whole `g` reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnyRegisters(pub Vec<Option<u8>>);

impl Registers for AnyRegisters {
    type ProgramCounter = u64;

    /// Asked for by gdbstub only where breakpoints are adjusted, which they are not.
    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, write: impl FnMut(Option<u8>)) {
        self.0.iter().copied().for_each(write);
    }

    fn gdb_deserialize(&mut self, _bytes: &[u8]) -> Result<(), ()> {
        Err(())
    }
}

/// Single registers are served in front of gdbstub.
#[derive(Debug)]
pub enum NoRegister {}

impl RegId for NoRegister {
    fn from_raw_id(_id: usize) -> Option<(NoRegister, Option<std::num::NonZeroUsize>)> {
        None
    }
}
