//! Sound streams: OpenCSD reads the list of what was executed out of them, and so does traceframe.

use traceframe::format::itrace::coresight::formatter::Framing;

use super::encoder::{Options, encode};
use super::{configuration, formatter, judge, show};
use crate::execution::Execution;
use crate::program::Program;
use crate::random::Random;
use crate::stream::{Packet, Sink, proven};

pub const PROGRAMS: [&str; 3] = ["walk.a64", "walk.a32", "walk.t32"];
const ID: u8 = 0x10;

/// What trace units are told, and what becomes of them.
pub fn options(execution: &Execution) -> Vec<Options> {
    let plain = Options { period: 700, ..Options::default() };
    let returns = Options { has_return_stack: true, ..plain.clone() };
    let everything = Options { has_timestamps: true, has_cycle_counts: true, has_contexts: true, ..returns.clone() };
    let third = execution.list.len() / 3;
    let filtered = vec![third..third + 300, third + 350..third + 357, 2 * third..2 * third + 1];
    let overflows = vec![third / 2..third - 10, third + 400..third + 401, 2 * third + 11..2 * third + 900];
    vec![
        plain,
        returns,
        everything.clone(),
        Options { filtered: filtered.clone(), ends_with_discard: true, ..everything.clone() },
        Options { filtered, overflows, ..everything },
    ]
}

/// The program's run, with and without interrupts.
pub fn executions(program: &Program) -> [Execution; 2] {
    let plain = Execution::of(program);
    let interrupted = plain.with_interrupts(program, 40, true, &mut Random::new(1));
    [plain, interrupted]
}

/// Compares lists; what is expected is what the packets prove.
fn check(who: &str, what: &str, list: &[u64], execution: &Execution, packets: &[Packet]) {
    let expected: Vec<u64> = proven(packets).into_iter().map(|at| execution.list[at]).collect();
    let differs = list.iter().zip(&expected).position(|(found, expected)| found != expected);
    let near = differs.map(|at| {
        let near = at.saturating_sub(5)..at + 3;
        let words = |list: &[u64]| format!("{:x?}", list.get(near.clone()).unwrap_or_default());
        (words(list), words(&expected))
    });
    assert_eq!((differs, list.len()), (None, expected.len()), "{who} of {what}: {near:?}");
}

#[test]
fn every_list_is_read_back() {
    for name in PROGRAMS {
        let program = Program::open(name);
        for (interrupts, execution) in executions(&program).iter().enumerate() {
            for (number, options) in options(execution).iter().enumerate() {
                let packets = encode(&program, execution, options);
                let plain = Sink::of(&packets, 0..packets.len());
                let other = Sink { bytes: vec![0x55; plain.bytes.len() / 3], packets: vec![0; plain.bytes.len() / 3] };
                for framing in [Framing::Unformatted, Framing::Aligned, Framing::Synchronized] {
                    let what = format!("{name}, interrupts {interrupts}, options {number}, {framing:?}");
                    let sink = formatter::format(&[(ID, &plain), (0x22, &other)], framing, &mut Random::new(7));
                    let (list, complaints) = judge::read(&program, &sink.bytes, framing, options, ID);
                    assert_eq!(complaints, [""; 0], "{what}");
                    check("OpenCSD", &what, &list, execution, &packets);
                    let shown = show(&program, &sink, framing, &configuration(options, ID));
                    let gaps: Vec<_> = shown.discontinuities.iter().map(|gap| gap.reason.as_str()).collect();
                    assert_eq!(gaps, vec!["the trace unit lost packets (overflow)"; options.overflows.len()], "{what}");
                    check("traceframe", &what, &shown.list(), execution, &packets);
                    let places = shown.places(&execution.list, &packets, true);
                    assert!(places.is_ok(), "{what}: {places:?}");
                }
            }
        }
    }
}
