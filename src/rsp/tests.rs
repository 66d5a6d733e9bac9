//! A conversation over a recording that is not indexed to its end: what waits, what does not, and what ends the wait.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::index::fake::{Fake, Shown};
use crate::session::Programs;
use crate::trace::{Frame, Instructions, Interruption, InterruptionKind, Location};

/// Frames before which the walk over the recording stops until it is told to go on.
const INDEXED: u64 = 512;

/// A search that only the whole index can answer.
const SEARCH: &str = "QTFrame:tdp:9";

/// A recording of 2000 frames of tracepoint 1, and the last of tracepoint 9.
fn stalled() -> (Stub, Arc<Replay>, Sender<()>) {
    let (resume, stalled) = channel();
    let mut fake = Fake::new(2000, |number| Frame::empty(Location(number), if number == 1999 { 9 } else { 1 }));
    fake.stall = Some((INDEXED, Mutex::new(stalled)));
    let replay = Arc::new(Replay::new(Arc::new(fake), Programs::default()).unwrap());
    until(|| replay.index().progress().frames == INDEXED);
    (Stub::new(replay.clone()), replay, resume)
}

fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn packets(all: &[&str]) -> Vec<u8> {
    all.iter().flat_map(|data| wire::encode(data.as_bytes())).collect()
}

/// What is to be sent, as text.
fn output(stub: &mut Stub) -> String {
    stub.take_output().escape_ascii().to_string()
}

fn without_acknowledgement(stub: &mut Stub) {
    assert_eq!(stub.receive(&packets(&["QStartNoAckMode"])), Activity::Idle);
    assert_eq!(output(stub), "+$OK#9a");
}

#[test]
fn what_is_indexed_is_answered_at_once() {
    let (mut stub, _replay, _resume) = stalled();
    without_acknowledgement(&mut stub);
    for (packet, reply) in [
        ("QTFrame:0", "F0T1"),
        ("QTFrame:tdp:1", "F1T1"),
        ("QTFrame:1ff", "F1ffT1"),
        ("QTFrame:range:2:1", "F-1"),
        ("qTP:1:0", "V0:0"),
        ("T1", "OK"),
    ] {
        assert_eq!(stub.receive(&packets(&[packet])), Activity::Idle, "{packet}");
        assert_eq!(output(&mut stub), packets(&[reply]).escape_ascii().to_string(), "{packet}");
    }
    // Behind the last frame that is indexed there may be another; how many there are, and how they end, is not known.
    for packet in ["QTFrame:tdp:1", "QTFrame:200", "QTFrame:ffffffffffffffff", "qTBuffer:0,10"] {
        assert_eq!(stub.receive(&packets(&[packet])), Activity::Indexing, "{packet}");
        assert_eq!(stub.receive(b"\x03"), Activity::Idle);
        assert_eq!(output(&mut stub), packets(&["E.interrupted"]).escape_ascii().to_string(), "{packet}");
    }
}

#[test]
fn packets_behind_a_search_wait_for_it_and_are_answered_in_order() {
    let (mut stub, replay, resume) = stalled();
    without_acknowledgement(&mut stub);
    let bad = [packets(&[SEARCH, "T1"]), b"$T1#00".to_vec(), packets(&["qTV:1", "QTFrame:0"])].concat();
    assert_eq!(stub.receive(&bad), Activity::Indexing);
    assert_eq!(output(&mut stub), "");
    assert_eq!(stub.run(), Activity::Indexing);
    assert_eq!(output(&mut stub), "");
    resume.send(()).unwrap();
    replay.index().wait();
    assert_eq!(stub.run(), Activity::Idle);
    let expected = [packets(&["F7cfT9", "OK", "E.wrong checksum", "U", "F0T1"])].concat();
    assert_eq!(output(&mut stub), expected.escape_ascii().to_string());
}

