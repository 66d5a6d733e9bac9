//! Call frame information (DWARF 5, section 6.4), for one question: must a debugger read memory to name a frame?
//!
//! As a rule the canonical frame address, which names a frame, is a register and an offset. Where the compiler
//! realigned the stack (`main` on i386, functions with over-aligned locals elsewhere), it is read from the stack.

use super::debug::{Bytes, DebugSection};
use super::elf::Elf;
use crate::arch::Machine;
use crate::source::ByteOrder;
use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, Operation, RunTimeEndian, UnwindContext, UnwindSection,
};
use std::sync::OnceLock;

type Slice<'data> = EndianSlice<'data, RunTimeEndian>;

/// The call frame information of a program.
#[derive(Debug)]
pub(super) struct Unwind {
    loaded: DebugSection,
    /// Where the section lies in memory; its addresses are relative to that.
    loaded_at: u64,
    debug: DebugSection,
    machine: Machine,
    bytes: OnceLock<(Bytes, Bytes)>,
}

impl Unwind {
    pub(super) fn new(elf: &Elf<'_>) -> Unwind {
        let loaded = elf.sections.iter().find(|section| section.name == b".eh_frame");
        Unwind {
            loaded: DebugSection::named(elf, ".eh_frame"),
            loaded_at: loaded.map_or(0, |section| section.address),
            debug: DebugSection::named(elf, ".debug_frame"),
            machine: elf.machine,
            bytes: OnceLock::new(),
        }
    }

    /// Whether the canonical frame address at `address` is read from memory.
    pub(super) fn frame_address_is_in_memory(&self, file: &[u8], address: u64) -> bool {
        let sections =
            self.bytes.get_or_init(|| (self.loaded.bytes(file, self.machine), self.debug.bytes(file, self.machine)));
        let (loaded, debug) = (sections.0.get(file), sections.1.get(file));
        let endian = match self.machine.byte_order {
            ByteOrder::Little => RunTimeEndian::Little,
            ByteOrder::Big => RunTimeEndian::Big,
        };
        let Ok(address_size) = u8::try_from(self.machine.address_size) else { return false };
        let bases = BaseAddresses::default().set_eh_frame(self.loaded_at);
        let mut loaded = EhFrame::new(loaded, endian);
        loaded.set_address_size(address_size);
        let mut debug = DebugFrame::new(debug, endian);
        debug.set_address_size(address_size);
        reads_memory(&loaded, &bases, address).or_else(|| reads_memory(&debug, &bases, address)).unwrap_or(false)
    }
}

/// Whether the rule for `address` reads memory; `None` where the section has no rule for it.
fn reads_memory<'data, S: UnwindSection<Slice<'data>>>(
    section: &S,
    bases: &BaseAddresses,
    address: u64,
) -> Option<bool> {
    let entry = section.fde_for_address(bases, address, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    let CfaRule::Expression(expression) = row.cfa() else { return Some(false) };
    let mut operations = expression.get(section).ok()?.operations(entry.cie().encoding());
    while let Some(operation) = operations.next().ok()? {
        if matches!(operation, Operation::Deref { .. }) {
            return Some(true);
        }
    }
    Some(false)
}
