//! Any bytes as a trace.dat file, and a sound one with changes: opened, walked, each frame read once more, and looked
//! through as gdb does.
#![cfg_attr(fuzzing, no_main)]

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use traceframe::format::{OpenOptions, open, tracedat};
use traceframe::report::{FrameFilter, Info, frames_table};
use traceframe::session::{Programs, Replay};
use traceframe::source::Source;
use traceframe::trace::Item;

use crate::support::{Client, tests_data};

#[cfg(fuzzing)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// Recordings of both versions, each way of compression, probes, instances, lost events and modules.
const RECORDINGS: [&str; 7] = [
    "btfmod-v7-none",
    "marker-v7-zstd",
    "options-v7-zlib",
    "clock-x86-tsc",
    "lost-v7-zstd",
    "sched-v6",
    "uprobe-v7-zstd",
];

fn recordings() -> &'static [Vec<u8>] {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let data = tests_data().join("tracedat");
        let read = |name: &&str| std::fs::read(data.join(format!("{name}.dat"))).expect("a recording");
        RECORDINGS.iter().map(read).collect()
    })
}

/// With a first byte of 0 the others are the file behind its magic number. Else it names a recording, and each six bytes
/// of the others are a change: three say where, one says how many bytes, two what to.
pub fn run(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => examine([tracedat::MAGIC, rest].concat()),
        Some((choice, changes)) => {
            let mut file = recordings()[usize::from(choice - 1) % RECORDINGS.len()].clone();
            changes.chunks_exact(6).for_each(|change| apply(&mut file, change));
            examine(file);
        }
        None => {}
    }
}

fn apply(file: &mut Vec<u8>, change: &[u8]) {
    let &[a, b, c, kind, low, high] = change else { return };
    let at = u32::from_le_bytes([a, b, c, 0]) as usize % file.len().max(1);
    let value = u64::from(u16::from_le_bytes([low, high]));
    let width = [1, 2, 4, 8][usize::from(kind & 3)];
    let value = match kind >> 2 & 3 {
        0 => value,
        1 => value << 16,
        2 => u64::MAX - value,
        _ => (file.len() - at) as u64 + value,
    };
    let bytes = if kind & 0x20 == 0 { value.to_le_bytes() } else { (value << (64 - 8 * width)).to_be_bytes() };
    if kind & 0xc0 == 0xc0 {
        file.truncate(at);
    } else if let Some(place) = file.get_mut(at..at + width) {
        place.copy_from_slice(&bytes[..width]);
    }
}

/// So many frames are looked at.
const FRAMES: usize = 300;

fn examine(file: Vec<u8>) {
    let Ok(recording) = open(Source::from_vec("fuzzed", file.clone()), &OpenOptions::default()) else { return };
    let mut locations = Vec::new();
    let mut count = 0;
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => {
                if locations.len() < FRAMES {
                    // What is seen on the walk is what is found later by its place.
                    let again = recording.frame(frame.location);
                    assert_eq!(
                        (again.tracepoint, again.thread, again.time),
                        (frame.tracepoint, frame.thread, frame.time)
                    );
                    for (start, length) in again.memory_ranges() {
                        assert_eq!(again.read_memory(start, length as usize).len() as u64, length);
                    }
                    recording.label(&again);
                    locations.push(frame.location);
                }
                count += 1;
            }
            Item::Instructions(_) | Item::Interruption(_) => panic!("only an instruction trace has these"),
            Item::Damage(damage) => assert!(damage.at <= file.len() as u64, "{damage}"),
        }
        ControlFlow::Continue(())
    });
    assert!(locations.is_sorted());
    assert_eq!(recording.end().0, count, "as many frames as were announced");
    let Ok(replay) = Replay::new(recording, Programs::default()) else { return };
    let replay = Arc::new(replay);
    assert_eq!(replay.image().is_some(), replay.recording().program().is_some(), "the program that was made is one");
    assert_eq!(replay.index().wait().frames, count);
    let _ = Info::new(&replay).to_string();
    let shown = frames_table(&replay, &FrameFilter::default(), 50);
    assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n'), "{shown:?}");
    converse(replay, count);
}

fn converse(replay: Arc<Replay>, count: u64) {
    let mut client = Client::new(replay);
    for packet in ["qSupported:xmlRegisters=i386", "QStartNoAckMode", "?", "qfThreadInfo", "qsThreadInfo", "qTStatus"] {
        client.ask(packet);
    }
    client.ask("qXfer:features:read:target.xml:0,3ff0");
    client.ask_for_definitions();
    for frame in [0, count / 2, count.saturating_sub(1)].into_iter().filter(|frame| *frame < count) {
        assert!(client.ask(&format!("QTFrame:{frame:x}")).contains(&format!("$F{frame:x}T")));
        for packet in
            ["g", "m70000000000000,40", "m70000000800000,40", "qTV:1", "qTV:9", "qXfer:traceframe-info:read::0,3ff0"]
        {
            client.ask(packet);
        }
    }
    for packet in ["QTFrame:ffffffff", "bc", "vCont;c", "vCont;s:1;c", "bs", "qTBuffer:0,2000", "qRcmd,737461747573"] {
        client.ask(packet);
    }
}
