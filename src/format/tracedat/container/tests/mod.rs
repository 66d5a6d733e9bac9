//! Whole files: recorded ones against what other programs say of them, and ones that something happened to.

mod damaged;
mod dump;
mod made;
mod real;

use std::io::Read;
use std::path::Path;

use super::*;

/// The recordings that are whole.
const WHOLE: [&str; 13] = [
    "sched-v6",
    "sched-v7-none",
    "sched-v7-zlib",
    "sched-v7-zstd",
    "uprobe-v7-zstd",
    "marker-v7-zstd",
    "instances-v7-zlib",
    "lost-v7-zstd",
    "clock-mono_raw",
    "clock-x86-tsc",
    "latency-v7-zstd",
    "options-v7-zlib",
    "btfmod-v7-none",
];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tracedat").join(name)).unwrap()
}

/// The answer of another program about a recording.
fn expected(name: &str) -> String {
    let stored = bytes(&format!("expect/{name}.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&stored[..]).read_to_string(&mut text).unwrap();
    text
}

fn opened(bytes: Vec<u8>) -> Container {
    Container::open(Source::from_vec("some.dat", bytes)).unwrap()
}

fn recorded(name: &str) -> Container {
    opened(bytes(&format!("{name}.dat")))
}

/// What is wrong with a file, in words.
fn damage(container: &Container) -> Vec<String> {
    container.damage().kept().iter().map(Damage::to_string).collect()
}

/// Every page of one CPU, one behind the other.
fn pages(container: &Container, buffer: usize, cpu: usize) -> Vec<u8> {
    let count = container.buffers()[buffer].cpus[cpu].pages;
    let page = |number| container.page(buffer, cpu, number).unwrap().unwrap().to_vec();
    (0..count).flat_map(page).collect()
}
