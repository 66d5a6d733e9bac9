//! Frames without registers: their program counter is inferred, and told apart from a recorded one.

use super::serve;

#[test]
fn only_the_pc_is_known_and_it_is_said_to_be_inferred() {
    let server = serve("tfile/42-noR.tf", Some("bin/case"));
    let mut client = server.connect();
    for (frame, inferred) in [(0, true), (1, true), (2, false)] {
        assert_eq!(client.ask_alone(format!("QTFrame:{frame}")), format!("F{frame}T2"));
        let registers = client.ask_alone("g");
        let (before, rest) = registers.split_at(2 * 128);
        let (pc, behind) = rest.split_at(16);
        assert_eq!(pc, "3111400000000000", "frame {frame}");
        assert_eq!(client.ask_alone("p10"), pc, "frame {frame}");
        if inferred {
            assert!(before.bytes().chain(behind.bytes()).all(|digit| digit == b'x'), "frame {frame}: {registers}");
            assert_eq!(client.ask_alone("p0"), "xxxxxxxxxxxxxxxx");
        } else {
            assert!(!registers.contains('x'), "frame {frame}: {registers}");
        }
        let status = client.monitor("status");
        let expected = if inferred { "pc: 0x401131, inferred" } else { "pc: 0x401131, recorded" };
        assert!(status.contains(expected), "frame {frame}: {status}");
    }
    let table = client.monitor("frames");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(rows[0].contains("0x401131 inferred") && rows[1].contains("0x401131 inferred"), "{table}");
    assert!(rows[2].contains("0x401131") && !rows[2].contains("inferred"), "{table}");
    // An inferred pc is found like a recorded one.
    client.ask_alone("QTFrame:ffffffff");
    assert_eq!(client.ask_alone("QTFrame:pc:401131"), "F0T2");
    assert_eq!(client.ask_alone("QTFrame:pc:401131"), "F1T2");
}

#[test]
fn outside_after_such_a_frame_gdb_gets_a_whole_set() {
    let server = serve("tfile/42-noR.tf", None);
    let mut client = server.connect();
    client.ask_alone("QTFrame:1");
    client.ask_alone("QTFrame:ffffffff");
    let registers = client.ask_alone("g");
    assert!(!registers.contains('x'), "{registers}");
    assert!(registers[2 * 128..].starts_with("3111400000000000"), "{registers}");
    let status = client.monitor("status");
    assert!(status.contains("outside any frame, last in trace frame 1"), "{status}");
}

#[test]
fn where_nothing_tells_the_pc_it_is_not_guessed() {
    // Two locations: the frames of tracepoint 3 could be from either.
    let server = serve("tfile/06-mloc.tf", Some("bin/case"));
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:1"), "F1T3");
    let registers = client.ask_alone("g");
    assert!(registers.bytes().all(|digit| digit == b'x'), "{registers}");
    let status = client.monitor("status");
    assert!(status.contains("pc: not known"), "{status}");
    assert!(client.monitor("frames range 1..1").contains("unknown"));
}
