//! Nios II recordings of a vendor's simulator: no description, no status, one of them with nothing but frames.

use super::support::{Client, Server};
use super::{bytes, path, serve};

const REGISTERS: usize = 49;
const RA: usize = 31;
const PC: usize = 32;
const LANES: [&str; 2] = ["1", "0"];

fn register(client: &mut Client, number: usize) -> u64 {
    let whole = client.ask_alone("g");
    assert_eq!(whole.len(), 8 * REGISTERS);
    let digits = &whole[8 * number..8 * number + 8];
    assert_eq!(client.ask_alone(format!("p{number:x}")), digits);
    let bytes = super::support::protocol::from_hex(digits);
    u64::from(u32::from_le_bytes(bytes.try_into().unwrap()))
}

fn words(client: &mut Client, address: u64, count: usize) -> Vec<u32> {
    let bytes = client.memory(address, 4 * count);
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// What the notes of these files say that a gdb for Nios II shows.
fn check(server: &Server, program: bool) {
    let mut client = server.connect();
    let description = client.text_object("features", "target.xml");
    assert!(description.contains("<architecture>nios2</architecture>"), "{description}");
    assert!(description.contains("org.gnu.gdb.nios2.cpu"), "{description}");

    // tfind start: calibrate_lane, called from _start+20.
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    assert_eq!(register(&mut client, PC), 0x8024);
    assert_eq!(register(&mut client, RA), 0x8000 + 20);
    assert_eq!(words(&mut client, 0x9060, 4), [8, 24, 40, 56]);
    assert_eq!(client.ask_alone("qTV:1"), "V1");

    // Each search from frame 0; gdb's own reader fails on the first three.
    for (search, found) in [
        ("pc:803c", "F3T2"),
        ("range:803c:8040", "F3T2"),
        ("outside:8034:8038", "F3T2"),
        ("tdp:2", "F1T2"),
        ("tdp:1", "F5T1"),
        ("pc:8024", "F5T1"),
        ("pc:9000", "F-1"),
    ] {
        assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
        assert_eq!(client.ask_alone(format!("QTFrame:{search}")), found, "{search} from frame 0");
    }

    // Four lanes of five frames each.
    for lane in 0..4u64 {
        for (step, pc) in [0x8024, 0x8034, 0x8038, 0x803c, 0x8040].into_iter().enumerate() {
            let number = 5 * lane + step as u64;
            let tracepoint = if step == 0 { 1 } else { 2 };
            assert_eq!(client.ask_alone(format!("QTFrame:{number:x}")), format!("F{number:x}T{tracepoint}"));
            assert_eq!(register(&mut client, PC), pc, "frame {number}");
            let lanes = client.ask_alone("qTV:1");
            assert_eq!(lanes, if step == 0 { format!("V{:x}", lane + 1) } else { "U".to_owned() });
            let word = words(&mut client, 0x9060 + 4 * lane, 1).len();
            assert_eq!(word, usize::from(matches!(step, 0 | 1 | 4)), "the lane's word in frame {number}");
            // lanes_done was collected nowhere, and the program may write to it.
            assert_eq!(client.ask_alone("m9070,4"), "E01", "frame {number}");
            let map = client.text_object("traceframe-info", "");
            assert!(!map.contains("0x9070"), "frame {number}: {map}");
            // limits lies in the program's read-only section.
            let limits = words(&mut client, 0x8050, 1);
            assert_eq!(limits, if program { vec![0x40] } else { Vec::new() }, "frame {number}");
        }
    }
    assert_eq!(client.ask_alone("QTFrame:13"), "F13T2");
    assert_eq!(words(&mut client, 0x906c, 1), [72]);
    assert_eq!(client.ask_alone("QTFrame:14"), "F-1");
}

#[test]
fn with_its_program() {
    let server = serve("nios2/seq.tr", Some("bin/seq.elf"));
    check(&server, true);
    let mut client = server.connect();
    let program = bytes("bin/seq.elf");
    assert_eq!(client.memory(0x8000, 0x60), program[0x1000..0x1060]);
    let variables = client.list("qTfV", "qTsV");
    assert!(variables[0].starts_with(&format!("{}:{}:", LANES[0], LANES[1])), "{variables:?}");
    let status = client.ask_alone("qTStatus");
    assert!(status.starts_with("T0"), "{status}");
    let table = client.monitor("frames range 0..0");
    assert!(table.contains("calibrate_lane") && table.contains("seq.s:22"), "{table}");
    assert!(client.monitor("status").contains("nios2, little-endian, 32-bit addresses"));
}

#[test]
fn with_the_machines_name_only() {
    let server = Server::serve(&[&path("nios2/seq.tr"), "--arch", "nios2"]);
    check(&server, false);
}

#[test]
fn with_nothing_but_frames() {
    let server = Server::serve(&[&path("nios2/seq-bare.tr"), "--arch", "nios2"]);
    check(&server, false);
    let mut client = server.connect();
    assert_eq!(client.list("qTfP", "qTsP"), Vec::<String>::new());
    assert_eq!(client.list("qTfV", "qTsV"), Vec::<String>::new());
    assert_eq!(client.ask_alone("qTStatus"), "T0;tunknown:0");
}

#[test]
fn the_bare_file_with_its_program_needs_no_option() {
    check(&serve("nios2/seq-bare.tr", Some("bin/seq.elf")), true);
}
