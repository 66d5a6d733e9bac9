//! Run control: what moves the client, where it stops, and what it is told.
//!
//! The recording has 40 frames at four program counters in turn; all but every fourth hold `counter`.

use super::support::Client;
use super::support::made::{self, Made};
use super::support::protocol::hex;
use super::support::{Server, started::eventually};
use super::{path, serve, steps};

const PCS: [u64; 4] = [0x40_1131, 0x40_1134, 0x40_1136, 0x40_1139];
const COUNTER: &str = "4040c0,4";

const STEP: &str = "vCont;s:1;c";
const CONTINUE: &str = "vCont;c";
const DONE: &str = "T05thread:01;";
const BREAK: &str = "T05thread:01;swbreak:;";
const BEGIN: &str = "T05thread:01;replaylog:begin;";
const END: &str = "T05thread:01;replaylog:end;";

/// Where a client stands, as `info threads` shows it.
fn place(client: &mut Client) -> String {
    String::from_utf8(super::support::protocol::from_hex(client.ask_alone("qThreadExtraInfo,1"))).unwrap()
}

/// The frame of which a client sees the registers, told by its program counter, and by the words about it.
fn frame(client: &mut Client) -> u64 {
    let place = place(client);
    let frame: u64 = place.strip_prefix("outside, last at trace frame ").unwrap_or(&place).parse().unwrap();
    let registers = client.ask_alone("g");
    let pc = hex(PCS[frame as usize % 4].to_le_bytes());
    assert_eq!(&registers[16 * 16..][..16], pc, "the program counter at frame {frame}");
    frame
}

/// Moves; where to, and what is told.
fn go(client: &mut Client, packet: &str) -> (u64, String) {
    let stop = client.ask_alone(packet);
    (frame(client), stop)
}

fn went(frame: u64, stop: &str) -> (u64, String) {
    (frame, stop.to_owned())
}

#[test]
fn every_step_is_a_frame_and_the_ends_are_told() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("vCont?"), "vCont;c;C;s;S;r");
    // Before the first move there is nothing before.
    for packet in ["bs", "bc"] {
        assert_eq!(client.ask_alone(packet), BEGIN);
        assert_eq!(place(&mut client), "before the first move");
    }
    for number in 0..40 {
        assert_eq!(go(&mut client, STEP), went(number, DONE));
    }
    for packet in [STEP, "vCont;S05:1;c", CONTINUE, "vCont;C05;c", "vCont;r401139,401140:1;c"] {
        assert_eq!(go(&mut client, packet), went(39, END), "{packet}");
    }
    for number in (0..39).rev() {
        assert_eq!(go(&mut client, "bs"), went(number, DONE));
    }
    // As gdb asks of a server that does not offer vCont.
    assert_eq!(go(&mut client, "s"), went(1, DONE));
    assert_eq!(go(&mut client, "bs"), went(0, DONE));
    for packet in ["bs", "bc"] {
        assert_eq!(go(&mut client, packet), went(0, BEGIN));
    }
    assert_eq!(go(&mut client, CONTINUE), went(39, END));
    assert_eq!(go(&mut client, "bc"), went(0, BEGIN));
}

#[test]
fn a_range_is_left_where_the_program_counter_is_outside() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(go(&mut client, STEP), went(0, DONE));
    assert_eq!(go(&mut client, "vCont;r401131,401139:1;c"), went(3, DONE));
    assert_eq!(go(&mut client, "vCont;r401139,40113a:1;c"), went(4, DONE));
    // The end of a range is not in it.
    assert_eq!(go(&mut client, "vCont;r401131,401134:1;c"), went(5, DONE));
    // A breakpoint comes first; a range of nothing is a step.
    assert_eq!(client.ask_alone("Z0,401136,1"), "OK");
    assert_eq!(go(&mut client, "vCont;r401131,401140:1;c"), went(6, BREAK));
    assert_eq!(go(&mut client, "vCont;r401131,401131:1;c"), went(7, DONE));
}

