//! Made streams as recordings, in gdb: what is made up for it leads to the callers that there truly were.
//!
//! The judge is gdb at a live run of the same program in the emulator: at each of many stops both show the same functions,
//! called from the same places.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::etm4::{Options, made};
use crate::etrace;
use crate::execution::Execution;
use crate::program::Program;
use crate::random::Random;
use crate::support::{Gdb, Killed, Server, run, traceframe};

/// Streams that lie in `tests/data/itrace`, each with its description: what was executed with interrupts in between, an
/// overflow, and a filter.
const FIXTURES: [&str; 3] = ["walk.a64", "walk.a32", "walk.t32"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/itrace").join(name)
}

/// The files are what is made now; `TRACEFRAME_ACCEPT=1` writes them anew.
#[test]
fn the_streams_of_the_scenarios_are_what_is_made() {
    for name in FIXTURES {
        let program = Program::open(name);
        let plain = Execution::of(&program);
        let execution = plain.with_interrupts(&program, 6, true, &mut Random::new(5));
        let middle = execution.list.len() / 2;
        let options = Options {
            has_return_stack: true,
            has_timestamps: true,
            period: 700,
            filtered: vec![middle + 2000..middle + 2300, middle + 3000..middle + 3001],
            overflows: vec![middle..middle + 500, middle + 1000..middle + 1001],
            ..Options::default()
        };
        let (sink, description) = made(&program, &execution, &options, 1);
        for (extension, bytes) in [("bin", sink), ("toml", description.into_bytes())] {
            let path = data(&format!("{name}.{extension}"));
            if std::env::var_os("TRACEFRAME_ACCEPT").is_some() {
                std::fs::write(&path, &bytes).unwrap();
            }
            assert!(std::fs::read(&path).unwrap() == bytes, "{} is not what is made", path.display());
        }
    }
}

/// Functions at whose first instructions both stop, and how often.
const STOPS: &str = "leaf leaf_with_frame leaf_of_other collatz tail of_unknown_size fibonacci through_pointer choose";
const HITS: usize = 70;

/// The commands: at each stop the callers, without what only a live machine knows.
fn commands() -> Vec<String> {
    let mut commands: Vec<String> = STOPS.split(' ').map(|function| format!("break *&{function}")).collect();
    for _ in 0..HITS {
        commands.extend(["continue", "backtrace"].map(str::to_owned));
    }
    commands.extend(["finish", "backtrace", "up", "info frame"].map(str::to_owned));
    commands
}

/// The functions and places in each backtrace: without arguments, which a trace has none of, and addresses of the stack.
fn callers(answers: &[Vec<String>], commands: &[String]) -> Vec<Vec<String>> {
    let backtraces = answers.iter().zip(commands).filter(|(_, command)| *command == "backtrace");
    let frames = |lines: &Vec<String>| {
        let lines = lines.iter().filter(|line| line.starts_with('#'));
        let shown = lines.map(|line| {
            let (function, place) = (line.split(" (").next().unwrap(), line.rsplit(") ").next().unwrap());
            format!("{function} {place}")
        });
        shown.collect()
    };
    backtraces.map(|(lines, _)| frames(lines)).collect()
}

#[test]
fn the_callers_are_those_of_a_live_run() {
    for (name, emulator) in [
        ("walk.a64", "qemu-aarch64"),
        ("walk.t32", "qemu-arm"),
        ("walk.a32", "qemu-arm"),
        ("walk.rv64", "qemu-riscv64"),
        ("walk.rv32", "qemu-riscv32"),
    ] {
        let (program, path) = (Program::open(name), data(name));
        let folder = tempfile::tempdir().unwrap();
        let execution = Execution::of(&program);
        let options = Options { has_return_stack: true, period: 700, ..Options::default() };
        let (sink, mut description) = match program.is_riscv() {
            true => etrace::made(&program, &execution),
            false => made(&program, &execution, &options, 1),
        };
        // The program is not beside it.
        description.truncate(description.find("[[image]]").unwrap());
        std::fs::write(folder.path().join(format!("{name}.bin")), sink).unwrap();
        let capture = folder.path().join("capture.toml");
        std::fs::write(&capture, description).unwrap();
        let server = Server::serve(&[capture.to_str().unwrap(), "--exec", path.to_str().unwrap()]);
        let commands = commands();
        let setup = |target: String| {
            let own =
                ["set backtrace past-main on", "set print frame-arguments none", "handle SIGUSR1 nostop noprint pass"];
            let mut setup: Vec<String> = own.map(str::to_owned).into();
            setup.extend([format!("file {}", path.display()), target]);
            setup
        };
        let replayed = Gdb::Multiarch.answers(&setup(format!("target remote :{}", server.port)), &commands);
        let socket = folder.path().join("gdb");
        let mut live = Command::new(emulator);
        live.arg("-g").arg(&socket).arg(&path).stdin(Stdio::null()).stdout(Stdio::null());
        let _live = Killed(live.spawn().unwrap());
        while !socket.exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let lived = Gdb::Multiarch.answers(&setup(format!("target remote {}", socket.display())), &commands);
        let (replayed, lived) = (callers(&replayed, &commands), callers(&lived, &commands));
        // What lies behind the handler of a signal nobody knows: the kernel made its stack.
        let is_cut = |lived: &[String], replayed: &[String]| {
            lived.starts_with(replayed) && lived[replayed.len()].contains("<signal handler called>")
        };
        let is_alike = |lived: &[String], replayed: &[String]| lived == replayed || is_cut(lived, replayed);
        let differs = lived.iter().zip(&replayed).position(|(lived, replayed)| !is_alike(lived, replayed));
        if let Some(at) = differs {
            panic!("{name}, stop {at}:\nlive\n{}\nreplayed\n{}", lived[at].join("\n"), replayed[at].join("\n"));
        }
        let depths: BTreeSet<usize> = lived.iter().map(Vec::len).collect();
        assert!(lived.len() == HITS + 1 && depths.len() > 3, "{name}: {depths:?}");
    }
}

/// What two cores executed is in the order of their timestamps wherever these tell it.
#[test]
fn cores_are_aligned_by_their_timestamps() {
    let program = Program::open("walk.a64");
    let options = Options { has_timestamps: true, has_return_stack: true, period: 700, ..Options::default() };
    let (sink, mut description) = made(&program, &Execution::of(&program), &options, 2);
    description.truncate(description.find("[[image]]").unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("walk.a64.bin"), sink).unwrap();
    let capture = folder.path().join("capture.toml");
    std::fs::write(&capture, description).unwrap();
    let mut command = traceframe();
    let (code, frames, errors) = run(command.arg("frames").arg(&capture).arg("--exec").arg(data("walk.a64")));
    assert_eq!(code, Some(0), "{errors}");
    // Of each core the latest time at which one of its instructions that were shown cannot have been executed before.
    let (mut latest, mut seen, mut compared) = ([0; 2], [0; 2], 0);
    for line in frames.lines().skip(1).filter(|line| !line.contains("-- exception")) {
        let (_, source) = line.rsplit_once("core ").unwrap();
        let core: usize = source[..1].parse().unwrap();
        seen[core] += 1;
        let times = source.split_once("time ").map(|(_, times)| times.split_once(" to "));
        let Some(Some((from, to))) = times else { continue };
        let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
        assert!(latest[1 - core] <= to, "{line}: {latest:?}");
        compared += u64::from(latest[1 - core] > 0);
        latest[core] = from;
    }
    assert!(seen[0] == seen[1] && seen[0] > 4000 && compared > 4000, "{seen:?} {compared}");
}
