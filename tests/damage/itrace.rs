//! Dumps of instruction traces that are cut, and with changed bytes; and descriptions of them.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use traceframe::arch::{self, Known};
use traceframe::format::itrace::capture::{self, Capture};
use traceframe::format::itrace::recording::{InstructionTrace, Memory, Parts, Protocol, Source};
use traceframe::image::{Image, PlacedImage};
use traceframe::report::{self, FrameFilter, Info};
use traceframe::session::{Direction, Find, Motion, Move, Programs, Replay, Session, Stop, Work};
use traceframe::source;

use super::case::{Cases, is_soak, sample};
use super::conversation;
use super::questions::NAME;
use super::support::data;

/// What a recording may take besides a multiple of its length: the blocks of a program as they were met last, for the walk
/// and for each look at a frame (0.7 MB each), the stretches that were looked at last (16 of 0.3 MB), the built-in target
/// description.
const ROOM: usize = 16 << 20;

/// How many times its length it may take: a byte can tell of eight branches, and each has its run in the index.
const FACTOR: usize = 64;

/// A dump, and all that is known of it.
struct Whole {
    name: &'static str,
    bytes: Vec<u8>,
    protocol: Protocol,
    program: Arc<Image>,
}

/// Each with its program: both protocols, three instruction sets, interrupts, gaps, timestamps, a return stack.
const DUMPS: [(&str, &str, &str); 3] = [
    ("walk.a64.toml", "walk.a64.bin", "walk.a64"),
    ("walk.t32.toml", "walk.t32.bin", "walk.t32"),
    ("rv64.toml", "rv64.200.te_inst", "prog.rv64.200"),
];

fn file(name: &str) -> std::path::PathBuf {
    data(&format!("itrace/{name}"))
}

impl Whole {
    fn all() -> &'static [Whole] {
        static ALL: OnceLock<Vec<Whole>> = OnceLock::new();
        ALL.get_or_init(|| DUMPS.map(|(description, dump, program)| Whole::new(description, dump, program)).into())
    }

    fn new(description: &str, name: &'static str, program: &str) -> Whole {
        let capture = Capture::open(&file(description), &capture::Options::default()).unwrap().unwrap();
        let sink = &capture.sinks[0];
        let mut bytes = std::fs::read(file(name)).unwrap();
        let protocol = Protocol::new(sink.framing, &sink.sources[0], &Protocol::harts(sink, &bytes)).unwrap();
        bytes.truncate(if is_soak() { 4000 } else { 700 });
        Whole { name, bytes, protocol, program: Arc::new(Image::open(&file(program)).unwrap()) }
    }

    fn open(&self, bytes: Vec<u8>) -> Arc<Replay> {
        let machine = self.program.machine();
        let target = arch::resolve(&Known { machine: Some(machine), ..Known::default() }).unwrap();
        let programs = vec![PlacedImage::place(Arc::clone(&self.program), None, &[], &[])];
        let memory = Arc::new(Memory::new(programs.clone(), Vec::new()));
        let recording = InstructionTrace::new(Parts {
            name: NAME.into(),
            sinks: vec![source::Source::from_vec(NAME, bytes)],
            sources: vec![Source { name: "core".to_owned(), sink: 0, protocol: self.protocol.clone(), memory }],
            programs,
            machine,
            target: target.with_byte_order(machine.byte_order),
            remarks: Vec::new(),
            doubts: Vec::new(),
        });
        let programs = Programs { program: Some(Arc::clone(&self.program)), ..Programs::default() };
        let replay = Arc::new(Replay::new(Arc::new(recording), programs).unwrap());
        assert!(replay.index().wait().complete);
        replay
    }

    fn run(&self, cases: &mut Cases, what: String, bytes: Vec<u8>) {
        let room = FACTOR * bytes.len() + ROOM;
        cases.run(format!("{} {what}", self.name), room, || {
            let length = bytes.len() as u64;
            ask(&self.open(bytes), length);
        });
    }
}

