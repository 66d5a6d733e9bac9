//! What lay in memory while a trace was made: programs, and pieces of memory that somebody read out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use object::elf;

use super::super::instruction::{Code, InstructionSet};
use crate::image::{CallerRule, PlacedImage};
use crate::source::Source;

/// How many rules are kept.
const MOST_RULES: usize = 1 << 16;

/// A piece of memory, as it was read out.
#[derive(Clone)]
pub struct Dump {
    /// The address of its first byte.
    pub address: u64,
    /// The file that holds it.
    pub source: Arc<Source>,
    /// Which of the file's bytes these are.
    pub bytes: std::ops::Range<usize>,
}

impl Dump {
    /// The bytes from an address on; empty outside.
    fn from(&self, address: u64) -> &[u8] {
        let bytes = self.source.bytes().get(self.bytes.clone()).unwrap_or_default();
        let skipped = address.checked_sub(self.address).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| bytes.get(skipped..)).unwrap_or_default()
    }
}

/// What lay in memory. Where several things lie at an address, the first has it; programs come before pieces.
pub struct Memory {
    programs: Vec<PlacedImage>,
    dumps: Vec<Dump>,
    rules: Mutex<HashMap<u64, Option<Arc<CallerRule>>>>,
}

impl Memory {
    /// These programs, and these pieces.
    pub fn new(programs: Vec<PlacedImage>, dumps: Vec<Dump>) -> Memory {
        Memory { programs, dumps, rules: Mutex::default() }
    }

    /// The files of the pieces.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        self.dumps.iter().map(|dump| &*dump.source)
    }

    /// Whether it is that of a processor of Arm's M-profile, as a program tells.
    pub fn is_m_profile(&self) -> bool {
        self.programs.iter().any(|program| program.image.is_m_profile())
    }

    /// Whether nothing lay there.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.dumps.is_empty()
    }

    /// Whether anything may lie between two addresses.
    pub fn reaches(&self, first: u64, last: u64) -> bool {
        let is_program =
            |program: &PlacedImage| program.span().is_some_and(|(found, end)| found <= last && first <= end);
        let is_dump =
            |dump: &Dump| dump.address <= last && dump.address.saturating_add(dump.bytes.len() as u64) > first;
        self.programs.iter().any(is_program) || self.dumps.iter().any(is_dump)
    }

    /// The bytes of the pieces from an address on; empty where there is none.
    pub fn dumped(&self, address: u64) -> &[u8] {
        self.dumps.iter().map(|dump| dump.from(address)).find(|bytes| !bytes.is_empty()).unwrap_or_default()
    }

    /// How the caller of the function at an address is found. Asked for often, found once.
    pub fn caller_rule(&self, address: u64) -> Option<Arc<CallerRule>> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rule) = rules.get(&address) {
            return rule.clone();
        }
        if rules.len() >= MOST_RULES {
            rules.clear();
        }
        let rule = self.programs.iter().find_map(|program| program.caller_rule(address)).map(Arc::new);
        rules.insert(address, rule.clone());
        rule
    }

    /// The first and last address of the function that holds an address.
    pub fn function_at(&self, address: u64) -> Option<(u64, u64)> {
        self.programs.iter().find_map(|program| program.function_at(address))
    }
}

impl Code for Memory {
    fn code(&self, address: u64) -> &[u8] {
        let programs = self.programs.iter().map(|program| program.code(address));
        programs.chain([self.dumped(address)]).find(|bytes| !bytes.is_empty()).unwrap_or_default()
    }

    /// Programs are all for one machine. What pieces of memory hold nobody knows.
    fn can_have(&self, instruction_set: InstructionSet) -> bool {
        let Some(machine) = self.programs.first().map(|program| program.image.machine()) else { return true };
        match (elf::Machine(machine.elf_machine), instruction_set) {
            _ if !self.dumps.is_empty() => true,
            (elf::EM_AARCH64, set) => set == InstructionSet::A64,
            (elf::EM_ARM, set) => matches!(set, InstructionSet::A32 | InstructionSet::T32),
            (elf::EM_RISCV, InstructionSet::Rv32) => machine.address_size == 4,
            (elf::EM_RISCV, InstructionSet::Rv64) => machine.address_size == 8,
            _ => false,
        }
    }
}
