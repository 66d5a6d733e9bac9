//! Programs, and every instruction that they executed, as an emulator told it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};

use super::{Branch, Flow, InstructionSet, decode};
use crate::format::itrace::instruction::{Block, Blocks, Code, Ending, Ends};

/// A program's code.
struct Program {
    code: BTreeMap<u64, Vec<u8>>,
    /// Where the instruction set changes, as the symbols `$a`, `$t`, `$d` tell (ELF for the Arm Architecture, 4.5.5).
    changes: BTreeMap<u64, InstructionSet>,
}

impl Program {
    fn read(name: &str, instruction_set: InstructionSet) -> Program {
        let bytes = std::fs::read(data(name)).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let sections = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let code = sections.map(|section| (section.address(), section.data().unwrap().to_vec())).collect();
        let mut changes = BTreeMap::from([(0, instruction_set)]);
        for symbol in file.symbols() {
            match symbol.name() {
                Ok("$a") => changes.insert(symbol.address(), InstructionSet::A32),
                Ok("$t") => changes.insert(symbol.address(), InstructionSet::T32),
                _ => None,
            };
        }
        Program { code, changes }
    }

    fn instruction_set(&self, address: u64) -> InstructionSet {
        *self.changes.range(..=address).next_back().unwrap().1
    }
}

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        let found = self.code.range(..=address).next_back();
        found.and_then(|(start, bytes)| bytes.get((address - start) as usize..)).unwrap_or_default()
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/itrace").join(name)
}

/// The address of every instruction that was executed.
fn executed(name: &str) -> Vec<u64> {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(data(name)).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| u64::from_str_radix(line.trim_start_matches("0x"), 16).unwrap()).collect()
}

const PROGRAMS: [(&str, &str, InstructionSet, usize); 3] = [
    ("prog.a64.200", "a64.200.pcs.gz", InstructionSet::A64, 63_385),
    ("prog.arm.10", "arm.10.pcs.gz", InstructionSet::T32, 3081),
    ("prog.rv64.200", "rv64.200.pcs.gz", InstructionSet::Rv64, 63_108),
];

#[test]
fn each_instruction_leads_where_execution_went_on() {
    for (program, truth, instruction_set, count) in PROGRAMS {
        let program = Program::read(program, instruction_set);
        let executed = executed(truth);
        assert_eq!(executed.len(), count);
        let mut calls = Vec::new();
        for pair in executed.windows(2) {
            let (at, next) = (pair[0], pair[1]);
            let instruction = decode(program.instruction_set(at), at, program.code(at)).unwrap();
            let behind = at + u64::from(instruction.size);
            let place = format!("{truth}: {at:#x} to {next:#x}: {:x?}", instruction.flow);
            match instruction.flow {
                Flow::Branch(Branch { target, instruction_set, is_conditional, is_call }) => {
                    assert!(next == target || is_conditional && next == behind, "{place}");
                    assert_eq!(program.instruction_set(target), instruction_set, "{place}");
                    if is_call {
                        calls.push(behind);
                    }
                }
                Flow::Indirect { is_call: true, .. } => calls.push(behind),
                Flow::Indirect { is_return: true, .. } if Some(&next) == calls.last() => {
                    calls.pop();
                }
                Flow::Indirect { is_return: false, .. } => {}
                // No instruction of these programs is under a condition of IT, or returns elsewhere.
                _ => assert!(instruction.flow == Flow::Next && next == behind, "{place}"),
            }
        }
        // The last instruction calls the supervisor, to end the program, from where it began.
        let last = *executed.last().unwrap();
        let instruction = decode(program.instruction_set(last), last, program.code(last)).unwrap();
        assert_eq!((instruction.flow, calls), (Flow::Call, Vec::new()), "{truth}");
    }
}

/// Walks from one block to the next, and compares every instruction; the number of blocks.
fn walk(program: &Program, executed: &[u64], ends: Ends) -> usize {
    let mut blocks = Blocks::new(program, ends);
    let (mut rest, mut count) = (executed, 0);
    while let Some(&at) = rest.first() {
        let block = *blocks.block(program.instruction_set(at), at);
        let (passed, behind) = rest.split_at(block.instructions() as usize);
        let addresses: Vec<u64> = (0..block.instructions()).map(|nth| block.address(nth).unwrap()).collect();
        assert_eq!(addresses, passed);
        assert_eq!(block.last(), passed.last().copied());
        if let Some(&next) = behind.first() {
            let may_go_on = match block.ending {
                Ending::Flow(Flow::Branch(branch)) => {
                    next == branch.target || branch.is_conditional && next == block.end
                }
                Ending::Flow(flow) => matches!(flow, Flow::Indirect { .. }) || next == block.end,
                ending => ending == Ending::Length && next == block.end,
            };
            assert!(may_go_on, "{block:x?} to {next:#x}");
        }
        (rest, count) = (behind, count + 1);
    }
    count
}

#[test]
fn blocks_hold_the_instructions_that_were_executed() {
    for (program, truth, instruction_set, _) in PROGRAMS {
        let program = Program::read(program, instruction_set);
        let executed = executed(truth);
        let count = walk(&program, &executed, Ends::default());
        assert!(count < executed.len() / 2, "{truth}: {count}");
        assert_eq!(walk(&program, &executed, Ends { barriers: true, waits: true }), count);
    }
}

#[test]
fn a_block_is_cut_where_it_is_not_to_be_passed() {
    for (program, truth, instruction_set, _) in PROGRAMS {
        let program = Program::read(program, instruction_set);
        let mut blocks = Blocks::new(&program, Ends::default());
        for at in executed(truth) {
            let block = *blocks.block(program.instruction_set(at), at);
            for nth in 0..block.instructions() {
                let address = block.address(nth).unwrap();
                let cut = block.up_to(address);
                assert_eq!((cut.instructions(), cut.end, cut.ending), (nth, address, Ending::Limit));
                assert_eq!(cut.last(), nth.checked_sub(1).and_then(|nth| block.address(nth)));
                // In the middle of the instruction.
                assert_eq!(block.up_to(address + 1), cut);
            }
            assert_eq!(block.up_to(block.end), block);
            assert_eq!(block.up_to(at - 1), block);
            assert_eq!(block.address(block.instructions()), None);
        }
    }
}

#[test]
fn a_block_is_what_its_instructions_are() {
    for (program, truth, instruction_set, _) in PROGRAMS {
        let program = Program::read(program, instruction_set);
        let mut blocks = Blocks::new(&program, Ends::default());
        for at in executed(truth) {
            let Block { instruction_set, end, ending, .. } = *blocks.block(program.instruction_set(at), at);
            let mut address = at;
            let mut flow = Flow::Next;
            while address != end {
                assert_eq!(flow, Flow::Next);
                let instruction = decode(instruction_set, address, program.code(address)).unwrap();
                (address, flow) = (address + u64::from(instruction.size), instruction.flow);
            }
            assert_eq!(ending, Ending::Flow(flow), "{truth}: {at:#x}");
        }
    }
}
