//! Recorded traces against the list of what was executed.

use super::Reconstruction;
use super::etm4::{Configuration, Source};
use super::formatter::Framing;
use crate::format::itrace::Step;
use crate::format::itrace::instruction::{Blocks, Code, InstructionSet};
use crate::format::itrace::tests::{data, truth};

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
    for element in Source::new(sink, Framing::Aligned, *configuration) {
        reconstruction.take(&element, &mut blocks, &mut take);
    }
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
            Step::Trap { .. } | Step::End | Step::Time(_) => {}
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
