//! ETMv4: streams as trace units send them, mixed into frames.

mod address;
mod atoms;
mod damaged;
mod encoder;
mod formatter;
mod judge;
mod judged;
#[path = "../../support/opencsd.rs"]
mod opencsd;

use traceframe::format::itrace::coresight::Reconstruction;
use traceframe::format::itrace::coresight::etm4::{Configuration, Source};
use traceframe::format::itrace::coresight::formatter::Framing;
use traceframe::format::itrace::instruction::Blocks;

use crate::execution::Execution;
use crate::program::Program;
use crate::random::Random;
use crate::shown::Shown;
use crate::stream::Sink;
pub use encoder::Options;

/// The registers of a trace unit that has these options, and this ID.
fn registers(options: &Options, id: u8) -> [(&'static str, u64); 6] {
    let mut config = 1;
    config |= u64::from(options.has_cycle_counts) << 4;
    config |= u64::from(options.has_contexts) << 6;
    config |= u64::from(options.has_timestamps) << 11;
    config |= u64::from(options.has_return_stack) << 12;
    [
        ("TRCCONFIGR", config),
        ("TRCTRACEIDR", u64::from(id)),
        // Cycle counts, the return stack, 64-bit timestamps; cycle counts do not tell what is committed.
        ("TRCIDR0", 0x2800_0ea1),
        ("TRCIDR1", 0x4100_f403),
        ("TRCIDR2", 0x488),
        ("TRCIDR8", 0),
    ]
}

fn configuration(options: &Options, id: u8) -> Configuration {
    Configuration::from_registers(registers(options, id)).unwrap()
}

/// What traceframe shows of the source with this ID.
fn show(program: &Program, sink: &Sink, framing: Framing, configuration: &Configuration) -> Shown {
    let mut shown = Shown::default();
    let mut blocks = Blocks::new(program, Reconstruction::ends(configuration));
    let mut reconstruction = Reconstruction::new(configuration);
    let elements = Source::new(&sink.bytes, framing, *configuration);
    reconstruction.take_all(elements, &mut blocks, &mut |at, step| shown.take(program, sink, at, step));
    shown
}

/// What is shown of a run of a program, if it is taken for one of another.
pub fn show_with(
    program: &Program,
    wrong: &Program,
    execution: &Execution,
    has_return_stack: bool,
    framing: Framing,
) -> Shown {
    let options = Options { has_return_stack, period: 700, ..Options::default() };
    let packets = encoder::encode(program, execution, &options);
    let plain = Sink::of(&packets, 0..packets.len());
    let sink = formatter::format(&[(0x10, &plain)], framing, &mut Random::new(1));
    show(wrong, &sink, framing, &configuration(&options, 0x10))
}

/// A sink with the run of a program, on so many cores that each ran it, and the description that goes with it, of files
/// beside it.
pub fn made(program: &Program, execution: &Execution, options: &Options, cores: u8) -> (Vec<u8>, String) {
    let packets = encoder::encode(program, execution, options);
    let plain = Sink::of(&packets, 0..packets.len());
    let sources: Vec<(u8, &Sink)> = (0..cores).map(|core| (0x10 + core, &plain)).collect();
    let sink = formatter::format(&sources, Framing::Aligned, &mut Random::new(3));
    let name = program.name;
    let mut description = format!(
        "# Made by tests/itrace of a run of {name}.\n[capture]\nversion = 1\n\n[[sink]]\nfile = \"{name}.bin\"\n\n"
    );
    for core in 0..cores {
        let id = 0x10 + core;
        let registers = registers(options, id).map(|(name, value)| format!("{name} = {value:#x}\n")).concat();
        description += &format!(
            "[[sink.source]]\nid = {id:#x}\nprotocol = \"etm4\"\nname = \"core {core}\"\n\n\
             [sink.source.registers]\n{registers}\n"
        );
    }
    (sink.bytes, format!("{description}[[image]]\nfile = \"{name}\"\n"))
}
