//! Any bytes as a sink of ETMv4 or ETE, and true streams with changes, with a small program.
#![cfg_attr(fuzzing, no_main)]

use std::sync::OnceLock;

use traceframe::format::itrace::coresight::Reconstruction;
use traceframe::format::itrace::coresight::etm4::{Configuration, Source};
use traceframe::format::itrace::coresight::formatter::Framing;
use traceframe::format::itrace::instruction::Blocks;

use crate::support::instructions::{Walked, changed, program};
use crate::support::tests_data;

#[cfg(fuzzing)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// The registers of an ETMv4, an ETE and one that speculates; the upper half of a choice has the return stack off.
const UNITS: [[(&str, u64); 7]; 3] = [
    [
        ("TRCCONFIGR", 0x1859),
        ("TRCTRACEIDR", 0x10),
        ("TRCIDR0", 0x2800_0ea1),
        ("TRCIDR1", 0x4100_f403),
        ("TRCIDR2", 0x488),
        ("TRCIDR8", 0),
        ("TRCDEVARCH", 0),
    ],
    [
        ("TRCCONFIGR", 0xb8c1),
        ("TRCTRACEIDR", 0x10),
        ("TRCIDR0", 0x28c1_cea1),
        ("TRCIDR1", 0xfff0),
        ("TRCIDR2", 0xd000_1088),
        ("TRCIDR8", 0),
        ("TRCDEVARCH", 0x4773_5a13),
    ],
    [
        ("TRCCONFIGR", 0x9819),
        ("TRCTRACEIDR", 0x10),
        ("TRCIDR0", 0x0800_0ea1),
        ("TRCIDR1", 0xfff0),
        ("TRCIDR2", 0x4000_1088),
        ("TRCIDR8", 0x78),
        ("TRCDEVARCH", 0x4773_5a13),
    ],
];
const FRAMINGS: [Framing; 3] = [Framing::Unformatted, Framing::Aligned, Framing::Synchronized];

fn streams() -> &'static [Vec<u8>] {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |name: &str| std::fs::read(tests_data().join("itrace").join(name)).expect("a stream");
        let mut sink = read("gen-etm4-two-rs/cstrace.bin");
        sink.truncate(4096);
        vec![sink]
    })
}

/// The first byte chooses the trace unit, the framing, the program, and whether the others are a sink or changes of a
/// true one.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let choice = usize::from(*choice);
    let mut registers = UNITS[choice % UNITS.len()];
    if choice & 0x80 != 0 {
        registers[0].1 &= !0x1000;
    }
    let configuration = Configuration::from_registers(registers).expect("all registers are there");
    let framing = FRAMINGS[choice / 3 % FRAMINGS.len()];
    let program = program(["walk.a64", "walk.t32", "prog.a64.200"][choice / 9 % 3]);
    let sink = if choice & 0x40 == 0 { rest.to_vec() } else { changed(&streams()[0], rest) };
    let mut walked = Walked::new(program, sink.len());
    let mut blocks = Blocks::new(program, Reconstruction::ends(&configuration));
    let mut reconstruction = Reconstruction::new(&configuration);
    let mut elements = 0;
    for element in Source::new(&sink, framing, configuration) {
        assert!(element.at <= sink.len() as u64);
        elements += 1;
        reconstruction.take(&element, &mut blocks, &mut |_, step| walked.take(step));
    }
    reconstruction.end(&mut |_, step| walked.take(step));
    assert!(elements <= 40 * (sink.len() + 1), "{elements} elements of {} bytes", sink.len());
}
