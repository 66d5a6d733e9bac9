//! Files that this machine's trace-cmd makes of the recordings: what it shows of each is what is shown here.

use std::path::Path;
use std::process::Command;

use traceframe::format::tracedat::Choices;

use super::answers::{Reported, reported};
use super::frames::{Shown, fixture, open, shown};
use super::order::assert_same;
use super::support::run;

/// What it can read: Debian's has no zlib.
const READABLE: [&str; 9] = [
    "sched-v6",
    "sched-v7-none",
    "sched-v7-zstd",
    "uprobe-v7-zstd",
    "marker-v7-zstd",
    "lost-v7-zstd",
    "clock-mono_raw",
    "clock-x86-tsc",
    "btfmod-v7-none",
];

/// The formats it can write.
const FORMATS: [&[&str]; 3] = [
    &["--file-version", "6"],
    &["--file-version", "7", "--compression", "none"],
    &["--file-version", "7", "--compression", "zstd"],
];

fn trace_cmd(arguments: &[&str]) -> String {
    let (code, out, err) = run(Command::new("trace-cmd").args(arguments).env("LC_ALL", "C.UTF-8"));
    assert_eq!(code, Some(0), "trace-cmd {arguments:?}: {err}");
    out
}

/// What trace-cmd shows of a file.
pub fn report(path: &Path, more: &[&str]) -> Vec<Reported> {
    reported(&trace_cmd(&[&["report", "-t"], more, &["-i", path.to_str().unwrap()]].concat()))
}

fn all(path: &Path) -> Vec<Shown> {
    shown(&*open(path, Choices::default()))
}

#[test]
fn a_converted_recording_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in READABLE {
        let original = fixture(name);
        let events = all(&original);
        assert!(!events.is_empty(), "{name}");
        assert_same(&events, &report(&original, &[]), name);
        for format in FORMATS {
            let path = folder.path().join("converted.dat");
            let paths = ["convert", "-i", original.to_str().unwrap(), "-o", path.to_str().unwrap()];
            trace_cmd(&[&paths, format].concat());
            let place = format!("{name}, {format:?}");
            let converted = all(&path);
            assert_eq!(converted.len(), events.len(), "{place}");
            for (seen, wanted) in converted.iter().zip(&events) {
                assert_eq!(seen, wanted, "{place}");
            }
            assert_same(&converted, &report(&path, &[]), &place);
        }
    }
}

#[test]
fn chosen_cpus_and_events_are_those_that_trace_cmd_chooses() {
    let original = fixture("sched-v7-zstd");
    for cpu in [0, 1] {
        let choices = Choices { cpus: vec![cpu], ..Choices::default() };
        let wanted = report(&original, &["--cpu", &cpu.to_string()]);
        assert!(wanted.len() > 100);
        assert_same(&shown(&*open(&original, choices)), &wanted, &format!("CPU {cpu}"));
    }
    for (chosen, filters) in [
        (vec!["sched_switch"], vec!["-F", "sched_switch"]),
        (vec!["raw_syscalls:sys_exit", "timer_start"], vec!["-F", "raw_syscalls/sys_exit", "-F", "timer_start"]),
    ] {
        let choices = Choices { events: chosen.iter().map(|&event| event.to_owned()).collect(), ..Choices::default() };
        let mut wanted = report(&original, &filters);
        assert!(wanted.len() > 10);
        let shown = shown(&*open(&original, choices));
        // trace-cmd does not say what was lost before an event that it leaves out.
        for (wanted, shown) in wanted.iter_mut().zip(&shown).filter(|(wanted, _)| wanted.lost.is_none()) {
            wanted.lost = shown.variables.get("lost_before").copied();
        }
        assert_same(&shown, &wanted, &format!("{chosen:?}"));
    }
}

#[test]
fn a_part_that_trace_cmd_cut_out_is_shown_as_it_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("part.dat");
    let original = fixture("lost-v7-zstd");
    trace_cmd(&["split", "-i", original.to_str().unwrap(), "-o", output.to_str().unwrap(), "940.56", "940.58"]);
    let part = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let wanted = report(&part, &[]);
    assert!(wanted.len() > 10, "{}", wanted.len());
    assert_same(&all(&part), &wanted, "a part");
}