#[test]
fn breakpoints_stop_at_frames_with_their_program_counter() {
    let server = steps();
    let mut client = server.connect();
    for (set, clear) in [("Z0,401136,1", "z0,401136,1"), ("Z1,401136,1", "z1,401136,1")] {
        client.ask_alone("QTFrame:0");
        client.ask_alone("QTFrame:ffffffff");
        assert_eq!(client.ask_alone(set), "OK");
        for number in (2..40).step_by(4) {
            assert_eq!(go(&mut client, CONTINUE), went(number, BREAK));
        }
        assert_eq!(go(&mut client, CONTINUE), went(39, END));
        for number in (0..10).rev().map(|round| 4 * round + 2) {
            assert_eq!(go(&mut client, "bc"), went(number, BREAK));
        }
        assert_eq!(go(&mut client, "bc"), went(0, BEGIN));
        // A step onto one is a step.
        assert_eq!(go(&mut client, STEP), went(1, DONE));
        assert_eq!(go(&mut client, STEP), went(2, DONE));
        // The nearer of two stops.
        assert_eq!(client.ask_alone("Z0,401134,1"), "OK");
        assert_eq!(go(&mut client, CONTINUE), went(5, BREAK));
        assert_eq!(go(&mut client, "bc"), went(2, BREAK));
        for packet in [clear, "z0,401134,1"] {
            assert_eq!(client.ask_alone(packet), "OK");
        }
        assert_eq!(go(&mut client, CONTINUE), went(39, END));
    }
}

#[test]
fn watchpoints_stop_where_the_recorded_value_differs() {
    let server = steps();
    let mut client = server.connect();
    let values: Vec<Option<String>> = (0..40)
        .map(|number| {
            client.ask_alone(format!("QTFrame:{number:x}"));
            Some(client.ask_alone(format!("m{COUNTER}"))).filter(|value| value.len() == 8)
        })
        .collect();
    assert!(values.iter().any(Option::is_none) && values.iter().flatten().count() > 20);
    // Another value than was recorded last.
    let changes = |way: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
        let mut last = None;
        let mut found = Vec::new();
        for number in way {
            let Some(value) = &values[number as usize] else { continue };
            if last.replace(value).is_some_and(|last| last != value) {
                found.push(number);
            }
        }
        found
    };
    let (forward, backward) = (changes(&mut (0..40)), changes(&mut (0..40).rev()));
    assert!(forward.len() > 5 && forward != backward);
    for (number, name) in [(2, "watch"), (3, "rwatch"), (4, "awatch")] {
        client.ask_alone("QTFrame:0");
        client.ask_alone("QTFrame:ffffffff");
        assert_eq!(client.ask_alone(format!("Z{number},{COUNTER}")), "OK");
        let stop = format!("T05thread:01;{name}:4040c0;");
        for (packet, places, end) in [(CONTINUE, &forward, went(39, END)), ("bc", &backward, went(0, BEGIN))] {
            for place in places {
                assert_eq!(go(&mut client, packet), went(*place, &stop));
            }
            assert_eq!(go(&mut client, packet), end);
        }
        // A step onto a change, too, and together with a breakpoint.
        client.ask_alone(format!("QTFrame:{:x}", forward[0] - 1));
        client.ask_alone("QTFrame:ffffffff");
        assert_eq!(go(&mut client, STEP), went(forward[0], &stop));
        assert_eq!(client.ask_alone(format!("Z0,{:x},1", PCS[forward[1] as usize % 4])), "OK");
        while go(&mut client, CONTINUE).0 != forward[1] {}
        assert_eq!(go(&mut client, "bs").1, DONE);
        assert_eq!(go(&mut client, CONTINUE), went(forward[1], &stop));
        assert_eq!(client.ask_alone(format!("z0,{:x},1", PCS[forward[1] as usize % 4])), "OK");
        assert_eq!(client.ask_alone(format!("z{number},{COUNTER}")), "OK");
    }
    assert_eq!(go(&mut client, CONTINUE), went(39, END));
}

