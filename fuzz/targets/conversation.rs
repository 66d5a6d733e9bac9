//! Any bytes as what a client sends, over a sound recording.
#![cfg_attr(fuzzing, no_main)]

use std::sync::{Arc, OnceLock};

use traceframe::format::{OpenOptions, open};
use traceframe::image::Image;
use traceframe::rsp::Activity;
use traceframe::session::{Programs, Replay};
use traceframe::source::Source;

use crate::support::{Client, tests_data};

#[cfg(fuzzing)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// A question that has one answer wherever the client stands.
const QUESTION: &[u8] = b"$qTV:7fff#be";

fn replay() -> Arc<Replay> {
    static REPLAY: OnceLock<Arc<Replay>> = OnceLock::new();
    let replay = REPLAY.get_or_init(|| {
        let data = tests_data();
        let image = Arc::new(Image::open(&data.join("bin/case")).expect("a program"));
        let options = OpenOptions { image: Some(&image), ..OpenOptions::default() };
        let source = Source::open(&data.join("tfile/04-step.tf")).expect("a recording");
        let programs = Programs { program: Some(image.clone()), ..Programs::default() };
        let replay = Replay::new(open(source, &options).expect("a recording"), programs).expect("a thread");
        replay.index().wait();
        Arc::new(replay)
    });
    replay.clone()
}

/// The first byte says in pieces of how many bytes the others come.
pub fn run(data: &[u8]) {
    let Some((size, sent)) = data.split_first() else { return };
    let mut client = Client::new(replay());
    for piece in sent.chunks(usize::from(*size).max(1)) {
        if client.send(piece).1 == Activity::Closed {
            return;
        }
    }
    // Whatever came, the next packet works; a packet that was begun is ended first.
    client.send(b"#00");
    let output = client.send(QUESTION).0;
    assert!(output.ends_with(b"$U#55"), "{}", output.escape_ascii());
}
