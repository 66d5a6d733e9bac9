//! Files that somebody writes to, cuts or deletes while they are served.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use super::support::made::{self, Made};
use super::support::protocol::hex;
use super::support::started::eventually;
use super::support::{Client, Server};
use super::{bytes, open_program, path};

/// Frames of 64 KiB of memory each: more than the kernel reads ahead.
const FRAMES: u64 = 64;
const MEMORY: usize = 0xffff;

/// Served, and indexed to its end.
struct Changing {
    _folder: tempfile::TempDir,
    file: String,
    server: Server,
    client: Client,
}

fn changing() -> Changing {
    let mut made = Made::new(&["R 8", "status 0;tstop::0"]);
    for number in 0..FRAMES {
        made.frame(1, &[made::registers(&[7; 8]), made::memory(0x1000, &vec![number as u8 + 1; MEMORY])]);
    }
    let (folder, file) = made.save("changing.tf");
    let server = Server::serve(&[&file]);
    let mut client = server.connect();
    assert_eq!(client.ask("QTFrame:tdp:7fff"), "F-1");
    assert_eq!(client.ask(format!("QTFrame:{:x}", FRAMES - 1)), format!("F{:x}T1", FRAMES - 1));
    assert_eq!(client.ask("m1000,2"), "4040");
    Changing { _folder: folder, file, server, client }
}

impl Changing {
    /// From now on frames are refused in words, and what was never in a frame is told as before.
    fn expect_refusals(&mut self, words: &str) {
        assert_eq!((self.client.ask("m1000,4"), self.client.ask("x1000,4")), ("E01".to_owned(), "E01".to_owned()));
        for packet in ["g", "p0", "QTFrame:0", "QTFrame:pc:0", "qTV:1", "qTBuffer:0,100"] {
            let reply = self.client.ask(packet);
            assert_eq!(reply, format!("E.the recording {words}; start the server again"), "{packet}");
        }
        assert!(self.client.ask("qTStatus").starts_with("T0;tstop"));
        assert!(self.client.ask("qSupported").contains("PacketSize"));
        let status = self.client.monitor("status");
        assert!(status.contains(&format!("warning: {} {words}: nothing of it is shown", self.file)), "{status}");
        assert_eq!(self.client.monitor("frames"), "no frames\n");
        // Others are told the same, and whoever looks at the server's own words.
        assert!(self.server.connect().ask("g").starts_with("E.the recording"));
        let said = format!("{words}: nothing of it is served");
        eventually("the server says so, once", || self.server.errors().matches(&said).count() == 1);
        assert!(self.server.is_running());
    }
}

#[test]
fn a_recording_that_is_cut_is_refused_and_the_server_lives() {
    for length in [0, 100, 0x8000, 0x1_0000] {
        let mut changing = changing();
        OpenOptions::new().write(true).open(&changing.file).unwrap().set_len(length).unwrap();
        changing.expect_refusals("was cut after it was opened, or cannot be read any more");
    }
}

#[test]
fn a_recording_that_is_written_to_is_refused() {
    let mut changing = changing();
    let mut file = OpenOptions::new().write(true).open(&changing.file).unwrap();
    file.seek(SeekFrom::Start(0x1_0000)).unwrap();
    file.write_all(b"other bytes").unwrap();
    changing.expect_refusals("was written to after it was opened");
}

#[test]
fn a_recording_that_is_saved_anew_under_its_name_is_refused() {
    let mut changing = changing();
    let whole = std::fs::read(&changing.file).unwrap();
    // As gdb's tsave does it: the file is emptied first.
    let mut file = File::create(&changing.file).unwrap();
    file.write_all(&whole).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    file.write_all(&whole).unwrap();
    // Who looks while it is empty sees that it was cut.
    let words = ["was written to after it was opened", "was cut after it was opened, or cannot be read any more"];
    let reply = changing.client.ask("g");
    let seen = words.into_iter().find(|words| reply.contains(words));
    changing.expect_refusals(seen.unwrap_or_else(|| panic!("{reply}")));
}

#[test]
fn a_recording_that_is_deleted_or_replaced_is_served_on() {
    let mut changing = changing();
    std::fs::remove_file(&changing.file).unwrap();
    assert_eq!(changing.client.ask("QTFrame:0"), "F0T1");
    std::fs::write(&changing.file, "something else").unwrap();
    assert_eq!(changing.client.ask("m1000,2"), "0101");
    assert!(!changing.client.monitor("status").contains("warning"));
}

#[test]
fn a_program_that_is_cut_costs_the_program_only() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("case");
    std::fs::write(&program, bytes("bin/case")).unwrap();
    let program = program.canonicalize().unwrap();
    let server = Server::serve(&[&path("tfile/04-step.tf"), "--exec", program.to_str().unwrap()]);
    let mut client = server.connect();
    assert_eq!(client.ask("QTFrame:1"), "F1T2");
    let code = client.ask("m401136,4");
    assert!(!code.starts_with('E'), "{code}");
    let descriptor = open_program(&mut client);
    OpenOptions::new().write(true).open(&program).unwrap().set_len(64).unwrap();
    assert_eq!(client.ask("m401136,4"), "E01");
    assert_eq!(client.ask(format!("vFile:pread:{descriptor:x},40,0")), "F-1,05");
    assert!(client.ask("m4040c0,4").len() == 8, "what a frame recorded is there");
    assert!(client.ask("g").len() > 100);
    assert_eq!(client.ask("QTFrame:2"), "F2T2");
    let status = client.monitor("status");
    assert!(status.contains("was cut after it was opened") && status.contains("case"), "{status}");
    assert_eq!(client.ask(format!("vFile:open:{},0,0", hex(program.to_str().unwrap()))), "F01");
}
