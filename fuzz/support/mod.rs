//! What several fuzz targets use: a client that asks, and the recordings of the tests.
#![allow(dead_code, reason = "one target alone uses a part of it")]

pub mod instructions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use traceframe::rsp::{Activity, Stub};
use traceframe::session::Replay;

/// A client and what answers it.
pub struct Client(Stub);

impl Client {
    /// A client that has just connected.
    pub fn new(replay: Arc<Replay>) -> Client {
        Client(Stub::new(replay))
    }

    /// Sends bytes, and waits for as many turns as they take; what comes back.
    pub fn send(&mut self, bytes: &[u8]) -> (Vec<u8>, Activity) {
        let mut activity = self.0.receive(bytes);
        let mut output = self.0.take_output();
        while matches!(activity, Activity::Busy | Activity::Searching) {
            activity = self.0.run();
            output.extend(self.0.take_output());
        }
        (output, activity)
    }

    /// Sends a packet, to which there must be a reply.
    pub fn ask(&mut self, packet: &str) -> String {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        let (reply, activity) = self.send(format!("${packet}#{sum:02x}").as_bytes());
        assert_eq!(activity, Activity::Idle, "{packet}");
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(reply.contains('#'), "{packet}: {reply}");
        reply
    }

    /// Asks for the tracepoints and the variables, from the first to the last.
    pub fn ask_for_definitions(&mut self) {
        for (first, next) in [("qTfP", "qTsP"), ("qTfV", "qTsV")] {
            let mut packet = first;
            while !self.ask(packet).contains("$l#") {
                packet = next;
            }
        }
    }
}

/// The folder `tests/data`, whichever of the two packages is built.
pub fn tests_data() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/data"));
    folders.find(|folder| folder.is_dir()).expect("the tests' data")
}
