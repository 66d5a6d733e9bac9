//! Recordings of the cases: each frame is the instruction that was executed.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::calls::Lately;
use super::stretch::Executed;
use super::*;
use crate::arch::{self, Known};
use crate::format::itrace::coresight::formatter;
use crate::format::itrace::coresight::tests::configuration_in;
use crate::format::itrace::etrace;
use crate::format::itrace::instruction::{Blocks, InstructionSet};
use crate::format::itrace::tests::{data, truth};
use crate::image::{Image, PlacedImage};
use crate::trace::{ProgramCounter, Recording};

/// A recording of sources in one sink.
fn recording(sink: &str, program: &str, sources: &[(String, Protocol)]) -> InstructionTrace {
    of(source::Source::open(&data(sink)).unwrap(), program, sources)
}

pub(super) fn of(sink: source::Source, program: &str, sources: &[(String, Protocol)]) -> InstructionTrace {
    let image = Image::open(&data(program)).unwrap();
    let machine = image.machine();
    let known = Known { machine: Some(machine), ..Known::default() };
    let target = arch::resolve(&known).unwrap().with_byte_order(machine.byte_order);
    let programs = vec![PlacedImage::place(Arc::new(image), None, &[], &[])];
    let memory = Arc::new(Memory::new(programs.clone(), Vec::new()));
    let source = |(name, protocol): &(String, Protocol)| Source {
        name: name.clone(),
        sink: 0,
        protocol: protocol.clone(),
        memory: Arc::clone(&memory),
    };
    InstructionTrace::new(Parts {
        name: PathBuf::from("trace"),
        sinks: vec![sink],
        sources: sources.iter().map(source).collect(),
        programs,
        machine,
        target,
        remarks: Vec::new(),
        doubts: Vec::new(),
    })
}

pub(super) fn etm(ini: &str) -> (String, Protocol) {
    let configuration = configuration_in(&std::fs::read_to_string(data(ini)).unwrap());
    let framing = formatter::Framing::Aligned;
    (ini.to_owned(), Protocol::Etm4 { framing, configuration })
}

pub(super) fn two_cores() -> InstructionTrace {
    let sources = ["etm_0.ini", "etm_1.ini"].map(|ini| etm(&format!("gen-etm4-two-rs/{ini}")));
    recording("gen-etm4-two-rs/cstrace.bin", "prog.a64.200", &sources)
}

pub(super) fn hart() -> InstructionTrace {
    recording("rv64.200.te_inst", "prog.rv64.200", &[etrace(&[])])
}

pub(super) fn etrace(named: &[(&str, u64)]) -> (String, Protocol) {
    let protocol = Protocol::ETrace(Hart {
        others: Vec::new(),
        framing: etrace::Framing::Siemens { hart_bits: 0 },
        parameters: etrace::Parameters::new(&[&[("iaddress_width_p", 64)], named].concat()).unwrap(),
        source: 0,
        instruction_set: InstructionSet::Rv64,
    });
    ("hart 0".to_owned(), protocol)
}

/// The addresses of the frames of each thread, in order, as a walk shows them; and how many interruptions there are.
fn walked(recording: &InstructionTrace, threads: usize) -> (Vec<Vec<u64>>, usize) {
    let (mut seen, mut interruptions) = (vec![Vec::new(); threads], 0);
    let mut next = 0;
    let end = recording.walk(&mut |item| {
        match item {
            Item::Instructions(run) => {
                assert_eq!(run.location.0, next);
                next += u64::from(run.count());
                let addresses = (0..run.count()).map(|nth| run.address(nth).unwrap());
                seen[run.thread as usize - 1].extend(addresses);
            }
            Item::Interruption(_) => interruptions += 1,
            Item::Frame(_) | Item::Damage(_) => panic!("{item:?}"),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end.0, next);
    (seen, interruptions)
}

#[test]
fn a_walk_shows_what_was_executed_and_each_frame_is_found_again() {
    let one = recording("gen-etm4-one/cstrace.bin", "prog.a64.200", &[etm("gen-etm4-one/etm_0.ini")]);
    let a64 = |rounds: u32| {
        let mut truth = truth(&format!("a64.{rounds}.pcs.gz"));
        truth.truncate(truth.len() - 2);
        truth
    };
    for (recording, expected) in
        [(one, vec![a64(200)]), (two_cores(), vec![a64(200), a64(10)]), (hart(), vec![truth("rv64.200.pcs.gz")])]
    {
        let (seen, interruptions) = walked(&recording, expected.len());
        assert_eq!(interruptions, 0);
        assert!(seen == expected);
        // Walks are alike.
        assert!(walked(&recording, expected.len()).0 == expected);
        let mut next = vec![0; expected.len()];
        for location in 0..expected.iter().map(Vec::len).sum::<usize>() as u64 {
            let frame = recording.frame(Location(location));
            let at = &mut next[frame.thread as usize - 1];
            let known = &expected[frame.thread as usize - 1];
            assert_eq!(frame.pc, ProgramCounter::Recorded(known[*at]));
            *at += 1;
        }
    }
}

#[test]
fn a_long_trace_that_is_read_ahead_shows_what_is_read_in_place() {
    for (sink, program, source) in [
        ("gen-etm4-one/cstrace.bin", "prog.a64.200", etm("gen-etm4-one/etm_0.ini")),
        ("rv64.200.te_inst", "prog.rv64.200", etrace(&[])),
    ] {
        let bytes = std::fs::read(data(sink)).unwrap().repeat(8);
        let recording = of(source::Source::from_vec("long", bytes), program, &[source]);
        let trace = &recording.trace;
        let source @ Source { protocol, memory, .. } = &trace.sources[0];
        let sink = trace.sink(source);
        let (mut checkpoint, mut lately) = (Checkpoint::first(sink, protocol, u64::MAX), Lately::default());
        let mut blocks = Blocks::new(Arc::clone(memory), protocol.ends());
        let (mut expected, mut stretches) = (Vec::new(), 0);
        while let Some(stretch) = checkpoint.advance(sink, source, &mut blocks, &trace.calls, &mut lately) {
            let addresses =
                |run: &Executed| (0..run.beginnings.count_ones()).filter_map(|nth| run.address(nth.into())).collect();
            expected.extend(stretch.runs.iter().flat_map::<Vec<u64>, _>(addresses));
            stretches += 1;
        }
        assert!(stretches > 16, "{stretches}");
        // Whoever breaks off does not wait for what is read ahead.
        let mut left = 40_000;
        recording.walk(&mut |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(left, 0);
        for _ in 0..2 {
            assert!(walked(&recording, 1).0[0] == expected);
        }
        for at in (0..expected.len()).step_by(7001) {
            assert_eq!(recording.frame(Location(at as u64)).pc, ProgramCounter::Recorded(expected[at]));
        }
    }
}

/// In every frame the calls are those that a walk of its own over the true instructions keeps.
#[test]
fn the_callers_are_those_that_called() {
    let recording = hart();
    walked(&recording, 1);
    let truth = truth("rv64.200.pcs.gz");
    let mut deepest = 0;
    for (at, pc) in truth.iter().enumerate() {
        let frame = recording.frame(Location(at as u64));
        assert_eq!(frame.pc, ProgramCounter::Recorded(*pc));
        deepest = deepest.max(frame.memory.len());
    }
    assert!(deepest > 4, "{deepest}");
}
