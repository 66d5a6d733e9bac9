//! Any bytes as a recording: it is opened, walked, and each of its frames is read once more.
#![cfg_attr(fuzzing, no_main)]

use std::ops::ControlFlow;

use traceframe::format::{OpenOptions, open};
use traceframe::source::{ByteOrder, Source};
use traceframe::trace::Item;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// The first byte says which options the user gives, the others are the file.
pub fn run(data: &[u8]) {
    let Some((choice, file)) = data.split_first() else { return };
    let options = OpenOptions {
        byte_order: [None, None, Some(ByteOrder::Little), Some(ByteOrder::Big)][usize::from(choice % 4)],
        architecture: Some(["x86-64", "mips", "s390x", "arm"][usize::from(choice / 4 % 4)]),
        ..OpenOptions::default()
    };
    let Ok(recording) = open(Source::from_vec("fuzzed", file.to_vec()), &options) else { return };
    let mut locations = Vec::new();
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => {
                // What is seen on the walk is what is found later by its place.
                let again = recording.frame(frame.location);
                assert_eq!((again.pc, &again.memory, &again.variables), (frame.pc, &frame.memory, &frame.variables));
                assert_eq!((&again.registers, again.tracepoint), (&frame.registers, frame.tracepoint));
                for (start, length) in frame.memory_ranges() {
                    assert_eq!(frame.read_memory(start, length as usize).len() as u64, length);
                }
                locations.push(frame.location);
            }
            Item::Instructions(_) | Item::Interruption(_) => panic!("only an instruction trace has these"),
            Item::Damage(damage) => {
                let _ = damage.to_string();
            }
        }
        if locations.len() < 1000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(locations.is_sorted(), "frames come in the order of the file");
    let _ = recording.trace_buffer(recording.end(), 0, usize::MAX);
}
