//! Call frame information (DWARF 5, section 6.4), for one question: what is the canonical frame address, by which a
//! debugger tells frames apart?
//!
//! As a rule it is a register and an offset. Where the compiler
//! realigned the stack (`main` on i386, functions with over-aligned locals elsewhere), it is read from the stack.

use super::debug::{Bytes, DebugSection};
use super::elf::Elf;
use crate::arch::{FrameRegisters, Machine};
use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, Evaluation, EvaluationResult, Location, Piece,
    RegisterRule, RunTimeEndian, UnwindContext, UnwindSection, Value,
};
use std::sync::OnceLock;

/// How many operations of an expression are done; compilers write two or three.
const MOST_OPERATIONS: u32 = 1000;

/// The state of a machine, as far as it is known, at the place where call frame information is asked for.
pub trait MachineState {
    /// The value of a register of up to 64 bits, by its number in DWARF, which the machine's ABI gives it.
    fn register(&self, number: u16) -> Option<u64>;

    /// The number of so many bytes, 8 at most, that lies at a run-time address.
    fn memory(&self, address: u64, length: usize) -> Option<u64>;
}

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

    /// The canonical frame address at `address`, where there is a rule and all that it takes is known.
    pub(super) fn frame_address(&self, file: &[u8], address: u64, state: &dyn MachineState) -> Option<u64> {
        let (loaded, debug, bases) = self.sections(file)?;
        computed(&loaded, &bases, address, state).or_else(|| computed(&debug, &bases, address, state))?
    }

    /// How the caller of the function at `address` is found, where that takes nothing but registers and offsets.
    pub(super) fn rule(&self, file: &[u8], address: u64) -> Option<CallerRule> {
        let (loaded, debug, bases) = self.sections(file)?;
        rule(&loaded, &bases, address).or_else(|| rule(&debug, &bases, address))?
    }

    /// The two sections that have call frame information.
    fn sections<'data>(
        &'data self,
        file: &'data [u8],
    ) -> Option<(EhFrame<Slice<'data>>, DebugFrame<Slice<'data>>, BaseAddresses)> {
        let sections =
            self.bytes.get_or_init(|| (self.loaded.bytes(file, self.machine), self.debug.bytes(file, self.machine)));
        let endian = self.machine.byte_order.into();
        let address_size = u8::try_from(self.machine.address_size).ok()?;
        let mut loaded = EhFrame::new(sections.0.get(file), endian);
        loaded.set_address_size(address_size);
        let mut debug = DebugFrame::new(sections.1.get(file), endian);
        debug.set_address_size(address_size);
        Some((loaded, debug, BaseAddresses::default().set_eh_frame(self.loaded_at)))
    }
}

/// Where a caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// In memory, so many bytes from the canonical frame address.
    At(i64),
    /// Still in the register.
    Kept,
    /// Not to be had, or in a way that is not followed here.
    Lost,
}

/// How the caller of a function is found at one place in it.
#[derive(Clone, Debug)]
pub struct CallerRule {
    /// The canonical frame address: a register, by its number in DWARF, and what is added to it.
    pub frame_address: (u16, i64),
    /// The number of the return address.
    pub return_address: u16,
    /// What the rules say of registers; others are kept.
    pub saved: Vec<(u16, Saved)>,
}

impl CallerRule {
    /// That of code that keeps its caller's frame pointer and its return address above its own.
    pub fn plain(registers: FrameRegisters, return_address: u16, word: u64) -> CallerRule {
        let word = word as i64;
        let saved = vec![(return_address, Saved::At(-word)), (registers.frame_pointer, Saved::At(-2 * word))];
        CallerRule { frame_address: (registers.frame_pointer, 2 * word), return_address, saved }
    }

    /// Where the caller's value of a register is.
    pub fn saved(&self, register: u16) -> Saved {
        self.saved.iter().find(|(number, _)| *number == register).map_or(Saved::Kept, |(_, saved)| *saved)
    }
}

fn rule<'data, S: UnwindSection<Slice<'data>>>(
    section: &S,
    bases: &BaseAddresses,
    address: u64,
) -> Option<Option<CallerRule>> {
    let entry = section.fde_for_address(bases, address, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return Some(None) };
    let saved = row.registers().map(|(register, rule)| {
        let saved = match rule {
            RegisterRule::Offset(offset) => Saved::At(*offset),
            RegisterRule::SameValue => Saved::Kept,
            _ => Saved::Lost,
        };
        (register.0, saved)
    });
    Some(Some(CallerRule {
        frame_address: (register.0, *offset),
        return_address: entry.cie().return_address_register().0,
        saved: saved.collect(),
    }))
}

/// What the rule for `address` gives; `None` where the section has no rule for it.
fn computed<'data, S: UnwindSection<Slice<'data>>>(
    section: &S,
    bases: &BaseAddresses,
    address: u64,
    state: &dyn MachineState,
) -> Option<Option<u64>> {
    let entry = section.fde_for_address(bases, address, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    Some(match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            state.register(register.0).map(|value| value.wrapping_add_signed(*offset))
        }
        CfaRule::Expression(expression) => {
            let expression = expression.get(section).ok()?;
            evaluated(expression.evaluation(entry.cie().encoding()), state)
        }
    })
}

/// The value of an expression, where all that it takes is known.
fn evaluated(mut evaluation: Evaluation<Slice<'_>>, state: &dyn MachineState) -> Option<u64> {
    evaluation.set_max_iterations(MOST_OPERATIONS);
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                evaluation.resume_with_register(Value::Generic(state.register(register.0)?))
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                evaluation.resume_with_memory(Value::Generic(state.memory(address, usize::from(size))?))
            }
            _ => return None,
        }
        .ok()?;
    }
    match evaluation.result().as_slice() {
        [Piece { location: Location::Address { address }, .. }] => Some(*address),
        _ => None,
    }
}
