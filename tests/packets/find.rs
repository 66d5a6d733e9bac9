//! `QTFrame`: selecting frames.

use super::support::made::{self, Made};
use super::support::{Client, Server};
use super::{bytes, path, serve, steps};

/// What a test knows of a frame.
struct Known {
    tracepoint: i16,
    pc: Option<u64>,
}

/// The frames of a recording of x86-64, read here: its register block begins with 16 registers before `rip`.
fn known(recording: &[u8]) -> Vec<Known> {
    made::frames(recording)
        .into_iter()
        .map(|(tracepoint, blocks)| {
            let registers = blocks.strip_prefix(b"R");
            Known {
                tracepoint,
                pc: registers.map(|bytes| u64::from_le_bytes(bytes[16 * 8..17 * 8].try_into().unwrap())),
            }
        })
        .collect()
}

type Matches = Box<dyn Fn(&Known) -> bool>;

/// Every search from every frame finds the next frame that matches, and keeps the selection where there is none.
fn every_search_from_every_frame(recording: &str) {
    let server = serve(recording, None);
    let mut client = server.connect();
    let frames = known(&bytes(recording));
    assert!(frames.len() >= 10);
    let mut addresses: Vec<u64> = frames.iter().filter_map(|frame| frame.pc).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let (first, last) = (addresses[0], *addresses.last().unwrap());
    let mut searches: Vec<(String, Matches)> = Vec::new();
    for address in addresses.iter().copied().chain([0, first - 1, last + 1, u64::MAX]) {
        searches.push((format!("pc:{address:x}"), Box::new(move |frame| frame.pc == Some(address))));
    }
    for number in [1, 2, 3, 4, -1] {
        let digits = if number < 0 { "ffffffff".to_owned() } else { format!("{number:x}") };
        searches.push((format!("tdp:{digits}"), Box::new(move |frame| frame.tracepoint == number)));
    }
    for (low, high) in [
        (first, last),
        (first, first),
        (last, last),
        (first + 1, last),
        (first, last - 1),
        (0, u64::MAX),
        (0, first - 1),
    ] {
        let inside = move |pc: u64| pc >= low && pc <= high;
        searches.push((format!("range:{low:x}:{high:x}"), Box::new(move |frame| frame.pc.is_some_and(inside))));
        searches
            .push((format!("outside:{low:x}:{high:x}"), Box::new(move |frame| frame.pc.is_some_and(|pc| !inside(pc)))));
    }
    for (search, matches) in &searches {
        // From outside any frame, and from each.
        for start in std::iter::once(None).chain((0..frames.len()).map(Some)) {
            match start {
                None => assert_eq!(client.ask("QTFrame:ffffffff"), "OK"),
                Some(start) => assert_eq!(
                    client.ask(format!("QTFrame:{start:x}")),
                    format!("F{start:x}T{:x}", frames[start].tracepoint)
                ),
            }
            let from = start.map_or(0, |start| start + 1);
            let found = frames.iter().skip(from).position(matches).map(|after| from + after);
            let expected = found.map_or("F-1".to_owned(), |at| format!("F{at:x}T{:x}", frames[at].tracepoint));
            assert_eq!(client.ask_alone(format!("QTFrame:{search}")), expected, "{search} from {start:?}");
            let selected = found.or(start);
            assert_eq!(standing(&mut client), selected, "{search} from {start:?}");
        }
    }
}

/// The selected frame, from what `info threads` shows.
fn standing(client: &mut Client) -> Option<usize> {
    let text = super::support::protocol::from_hex(client.ask("qThreadExtraInfo,1"));
    let text = String::from_utf8(text).unwrap();
    text.strip_prefix("trace frame ").map(|number| number.parse().unwrap())
}

#[test]
fn searches_in_while_stepping_frames() {
    every_search_from_every_frame("tfile/04-step.tf");
}

#[test]
fn searches_among_frames_whose_pc_is_not_known() {
    // Tracepoint 3 collected no registers and has two locations: no search by address may find its frames.
    every_search_from_every_frame("tfile/06-mloc.tf");
}

#[test]
fn the_same_frame_again_and_again() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:6"), "F6T2");
    let registers = client.ask_alone("g");
    for _ in 0..3 {
        assert_eq!(client.ask_alone("QTFrame:6"), "F6T2");
        assert_eq!(client.ask_alone("g"), registers);
    }
    // Leading zeros change nothing.
    assert_eq!(client.ask_alone("QTFrame:0000000000000000000006"), "F6T2");
    assert_eq!(client.ask_alone("QTFrame:27"), "F27T2");
    assert_eq!(client.ask_alone("QTFrame:26"), "F26T2");
}

