//! Recorded traces against the list of what was executed.

use super::Reconstruction;
use super::etm4::{Configuration, Source};
use super::formatter::Framing;
use crate::format::itrace::instruction::{Blocks, Code, InstructionSet};
use crate::format::itrace::tests::{data, truth};
use crate::format::itrace::{Atoms, Discontinuity, Element, ElementKind, Exception, Step, Target};

struct Program(Vec<u8>);

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        let at = address.checked_sub(0x40_0000).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.0.get(at..)).unwrap_or_default()
    }
}

/// The registers in an `.ini` file: lines like `TRCCONFIGR(0x4)=0x00000001`.
pub(in crate::format::itrace) fn configuration_in(ini: &str) -> Configuration {
    let registers = ini.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        let (name, _) = name.split_once('(')?;
        Some((name, u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?))
    });
    Configuration::from_registers(registers).unwrap()
}

fn configuration(file: &str) -> Configuration {
    configuration_in(&std::fs::read_to_string(data(file)).unwrap())
}

/// Hands out what the source of a sink did.
fn walk(program: &Program, sink: &[u8], configuration: &Configuration, mut take: impl FnMut(Step)) {
    let mut blocks = Blocks::new(program, Reconstruction::ends(configuration));
    let mut reconstruction = Reconstruction::new(configuration);
    let elements = Source::new(sink, Framing::Aligned, *configuration);
    reconstruction.take_all(elements, &mut blocks, &mut |_, step| take(step));
}

/// The instructions of a source, and how many steps are no instructions.
fn executed(folder: &str, source: &str) -> (Vec<u64>, Vec<Step>) {
    let (sink, code) = ("cstrace.bin", "code.bin");
    let sink = std::fs::read(data(&format!("{folder}/{sink}"))).unwrap();
    let program = Program(std::fs::read(data(&format!("{folder}/{code}"))).unwrap());
    let configuration = configuration(&format!("{folder}/{source}"));
    let mut blocks = Blocks::new(&program, Reconstruction::ends(&configuration));
    let (mut seen, mut others) = (Vec::new(), Vec::new());
    walk(&program, &sink, &configuration, |step| match step {
        Step::Run(run) => {
            let block = blocks.block(InstructionSet::A64, run.start);
            seen.extend((0..run.instructions()).map(|nth| block.address(nth).unwrap()));
            assert_eq!(seen.last().copied(), run.last());
        }
        // The one that it is in from the beginning on.
        Step::State(state) => assert_eq!(state.to_string(), "EL0"),
        other => others.push(other),
    });
    (seen, others)
}

#[test]
fn every_instruction_is_the_one_that_was_executed() {
    let truth = truth("a64.200.pcs.gz");
    let (seen, others) = executed("gen-etm4-one", "etm_0.ini");
    assert_eq!(others, []);
    // The last two are not covered by an atom.
    assert!(seen == truth[..truth.len() - 2], "{} of {}", seen.len(), truth.len());
}

#[test]
fn two_sources_at_the_same_addresses_are_kept_apart() {
    for (source, list) in [("etm_0.ini", "a64.200.pcs.gz"), ("etm_1.ini", "a64.10.pcs.gz")] {
        let truth = truth(list);
        let (seen, others) = executed("gen-etm4-two-rs", source);
        assert_eq!(others, []);
        let differs = seen.iter().zip(&truth).position(|(seen, truth)| seen != truth);
        assert_eq!((differs, seen.len()), (None, truth.len() - 2), "{source}");
    }
}

