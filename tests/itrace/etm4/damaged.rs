//! Streams of ETMv4 that are damaged.

use traceframe::format::itrace::coresight::formatter::Framing;

use super::encoder::{Options, encode};
use super::judged::PROGRAMS;
use super::{configuration, formatter, show};
use crate::execution::Execution;
use crate::faults::{FAULTS, HEAD, Subject, Tally};
use crate::is_soak;
use crate::program::Program;
use crate::random::Random;

const ID: u8 = 0x10;

fn subject<'a>(program: &'a Program, execution: &'a Execution, options: Options, framing: Framing) -> Subject<'a> {
    let packets = encode(program, execution, &options);
    let configuration = configuration(&options, ID);
    let returns = if options.has_return_stack { "a return stack" } else { "no return stack" };
    Subject {
        name: format!("{}, {returns}, {framing:?}", program.name),
        program,
        list: &execution.list,
        packets,
        loss: vec![0x00, 0x05],
        // A buffer in memory is written frame by frame.
        unit: if framing == Framing::Aligned { 16 } else { 1 },
        begins_anywhere: true,
        resumes: true,
        readable: match framing {
            Framing::Unformatted => |_| 0,
            // Where a frame begins with an ID.
            Framing::Aligned => |bytes| bytes.chunks(16).take_while(|frame| frame[0] & 1 == 0).count() * 16,
            Framing::Synchronized => |bytes| {
                let found = bytes.windows(4).position(|bytes| *bytes == [0xff, 0xff, 0xff, 0x7f]);
                found.map_or(bytes.len(), |found| found + 4)
            },
        },
        frame: Box::new(move |sink| formatter::format(&[(ID, sink)], framing, &mut Random::new(5))),
        show: Box::new(move |sink| show(program, sink, framing, &configuration)),
    }
}

#[test]
fn what_is_shown_was_executed() {
    let cases = if is_soak() { 1000 } else { 6 };
    let programs = PROGRAMS.map(Program::open);
    let mut tallies = vec![[Tally::default(); 2]; FAULTS.len()];
    for (seed, program) in (1..).zip(&programs) {
        let execution = Execution::of(program).with_interrupts(program, 12, true, &mut Random::new(seed));
        for has_return_stack in [false, true] {
            let plain = Options { has_return_stack, period: 400, ..Options::default() };
            let everything =
                Options { has_timestamps: true, has_cycle_counts: true, has_contexts: true, ..plain.clone() };
            for (options, framing) in
                [(plain.clone(), Framing::Unformatted), (plain, Framing::Aligned), (everything, Framing::Synchronized)]
            {
                let subject = subject(program, &execution, options, framing);
                for (fault, tallies) in FAULTS.iter().zip(&mut tallies) {
                    tallies[usize::from(has_return_stack)].add(subject.suffer(*fault, cases, seed));
                }
            }
        }
    }
    println!("ETMv4                                     | {HEAD}");
    for (fault, tallies) in FAULTS.iter().zip(&tallies) {
        println!("{fault:24}  no return stack | {}", tallies[0]);
        println!("{fault:24}     return stack | {}", tallies[1]);
    }
}
