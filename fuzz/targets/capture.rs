//! Any text as what a person says of a dump: a description, a snapshot directory, options.
#![cfg_attr(fuzzing, no_main)]

use std::fs;

use traceframe::format::itrace::capture::{Capture, Framing, ImageOption, Options, SourceOption};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// The first byte says what the others are. The files of a snapshot directory, and several options, have a byte 0xff between
/// them.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    write("dump.bin", &[0; 64]);
    let mut parts = rest.split(|byte| *byte == 0xff);
    match choice % 3 {
        0 => {
            write("capture.toml", rest);
            check(Capture::open(&folder.path().join("capture.toml"), &Options::default()).ok().flatten());
        }
        1 => {
            for name in ["snapshot.ini", "trace.ini", "device_0.ini", "device_1.ini", "cpu_0.ini"] {
                write(name, parts.next().unwrap_or_default());
            }
            check(Capture::open(folder.path(), &Options::default()).ok().flatten());
        }
        _ => {
            let mut options = Options::default();
            for part in parts {
                let text = String::from_utf8_lossy(part);
                options.sources.extend(text.parse::<SourceOption>());
                options.images.extend(text.parse::<ImageOption>());
                options.framing = options.framing.or(text.parse::<Framing>().ok());
            }
            check(Capture::open(&folder.path().join("dump.bin"), &options).ok().flatten());
        }
    }
}

/// Whoever is given a capture can ask it everything.
fn check(capture: Option<Capture>) {
    let Some(capture) = capture else { return };
    let images = capture.all_images().count();
    assert!(capture.mismatches().is_err() || images < 1 << 20);
    for sink in &capture.sinks {
        assert!(!sink.sources.is_empty(), "a sink without a source tells nothing");
    }
}
