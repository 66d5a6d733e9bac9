//! `monitor find`, `goto`, `mark` and `marks`.

use super::support::Client;
use super::support::Server;
use super::support::made::{self, Made};
use super::support::protocol::hex;
use super::{serve, steps};

/// The frames that a table shows.
fn rows(table: &str) -> Vec<u64> {
    table.lines().skip(1).filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

/// The one frame that a search shows.
fn found(client: &mut Client, what: &str) -> u64 {
    let answer = client.monitor(&format!("find {what}"));
    let frame = rows(&answer)[0];
    assert!(answer.ends_with(&format!("go there with: tfind {frame}\n")), "{answer}");
    frame
}

fn stand(client: &mut Client, frame: u64) {
    client.ask(format!("QTFrame:{frame:x}"));
    client.ask("QTFrame:ffffffff");
}

#[test]
fn a_search_begins_where_the_client_is() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(found(&mut client, "pc 0x401131"), 0);
    assert_eq!(found(&mut client, "pc 0x401134,0x401136"), 1);
    for begin in ["outside", "inside"] {
        client.ask("QTFrame:14");
        if begin == "outside" {
            client.ask("QTFrame:ffffffff");
        }
        assert_eq!(found(&mut client, "pc 0x401131"), 24);
        assert_eq!(found(&mut client, "pc 0x401131 reverse"), 16);
        assert_eq!(found(&mut client, "tracepoint 2"), 21);
        assert_eq!(found(&mut client, "thread 1 reverse"), 19);
        assert_eq!(found(&mut client, "pc 0x401131 from 21"), 24);
        assert_eq!(found(&mut client, "pc 0x401131 reverse from 9"), 8);
        assert_eq!(found(&mut client, "reg rax == 7"), 28);
        assert_eq!(found(&mut client, "reg $rax==7"), 28);
        assert_eq!(found(&mut client, "reg pc == 0x401136"), 22);
        assert_eq!(found(&mut client, "mem 0x4040c0,4 changes"), 21);
        assert_eq!(found(&mut client, "mem 0x4040c0,4 changes reverse"), 15);
    }
    // Nothing was moved by it.
    assert_eq!(client.ask("QTFrame:pc:401134"), "F15T2");
    assert_eq!(client.monitor("find pc 1"), "no such frame\n");
    assert_eq!(client.monitor("find reg rax == 99999"), "no such frame\n");
    assert!(client.monitor("find mem 0x1000,4 == 1").contains("18 frames on the way did not collect what it takes"));
}