#[test]
fn whatever_the_bytes_are_it_ends_and_what_does_not_fit_is_a_discontinuity() {
    let sink = std::fs::read(data("gen-etm4-two-rs/cstrace.bin")).unwrap();
    let code = std::fs::read(data("gen-etm4-two-rs/code.bin")).unwrap();
    let configuration = configuration("gen-etm4-two-rs/etm_1.ini");
    let walked = |sink: &[u8], code: Vec<u8>| {
        let (mut executed, mut gaps) = (0, 0);
        walk(&Program(code), sink, &configuration, |step| match step {
            Step::Run(run) => executed += u64::from(run.instructions()),
            Step::Discontinuity(_) => gaps += 1,
            Step::Trap { .. } | Step::End | Step::State(_) | Step::Time(_) => {}
        });
        (executed, gaps)
    };
    let (all, _) = walked(&sink, code.clone());
    for cut in (0..sink.len()).step_by(16) {
        assert!(walked(&sink[..cut], code.clone()).0 <= all);
    }
    for at in (0..sink.len()).step_by(5) {
        let mut changed = sink.clone();
        changed[at] ^= 1 << (at % 8);
        walked(&changed, code.clone());
    }
    // Another program: everything four bytes further on.
    let (executed, gaps) = walked(&sink, [&[0x1f, 0x20, 0x03, 0xd5], &code[..]].concat());
    assert!(gaps > 0 && executed < all, "{executed} of {all}, {gaps}");
}

const NOP: u32 = 0xd503_201f;
const CBZ_8: u32 = 0xb400_0040;
const BL_8: u32 = 0x9400_0002;
const SVC: u32 = 0xd400_0001;
const RET: u32 = 0xd65f_03c0;
const B_4: u32 = 0x1400_0001;