/// What a condition says in the frames of the first program counter: `$rax`, which counts the rounds there.
#[test]
fn conditions_are_tested_in_each_frame() {
    let server = steps();
    let mut client = server.connect();
    let rounds: Vec<u64> = (0..10)
        .map(|round| {
            client.ask_alone(format!("QTFrame:{:x}", 4 * round));
            u64::from_str_radix(&client.ask_alone("g")[..2], 16).unwrap()
        })
        .collect();
    assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
    client.ask_alone("QTFrame:ffffffff");
    let mut stops = |conditions: &str| {
        client.ask_alone("QTFrame:0");
        client.ask_alone("QTFrame:ffffffff");
        assert_eq!(client.ask_alone(format!("Z0,401131,1;{conditions}")), "OK");
        let mut found = Vec::new();
        loop {
            match go(&mut client, CONTINUE) {
                (number, stop) if stop == BREAK => found.push(number),
                (number, stop) => {
                    assert_eq!((number, stop.as_str()), (39, END));
                    break;
                }
            }
        }
        let back: Vec<u64> = std::iter::from_fn(|| Some(go(&mut client, "bc")).filter(|(_, stop)| stop == BREAK))
            .map(|(at, _)| at)
            .collect();
        // Back it goes over frame 0, too.
        let there: Vec<u64> = back.into_iter().rev().filter(|number| *number > 0).collect();
        assert_eq!(there, found);
        found
    };
    // `$rax == 7`, which is round 7; frame 0 is where the client stands.
    assert_eq!(stops("X7,26000022071327"), [28]);
    // `$rax < 3`, as `less_signed`, and two conditions, either of which will do.
    assert_eq!(stops("X7,26000022031427"), [4, 8]);
    assert_eq!(stops("X7,26000022021327X7,26000022091327"), [8, 36]);
    assert_eq!(stops("X7,26000022021327;X7,26000022091327"), [8, 36]);
    // Never; always, in words and without a condition.
    assert_eq!(stops("X3,220027"), [0; 0]);
    let each: Vec<u64> = (4..40).step_by(4).collect();
    assert_eq!(stops("X3,220127"), each);
    assert_eq!(stops(""), each);
    // What cannot be tested is gdb's to say: a variable that no frame holds, no bytecode, a loop, no end.
    for wrong in ["X4,2c002127", "X1,ff", "X3,210000", "X2,2205", "X1,27"] {
        assert_eq!(stops(wrong), each, "{wrong}");
    }
}

#[test]
fn tfind_and_steps_share_one_cursor() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:7"), "F7T2");
    let registers = client.ask_alone("g");
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("g"), registers);
    assert_eq!(go(&mut client, STEP), went(8, DONE));
    assert_eq!(go(&mut client, "bs"), went(7, DONE));
    assert_eq!(client.ask_alone("g"), registers);
    // Outside any frame tfind begins at the first, as it always does.
    assert_eq!(client.ask_alone("QTFrame:pc:401134"), "F1T2");
    // A frame is left by a move, which gdb itself would not ask for.
    assert_eq!(go(&mut client, STEP), went(2, DONE));
}

/// gdb 13.1 to 18.1 would wait for ever after the end of what is recorded came in the middle of a step over a
/// breakpoint, which one thread makes alone.
#[test]
fn the_end_is_told_in_words_where_gdb_steps_over_a_breakpoint() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(go(&mut client, CONTINUE), went(39, END));
    for packet in ["vCont;s:1", "vCont;c:1"] {
        client.send(packet);
        let (console, reply) = client.console_and_reply();
        assert_eq!((console.as_str(), reply.as_str()), ("The recording ends here.\n", "T00thread:01;"));
        assert_eq!(frame(&mut client), 39);
    }
    assert_eq!(go(&mut client, "bs"), went(38, DONE));
    assert_eq!(go(&mut client, "vCont;s:1"), went(39, DONE));
    // LLDB would step on and on.
    client.ask_alone("QThreadSuffixSupported");
    for (packet, words, place) in [
        ("vCont;s:1", "The recording ends here.\n", 39),
        ("vCont;c", "The recording ends here.\n", 39),
        ("bc", "The recording begins here.\n", 0),
    ] {
        client.send(packet);
        assert_eq!(client.console_and_reply(), (words.to_owned(), "T02thread:01;".to_owned()));
        assert_eq!(frame(&mut client), place);
    }
}

