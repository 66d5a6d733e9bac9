//! Host I/O: the program under its announced path, for reading, and no other file of the machine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::support::protocol::{hex, unescape};
use super::support::{Client, Server};
use super::{bytes, open_program, path, steps};

const NO_SUCH_FILE: &str = "F-1,02";
const BAD_DESCRIPTOR: &str = "F-1,09";
const TOO_MANY_OPEN: &str = "F-1,18";
const READ_ONLY: &str = "F-1,1e";

fn open(client: &mut Client, path: impl AsRef<[u8]>, flags: &str) -> String {
    client.ask_alone(format!("vFile:open:{},{flags},1b6", hex(path)))
}

/// What `vFile:pread` and `vFile:fstat` return: the bytes behind the count, which must be right.
fn attachment(reply: &[u8]) -> Vec<u8> {
    let semicolon = reply.iter().position(|byte| *byte == b';').unwrap();
    let count = std::str::from_utf8(&reply[1..semicolon]).unwrap();
    let bytes = unescape(&reply[semicolon + 1..]);
    assert_eq!((reply[0], usize::from_str_radix(count, 16).unwrap()), (b'F', bytes.len()));
    bytes
}

fn read(client: &mut Client, descriptor: u32, length: u64, offset: u64) -> Vec<u8> {
    client.send(format!("vFile:pread:{descriptor:x},{length:x},{offset:x}"));
    attachment(&client.receive_alone())
}

#[test]
fn the_program_is_announced_by_its_real_path_in_pieces() {
    let server = steps();
    let mut client = server.connect();
    let real = std::fs::canonicalize(path("bin/case")).unwrap();
    for annex in ["", "1", "a410"] {
        for length in [1, 7, 0x1000] {
            let announced = client.object("exec-file", annex, length).unwrap();
            assert_eq!(announced, real.as_os_str().as_encoded_bytes(), "annex {annex:?}");
        }
    }
}

#[test]
fn a_program_behind_a_symbolic_link_is_announced_by_where_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(path("bin/case"), &link).unwrap();
    let server = Server::serve(&[&path("tfile/04-step.tf"), "--exec", link.to_str().unwrap()]);
    let mut client = server.connect();
    let real = std::fs::canonicalize(path("bin/case")).unwrap();
    assert_eq!(client.text_object("exec-file", ""), real.to_str().unwrap());
    assert_eq!(open(&mut client, link.to_str().unwrap(), "0"), NO_SUCH_FILE);
    let descriptor = open_program(&mut client);
    assert_eq!(read(&mut client, descriptor, 4, 0), b"\x7fELF");
}

/// Names that have to be escaped in a reply, or that are no text at all.
#[test]
fn a_program_of_any_name_is_announced_and_can_be_read() {
    for name in [&b"app#1"[..], b"a$}*#", b"with space;and,commas:", b"\xff\xfe\x80"] {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(OsStr::from_bytes(name));
        std::fs::copy(path("bin/case"), &program).unwrap();
        let recording = path("tfile/04-step.tf");
        let arguments = ["serve", &recording, "--listen", ":0", "--exec"].map(OsStr::new);
        let server = Server::exactly(&[&arguments[..], &[program.as_os_str()]].concat());
        let mut client = server.connect();
        let announced = client.object("exec-file", "", 0x1000).unwrap();
        let real = std::fs::canonicalize(&program).unwrap();
        assert_eq!(announced, real.as_os_str().as_bytes());
        assert_eq!(client.object("exec-file", "", 1).unwrap(), announced);
        assert_eq!(open(&mut client, &announced, "0"), "F00");
        assert_eq!(read(&mut client, 0, 4, 0), b"\x7fELF");
    }
}