/// What elements prove of this program: an address is the number of bytes behind its beginning, and each run is that of
/// its first instruction and its last. What is said of a discontinuity follows behind.
fn proven(words: &[u32], elements: &[ElementKind]) -> Vec<Result<(u64, u64), String>> {
    let program = Program(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    let configuration = configuration("gen-etm4-two-rs/etm_1.ini");
    let mut blocks = Blocks::new(&program, Reconstruction::ends(&configuration));
    let mut reconstruction = Reconstruction::new(&configuration);
    let mut found = Vec::new();
    let elements = (0..).zip(elements).map(|(at, kind)| Element { at, kind: kind.clone() });
    reconstruction.take_all(elements, &mut blocks, &mut |_, step| match step {
        Step::Run(run) => found.push(Ok((run.start - BASE, run.last - BASE))),
        Step::Discontinuity(Discontinuity { reason, .. }) => found.push(Err(reason)),
        Step::Trap { .. } | Step::End | Step::State(_) | Step::Time(_) => {}
    });
    found
}

const BASE: u64 = 0x40_0000;
const SYNCHRONIZED: ElementKind = ElementKind::Synchronized;
const TAKEN: ElementKind = ElementKind::Atoms(Atoms::new(1, 1));
const NOT_TAKEN: ElementKind = ElementKind::Atoms(Atoms::new(0, 1));

fn target(offset: u64, is_full: bool) -> Target {
    Target { address: BASE + offset, instruction_set: InstructionSet::A64, is_full }
}

fn address(offset: u64) -> ElementKind {
    ElementKind::Address(target(offset, true))
}

fn exception(offset: u64) -> ElementKind {
    ElementKind::Exception(Exception { number: 2, returns_to: Some(target(offset, true)) })
}

const PROGRAM: [u32; 6] = [NOP, CBZ_8, NOP, BL_8, SVC, RET];

#[test]
fn a_synchronization_that_does_not_fit_is_where_it_goes_on() {
    let elements = [SYNCHRONIZED, address(0), TAKEN, SYNCHRONIZED, address(8), TAKEN];
    let wrong = "execution goes on at 0x400008, where the program led to 0x40000c".to_owned();
    let wrong = format!("{wrong}; what was told from byte 0x2 on is not believed either");
    assert_eq!(proven(&PROGRAM, &elements), [Err(wrong), Ok((8, 12))]);
}

#[test]
fn of_what_does_not_fit_nothing_is_shown() {
    let words = "the instruction at 0x40000c always leads elsewhere, and did not: is it the program?";
    assert_eq!(proven(&PROGRAM, &[SYNCHRONIZED, address(8), NOT_TAKEN]), [Err(words.to_owned())]);
    let words = "the program does not lead from 0x400000 to 0x400014".to_owned();
    assert_eq!(proven(&PROGRAM, &[SYNCHRONIZED, address(0), exception(0x14)]), [Err(words)]);
}

#[test]
fn behind_what_does_not_fit_no_address_is_believed_before_the_source_begins_anew() {
    let elements = [SYNCHRONIZED, address(8), NOT_TAKEN, address(0), TAKEN, SYNCHRONIZED, address(0), TAKEN];
    let proven = proven(&PROGRAM, &elements);
    assert!(matches!(proven[..], [Err(_), Ok((0, 4))]), "{proven:?}");
}

#[test]
fn one_gap_is_one_whatever_does_not_fit_in_it() {
    let damaged = || ElementKind::Damaged("changed".to_owned());
    let elements = [SYNCHRONIZED, address(8), TAKEN, ElementKind::Overflow, damaged(), address(0), damaged()];
    let proven = proven(&PROGRAM, &elements);
    assert_eq!(proven, [Ok((8, 12)), Err("the trace unit lost packets (overflow)".to_owned())]);
    // Nor is it another where a part of the sink ends in it.
    let mut reconstruction = Reconstruction::new(&configuration("gen-etm4-two-rs/etm_1.ini"));
    let mut gaps = Vec::new();
    reconstruction.end_astray(7, &mut |at, _| gaps.push(at));
    reconstruction.end_astray(8, &mut |at, _| gaps.push(at));
    assert_eq!(gaps, [7]);
}

#[test]
fn behind_trace_on_an_address_that_is_not_full_is_enough() {
    let short = ElementKind::Address(target(8, false));
    let elements = [SYNCHRONIZED, address(0), TAKEN, ElementKind::TraceOn, short, TAKEN];
    assert_eq!(proven(&PROGRAM, &elements), [Ok((0, 4)), Ok((8, 12))]);
}

#[test]
fn a_call_at_once_behind_a_synchronization_is_returned_from() {
    let elements = [SYNCHRONIZED, address(12), TAKEN, TAKEN, exception(0x14)];
    assert_eq!(proven(&PROGRAM, &elements), [Ok((12, 12)), Ok((20, 20)), Ok((16, 16))]);
}

#[test]
fn no_return_is_known_from_before_a_gap() {
    let elements =
        [SYNCHRONIZED, address(12), TAKEN, ElementKind::Overflow, SYNCHRONIZED, address(20), TAKEN, exception(0x14)];
    let proven = proven(&PROGRAM, &elements);
    assert!(matches!(proven[..], [Ok((12, 12)), Err(_), Err(_)]), "{proven:?}");
}

#[test]
fn a_call_of_the_supervisor_without_an_exception_does_not_fit() {
    let words = "no exception is told that the instruction at 0x400010 causes".to_owned();
    assert_eq!(proven(&PROGRAM, &[SYNCHRONIZED, address(16), TAKEN]), [Err(words)]);
}

#[test]
fn a_branch_to_the_next_instruction_may_be_told_as_one_that_is_not_taken() {
    let elements = [SYNCHRONIZED, address(0), NOT_TAKEN, TAKEN];
    assert_eq!(proven(&[B_4, NOP, CBZ_8], &elements), [Ok((0, 0)), Ok((4, 8))]);
}

#[test]
fn an_instruction_set_that_the_program_cannot_have_does_not_fit() {
    struct OfA64(Program);
    impl Code for OfA64 {
        fn code(&self, address: u64) -> &[u8] {
            self.0.code(address)
        }
        fn can_have(&self, instruction_set: InstructionSet) -> bool {
            instruction_set == InstructionSet::A64
        }
    }
    let program = OfA64(Program(PROGRAM.iter().flat_map(|word| word.to_le_bytes()).collect()));
    let configuration = configuration("gen-etm4-two-rs/etm_1.ini");
    let mut blocks = Blocks::new(&program, Reconstruction::ends(&configuration));
    let mut reconstruction = Reconstruction::new(&configuration);
    let mut steps = Vec::new();
    let a32 = ElementKind::Address(Target { instruction_set: InstructionSet::A32, ..target(0, true) });
    let elements = [SYNCHRONIZED, a32, TAKEN].map(|kind| Element { at: 0, kind });
    reconstruction.take_all(elements, &mut blocks, &mut |_, step| steps.push(step));
    assert!(matches!(steps[..], [Step::Discontinuity(_)]), "{steps:?}");
}
