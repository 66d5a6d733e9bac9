//! What gdb uploads and saves: definitions, status, the trace buffer. Each is what the file holds.

use super::support::made::{self, Made, lines_of};
use super::support::protocol::from_hex;
use super::support::{Server, data};

/// Every recording of the tests: name, options, bytes.
fn recordings() -> Vec<(String, Vec<String>, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in ["tfile", "nios2"] {
        for entry in std::fs::read_dir(data(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap().to_owned();
            let options = if folder == "nios2" { vec!["--arch".to_owned(), "nios2".to_owned()] } else { Vec::new() };
            found.push((name, options, std::fs::read(path).unwrap()));
        }
    }
    found.sort();
    assert!(found.len() >= 20);
    found
}

fn serve(name: &str, options: &[String]) -> Server {
    let arguments: Vec<&str> = std::iter::once(name).chain(options.iter().map(String::as_str)).collect();
    Server::serve(&arguments)
}

#[test]
fn everything_that_gdb_uploads_is_what_the_files_hold() {
    for (name, options, bytes) in recordings() {
        let server = serve(&name, &options);
        let mut client = server.connect();
        // Twice: the first packet of a list begins it anew.
        for _ in 0..2 {
            assert_eq!(client.list("qTfP", "qTsP"), lines_of(&bytes, "tp "), "tracepoints of {name}");
            assert_eq!(client.list("qTfV", "qTsV"), lines_of(&bytes, "tsv "), "variables of {name}");
        }
        // Behind the end it stays at the end.
        assert_eq!(client.ask_alone("qTsP"), "l");
        assert_eq!(client.ask_alone("qTsV"), "l");
        let status = client.ask_alone("qTStatus");
        assert!(status.starts_with("T0"), "{name}: {status}");
        if let Some(line) = lines_of(&bytes, "status ").first() {
            let (_, fields) = line.split_once(';').unwrap();
            assert_eq!(status, format!("T0;{fields}"), "{name}");
        }
        // Hits and usage, as the file spells them.
        for piece in lines_of(&bytes, "tp V") {
            let fields: Vec<&str> = piece.split(':').collect();
            let expected = format!("V{}:{}", fields[2], fields[3]);
            assert_eq!(client.ask_alone(format!("qTP:{}:{}", fields[0], fields[1])), expected, "{name}");
        }
    }
}

#[test]
fn the_trace_buffer_is_the_files_frame_section() {
    for (name, options, bytes) in recordings() {
        let server = serve(&name, &options);
        let mut client = server.connect();
        // Up to the end mark, or to the last whole frame where the file is cut.
        let section = made::frame_section(&bytes);
        let whole = if name.contains("be-ppc64") {
            section.len() - 4
        } else if name.contains("circular-hole") {
            // Zeros between the frames look like an end mark; behind the true one lie 429 bytes more.
            section.len() - 4 - 429
        } else {
            made::frames(&bytes).iter().map(|(_, blocks)| 6 + blocks.len()).sum()
        };
        for length in [0x7d0usize, 0x1fff, 0xffff_ffff] {
            let mut buffer = Vec::new();
            loop {
                let reply = client.ask_alone(format!("qTBuffer:{:x},{length:x}", buffer.len()));
                if reply == "l" {
                    break;
                }
                let piece = from_hex(reply);
                assert!(!piece.is_empty() && piece.len() <= length);
                buffer.extend(piece);
            }
            assert!(buffer == section[..whole], "{name} in pieces of {length:#x}");
        }
        for beyond in [whole as u64, whole as u64 + 1, u64::MAX] {
            assert_eq!(client.ask_alone(format!("qTBuffer:{beyond:x},10")), "l", "{name}");
        }
        if let Some(last) = whole.checked_sub(1) {
            assert_eq!(client.ask_alone(format!("qTBuffer:{last:x},10")).len(), 2, "{name}");
        }
    }
}

#[test]
fn a_trace_that_was_saved_while_it_ran_does_not_run_any_more() {
    let (_folder, file) = Made::new(&["R 0", "status 1;tnotrun:0;tframes:5;tcreated:5"]).save("running.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let status = server.connect().ask_alone("qTStatus");
    assert!(status.starts_with("T0;"), "{status}");
    assert!(!status.contains("tnotrun"), "it did run: {status}");
    assert!(status.contains(";tframes:5;tcreated:5"), "{status}");
    for field in status.split(';').skip(1) {
        let (name, value) = field.split_once(':').unwrap();
        assert!(!name.is_empty() && !value.is_empty(), "gdb refuses the field {field:?}");
    }
}

#[test]
fn hits_of_what_is_not_defined_are_no_error() {
    // An error would end gdb's tstatus and tsave.
    let server = super::steps();
    let mut client = server.connect();
    for packet in ["qTP:2:401132", "qTP:9:401131", "qTP:2:0", "qTP:", "qTP:2", "qTP:zz:zz", "qTP:-1:401131"] {
        assert_eq!(client.ask_alone(packet), "V0:0", "{packet}");
    }
}

#[test]
fn static_tracepoint_markers_and_instruction_lengths() {
    let server = super::steps();
    let mut client = server.connect();
    assert_eq!(client.list("qTfSTM", "qTsSTM"), Vec::<String>::new());
    assert_eq!(client.ask_alone("qTSTMat:401131"), "l");
    assert_eq!(client.ask_alone("qTMinFTPILen"), "0");
}

#[test]
fn settings_of_a_recorder_are_taken_and_change_nothing() {
    let server = super::steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:7"), "F7T2");
    let (status, registers) = (client.ask_alone("qTStatus"), client.ask_alone("g"));
    for packet in [
        "QTNotes:user:6d65;",
        "QTNotes:notes:68656c6c6f;",
        "QTNotes:tstop:;",
        "QTDisconnected:0",
        "QTDisconnected:1",
        "QTBuffer:circular:0",
        "QTBuffer:circular:1",
        "QTBuffer:size:ffffffff",
        "QTBuffer:size:-1",
    ] {
        assert_eq!(client.ask_alone(packet), "OK", "{packet}");
        assert_eq!(client.ask_alone("qTStatus"), status, "{packet}");
        assert_eq!(client.ask_alone("g"), registers, "{packet}");
        assert_eq!(client.ask_alone("qTBuffer:0,4").len(), 8, "{packet}");
    }
}

#[test]
fn nothing_can_be_recorded_and_gdb_is_told_why() {
    let server = super::steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:7"), "F7T2");
    let registers = client.ask_alone("g");
    for packet in [
        "QTinit",
        "QTDP:1:401131:E:0:0",
        "QTDP:-1:401131:Rff",
        "QTDP:1:401131:E:3:0:X2,2207-",
        "QTDP",
        "QTDPsrc:1:401131:at:0:4:73746570",
        "QTDV:1:0:0:61",
        "QTEnable:1:401131",
        "QTDisable:1:401131",
        "QTro:0,10",
        "QTStart",
        "QTStop",
        "QTSave:2f746d702f78",
    ] {
        let reply = client.ask_alone(packet);
        // `E1…` would be taken for an error in the packet that gdb sent.
        if packet != "QTDP" {
            assert!(reply.starts_with("E.this is a recording"), "{packet}: {reply}");
        }
        assert_eq!(client.ask_alone("g"), registers, "{packet}");
    }
    assert_eq!(client.ask_alone("QTFrame:8"), "F8T2");
}