#[test]
fn the_whole_program_can_be_read_at_any_offset() {
    let server = steps();
    let mut client = server.connect();
    let program = bytes("bin/case");
    let descriptor = open_program(&mut client);
    for length in [0xfff, 0x4000, 0xffff_ffff] {
        let mut found = Vec::new();
        loop {
            let piece = read(&mut client, descriptor, length, found.len() as u64);
            if piece.is_empty() {
                break;
            }
            found.extend(piece);
        }
        assert!(found == program, "read in pieces of {length:#x}");
    }
    assert_eq!(read(&mut client, descriptor, 7, 3), program[3..10]);
    assert_eq!(read(&mut client, descriptor, 100, program.len() as u64 - 1), program[program.len() - 1..]);
    for offset in [program.len() as u64, u64::from(u32::MAX), u64::MAX] {
        assert_eq!(read(&mut client, descriptor, 100, offset), b"");
    }
    // The length that fstat tells is big-endian, 28 bytes into its 64.
    client.send(format!("vFile:fstat:{descriptor:x}"));
    let stat = attachment(&client.receive_alone());
    assert_eq!(stat.len(), 64);
    assert_eq!(u64::from_be_bytes(stat[28..36].try_into().unwrap()), program.len() as u64);
    // A regular file that nobody may write.
    assert_eq!(u32::from_be_bytes(stat[8..12].try_into().unwrap()), 0o100_444);
    assert_eq!(client.ask_alone(format!("vFile:close:{descriptor:x}")), "F0");
    assert_eq!(client.ask_alone(format!("vFile:close:{descriptor:x}")), BAD_DESCRIPTOR);
    assert_eq!(client.ask_alone(format!("vFile:pread:{descriptor:x},4,0")), BAD_DESCRIPTOR);
    assert_eq!(client.ask_alone(format!("vFile:fstat:{descriptor:x}")), BAD_DESCRIPTOR);
}

#[test]
fn every_other_path_does_not_exist() {
    let server = steps();
    let mut client = server.connect();
    let announced = client.text_object("exec-file", "");
    let folder = announced.strip_suffix("/case").unwrap().to_owned();
    let recording = path("tfile/04-step.tf");
    for other in [
        "",
        "/",
        ".",
        "..",
        "case",
        "just probing",
        "/etc/passwd",
        "/etc/shadow",
        "/proc/self/mem",
        "/proc/self/environ",
        "/dev/zero",
        "/lib64/ld-linux-x86-64.so.2",
        recording.as_str(),
        folder.as_str(),
        format!("{folder}/case.c").as_str(),
        format!("{folder}/../bin/case").as_str(),
        format!("{folder}/./case").as_str(),
        format!("{folder}//case").as_str(),
        format!("/{announced}").as_str(),
        format!("{announced}/").as_str(),
        format!("{announced}/..").as_str(),
        format!("{announced}\0").as_str(),
        format!("{announced}\0.txt").as_str(),
        format!("target:{announced}").as_str(),
        announced.to_uppercase().as_str(),
    ] {
        assert_eq!(open(&mut client, other, "0"), NO_SUCH_FILE, "{other:?}");
        assert_eq!(client.ask_alone(format!("vFile:readlink:{}", hex(other))), NO_SUCH_FILE, "{other:?}");
    }
    for bytes in [&b"\xff\xfe"[..], &[b'/'; 4000]] {
        assert_eq!(open(&mut client, bytes, "0"), NO_SUCH_FILE);
    }
    // In whichever process's view of the file system.
    for process in ["0", "1", "7fffffff"] {
        assert_eq!(client.ask_alone(format!("vFile:setfs:{process}")), "F0");
        assert_eq!(open(&mut client, "/etc/passwd", "0"), NO_SUCH_FILE);
        assert_eq!(open(&mut client, &recording, "0"), NO_SUCH_FILE);
    }
    assert_eq!(open(&mut client, &announced, "0"), "F00");
}

#[test]
fn the_program_cannot_be_opened_for_writing() {
    let server = steps();
    let mut client = server.connect();
    let announced = client.text_object("exec-file", "");
    let before = std::fs::read(&announced).unwrap();
    // Writing, both, append, create, truncate, exclusive, and together.
    for flags in ["1", "2", "8", "200", "400", "800", "9", "a", "601", "602", "e01", "e0b"] {
        assert_eq!(open(&mut client, &announced, flags), READ_ONLY, "flags {flags}");
        assert_eq!(open(&mut client, "/tmp/traceframe-must-not-exist", flags), NO_SUCH_FILE, "flags {flags}");
    }
    assert!(!std::path::Path::new("/tmp/traceframe-must-not-exist").exists());
    let descriptor = open_program(&mut client);
    for packet in [
        format!("vFile:pwrite:{descriptor:x},0,abcd"),
        format!("vFile:unlink:{}", hex(&announced)),
        format!("vFile:unlink:{}", hex("/tmp/traceframe-must-not-exist")),
    ] {
        assert_eq!(client.ask_alone(&packet), "", "{packet}");
    }
    assert_eq!(client.ask_alone(format!("vFile:readlink:{}", hex(&announced))), "F-1,16");
    assert!(std::fs::read(&announced).unwrap() == before);
}

