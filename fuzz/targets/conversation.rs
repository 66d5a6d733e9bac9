//! Any bytes as what a client sends, over a sound recording.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use traceframe::format::{OpenOptions, open};
use traceframe::image::Image;
use traceframe::rsp::{Activity, Stub};
use traceframe::session::Replay;
use traceframe::source::Source;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// A question that has one answer wherever the client stands.
const QUESTION: &[u8] = b"$qTV:7fff#be";

fn replay() -> Arc<Replay> {
    static REPLAY: OnceLock<Arc<Replay>> = OnceLock::new();
    let replay = REPLAY.get_or_init(|| {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/data"));
        let data = data.into_iter().find(|folder| folder.is_dir()).expect("the tests' data");
        let image = Arc::new(Image::open(&data.join("bin/case")).expect("a program"));
        let options = OpenOptions { image: Some(&image), ..OpenOptions::default() };
        let source = Source::open(&data.join("tfile/04-step.tf")).expect("a recording");
        let replay = Replay::new(open(source, &options).expect("a recording"), Some(image), None).expect("a thread");
        replay.index().wait();
        Arc::new(replay)
    });
    replay.clone()
}

/// The first byte says in pieces of how many bytes the others come.
pub fn run(data: &[u8]) {
    let Some((size, sent)) = data.split_first() else { return };
    let mut stub = Stub::new(replay());
    for piece in sent.chunks(usize::from(*size).max(1)) {
        if take(&mut stub, piece).1 == Activity::Closed {
            return;
        }
    }
    // Whatever came, the next packet works; a packet that was begun is ended first.
    take(&mut stub, b"#00");
    let output = take(&mut stub, QUESTION).0;
    assert!(output.ends_with(b"$U#55"), "{}", output.escape_ascii());
}

/// Gives bytes to the conversation, in as many turns as it takes; what is to be sent.
fn take(stub: &mut Stub, bytes: &[u8]) -> (Vec<u8>, Activity) {
    let mut activity = stub.receive(bytes);
    let mut output = stub.take_output();
    while matches!(activity, Activity::Busy | Activity::Searching) {
        activity = stub.run();
        output.extend(stub.take_output());
    }
    (output, activity)
}