#[test]
fn a_frame_that_is_not_there_keeps_the_selection() {
    let server = steps();
    let mut client = server.connect();
    for beyond in ["28", "7fffffff", "80000000", "fffffffe", "100000000", "7fffffffffffffff", "ffffffffffffffff"] {
        assert_eq!(client.ask_alone(format!("QTFrame:{beyond}")), "F-1");
        assert_eq!(standing(&mut client), None, "{beyond}");
    }
    assert_eq!(client.ask_alone("QTFrame:5"), "F5T2");
    let registers = client.ask_alone("g");
    for beyond in ["28", "ffffffffffffffff", "pc:0", "tdp:7", "range:0:1", "range:2:1", "outside:0:ffffffffffffffff"] {
        assert_eq!(client.ask_alone(format!("QTFrame:{beyond}")), "F-1");
        assert_eq!(standing(&mut client), Some(5), "{beyond}");
        assert_eq!(client.ask_alone("g"), registers, "{beyond}");
    }
}

#[test]
fn leaving_the_frames() {
    let server = steps();
    let mut client = server.connect();
    for none in ["ffffffff", "-1"] {
        // gdb says it twice.
        for _ in 0..2 {
            assert_eq!(client.ask_alone(format!("QTFrame:{none}")), "OK");
            assert_eq!(standing(&mut client), None);
            assert_eq!(client.ask_alone("qXfer:traceframe-info:read::0,1000"), "E01");
        }
        assert_eq!(client.ask_alone("QTFrame:14"), "F14T2");
        assert_eq!(standing(&mut client), Some(0x14));
    }
    // Searches begin anew, not behind the frame that was left.
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("QTFrame:pc:401131"), "F0T2");
}

#[test]
fn tracepoint_numbers_with_a_sign() {
    let mut made = Made::new(&["R 0"]);
    for tracepoint in [-3, 7, i16::MIN, i16::MAX, -3] {
        made.frame(tracepoint, &[made::variable(1, 1)]);
    }
    let (_folder, file) = made.save("signs.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T-3");
    assert_eq!(client.ask_alone("QTFrame:tdp:-3"), "F4T-3");
    assert_eq!(client.ask_alone("QTFrame:tdp:-3"), "F-1");
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("QTFrame:tdp:fffffffd"), "F0T-3");
    assert_eq!(client.ask_alone("QTFrame:tdp:ffff8000"), "F2T-8000");
    assert_eq!(client.ask_alone("QTFrame:tdp:7fff"), "F3T7fff");
}

#[test]
fn a_recording_without_frames() {
    let (_folder, file) = Made::new(&["R d8", "tp T1:401131:E:0:0"]).save("none.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    for frame in ["0", "1", "pc:401131", "tdp:1", "range:0:ffffffffffffffff", "outside:1:0"] {
        assert_eq!(client.ask_alone(format!("QTFrame:{frame}")), "F-1");
    }
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("?"), "T05thread:01;");
    let registers = client.ask_alone("g");
    assert!(!registers.is_empty() && registers.bytes().all(|digit| digit == b'0'), "{registers}");
    assert_eq!(client.ask_alone("qTBuffer:0,7d0"), "l");
    assert_eq!(client.ask_alone("qTV:1"), "U");
    assert!(client.monitor("frames").contains("no frames"));
}

#[test]
fn outside_any_frame_the_first_pc_is_shown_and_then_the_last_visited_frame() {
    let file = path("tfile/04-step.tf");
    let server = Server::serve(&[&file]);
    let mut client = server.connect();
    let start = client.ask_alone("g");
    let pc = |registers: &str| registers[2 * 128..2 * 136].to_owned();
    assert_eq!(pc(&start), "3111400000000000");
    assert!(start.replace("3111400000000000", "").bytes().all(|digit| digit == b'0'));
    client.ask_alone("QTFrame:2");
    let inside = client.ask_alone("g");
    assert_eq!(pc(&inside), "3611400000000000");
    assert_eq!(inside.len(), start.len());
    client.ask_alone("QTFrame:ffffffff");
    assert_eq!(client.ask_alone("g"), inside);
}
