//! Any bytes as a recording that gdb looks through from one end to the other.
#![cfg_attr(fuzzing, no_main)]

use std::sync::Arc;

use traceframe::format::{OpenOptions, open};
use traceframe::report;
use traceframe::session::{Programs, Replay};
use traceframe::source::Source;

use crate::support::Client;

#[cfg(fuzzing)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

const AT_FIRST: &[&str] =
    &["qSupported:xmlRegisters=i386", "QStartNoAckMode", "?", "qXfer:features:read:target.xml:0,3ff0", "qTStatus"];
const IN_EACH_FRAME: &[&str] = &[
    "g",
    "p0",
    "p10",
    "m0,40",
    "m401000,40",
    "x401000,40",
    "qTV:1",
    "qTV:2",
    "qXfer:traceframe-info:read::0,3ff0",
    "qXfer:statictrace:read::0,3ff0",
    "QTFrame:pc:401136",
    "QTFrame:tdp:2",
    "QTFrame:range:0:ffff",
    "QTFrame:outside:0:ffff",
];
const AT_LAST: &[&str] = &[
    "QTFrame:ffffffff",
    "bc",
    "Z2,0,4",
    "Z0,401136,1",
    "vCont;c",
    "vCont;s:1;c",
    // `$reg0 == 5`.
    "Z0,401131,1;X7,26000022051327",
    "bs",
    "bc",
    "vCont;r401131,401140:1;c",
    "z2,0,4",
    "vCont;c",
    "g",
    "qTBuffer:0,2000",
    "qTP:1:401136",
    "qRcmd,737461747573",
    "qRcmd,6672616d6573",
    "qRcmd,64616d616765",
];

/// The bytes are the file.
pub fn run(data: &[u8]) {
    let options = OpenOptions { architecture: Some("x86-64"), ..OpenOptions::default() };
    let Ok(recording) = open(Source::from_vec("fuzzed", data.to_vec()), &options) else { return };
    let Ok(replay) = Replay::new(recording, Programs::default()) else { return };
    let replay = Arc::new(replay);
    let frames = replay.index().wait().frames;
    let _ = report::Info::new(&replay).summary();
    let mut client = Client::new(replay);
    AT_FIRST.iter().for_each(|packet| drop(client.ask(packet)));
    client.ask_for_definitions();
    for frame in 0..frames.min(8) {
        assert!(client.ask(&format!("QTFrame:{frame:x}")).contains(&format!("$F{frame:x}T")));
        IN_EACH_FRAME.iter().for_each(|packet| drop(client.ask(packet)));
    }
    AT_LAST.iter().for_each(|packet| drop(client.ask(packet)));
}
