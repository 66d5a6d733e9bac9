//! The fuzz targets, run over a seed corpus by a stable compiler: what the fuzzers found once stays found.
//!
//! The seeds are the recordings, programs and descriptions of `tests/data`, and `fuzz/seeds/TARGET`.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../fuzz/targets/capture.rs"]
mod capture;
#[path = "../fuzz/targets/conversation.rs"]
mod conversation;
#[path = "../fuzz/targets/description.rs"]
mod description;
#[path = "../fuzz/targets/etm4.rs"]
mod etm4;
#[path = "../fuzz/targets/etrace.rs"]
mod etrace;
#[path = "../fuzz/targets/image.rs"]
mod image;
#[path = "../fuzz/targets/recording.rs"]
mod recording;
#[path = "../fuzz/targets/session.rs"]
mod session;
#[path = "../fuzz/support/mod.rs"]
mod support;
#[path = "../fuzz/targets/tracedat.rs"]
mod tracedat;

/// Larger seeds are the other tests' matter: here each is run in many forms.
const LARGEST: u64 = 200_000;

fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        if extensions.contains(&extension)
            && path.metadata().is_ok_and(|found| found.is_file() && found.len() < LARGEST)
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Runs a target over its own seeds as they are, and over files with each of `choices` in front, where it takes one.
fn run(target: fn(&[u8]), name: &str, files: &[PathBuf], choices: &[u8]) {
    let seeds = self::files(&format!("fuzz/seeds/{name}"), &["", "tf", "elf", "xml"]);
    let mut runs = 0;
    for path in &seeds {
        target(&fs::read(path).unwrap());
        runs += 1;
    }
    for path in files {
        let bytes = fs::read(path).unwrap();
        if choices.is_empty() {
            target(&bytes);
        }
        for choice in choices {
            target(&[&[*choice], &bytes[..]].concat());
        }
        runs += 1;
    }
    assert!(runs > 5, "{name} has {runs} seeds");
}

fn recordings() -> Vec<PathBuf> {
    ["tests/data/tfile", "tests/data/architectures", "tests/data/nios2"]
        .into_iter()
        .flat_map(|folder| files(folder, &["tf", "tr"]))
        .collect()
}

#[test]
fn recordings_of_any_bytes() {
    run(recording::run, "recording", &recordings(), &[0, 1, 2, 3, 4, 8, 12]);
}

#[test]
fn sessions_over_any_bytes() {
    run(session::run, "session", &recordings(), &[]);
}

#[test]
fn images_of_any_bytes() {
    let programs = [files("tests/data/architectures", &["elf"]), files("tests/data/bin", &["", "elf"])].concat();
    run(image::run, "image", &programs, &[]);
}

#[test]
fn descriptions_of_any_bytes() {
    run(description::run, "description", &[], &[]);
}

#[test]
fn conversations_of_any_bytes() {
    run(conversation::run, "conversation", &[], &[]);
}

#[test]
fn kernel_recordings_of_any_bytes() {
    run(tracedat::run, "tracedat", &[], &[]);
}

#[test]
fn sinks_of_trace_units_of_any_bytes() {
    run(etm4::run, "etm4", &[], &[]);
}

#[test]
fn packets_of_trace_encoders_of_any_bytes() {
    run(etrace::run, "etrace", &[], &[]);
}

#[test]
fn descriptions_of_dumps_of_any_bytes() {
    run(capture::run, "capture", &[], &[]);
}