#[test]
fn the_user_is_told_only_while_a_reply_is_awaited() {
    let (mut stub, replay, resume) = stalled();
    without_acknowledgement(&mut stub);
    stub.tell_progress();
    assert_eq!(output(&mut stub), "");
    stub.receive(&packets(&[SEARCH]));
    stub.tell_progress();
    let told = packets(&[&format!("O{}", hex::encode("still indexing: 0 %, 512 frames\n"))]);
    assert_eq!(output(&mut stub), told.escape_ascii().to_string());
    resume.send(()).unwrap();
    replay.index().wait();
    stub.run();
    assert!(output(&mut stub).starts_with("$F7cfT9#"));
    stub.tell_progress();
    assert_eq!(output(&mut stub), "");
}

#[test]
fn an_interrupt_gives_up_one_search() {
    let (mut stub, _replay, _resume) = stalled();
    without_acknowledgement(&mut stub);
    stub.receive(&packets(&["QTFrame:5"]));
    output(&mut stub);
    assert_eq!(stub.receive(&packets(&[SEARCH])), Activity::Indexing);
    assert_eq!(stub.receive(b"\x03"), Activity::Idle);
    assert_eq!(output(&mut stub), packets(&["E.interrupted"]).escape_ascii().to_string());
    // The selection is as it was, and a second interrupt has nothing to give up.
    stub.receive(b"\x03");
    assert_eq!(output(&mut stub), "");
    stub.receive(&packets(&["qThreadExtraInfo,1"]));
    assert_eq!(output(&mut stub), packets(&[&hex::encode("trace frame 5")]).escape_ascii().to_string());
    // Of two that wait, each needs its own.
    assert_eq!(stub.receive(&packets(&[SEARCH, SEARCH, "T1"])), Activity::Indexing);
    assert_eq!(stub.receive(b"\x03"), Activity::Indexing);
    assert_eq!(output(&mut stub), packets(&["E.interrupted"]).escape_ascii().to_string());
    assert_eq!(stub.receive(b"\x03"), Activity::Idle);
    assert_eq!(output(&mut stub), packets(&["E.interrupted", "OK"]).escape_ascii().to_string());
}

/// A whole move, to its end: what was answered.
fn moved(stub: &mut Stub, packet: &str) -> String {
    stub.receive(&packets(&[packet]));
    while stub.run() == Activity::Busy {}
    output(stub)
}

#[test]
fn an_interrupt_between_two_moves_ends_the_next_where_it_begins() {
    let (mut stub, _replay, resume) = stalled();
    resume.send(()).unwrap();
    without_acknowledgement(&mut stub);
    let place = |stub: &mut Stub| moved(stub, "qThreadExtraInfo,1");
    moved(&mut stub, "vCont;s:1");
    let before = place(&mut stub);
    moved(&mut stub, "vCont;s:1");
    let after = place(&mut stub);
    assert_ne!(before, after, "a step is seen");
    // It comes among what gdb asks before it goes on, which is answered as ever.
    moved(&mut stub, "vCont;s:1");
    let stood = place(&mut stub);
    assert_eq!(stub.receive(b"\x03"), Activity::Idle);
    assert_eq!(output(&mut stub), "", "nobody waits for an answer");
    assert_eq!(place(&mut stub), stood);
    assert!(moved(&mut stub, "vCont;c").starts_with("$T02"));
    assert_eq!(place(&mut stub), stood);
    // It counts once.
    assert!(!moved(&mut stub, "vCont;c").starts_with("$T02"));
    // A move that waits behind others is meant, too.
    let many = vec!["qTV:1"; 100_000];
    assert_eq!(stub.receive(&packets(&[many.as_slice(), &["bc"]].concat())), Activity::Busy);
    stub.receive(b"\x03");
    let mut replies = String::new();
    while stub.run() == Activity::Busy {
        replies = output(&mut stub);
    }
    replies += &output(&mut stub);
    assert!(replies.contains("$T02"), "{}", &replies[replies.len().saturating_sub(200)..]);
}

#[test]
fn an_interrupt_that_nothing_follows_is_forgotten() {
    let (mut stub, _replay, resume) = stalled();
    resume.send(()).unwrap();
    without_acknowledgement(&mut stub);
    // Somebody reads what the stop shows before they go on.
    moved(&mut stub, "vCont;s:1");
    stub.receive(b"\x03");
    std::thread::sleep(BETWEEN_MOVES);
    assert!(!moved(&mut stub, "vCont;s:1").starts_with("$T02"));
}

