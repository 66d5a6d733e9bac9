//! Programs, and every instruction that they execute.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use traceframe::format::itrace::instruction::{Branch, Code, Flow, Instruction, InstructionSet, decode};

/// A program's code.
#[derive(Clone)]
pub struct Program {
    pub name: &'static str,
    /// Sections by their addresses.
    pub code: BTreeMap<u64, Vec<u8>>,
    /// Where the instruction set changes, as the symbols `$a`, `$t`, `$x` tell (ELF for the Arm Architecture, 4.5.5).
    changes: BTreeMap<u64, InstructionSet>,
    symbols: BTreeMap<String, u64>,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/itrace").join(name)
}

impl Program {
    /// One of `tests/data/itrace`, whose extension tells its instruction set.
    pub fn open(name: &'static str) -> Program {
        let usual = match name.split('.').nth(1).unwrap() {
            "a64" => InstructionSet::A64,
            "a32" | "t32" => InstructionSet::A32,
            "rv32" => InstructionSet::Rv32,
            "rv64" => InstructionSet::Rv64,
            other => panic!("{other}"),
        };
        let bytes = std::fs::read(data(name)).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let code = sections.map(|section| (section.address(), section.data().unwrap().to_vec())).collect();
        let (mut changes, mut symbols) = (BTreeMap::from([(0, usual)]), BTreeMap::new());
        for symbol in file.symbols() {
            match symbol.name() {
                Ok("$a") => drop(changes.insert(symbol.address(), InstructionSet::A32)),
                Ok("$t") => drop(changes.insert(symbol.address(), InstructionSet::T32)),
                // Bit 0 of a function's address tells that it is of T32.
                Ok(name) => drop(symbols.insert(name.to_owned(), symbol.address() & !1)),
                Err(_) => {}
            }
        }
        Program { name, code, changes, symbols }
    }

    /// The address of a function or a label.
    pub fn symbol(&self, name: &str) -> u64 {
        self.symbols[name]
    }

    /// The code of the interrupts' handler; empty where there is none.
    pub fn handler(&self) -> Range<u64> {
        let at = |name| self.symbols.get(name).copied().unwrap_or(0);
        at("handler")..at("handler_end")
    }

    pub fn is_riscv(&self) -> bool {
        matches!(self.instruction_set(0), InstructionSet::Rv32 | InstructionSet::Rv64)
    }

    pub fn instruction_set(&self, address: u64) -> InstructionSet {
        *self.changes.range(..=address).next_back().unwrap().1
    }

    /// An instruction that was executed.
    ///
    /// The encoders classify by this, which is traceframe's own: a mistake in it would make streams that the judges,
    /// which classify by themselves, do not read as the list that they were made of.
    pub fn instruction(&self, address: u64) -> Instruction {
        decode(self.instruction_set(address), address, self.code(address)).expect("what was executed can be")
    }

    /// Whether the program lets `next` come at once behind `at`. Where an instruction leads that does not say it,
    /// everything is allowed.
    pub fn allows(&self, set: InstructionSet, at: u64, next: u64) -> bool {
        let Some(instruction) = decode(set, at, self.code(at)) else { return false };
        let behind = at + u64::from(instruction.size);
        match instruction.flow {
            Flow::Next | Flow::Barrier | Flow::Wait => next == behind,
            // Whether an IT instruction makes it conditional is not seen here.
            Flow::Branch(Branch { target, .. }) => next == target || next == behind,
            Flow::Indirect { .. } | Flow::ExceptionReturn { .. } | Flow::Call => true,
        }
    }

    /// The same program with a function moved by so many bytes, and everything behind it: padding is put before it.
    pub fn moved(&self, function: &str, padding: &[u8]) -> Program {
        let at = self.symbol(function);
        let mut moved = self.clone();
        for (start, bytes) in &mut moved.code {
            if (*start..*start + bytes.len() as u64).contains(&at) {
                let place = (at - start) as usize;
                bytes.splice(place..place, padding.iter().copied());
            }
        }
        moved
    }

    /// The same program, so many bytes further on.
    pub fn at_bias(&self, bias: u64) -> Program {
        let code = self.code.iter().map(|(start, bytes)| (start + bias, bytes.clone())).collect();
        let changes = self.changes.iter().map(|(at, set)| (if *at == 0 { 0 } else { at + bias }, *set)).collect();
        let symbols = self.symbols.iter().map(|(name, at)| (name.clone(), at + bias)).collect();
        Program { name: self.name, code, changes, symbols }
    }

    /// The address of every instruction that is executed, as an emulator tells it.
    pub fn run(&self) -> Vec<u64> {
        let emulator = match self.name.split('.').nth(1).unwrap() {
            "a64" => "qemu-aarch64",
            "a32" | "t32" => "qemu-arm",
            "rv32" => "qemu-riscv32",
            _ => "qemu-riscv64",
        };
        let log = tempfile::NamedTempFile::new().unwrap();
        let status = Command::new(emulator)
            .args(["-singlestep", "-d", "exec,nochain", "-D"])
            .args([log.path(), &data(self.name)])
            .stdin(Stdio::null())
            .status()
            .unwrap_or_else(|error| panic!("{emulator} does not run (scripts/test installs it): {error}"));
        assert_eq!(status.code(), Some(13), "{}", self.name);
        // Trace 0: 0x7f4f8a800100 [0000000001009331/0000000000400144/00000001/00000201] walk
        let text = std::fs::read_to_string(log.path()).unwrap();
        let address = |line: &str| u64::from_str_radix(line.split('[').nth(1)?.split('/').nth(1)?, 16).ok();
        text.lines().map(|line| address(line).unwrap_or_else(|| panic!("{line}"))).collect()
    }
}

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        let found = self.code.range(..=address).next_back();
        found.and_then(|(start, bytes)| bytes.get((address - start) as usize..)).unwrap_or_default()
    }

    fn can_have(&self, instruction_set: InstructionSet) -> bool {
        let is_64_bit_arm = self.instruction_set(0) == InstructionSet::A64;
        self.is_riscv() || is_64_bit_arm == (instruction_set == InstructionSet::A64)
    }
}
