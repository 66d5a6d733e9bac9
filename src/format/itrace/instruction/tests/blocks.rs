use super::{Flow, InstructionSet, conditional, jump};
use crate::format::itrace::instruction::{Block, Blocks, Code, Ending, Ends};

/// Code at 0x1000.
struct Bytes(Vec<u8>);

const START: u64 = 0x1000;

impl Code for Bytes {
    fn code(&self, address: u64) -> &[u8] {
        address.checked_sub(START).and_then(|at| self.0.get(at as usize..)).unwrap_or_default()
    }
}

fn half_words(code: &[u16]) -> Bytes {
    Bytes(code.iter().flat_map(|half_word| half_word.to_le_bytes()).collect())
}

fn words(code: &[u32]) -> Bytes {
    Bytes(code.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn block(code: &Bytes, instruction_set: InstructionSet, address: u64) -> Block {
    *Blocks::new(code, Ends::default()).block(instruction_set, address)
}

const A64: InstructionSet = InstructionSet::A64;
const T32: InstructionSet = InstructionSet::T32;

#[test]
fn a_block_ends_with_what_leads_elsewhere() {
    // nop, nop, b .
    let code = words(&[0xd503_201f, 0xd503_201f, 0x1400_0000]);
    let found = block(&code, A64, START);
    assert_eq!((found.instructions(), found.end), (3, 0x100c));
    assert_eq!(found.ending, Ending::Flow(jump(0x1008, A64)));
    assert_eq!(found.last(), Some(0x1008));
}

#[test]
fn a_block_ends_where_nothing_can_be_executed() {
    // nop, udf
    let code = words(&[0xd503_201f, 0]);
    let found = block(&code, A64, START);
    assert_eq!((found.instructions(), found.end, found.ending), (1, 0x1004, Ending::NoInstruction));
    for at in [0x1004, 0x1008, 0, u64::MAX - 3] {
        let found = block(&code, A64, at);
        assert_eq!((found.instructions(), found.end, found.ending), (0, at, Ending::NoInstruction));
        assert_eq!((found.last(), found.address(0), found.up_to(at)), (None, None, found));
    }
}

#[test]
fn a_long_block_goes_on_in_another() {
    let code = words(&[0xd503_201f; 40]);
    let found = block(&code, A64, START);
    assert_eq!((found.instructions(), found.end, found.ending), (32, START + Block::LONGEST, Ending::Length));
    assert_eq!((found.address(31), found.address(32)), (Some(0x107c), None));
    let found = block(&code, A64, found.end);
    assert_eq!((found.instructions(), found.end, found.ending), (8, 0x10a0, Ending::NoInstruction));
    // No instruction lies across the end of the longest.
    let mut code = [0xbf00; 65];
    (code[63], code[64]) = (0xf000, 0xf800);
    let found = block(&half_words(&code), T32, START);
    assert_eq!((found.instructions(), found.end, found.ending), (63, 0x107e, Ending::Length));
}

#[test]
fn barriers_and_waits_end_a_block_if_they_are_to() {
    // isb, wfi, ret
    let code = words(&[0xd503_3fdf, 0xd503_207f, 0xd65f_03c0]);
    for (barriers, waits, count, flow) in [
        (false, false, 3, Flow::RETURN),
        (true, false, 1, Flow::Barrier),
        (false, true, 2, Flow::Wait),
        (true, true, 1, Flow::Barrier),
    ] {
        let found = *Blocks::new(&code, Ends { barriers, waits }).block(A64, START);
        assert_eq!((found.instructions(), found.ending), (count, Ending::Flow(flow)));
    }
}

#[test]
fn an_it_instruction_makes_branches_conditional() {
    // itt eq; nop; bx lr; bx lr
    let code = half_words(&[0xbf04, 0xbf00, 0x4770, 0x4770]);
    let may_return = Ending::Flow(Flow::RETURN.under_condition());
    // From the IT instruction on, and between it and the branch, as behind an interrupt.
    for at in [0x1000, 0x1002, 0x1004] {
        assert_eq!(block(&code, T32, at).ending, may_return, "{at:#x}");
    }
    assert_eq!(block(&code, T32, 0x1006).ending, Ending::Flow(Flow::RETURN));
    // itttt eq; mov.w r0, r0 three times; b.w .
    let code = half_words(&[0xbf01, 0xea4f, 0, 0xea4f, 0, 0xea4f, 0, 0xf7ff, 0xbffe]);
    for at in [0x1000, 0x1002, 0x1006, 0x100a, 0x100e] {
        assert_eq!(block(&code, T32, at).ending, Ending::Flow(conditional(0x100e, T32)), "{at:#x}");
    }
    // it eq; b.n . with one more behind it
    let code = half_words(&[0xbf08, 0xe7fe, 0xe7fe]);
    assert_eq!(block(&code, T32, 0x1002).ending, Ending::Flow(conditional(0x1002, T32)));
    assert_eq!(block(&code, T32, 0x1004).ending, Ending::Flow(jump(0x1004, T32)));
    // Half of b.w reads like it eq: what lies behind it may be conditional then.
    let code = half_words(&[0xf000, 0xbf08, 0xe7fe]);
    assert_eq!(block(&code, T32, 0x1004).ending, Ending::Flow(conditional(0x1004, T32)));
}

#[test]
fn a_block_of_another_set_or_place_is_another() {
    // bx lr in T32; and r4, r0, r0, ror r7 and bx lr in A32
    let code = half_words(&[0x4770, 0xe000, 0xff1e, 0xe12f]);
    let mut blocks = Blocks::new(&code, Ends::default());
    for _ in 0..2 {
        assert_eq!(blocks.block(T32, START).instructions(), 1);
        assert_eq!(blocks.block(InstructionSet::A32, START).instructions(), 2);
        assert_eq!(blocks.block(InstructionSet::A32, START + 4).instructions(), 1);
    }
    // Blocks that take each other's place stay right.
    let nops = words(&vec![0xd503_201f; 100_000]);
    let mut blocks = Blocks::new(&nops, Ends::default());
    for at in (0..100_000).map(|number| START + 4 * number).chain([START]) {
        let found = blocks.block(A64, at);
        assert_eq!((found.start, u64::from(found.instructions())), (at, 32.min((START + 400_000 - at) / 4)));
    }
}