#[test]
fn a_nack_while_a_reply_is_awaited_brings_no_old_reply() {
    let (mut stub, replay, resume) = stalled();
    stub.receive(&packets(&["T1"]));
    assert_eq!(output(&mut stub), "+$OK#9a");
    assert_eq!(stub.receive(&packets(&[SEARCH])), Activity::Indexing);
    assert_eq!(output(&mut stub), "+");
    // The client would take it for the reply to its search.
    stub.receive(b"---");
    assert_eq!(output(&mut stub), "");
    resume.send(()).unwrap();
    replay.index().wait();
    stub.run();
    let reply = packets(&["F7cfT9"]).escape_ascii().to_string();
    assert_eq!(output(&mut stub), reply);
    stub.receive(b"-");
    assert_eq!(output(&mut stub), reply);
    // Before it was sent it cannot have been lost; after it was, several `-` at once ask for one.
    stub.receive(&[&packets(&["T1"])[..], b"----"].concat());
    assert_eq!(output(&mut stub), "+$OK#9a");
    stub.receive(b"----");
    assert_eq!(output(&mut stub), "$OK#9a");
}

#[test]
fn whatever_waits_is_bounded() {
    for (acknowledge, flood) in
        [(false, &b"$#00"[..]), (false, b"$T1#85"), (false, b"$T1#00"), (true, b"$T1#00"), (true, b"$#00")]
    {
        let (mut stub, replay, resume) = stalled();
        if !acknowledge {
            without_acknowledgement(&mut stub);
        }
        stub.receive(&packets(&[SEARCH]));
        let mut waiting = 0;
        while !stub.is_crowded() {
            assert_eq!(stub.receive(flood), Activity::Indexing);
            stub.take_output();
            waiting += 1;
            assert!(waiting < 10_000, "{} is kept without bound", flood.escape_ascii());
        }
        resume.send(()).unwrap();
        replay.index().wait();
        // In turns, as many as it takes.
        until(|| {
            stub.take_output();
            stub.run() != Activity::Busy
        });
        assert_eq!(stub.activity, Activity::Idle);
        assert!(!stub.is_crowded() && stub.waiting_bytes == 0);
    }
}

#[test]
fn a_goodbye_waits_its_turn() {
    let (mut stub, replay, resume) = stalled();
    without_acknowledgement(&mut stub);
    assert_eq!(stub.receive(&packets(&[SEARCH, "D", "T1"])), Activity::Indexing);
    assert_eq!(output(&mut stub), "");
    resume.send(()).unwrap();
    replay.index().wait();
    assert_eq!(stub.run(), Activity::Closed);
    assert_eq!(output(&mut stub), packets(&["F7cfT9", "OK"]).escape_ascii().to_string());
    assert_eq!(stub.run(), Activity::Closed);
}

#[test]
fn a_turn_ends_before_its_replies_fill_the_memory() {
    let (mut stub, _replay, resume) = stalled();
    drop(resume);
    let questions = 2000;
    let monitor = format!("qRcmd,{}", hex::encode("status"));
    let mut activity = stub.receive(&packets(&vec![monitor.as_str(); questions]));
    let mut answered = 0;
    let mut turns = 0;
    loop {
        let turn = stub.take_output();
        assert!(turn.len() < 2 * TURN_OUTPUT, "{} bytes", turn.len());
        answered += wire::split(&turn).len();
        turns += 1;
        if activity != Activity::Busy {
            break;
        }
        activity = stub.run();
    }
    assert_eq!(activity, Activity::Idle);
    assert_eq!(answered, questions, "none is lost");
    assert!(turns > 10, "{turns}");
}

/// Two instructions, at 0x10 and 0x12.
fn run(location: u64) -> Shown {
    let location = Location(location);
    Shown::Instructions(Instructions { location, tracepoint: 1, thread: 1, start: 16, beginnings: 3 })
}

/// What happened between instructions.
fn between(at: u64, kind: InterruptionKind) -> Shown {
    Shown::Interruption(Interruption { thread: 1, at, kind })
}

