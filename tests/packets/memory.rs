//! `m` and `x`: memory, in frames, from the program's read-only parts, and nowhere else.

use super::support::made::{self, Made};
use super::support::protocol::{from_hex, hex, unescape};
use super::support::{Client, Server};
use super::{bytes, serve, steps};

/// `.rodata` of `bin/case`, where it lies in memory and in the file.
const READ_ONLY: (u64, usize, usize) = (0x40_2000, 0x2000, 0x1a);

/// The same memory with `m` and with `x`.
fn read_both_ways(client: &mut Client, address: u64, length: u64) -> Option<Vec<u8>> {
    let text = client.ask_alone(format!("m{address:x},{length:x}"));
    client.send(format!("x{address:x},{length:x}"));
    let binary = client.receive_alone();
    if text.starts_with('E') {
        assert_eq!(binary, text.as_bytes(), "x and m of {address:#x}");
        return None;
    }
    let found = from_hex(text);
    assert_eq!(unescape(binary.strip_prefix(b"b").unwrap()), found, "x and m of {address:#x}");
    Some(found)
}

/// A server of one frame with these pieces of memory.
fn with_memory(pieces: &[(u64, &[u8])]) -> (tempfile::TempDir, Server) {
    let mut made = Made::new(&["R 0"]);
    let blocks: Vec<Vec<u8>> = pieces.iter().map(|(address, bytes)| made::memory(*address, bytes)).collect();
    made.frame(1, &blocks);
    let (folder, file) = made.save("memory.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    (folder, server)
}

fn in_frame(server: &Server) -> Client {
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    client
}

#[test]
fn the_ends_of_a_block() {
    let (_folder, server) = with_memory(&[(0x1000, b"abcdef")]);
    let mut client = in_frame(&server);
    for (address, length, expected) in [
        (0x1000, 6, Some(&b"abcdef"[..])),
        (0x1000, 1, Some(b"a")),
        (0x1005, 1, Some(b"f")),
        (0x1004, 2, Some(b"ef")),
        // Short where it ends: gdb asks for the rest and learns that it is not there.
        (0x1004, 3, Some(b"ef")),
        (0x1005, 0x1000, Some(b"f")),
        (0x1006, 1, None),
        (0xfff, 1, None),
        (0xfff, 2, None),
        (0, 0xffff, None),
        (u64::MAX, 1, None),
        (0x1_0000_0000_1000, 1, None),
    ] {
        let found = read_both_ways(&mut client, address, length);
        assert_eq!(found.as_deref(), expected, "{length:#x} bytes at {address:#x}");
    }
    assert_eq!(read_both_ways(&mut client, 0x1000, 0), Some(Vec::new()));
}

#[test]
fn lengths_that_no_buffer_could_hold() {
    let (_folder, server) = with_memory(&[(0x1000, &[7; 0xffff]), (0x1_0fff, &[8; 0xffff])]);
    let mut client = in_frame(&server);
    let before = server.peak_memory();
    for length in ["8000", "ffff", "ffffffff", "7fffffffffffffff", "ffffffffffffffff"] {
        let found = from_hex(client.ask_alone(format!("m1000,{length}")));
        assert!(!found.is_empty() && found.len() <= 0x2000, "{} bytes", found.len());
        assert!(found.iter().all(|byte| *byte == 7));
    }
    // The pieces go on where they ended, over the border between the blocks.
    let whole = client.memory(0x1000, 0x2_0000);
    assert_eq!(whole, [[7; 0xffff], [8; 0xffff]].concat());
    assert!(server.peak_memory() - before < 8 << 20, "memory was taken by a number in a packet");
}

#[test]
fn the_top_of_the_address_space() {
    let (_folder, server) = with_memory(&[(u64::MAX - 15, b"0123456789abcdef"), (0, b"bottom")]);
    let mut client = in_frame(&server);
    assert_eq!(read_both_ways(&mut client, u64::MAX, 1).unwrap(), b"f");
    // Nothing wraps round to address 0.
    assert_eq!(read_both_ways(&mut client, u64::MAX, 2).unwrap(), b"f");
    assert_eq!(read_both_ways(&mut client, u64::MAX - 7, 0x8000).unwrap(), b"89abcdef");
    assert_eq!(read_both_ways(&mut client, u64::MAX - 15, u64::MAX).unwrap(), b"0123456789abcdef");
    assert_eq!(read_both_ways(&mut client, u64::MAX - 16, 4), None);
    assert_eq!(read_both_ways(&mut client, 0, 0x8000).unwrap(), b"bottom");
}

#[test]
fn every_byte_through_the_escapes_of_x() {
    let every: Vec<u8> = (0..=255).collect();
    let special = b"$#}*".repeat(0x400);
    let (_folder, server) = with_memory(&[(0x1000, &every), (0x2000, &special)]);
    let mut client = in_frame(&server);
    assert_eq!(read_both_ways(&mut client, 0x1000, 0x100).unwrap(), every);
    assert_eq!(read_both_ways(&mut client, 0x2000, 0x1000).unwrap(), special);
    client.send("x1023,1");
    assert_eq!(client.receive_alone(), b"b}\x03");
}

#[test]
fn read_only_memory_of_the_program_in_frames_and_outside() {
    let server = steps();
    let mut client = server.connect();
    let program = bytes("bin/case");
    let (address, offset, size) = READ_ONLY;
    for frame in [None, Some("QTFrame:0"), Some("QTFrame:1"), Some("QTFrame:ffffffff")] {
        if let Some(frame) = frame {
            client.ask_alone(frame);
        }
        assert_eq!(read_both_ways(&mut client, address, size as u64).unwrap(), program[offset..offset + size]);
        // Code, too, and nothing that the program could write to.
        assert_eq!(read_both_ways(&mut client, 0x40_1131, 16).unwrap(), program[0x1131..0x1141], "{frame:?}");
        assert_eq!(read_both_ways(&mut client, 0x40_404c, 4), None, "initialised data is no constant ({frame:?})");
    }
    // In a frame that did not collect it, a variable is not known even if another frame has it.
    client.ask_alone("QTFrame:0");
    assert_eq!(read_both_ways(&mut client, 0x40_40c0, 4), None);
    client.ask_alone("QTFrame:1");
    assert_eq!(read_both_ways(&mut client, 0x40_40c0, 4).unwrap().len(), 4);
    // Without the program there is nothing.
    let server = serve("tfile/04-step.tf", None);
    let mut client = server.connect();
    assert_eq!(read_both_ways(&mut client, address, 4), None);
}

#[test]
fn what_a_frame_recorded_comes_before_what_the_program_holds() {
    let (address, offset, _) = READ_ONLY;
    let mut made = Made::new(&["R 0"]);
    made.frame(1, &[made::memory(address + 8, b"WXYZ"), made::memory(address - 2, b"ab")]);
    let (_folder, file) = made.save("over.tf");
    let server = Server::serve(&[&file, "--exec", &super::path("bin/case")]);
    let mut client = in_frame(&server);
    let program = bytes("bin/case");
    let found = read_both_ways(&mut client, address - 2, 16).unwrap();
    let expected = [b"ab", &program[offset..offset + 8], b"WXYZ", &program[offset + 12..offset + 14]].concat();
    assert_eq!(hex(found), hex(expected));
}
