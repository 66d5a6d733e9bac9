//! Sound streams: the tracer of `riscv-etrace` reads the list of what was executed out of them, and so does traceframe.

use traceframe::format::itrace::etrace::Framing;

use super::encoder::{Options, encode};
use super::{ENCAPSULATION, SIEMENS, Width, judge, show};
use crate::execution::Execution;
use crate::program::Program;
use crate::random::Random;
use crate::shown::Shown;
use crate::stream::{Packet, Sink, proven};

pub const PROGRAMS: [&str; 2] = ["walk.rv64", "walk.rv32"];

pub fn options(execution: &Execution) -> Vec<Options> {
    let third = execution.list.len() / 3;
    let filtered = vec![third..third + 300, third + 350..third + 357, 2 * third..2 * third + 1];
    let lost = vec![third / 2..third - 10, third + 400..third + 401, 2 * third + 11..2 * third + 900];
    vec![
        Options { period: 700, ..Options::default() },
        Options { period: 90, has_full_addresses: true, ..Options::default() },
        Options { period: 700, filtered: filtered.clone(), ..Options::default() },
        Options { period: 500, filtered, lost, ..Options::default() },
    ]
}

/// The program's run, with and without interrupts. None comes at once behind a branch under a condition: the judge keeps
/// in mind of the branch what the specification has it forget at the interrupt.
pub fn executions(program: &Program) -> [Execution; 2] {
    let plain = Execution::of(program);
    let interrupted = plain.with_interrupts(program, 40, false, &mut Random::new(1));
    [plain, interrupted]
}

/// The packets, with what each of them proves as the judge tells.
pub fn packets(
    program: &Program,
    execution: &Execution,
    options: &Options,
    framing: Framing,
    width: Width,
) -> Vec<Packet> {
    let mut packets = encode(program, execution, options, framing, width);
    let sink = Sink::of(&packets, 0..packets.len());
    let said = judge::read(program, &sink.bytes, framing, width)
        .unwrap_or_else(|error| panic!("{}, {options:?}: {error}", program.name));
    prove(&mut packets, &said, &execution.list);
    packets
}

/// Notes what each packet proves, and checks that it was executed: everything but what the encoder did not tell.
pub fn prove(packets: &mut [Packet], said: &[Vec<u64>], list: &[u64]) {
    assert_eq!(packets.len(), said.len());
    let mut at = 0;
    for (packet, said) in packets.iter_mut().zip(said) {
        let start = at.max(packet.proves.start);
        let end = start + said.len();
        assert_eq!(list.get(start..end), Some(&said[..]), "{start}");
        packet.proves = start..end;
        at = end;
    }
    assert_eq!(at, list.len());
}

/// Checks that what is shown is what the packets prove, with gaps where the encoder lost some, and no others.
pub fn assert_read_back(shown: &Shown, execution: &Execution, packets: &[Packet], options: &Options, what: &str) {
    let gaps: Vec<_> = shown.discontinuities.iter().map(|gap| gap.reason.as_str()).collect();
    assert_eq!(gaps, vec!["the encoder lost packets"; options.lost.len()], "{what}");
    let expected: Vec<u64> = proven(packets).into_iter().map(|at| execution.list[at]).collect();
    let list = shown.list();
    let differs = list.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!((differs, list.len()), (None, expected.len()), "{what}");
}

#[test]
fn every_list_is_read_back() {
    for name in PROGRAMS {
        let program = Program::open(name);
        for (interrupts, execution) in executions(&program).iter().enumerate() {
            for (number, options) in options(execution).iter().enumerate() {
                for framing in [SIEMENS, ENCAPSULATION] {
                    let what = format!("{name}, interrupts {interrupts}, options {number}, {framing:?}");
                    let width = Width::of(&program);
                    let packets = packets(&program, execution, options, framing, width);
                    let sink = Sink::of(&packets, 0..packets.len());
                    let shown = show(&program, &sink, framing, width);
                    assert_read_back(&shown, execution, &packets, options, &what);
                    let places = shown.places(&execution.list, &packets, true);
                    assert!(places.is_ok(), "{what}: {places:?}");
                }
            }
        }
    }
}

#[test]
fn an_interrupt_can_come_at_once_behind_a_branch() {
    for name in PROGRAMS {
        let program = Program::open(name);
        let execution = Execution::of(&program).with_interrupts(&program, 300, true, &mut Random::new(2));
        let options = Options { period: 300, ..Options::default() };
        let width = Width::of(&program);
        let packets = encode(&program, &execution, &options, SIEMENS, width);
        let shown = show(&program, &Sink::of(&packets, 0..packets.len()), SIEMENS, width);
        assert_eq!((shown.discontinuities, shown.stretches.len()), (Vec::new(), 1), "{name}");
        assert_eq!(shown.stretches[0].list, execution.list, "{name}");
    }
}
