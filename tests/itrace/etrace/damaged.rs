//! Streams of E-Trace that are damaged.

use std::io::Read;

use flate2::read::GzDecoder;
use traceframe::format::itrace::etrace::Framing;

use super::encoder::{self, Options};
use super::{ENCAPSULATION, SIEMENS, Width, judge, judged, modes, show};
use crate::execution::Execution;
use crate::faults::{FAULTS, HEAD, Subject, Tally};
use crate::is_soak;
use crate::program::Program;
use crate::random::Random;
use crate::stream::{Packet, Sink};

fn subject<'a>(
    what: &str,
    program: &'a Program,
    list: &'a [u64],
    packets: Vec<Packet>,
    loss: Vec<u8>,
    (framing, width): (Framing, Width),
) -> Subject<'a> {
    Subject {
        name: format!("{}, {what}", program.name),
        program,
        list,
        packets,
        loss,
        unit: 1,
        begins_anywhere: true,
        // Where a function returns to whose call was lost, no packet tells.
        resumes: !width.keeps_returns,
        readable: |_| 0,
        frame: Box::new(Sink::clone),
        show: Box::new(move |sink| show(program, sink, framing, width)),
    }
}

/// A stream of another encoder, which does not tell where functions return to.
fn with_returns() -> (Vec<u64>, Vec<Packet>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/itrace/");
    let bytes = std::fs::read(format!("{folder}rv64.200.ir.te_inst")).unwrap();
    let mut text = String::new();
    let list = std::fs::File::open(format!("{folder}rv64.200.pcs.gz")).unwrap();
    GzDecoder::new(list).read_to_string(&mut text).unwrap();
    let list: Vec<u64> = text.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
    (list, encoder::split(&bytes, SIEMENS, RETURNS))
}

/// Its encoder keeps calls over synchronizations, which the specification does not.
const RETURNS: Width = Width {
    address: 64,
    returns: 8,
    keeps_returns: true,
    is_full: false,
    infers_sequences: false,
    predictor: 0,
    jump_targets: 0,
    mtvec: None,
};

#[test]
fn what_is_shown_was_executed() {
    let cases = if is_soak() { 1500 } else { 12 };
    let programs = judged::PROGRAMS.map(Program::open);
    let executions = programs
        .each_ref()
        .map(|program| Execution::of(program).with_interrupts(program, 12, false, &mut Random::new(3)));
    let other = Program::open("prog.rv64.200");
    let (list, mut packets) = with_returns();
    let said = judge::read(&other, &Sink::of(&packets, 0..packets.len()).bytes, SIEMENS, RETURNS).unwrap();
    judged::prove(&mut packets, &said, &list);
    let ways: Vec<_> = programs.iter().map(|program| modes::way(program, 10)).collect();
    let mut subjects = Vec::new();
    for (program, execution) in programs.iter().zip(&executions) {
        for (framing, has_full_addresses) in [(SIEMENS, false), (ENCAPSULATION, false), (SIEMENS, true)] {
            let options = Options { period: 400, has_full_addresses, ..Options::default() };
            let width = Width { is_full: has_full_addresses, ..Width::of(program) };
            let packets = judged::packets(program, execution, &options, framing, width);
            let loss = encoder::loss(framing, width);
            let what = format!("{framing:?}, full addresses {has_full_addresses}");
            let subject = subject(&what, program, &execution.list, packets, loss, (framing, width));
            subjects.push((usize::from(has_full_addresses), subject));
        }
    }
    for (program, execution) in &ways {
        let width = modes::all(program);
        let packets = modes::encode(program, execution, &Options { period: 400, ..Options::default() }, SIEMENS, width);
        let loss = encoder::loss(SIEMENS, width);
        subjects.push((3, subject("all modes", program, &execution.list, packets, loss, (SIEMENS, width))));
    }
    let loss = encoder::loss(SIEMENS, RETURNS);
    subjects.push((2, subject("returns are not told", &other, &list, packets, loss, (SIEMENS, RETURNS))));

    let mut tallies = vec![[Tally::default(); 4]; FAULTS.len()];
    for (seed, (kind, subject)) in (1..).zip(&subjects) {
        for (fault, tallies) in FAULTS.iter().zip(&mut tallies) {
            // The list of one is ten times as long.
            let cases = if *kind == 2 { cases / 3 } else { cases };
            tallies[*kind].add(subject.suffer(*fault, cases, seed));
        }
    }
    println!("E-Trace                                   | {HEAD}");
    for (fault, tallies) in FAULTS.iter().zip(&tallies) {
        for (kind, tally) in ["differences", "full addresses", "returns are kept", "all modes"].iter().zip(tallies) {
            println!("{fault:24} {kind:16} | {tally}");
        }
    }
}