#[test]
fn descriptors_are_limited_and_used_again() {
    let server = steps();
    let mut client = server.connect();
    let own = server.descriptors();
    let announced = client.text_object("exec-file", "");
    let mut opened = std::collections::BTreeSet::new();
    let refused = loop {
        let reply = open(&mut client, &announced, "0");
        match reply.strip_prefix("F").filter(|_| !reply.starts_with("F-")) {
            Some(descriptor) => assert!(opened.insert(descriptor.to_owned()), "{descriptor} was given twice"),
            None => break reply,
        }
        assert!(opened.len() < 10_000, "there is no end to it");
    };
    assert_eq!(refused, TOO_MANY_OPEN);
    assert!(server.descriptors() <= own, "a client's descriptors are none of the process's");
    let closed = opened.first().unwrap().clone();
    assert_eq!(client.ask_alone(format!("vFile:close:{closed}")), "F0");
    assert_eq!(open(&mut client, &announced, "0"), format!("F{closed}"));
    assert_eq!(open(&mut client, &announced, "0"), TOO_MANY_OPEN);
    // Another client has its own.
    let mut other = server.connect();
    assert_eq!(other.ask_alone("vFile:pread:0,4,0"), BAD_DESCRIPTOR);
    assert_eq!(open(&mut other, &announced, "0"), "F00");
}

/// A recording that has a program of its own, which lies beside the user's, under a name that XML cannot hold as it is.
#[test]
fn what_lies_beside_the_program_is_listed_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("a&<\"b.dat");
    std::fs::copy(path("tracedat/uprobe-v7-zstd.dat"), &recording).unwrap();
    let recording = recording.to_str().unwrap();
    let alone = Server::serve(&[recording]);
    let mut client = alone.connect();
    assert!(!client.ask("qSupported:xmlRegisters=i386").contains("libraries"), "nothing lies beside the program");
    let own = client.text_object("exec-file", "");
    assert_eq!(own, format!("{recording}.symbols"));
    assert_eq!(open(&mut client, &own, "0"), "F00");
    let contents = read(&mut client, 0, 0x4000, 0);

    let server = Server::serve(&[recording, "--exec", &path("tracedat/demo")]);
    let mut client = server.connect();
    assert!(client.ask("qSupported:xmlRegisters=i386").contains(";qXfer:libraries-svr4:read+"));
    let named = own.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let library = format!(r#"<library name="{named}" lm="0x1" l_addr="0x0" l_ld="0x0" lmid="0x0"/>"#);
    let list = format!(r#"<library-list-svr4 version="1.0">{library}</library-list-svr4>"#);
    for length in [1, 7, 0x1000] {
        assert_eq!(client.object("libraries-svr4", "", length).unwrap(), list.as_bytes());
    }
    let sections = r#"<section address="0x0"/>"#;
    let plain = client.text_object("libraries", "").replace(sections, "");
    assert_eq!(plain, format!(r#"<library-list><library name="{named}"></library></library-list>"#));
    assert_eq!(client.text_object("exec-file", ""), path("tracedat/demo"));
    assert_eq!(open(&mut client, path("tracedat/demo"), "0"), "F00");
    assert_eq!(open(&mut client, &own, "0"), "F01");
    assert_eq!(read(&mut client, 0, 0x4000, 0), bytes("tracedat/demo")[..0x4000]);
    assert_eq!(read(&mut client, 1, 0x4000, 0)[..40], contents[..40], "the header but for the sections");
    assert_eq!(client.ask_alone("vFile:close:0"), "F0");
    assert_eq!(read(&mut client, 1, 4, 0), b"\x7fELF");
    assert_eq!(open(&mut client, recording, "0"), NO_SUCH_FILE);
}
