//! How a debugger finds the callers of a function, as DWARF call frame information.
//!
//! Every function of the made program has one rule, [`Records::Named`] as a rule. It reads a chain of records that
//! [`frame_chain`] makes:
//!
//! ```text
//! frame pointer ─► the caller's frame pointer
//!                  the address of the word that holds the return address
//!                  that word, as a rule
//!                  ◄─ canonical frame address
//! ```
//!
//! A compiler's own records hold the return address itself. The address in its place is for the end of the stack, for
//! which gdb has two ways that show no frame too many. In code that is known to be called by nothing, the return
//! address is undefined (DWARF 4, section 6.4.4), and the end is silent. Elsewhere the last record names the same word
//! for its return address as the one before: gdb takes it for a frame that did not save its caller (gdb/frame.c,
//! `get_prev_frame_always_1`, `UNWIND_NO_SAVED_PC`), and says so: `Backtrace stopped: frame did not save the PC`. On
//! s390x, where gdb does not look at that, it is a frame that is its own caller, of which gdb says that it is
//! identical and perhaps corrupt.
//!
//! [`frame_chain`]: super::frame_chain

use super::sections::Section;
use crate::arch::{FrameRegisters, Machine};
use gimli::write::{
    Address, CallFrameInstruction, CommonInformationEntry, DebugFrame, EndianVec, Error, Expression,
    FrameDescriptionEntry, FrameTable,
};
use gimli::{Encoding, Format, Register, RunTimeEndian};
use object::elf;
use std::ops::Range;

/// The words of a record: all but the last record of a chain have this many.
pub(super) const RECORD_WORDS: u64 = 3;

/// What a frame keeps of its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// The caller's frame pointer, and where its return address is: see [`frame_chain`](super::frame_chain).
    #[default]
    Named,
    /// The caller's frame pointer and the return address, as compilers have it: for code beside a program that has rules
    /// of its own, whose stacks [`PlacedImage::stack`](crate::image::PlacedImage::stack) makes.
    Plain,
}

/// The rule by which a debugger finds callers.
#[derive(Clone, Debug, Default)]
pub struct FrameRule {
    /// What it reads.
    pub records: Records,
    /// Where it holds besides the code of the image: addresses without a symbol, in any order.
    pub also: Vec<Range<u64>>,
    /// Code that nothing called, so that a stack always ends there: in an x86-64 kernel, for instance, the addresses
    /// of `entry_SYSCALL_64_after_hwframe`. A debugger shows no caller of it, whatever the memory says. It looks a
    /// caller up one byte before its return address; a range may be as short as that byte.
    pub outermost: Vec<Range<u64>>,
}

/// What the rule of a machine is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// gdb's name of the frame pointer.
    pub(super) frame_pointer: &'static str,
    /// gdb's name of the program counter.
    pub(super) program_counter: &'static str,
    /// The numbers in DWARF of the frame pointer and the stack pointer.
    numbers: FrameRegisters,
    /// The number in DWARF of the return address.
    return_address: u16,
    /// The instruction that must be readable at each address of a stack, if any.
    pub(super) undefined_instruction: Option<[u8; 4]>,
}

/// What the rule is made of for a machine; `None` where there is none.
///
/// Facts: the DWARF chapter of each machine's ABI. AArch64 and 32-bit ARM have a number for the program counter, and
/// gdb takes it from the link register unless the rule names it; and gdb goes by no rule in code that it cannot read
/// (gdb/aarch64-tdep.c, `aarch64_stub_unwind_sniffer`, and gdb/arm-tdep.c, `arm_stub_unwind_sniffer`).
pub(super) fn registers(machine: &Machine) -> Option<Registers> {
    let numbers = machine.frame_registers()?;
    let plain = |frame_pointer, program_counter, return_address| {
        Some(Registers { frame_pointer, program_counter, numbers, return_address, undefined_instruction: None })
    };
    let reads_code = |plain: Option<Registers>, instruction: u32| {
        let mut bytes = [0; 4];
        machine.byte_order.store(instruction.into(), &mut bytes);
        plain.map(|registers| Registers { undefined_instruction: Some(bytes), ..registers })
    };
    match (elf::Machine(machine.elf_machine), machine.address_size) {
        (elf::EM_X86_64, 8) => plain("rbp", "rip", 16),
        (elf::EM_386, 4) => plain("ebp", "eip", 8),
        (elf::EM_AARCH64, 8) => reads_code(plain("x29", "pc", 32), 0),
        (elf::EM_ARM, 4) => reads_code(plain("r11", "pc", 15), 0xe7f0_00f0),
        (elf::EM_RISCV, _) => plain("fp", "pc", 1),
        (elf::EM_PPC, 4) | (elf::EM_PPC64, 8) => plain("r31", "pc", 65),
        (elf::EM_S390, 8) => plain("r11", "pswa", 14),
        _ => None,
    }
}