fn gap(at: u64) -> Shown {
    between(at, InterruptionKind::Gap("lost".to_owned()))
}

/// A conversation over a recording of so many items, which is indexed.
fn over(items: u64, shown: impl Fn(u64) -> Shown + Send + Sync + 'static) -> Stub {
    let replay = Arc::new(Replay::new(Arc::new(Fake::of_items(items, shown)), Programs::default()).unwrap());
    replay.index().wait();
    let mut stub = Stub::new(replay);
    without_acknowledgement(&mut stub);
    stub
}

/// What a monitor command answers.
fn monitor(stub: &mut Stub, command: &str) -> String {
    stub.receive(&packets(&[&format!("qRcmd,{}", hex::encode(command))]));
    let reply = output(stub);
    String::from_utf8(hex::decode(reply.split(['$', '#']).nth(1).unwrap()).unwrap()).unwrap()
}

#[test]
fn all_that_lies_before_one_instruction_is_listed() {
    let exception = |name: &str| InterruptionKind::Exception(name.to_owned());
    let mut stub = over(5, move |number| match number {
        0 => run(0),
        1 => between(7, exception("call")),
        2 => gap(8),
        3 => between(9, exception("IRQ")),
        _ => run(2),
    });
    let around = "between frame 1 at 0x12 and frame 2 at 0x10";
    let expected = format!("exception: call (byte 0x7), {around}\nexception: IRQ (byte 0x9), {around}\n");
    assert_eq!(monitor(&mut stub, "exceptions"), expected);
    let expected = format!("gap: nobody knows what was executed {around}: lost (byte 0x8)\n");
    assert_eq!(monitor(&mut stub, "gaps"), expected);
}

#[test]
fn a_list_of_gaps_that_is_cut_short_says_so() {
    for ends in [60, 61] {
        // Before an instruction, and behind all.
        let mut stub =
            over(ends + 1, move |number| if number == 0 || number == 61 { run(number) } else { gap(number) });
        let listed = monitor(&mut stub, "gaps");
        assert_eq!(listed.lines().filter(|line| line.starts_with("gap: ")).count(), 50, "{listed}");
        assert!(listed.ends_with("\n… there may be more here\n"), "{listed}");
    }
}

/// The last gap has nothing behind it, and is told all the same: in lists, and where a move ends before it.
#[test]
fn a_gap_behind_all_instructions_is_told() {
    let mut stub = over(2, |number| if number == 0 { run(0) } else { gap(8) });
    let expected = "gap: nobody knows what was executed between frame 1 at 0x12 and nothing: lost (byte 0x8)\n";
    assert_eq!(monitor(&mut stub, "gaps"), expected);
    let replies = moved(&mut stub, "vCont;c");
    let told = format!("$O{}#", hex::encode(expected));
    assert!(replies.contains(&told) && replies.contains("replaylog:end"), "{replies}");
    // Backward there is nothing to be told.
    let replies = moved(&mut stub, "bc");
    assert!(!replies.contains("$O") && replies.contains("replaylog:begin"), "{replies}");
}

#[test]
fn of_gaps_nothing_is_told_where_their_signal_is_passed() {
    let mut stub = over(3, |number| if number == 1 { gap(8) } else { run(number) });
    for (signals, is_told) in [("e;14;17", true), ("e;1d;14", false), ("", true), ("1d", false)] {
        stub.receive(&packets(&[&format!("QPassSignals:{signals}")]));
        assert_eq!(output(&mut stub), "$OK#9a");
        for packet in ["vCont;c", "bc"] {
            let replies = moved(&mut stub, packet);
            assert_eq!(replies.contains("$O") && replies.contains("$T1d"), is_told, "{signals}: {packet}: {replies}");
            assert!(replies.contains("replaylog:") != is_told, "{replies}");
            if is_told {
                assert!(moved(&mut stub, packet).contains("replaylog:"));
            }
        }
    }
    // What is no list leaves it as it was.
    stub.receive(&packets(&["QPassSignals:1x"]));
    assert!(output(&mut stub).starts_with("$E."));
    assert!(!moved(&mut stub, "vCont;c").contains("$T1d"));
}