#[test]
fn clients_move_independently() {
    let server = steps();
    let mut clients = [server.connect(), server.connect()];
    assert_eq!(clients[0].ask_alone("Z0,401136,1"), "OK");
    assert_eq!(go(&mut clients[1], CONTINUE), went(39, END));
    assert_eq!(go(&mut clients[0], CONTINUE), went(2, BREAK));
    assert_eq!(go(&mut clients[1], "bs"), went(38, DONE));
    assert_eq!(go(&mut clients[0], CONTINUE), went(6, BREAK));
}

#[test]
fn a_recording_without_frames_has_no_place_to_go_to() {
    let (_folder, file) = Made::new(&["R 8", "status 0;tstop::0"]).save("none.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    client.ask_alone("Z0,401131,1");
    client.ask_alone("Z2,1000,8");
    for (packet, stop) in [(STEP, END), (CONTINUE, END), ("bs", BEGIN), ("bc", BEGIN)] {
        assert_eq!(client.ask_alone(packet), stop);
        assert_eq!(place(&mut client), "before the first move");
    }
}

/// Frames of nothing but memory: there is a program counter to stop at all the same, inferred from the tracepoint.
#[test]
fn frames_without_registers_are_walked_too() {
    let server = serve("tfile/02-mem.tf", Some("bin/case"));
    let mut client = server.connect();
    assert_eq!(client.ask_alone(STEP), DONE);
    assert_eq!(place(&mut client), "outside, last at trace frame 0");
    let pc = &client.ask_alone("g")[16 * 16..][..16];
    let address = u64::from_str_radix(pc, 16).unwrap().swap_bytes();
    assert_eq!(client.ask_alone(format!("Z0,{address:x},1")), "OK");
    assert_eq!(client.ask_alone(CONTINUE), BREAK);
    assert_eq!(place(&mut client), "outside, last at trace frame 1");
}

/// A recording in which watched memory never changes, so that all of it must be looked at.
fn unchanging(frames: usize) -> (tempfile::TempDir, String) {
    let mut made = Made::new(&["R 0", "status 0;tstop::0", "tp T1:1000:E:0:0"]);
    for _ in 0..frames {
        made.frame(1, &[made::memory(0x1000, &[7; 16])]);
    }
    made.save("unchanging.tf")
}

#[test]
fn a_long_search_is_told_and_ends_with_an_interrupt() {
    let (_folder, file) = unchanging(150_000);
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    client.send("QTFrame:tdp:7");
    client.console_until_reply("F-1");
    // None of these values ever changes; each is looked for anew.
    for address in 0x1000..0x1008 {
        assert_eq!(client.ask(format!("Z2,{address:x},1")), "OK");
    }
    client.send(CONTINUE);
    let began = std::time::Instant::now();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let asked = std::time::Instant::now();
    client.write("\x03");
    let (console, reply) = client.console_and_reply();
    assert_eq!(reply, "T02thread:01;", "{console}");
    assert!(asked.elapsed().as_millis() < 1000, "{:?}", asked.elapsed());
    assert_eq!(place(&mut client), "before the first move");
    // Left alone it comes to its end, and says meanwhile how far it is.
    client.send(CONTINUE);
    let (console, reply) = client.console_and_reply();
    assert_eq!(reply, END);
    let told =
        console.lines().filter(|line| line.starts_with("still searching: ") && line.ends_with(" of 150000 frames"));
    assert!(began.elapsed().as_secs() < 4 || told.count() > 0, "{console}");
    // And is known from then on.
    let again = std::time::Instant::now();
    assert_eq!(client.ask("bc"), BEGIN);
    assert_eq!(client.ask(CONTINUE), END);
    assert!(again.elapsed().as_millis() < 1000, "{:?}", again.elapsed());
}

/// Nothing is told of places in a recording that is none any more.
#[test]
fn a_recording_that_was_cut_ends_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.tf");
    std::fs::copy(path("tfile/04-step.tf"), &file).unwrap();
    let server = Server::serve(&[file.to_str().unwrap()]);
    let mut client = server.connect();
    assert_eq!(client.ask(STEP), DONE);
    std::fs::File::options().write(true).open(&file).unwrap().set_len(100).unwrap();
    eventually("the cut is seen", || client.ask(STEP).starts_with("E.the recording was cut"));
    let reply = client.ask(CONTINUE);
    assert!(reply.starts_with("E.the recording "), "{reply}");
    assert_eq!(client.ask("T1"), "OK");
}