/// Every comparison, against a look at each frame.
#[test]
fn comparisons_hold_where_they_should() {
    let values: [i64; 8] = [0, 1, 5, 255, 256, -1, -5, i64::MIN];
    let mut made = Made::new(&["R 0", "status 0;tstop::0", &format!("tsv 1:0:0:{}", hex("v")), "tp T1:1000:E:0:0"]);
    for value in values {
        made.frame(1, &[made::variable(1, value), made::memory(0x1000, &(value as i16).to_le_bytes())]);
        made.frame(1, &[]);
    }
    let (_folder, file) = made.save("values.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    client.send("QTFrame:tdp:7");
    client.console_until_reply("F-1");
    type Holds = fn(i128, i128) -> bool;
    let comparisons: [(&str, Holds); 6] = [
        ("==", |one, other| one == other),
        ("!=", |one, other| one != other),
        ("<", |one, other| one < other),
        ("<=", |one, other| one <= other),
        (">", |one, other| one > other),
        (">=", |one, other| one >= other),
    ];
    for (sign, holds) in comparisons {
        for wanted in [0_i128, 1, 5, 255, 256, 65535, -1, -5] {
            // Variables have a sign; memory has one where the number does.
            let variable: Vec<u64> =
                (0..8).filter(|at| holds(values[*at].into(), wanted)).map(|at| 2 * at as u64).collect();
            let of_memory = |value: i64| if wanted < 0 { (value as i16).into() } else { (value as u16).into() };
            let memory: Vec<u64> =
                (0..8).filter(|at| holds(of_memory(values[*at]), wanted)).map(|at| 2 * at as u64).collect();
            let answer = client.monitor(&format!("find var v {sign} {wanted} all"));
            assert_eq!(rows(&answer), variable, "v {sign} {wanted}: {answer}");
            let answer = client.monitor(&format!("find mem 0x1000,2{sign}{wanted} all"));
            assert_eq!(rows(&answer), memory, "memory {sign} {wanted}: {answer}");
            let answer = client.monitor(&format!("find mem 0x1000,2 {sign} {wanted} reverse from 16 all"));
            assert!(rows(&answer).iter().rev().eq(&memory), "memory {sign} {wanted}, backward: {answer}");
        }
    }
}

#[test]
fn wrong_searches_say_what_is_wrong() {
    let server = serve("tfile/03-tsv.tf", Some("bin/case"));
    let mut client = server.connect();
    for (words, said) in [
        ("find", "WHAT is one of"),
        ("find colour", "colour cannot be found so"),
        ("find pc xyz", "xyz is no number"),
        ("find pc 9,8", "first address is above"),
        ("find reg nosuch == 1", "there is no register nosuch"),
        ("find reg ymm0 == 1", "there is no register ymm0"),
        ("find reg st0 == 1", "st0 is wider than 64 bits"),
        ("find reg rax", "reg needs a comparison, or `changes`"),
        ("find reg rax =< 1", "=< is no comparison"),
        ("find reg rax == many", "many is no number"),
        ("find mem 0x1000 == 1", "memory needs an address and a length"),
        ("find mem 0x1000,9 == 1", "1 to 8 bytes"),
        ("find mem 0x1000,0 changes", "1 to 8 bytes"),
        ("find var nosuch > 1", "there is no trace state variable $nosuch"),
        ("find code xyz", "no program counter with bytecodes"),
        ("find code 401131:2g", "no program counter with bytecodes"),
        ("find reverse", "what is to be found?"),
        ("find pc 0x401131 from here", "here is no number"),
        ("goto", "where to?"),
        ("goto nowhere", "nowhere is no number"),
        ("goto 999999", "there is no frame 999999: there are 10 frames"),
        ("goto percent 101", "no number from 0 to 100"),
        ("goto percent nan", "no number from 0 to 100"),
        ("goto time 3", "no time of their own"),
        ("goto time soon", "soon is no time in seconds"),
        ("goto mark nosuch", "there is no mark nosuch"),
        ("mark", "a mark has one word"),
        ("mark two words", "a mark has one word"),
        ("mark early", "nothing to mark"),
    ] {
        let answer = client.monitor(words);
        assert!(answer.contains(said), "{words}: {answer}");
    }
}

#[test]
fn goto_moves_outside_a_frame() {
    let server = steps();
    let mut client = server.connect();
    for (place, frame) in
        [("7", 7), ("0x10", 16), ("start", 0), ("end", 39), ("percent 50", 20), ("percent 0%", 0), ("percent 100", 39)]
    {
        let answer = client.monitor(&format!("goto {place}"));
        assert_eq!(rows(&answer), [frame], "{answer}");
        assert!(answer.contains("maintenance flush register-cache"), "{answer}");
        let place = String::from_utf8(super::support::protocol::from_hex(client.ask("qThreadExtraInfo,1"))).unwrap();
        assert_eq!(place, format!("outside, last at trace frame {frame}"));
    }
    // gdb would take what it reads then for the frame that it has selected.
    client.ask("QTFrame:3");
    let before = client.ask("g");
    assert!(client.monitor("goto 7").contains("tfind none"));
    assert_eq!(client.ask("g"), before);
}

#[test]
fn marks_are_shared_and_last() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.monitor("marks"), "no frame is marked\n");
    stand(&mut client, 20);
    assert_eq!(client.monitor("mark here"), "here is trace frame 20\n");
    client.ask("QTFrame:5");
    assert_eq!(client.monitor("mark \x1b[31mred"), "\\u{1b}[31mred is trace frame 5\n");
    drop(client);
    let mut other = server.connect();
    assert_eq!(other.monitor("marks"), "       5  \\u{1b}[31mred\n      20  here\n");
    assert_eq!(rows(&other.monitor("goto mark here")), [20]);
    other.ask("QTFrame:9");
    assert_eq!(other.monitor("mark here"), "here is trace frame 9\n");
    assert!(other.monitor("mark xx").ends_with("is trace frame 9\n"));
    let long = "x".repeat(101);
    assert!(other.monitor(&format!("mark {long}")).contains("names of 100 bytes"));
    for number in 0..1000 {
        other.monitor(&format!("mark m{number}"));
    }
    assert!(other.monitor("mark more").contains("no more than 1000 marks"));
    assert_eq!(other.monitor("mark here"), "here is trace frame 9\n");
}

/// A search through all frames ends soon with what it has found so far, and another client is answered meanwhile. Nothing is
/// said before: what Ctrl-C makes gdb leave must be the last of it.
#[test]
fn a_long_search_holds_nobody_up() {
    let mut made = Made::new(&["R 0", "status 0;tstop::0", "tp T1:1000:E:0:0"]);
    for _ in 0..1_500_000 {
        made.frame(1, &[made::memory(0x1000, &[7; 16])]);
    }
    let (_folder, file) = made.save("long.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    client.send("QTFrame:tdp:7");
    client.console_until_reply("F-1");
    client.send(format!("qRcmd,{}", hex("find mem 0x1000,4 == 8")));
    let mut other = server.connect();
    let asked = std::time::Instant::now();
    assert_eq!(other.ask("QTFrame:5"), "F5T1");
    assert!(asked.elapsed().as_millis() < 1000, "{:?}", asked.elapsed());
    let mut from = 0;
    loop {
        let (console, reply) = client.console_and_reply();
        assert!(asked.elapsed().as_secs() < 100 && reply == "OK" && console.lines().count() == 1, "{console}{reply}");
        let Some(next) = console.trim_end().strip_prefix("no such frame so far, ") else {
            assert_eq!(console, "no such frame\n");
            break;
        };
        let (at, go_on) = next.split_once(" of 1500000; go on with: from ").unwrap();
        assert!(at == go_on && at.parse::<u64>().unwrap() > from, "{console}");
        from = at.parse().unwrap();
        client.send(format!("qRcmd,{}", hex(format!("find mem 0x1000,4 == 8 from {from}"))));
    }
    assert_eq!(client.ask("QTFrame:5"), "F5T1");
}
