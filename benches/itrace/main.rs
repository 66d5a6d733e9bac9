//! Instruction traces: how many instructions a second are reconstructed, and found.
//!
//! `cargo bench --bench itrace` repeats recorded streams up to 6 million instructions, and prints how long it takes to
//! reconstruct them block by block, to walk over them as a recording is walked over, to index them, and until the first
//! question is answered; and how long others take (OpenCSD, the tracer of `riscv-etrace`, and libipt with a trace of its
//! own). `-- 60000000` takes a number of instructions.

mod libipt;
#[path = "../../tests/support/opencsd.rs"]
mod opencsd;
mod tracer;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use traceframe::arch::{self, Known};
use traceframe::format::itrace::coresight::etm4::{self, Configuration};
use traceframe::format::itrace::coresight::{self, formatter};
use traceframe::format::itrace::instruction::{Blocks, Code, InstructionSet};
use traceframe::format::itrace::recording::{Hart, InstructionTrace, Memory, Parts, Protocol, Source};
use traceframe::format::itrace::{Step, etrace};
use traceframe::image::{Image, PlacedImage};
use traceframe::index::{Answer, Index};
use traceframe::trace::{Item, Recording};

use opencsd::Said;

fn data(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/data/itrace/{name}", env!("CARGO_MANIFEST_DIR")))
}

fn recording(program: &str, sink: Vec<u8>, protocol: Protocol) -> InstructionTrace {
    let image = Image::open(&data(program)).unwrap();
    let machine = image.machine();
    let target = arch::resolve(&Known { machine: Some(machine), ..Known::default() }).unwrap();
    let programs = vec![PlacedImage::place(Arc::new(image), None, &[], &[])];
    let memory = Arc::new(Memory::new(programs.clone(), Vec::new()));
    InstructionTrace::new(Parts {
        name: PathBuf::from("bench"),
        sinks: vec![traceframe::source::Source::from_vec("bench", sink)],
        sources: vec![Source { name: "core".to_owned(), sink: 0, protocol, memory }],
        programs,
        machine,
        target: target.with_byte_order(machine.byte_order),
        remarks: Vec::new(),
        doubts: Vec::new(),
    })
}

/// Prints how fast something is, the fastest of three times; how many a second.
fn timed(name: &str, what: &str, mut work: impl FnMut() -> u64) -> f64 {
    let timed = |_| {
        let began = Instant::now();
        let count = work();
        (began.elapsed().as_secs_f64(), count)
    };
    let (took, count) = (0..3).map(timed).min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
    println!("{name:8} {what:44} {count:>10} in {took:.3} s: {:6.1} M/s", count as f64 / took / 1e6);
    count as f64 / took
}

struct Program(Image);

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        self.0.code(address)
    }
}

/// The instructions of a step.
fn executed(step: &Step) -> u64 {
    if let Step::Run(run) = step { run.instructions().into() } else { 0 }
}

/// The stages of reconstruction, each with those before it.
fn stages(name: &str, program: &str, sink: &[u8], protocol: &Protocol) {
    let program = Program(Image::open(&data(program)).unwrap());
    let mut blocks = Blocks::new(&program, protocol.ends());
    let ratio = |own: f64, others: f64| println!("{name:8} {:44} {:>10.1}", "times as many instructions", own / others);
    match protocol {
        Protocol::Etm4 { framing, configuration } => {
            timed(name, "bytes of the source", || {
                formatter::Pieces::new(sink, *framing)
                    .map(|piece| match piece {
                        formatter::Piece::Run(run) => run.bytes().len() as u64,
                        formatter::Piece::Damaged { .. } => 0,
                    })
                    .sum()
            });
            timed(name, "packets", || {
                let mut packets = etm4::Packets::new(sink, *framing, *configuration);
                packets.align();
                packets.count() as u64
            });
            timed(name, "elements", || etm4::Source::new(sink, *framing, *configuration).count() as u64);
            let own = timed(name, "instructions, reconstructed by block", || {
                let mut instructions = 0;
                let mut reconstruction = coresight::Reconstruction::new(configuration);
                let elements = etm4::Source::new(sink, *framing, *configuration);
                reconstruction.take_all(elements, &mut blocks, &mut |_, step| instructions += executed(&step));
                instructions
            });
            ratio(
                own,
                timed(name, "instructions, OpenCSD", || {
                    let mut count = 0;
                    opencsd::read(&program, true, sink, *framing, &ETM, &mut |at, said| match said {
                        Said::Executed { instructions, .. } => count += u64::from(instructions),
                        Said::Refused(response) => panic!("response {response} at byte {at}"),
                        Said::NoCode(_) | Said::UnknownAddress => {}
                    });
                    count
                }),
            );
        }
        Protocol::ETrace(hart) => {
            let packets = || etrace::Packets::new(sink, hart.framing, &hart.parameters);
            timed(name, "packets", || packets().count() as u64);
            let own = timed(name, "instructions, reconstructed by block", || {
                let mut instructions = 0;
                let mut reconstruction = etrace::Reconstruction::new(hart.instruction_set, &hart.parameters);
                reconstruction.take_all(packets(), &mut blocks, &mut |_, step| instructions += executed(&step));
                instructions
            });
            ratio(own, timed(name, "instructions, riscv-etrace", || tracer::instructions(&program, sink)));
        }
    }
}