/// Instructions to be read at addresses whose code is not known, in the order of the addresses: on AArch64 and 32-bit ARM
/// gdb goes by a rule only where it can read code. They are undefined ones (`udf`); none on other machines.
pub fn unknown_code(machine: &Machine, addresses: &[u64]) -> Vec<(u64, [u8; 4])> {
    let instruction = registers(machine).and_then(|registers| registers.undefined_instruction).into_iter();
    let mut code: Vec<_> = instruction.flat_map(|code| addresses.iter().map(move |at| (*at, code))).collect();
    code.sort_unstable();
    code.dedup();
    code
}

/// The number in DWARF of a machine's return address, as the rule has it.
pub(in crate::image) fn return_address(machine: &Machine) -> Option<u16> {
    registers(machine).map(|registers| registers.return_address)
}

/// The contents of `.debug_frame` for these sections; empty for a machine without a rule.
pub(super) fn table(machine: &Machine, rule: &FrameRule, sections: &[Section]) -> Result<Vec<u8>, Error> {
    let Some(registers) = registers(machine) else { return Ok(Vec::new()) };
    let mut table = FrameTable::default();
    let inner = table.add_cie(entry(machine, registers, rule.records, false));
    let outermost = table.add_cie(entry(machine, registers, rule.records, true));
    let code = sections.iter().filter(|section| section.is_code).map(|section| &section.addresses);
    let covered = united(code.chain(&rule.also));
    for (addresses, is_outermost) in divide(&covered, &rule.outermost) {
        // An entry counts its bytes in 32 bits here; no kernel has more code in one place.
        let length = u32::try_from(addresses.end - addresses.start).unwrap_or(u32::MAX);
        let entry = FrameDescriptionEntry::new(Address::Constant(addresses.start), length);
        table.add_fde(if is_outermost { outermost } else { inner }, entry);
    }
    let mut section = DebugFrame(EndianVec::new(RunTimeEndian::from(machine.byte_order)));
    table.write_debug_frame(&mut section)?;
    Ok(section.0.into_vec())
}

fn entry(machine: &Machine, registers: Registers, records: Records, is_outermost: bool) -> CommonInformationEntry {
    let encoding = encoding(machine.address_size);
    let word = encoding.address_size;
    let Registers { numbers, return_address, .. } = registers;
    let [frame_pointer, stack_pointer, return_address] =
        [numbers.frame_pointer, numbers.stack_pointer, return_address].map(Register);
    let factor = if word == 8 { -8 } else { -4 };
    let mut entry = CommonInformationEntry::new(encoding, 1, factor, return_address);
    let words = if records == Records::Named { RECORD_WORDS as i32 } else { 2 };
    let size = i32::from(word) * words;
    entry.add_instruction(CallFrameInstruction::Cfa(frame_pointer, size));
    entry.add_instruction(CallFrameInstruction::Offset(frame_pointer, -size));
    if records == Records::Named {
        // The chain is not the stack that was recorded, so it says nothing of the stack pointer.
        entry.add_instruction(CallFrameInstruction::Undefined(stack_pointer));
    }
    entry.add_instruction(if is_outermost {
        CallFrameInstruction::Undefined(return_address)
    } else if records == Records::Plain {
        CallFrameInstruction::Offset(return_address, -i32::from(word))
    } else {
        let mut word_of_address = Expression::new();
        word_of_address.op_breg(frame_pointer, i64::from(word));
        word_of_address.op_deref();
        CallFrameInstruction::Expression(return_address, word_of_address)
    });
    entry
}

/// The same addresses, in order and without an overlap.
fn united<'a>(ranges: impl Iterator<Item = &'a Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).cloned().collect();
    ranges.sort_by_key(|range| range.start);
    let mut united: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match united.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => united.push(range),
        }
    }
    united
}

/// Cuts the code where outermost code begins and ends. The parts are in order and do not overlap.
fn divide(code: &[Range<u64>], outermost: &[Range<u64>]) -> Vec<(Range<u64>, bool)> {
    let mut outermost: Vec<_> = outermost.iter().collect();
    outermost.sort_by_key(|range| range.start);
    let mut parts = Vec::new();
    let mut outermost = outermost.into_iter().peekable();
    for range in code {
        let mut at = range.start;
        while let Some(found) = outermost.peek().filter(|found| found.start < range.end) {
            let (start, end) = (found.start.max(at), found.end.min(range.end));
            if start < end {
                parts.extend([(at..start, false), (start..end, true)]);
                at = end;
            }
            // One that goes on behind this range is seen again in the next.
            if found.end > range.end {
                break;
            }
            outermost.next();
        }
        parts.push((at..range.end, false));
    }
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// How DWARF is written here.
pub(super) fn encoding(address_size: usize) -> Encoding {
    Encoding { address_size: if address_size == 8 { 8 } else { 4 }, format: Format::Dwarf32, version: 4 }
}