/// Asks everything, of some of the frames.
fn ask(replay: &Arc<Replay>, length: u64) {
    let count = replay.index().progress().frames;
    let mut session = Session::new(replay.clone());
    for number in (0..count).step_by(count as usize / 40 + 1).chain(count.checked_sub(1)) {
        let frame = replay.frame(number).unwrap();
        assert_eq!(frame.pc.address(), replay.index().pc(number).found().unwrap(), "frame {number}");
        assert!(session.find(Find::Number(number)).found().is_some());
        session.registers(1);
        for block in &frame.memory {
            assert_eq!(session.memory(1, block.address, block.bytes.len()).len(), block.bytes.len());
        }
        assert!(replay.recording().label(&frame).is_some());
    }
    session.leave_frame();
    // There and back, as often as it stops on the way.
    for direction in [Direction::Forward, Direction::Backward] {
        let mut stops = 0;
        loop {
            session.set_off(Move { direction, motion: Motion::Continue });
            let Work::Done(stop) = session.advance(Instant::now() + Duration::from_secs(60)) else { panic!("no end") };
            if let Some(placed) = session.interruption(stop) {
                assert!(placed.interruption.at <= length, "{placed:?}");
                report::interruption(replay, &placed);
            }
            stops += 1;
            if matches!(stop, Stop::Edge(_)) || stops == 30 {
                break;
            }
        }
    }
    assert_eq!(replay.index().interruptions(5).len() as u64, replay.index().interruption_count().min(5));
    assert!(Info::new(replay).to_string().contains("frames:"));
    report::frames_table(replay, &FrameFilter::default(), 20);
    conversation::hold(replay, count);
}

#[test]
fn cut_at_every_byte() {
    let mut cases = Cases::of("dumps of instruction traces cut at every byte");
    for whole in Whole::all() {
        for end in sample(whole.bytes.len(), 8) {
            whole.run(&mut cases, format!("cut to {end} bytes"), whole.bytes[..end].to_vec());
            whole.run(&mut cases, format!("without its first {end} bytes"), whole.bytes[end..].to_vec());
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut cases = Cases::of("dumps of instruction traces with every byte changed");
    for whole in Whole::all() {
        for at in sample(whole.bytes.len(), 8) {
            for value in [0, 0xff, whole.bytes[at] ^ 1 << (at % 8)] {
                let mut bytes = whole.bytes.clone();
                bytes[at] = value;
                whole.run(&mut cases, format!("with {value:#x} at byte {at:#x}"), bytes);
            }
        }
    }
}

/// A description that is cut or changed is refused or describes something; whatever it is, it is no panic.
#[test]
fn descriptions_cut_and_changed() {
    let mut cases = Cases::of("descriptions of instruction traces");
    let folder = tempfile::tempdir().unwrap();
    for name in ["walk.t32.toml", "rv64.toml", "gen-etm4-two-rs/snapshot.ini", "gen-etm4-two-rs/trace.ini"] {
        let bytes = std::fs::read(file(name)).unwrap();
        let (path, opened) = match name.strip_prefix("gen-etm4-two-rs/") {
            Some(part) => {
                for found in std::fs::read_dir(file("gen-etm4-two-rs")).unwrap() {
                    let found = found.unwrap();
                    std::fs::copy(found.path(), folder.path().join(found.file_name())).unwrap();
                }
                (folder.path().join(part), folder.path().to_owned())
            }
            None => (folder.path().join("capture.toml"), folder.path().join("capture.toml")),
        };
        for at in sample(bytes.len(), 60) {
            let mut changed = bytes.clone();
            changed[at] = [b'"', b'[', b'\n', 0xff, b'9'][at % 5];
            for text in [bytes[..at].to_vec(), changed] {
                std::fs::write(&path, text).unwrap();
                cases.run(format!("{name}, byte {at:#x}"), 4 << 20, || {
                    match Capture::open(&opened, &capture::Options::default()) {
                        Ok(Some(capture)) => drop(capture.mismatches()),
                        Ok(None) => {}
                        Err(error) => assert!(error.to_string().len() < 2000),
                    }
                });
            }
        }
    }
}
