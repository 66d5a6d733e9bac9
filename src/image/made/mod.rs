//! A program image made from plain data, for a recording whose program nobody has.
//!
//! Of a kernel a recording often holds the symbols, the layout of what its events recorded, and stacks as lists of
//! return addresses, but no program. From these, [`write()`] makes an ELF file that a stock gdb reads as any program:
//! `info symbol`, `ptype struct sched_switch`, `backtrace`.
//!
//! Owns: the ELF file's sections and symbols, its types (DWARF), its unwinding rule, and the memory for that rule.
//! Knows nothing of traces, and of where the data came from.
//!
//! Invariant: the file holds no contents of memory. Its sections only say where something lay (`SHT_NOBITS`), so that
//! no byte that a debugger shows is made up. The one exception are stacks, whose memory is made: see [`frame_chain`].

mod chain;
mod dwarf;
mod elf;
mod frames;
mod identifier;
mod integers;
mod sections;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub use chain::{Chain, frame_chain};
pub use elf::{TooLarge, write};
pub(in crate::image) use frames::return_address;
pub use frames::{FrameRule, Records, unknown_code};
pub use identifier::identifier;
pub(crate) use symbols::FURTHEST;
pub use types::{Compound, Encoding, Keyword, Member, Place, Qualifier, Type, TypeId, Types};

use crate::arch::Machine;
use std::ops::Range;

/// What the file is to say.
#[derive(Clone, Debug)]
pub struct MadeImage<'a> {
    /// The machine: its number, flags, class and byte order go into the ELF header.
    pub machine: Machine,
    /// The addresses of the program's main code, the end excluded: of a kernel `_stext` to `_etext`.
    pub text: Range<u64>,
    /// The symbols, in any order. Of those at one address a debugger names the first.
    pub symbols: Vec<MadeSymbol<'a>>,
    /// Types, for a machine with addresses of the same size. A debugger finds those with a name, and of several with
    /// one name any.
    pub types: Types<'a>,
    /// How a debugger finds the callers of a function; `None` leaves it to the debugger's own ways.
    pub frame_rule: Option<FrameRule>,
}

/// A symbol.
#[derive(Clone, Copy, Debug)]
pub struct MadeSymbol<'a> {
    /// Its name. It ends at its first NUL; a symbol without a name is left out.
    pub name: &'a [u8],
    /// Its address. One that is too large for the machine's addresses is left out.
    pub address: u64,
    /// Its size in bytes, where known. Otherwise it reaches to the next symbol, as the kernel itself has it.
    pub size: Option<u64>,
    /// Whether it is a function and not data.
    pub is_function: bool,
    /// Whether other files of the program can name it. A debugger asked for a name prefers such a symbol.
    pub is_global: bool,
}