/// Another decoder of another trace, of the same program.
fn of_intel(wanted: u64) {
    let trace = std::fs::read(data("x86.10.pt")).unwrap().repeat((wanted / 3107) as usize);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), trace).unwrap();
    for by in [libipt::By::Instruction, libipt::By::Block] {
        let times = (0..3).map(|_| libipt::decode(file.path(), &data("prog.x86.10"), by));
        let (count, took) = times.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
        let what = format!("instructions, libipt by {by:?}").to_lowercase();
        println!("{:8} {what:44} {count:>10} in {took:.3} s: {:6.1} M/s", "Intel PT", count as f64 / took / 1e6);
    }
}

/// The registers of the trace unit.
const ETM: [(&str, u64); 6] = [
    ("TRCCONFIGR", 1),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x2800_0ea1),
    ("TRCIDR1", 0x4100_f403),
    ("TRCIDR2", 0x488),
    ("TRCIDR8", 0),
];

fn main() {
    let wanted: u64 = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(6_000_000);
    let etm = Protocol::Etm4 {
        framing: formatter::Framing::Aligned,
        configuration: Configuration::from_registers(ETM).unwrap(),
    };
    let etrace = Protocol::ETrace(Hart {
        others: Vec::new(),
        framing: etrace::Framing::Siemens { hart_bits: 0 },
        parameters: etrace::Parameters::new(&[("iaddress_width_p", 64)]).unwrap(),
        source: 0,
        instruction_set: InstructionSet::Rv64,
    });
    for (name, program, sink, protocol) in [
        ("ETMv4", "prog.a64.200", "gen-etm4-one/cstrace.bin", etm),
        ("E-Trace", "prog.rv64.200", "rv64.200.te_inst", etrace),
    ] {
        let sink = std::fs::read(data(sink)).unwrap().repeat((wanted / 63_000) as usize);
        println!("{name}: {} bytes", sink.len());
        stages(name, program, &sink, &protocol);
        // Each time anew, since a recording remembers what it was walked over for.
        let open = || recording(program, sink.clone(), protocol.clone());
        timed(name, "instructions, walked over", || {
            let mut instructions = 0;
            open().walk(&mut |item| {
                if let Item::Instructions(run) = item {
                    instructions += u64::from(run.count());
                }
                ControlFlow::Continue(())
            });
            instructions
        });
        timed(name, "instructions, indexed", || Index::build(&open(), None).progress().frames);
        let recording = Arc::new(open());
        let began = Instant::now();
        let index = Index::start(recording, None).unwrap();
        while index.locate(0) == Answer::NotYet {
            std::thread::yield_now();
        }
        println!("{name:8} {:44} {:>10.1} ms", "until the first answer", began.elapsed().as_secs_f64() * 1e3);
        index.wait();
        println!("{name:8} {:44} {:>10.1} ms", "until all answers", began.elapsed().as_secs_f64() * 1e3);
    }
    of_intel(wanted);
}
