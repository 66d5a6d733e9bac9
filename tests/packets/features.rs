//! `qSupported`, and what else clients ask while connecting.

use super::steps;
use super::support::made::Made;
use super::support::{Client, Server};

const ALWAYS: [&str; 8] = [
    "PacketSize=4000",
    "QStartNoAckMode+",
    "tracenz+",
    "qXfer:traceframe-info:read+",
    "qXfer:statictrace:read+",
    "qXfer:features:read+",
    "qXfer:auxv:read+",
    "DisconnectedTracing+",
];

fn features(client: &mut Client, request: &str) -> Vec<String> {
    client.ask_alone(request).split(';').map(str::to_owned).collect()
}

#[test]
fn what_is_announced() {
    let server = steps();
    let mut client = server.connect();
    let found = features(
        &mut client,
        "qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;vfork-events+;exec-events+;\
         vContSupported+;QThreadEvents+;no-resumed+;memory-tagging+;xmlRegisters=i386",
    );
    for feature in ALWAYS.iter().chain(&[
        "qXfer:exec-file:read+",
        "QTBuffer:size+",
        "binary-upload+",
        "ReverseStep+",
        "ReverseContinue+",
    ]) {
        assert!(found.iter().any(|found| found == feature), "{feature} is missing in {found:?}");
    }
    // gdb would number processes, or wait for forks.
    for name in ["multiprocess", "fork-events", "vfork-events", "exec-events", "QNonStop"] {
        assert!(!found.iter().any(|found| found.starts_with(name)), "{name} is announced in {found:?}");
    }
    let mut names: Vec<&str> = found.iter().map(|feature| feature.trim_end_matches('+')).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "a feature is announced twice: {found:?}");
}

#[test]
fn every_way_to_ask_gets_the_same_answer() {
    let server = steps();
    let mut client = server.connect();
    let usual = features(&mut client, "qSupported:swbreak+");
    for request in [
        "qSupported",
        "qSupported:",
        "qSupported:;",
        "qSupported:a;;b",
        "qSupported:swbreak+;",
        "qSupported:;swbreak+",
        "qSupported:multiprocess+",
        "qSupported:multiprocess-",
        "qSupported:multiprocess?",
        "qSupported:xmlRegisters=i386,arm;qXfer:features:read+",
        "qSupported:=;+;-;?",
        "qSupported:swbreak+;swbreak+;swbreak+",
    ] {
        assert_eq!(features(&mut client, request), usual, "{request}");
        // Threads are numbered without processes whatever the client says.
        assert_eq!(client.ask_alone("qfThreadInfo"), "m01", "{request}");
        assert_eq!(client.ask_alone("?"), "T05thread:01;", "{request}");
    }
    let long = format!("qSupported:{}", "feature+;".repeat(1800));
    assert_eq!(features(&mut client, &long), usual);
}

#[test]
fn a_program_is_announced_only_where_there_is_one() {
    let server = super::serve("tfile/04-step.tf", None);
    let mut client = server.connect();
    let found = features(&mut client, "qSupported:swbreak+");
    for feature in ALWAYS {
        assert!(found.iter().any(|found| found == feature), "{feature} is missing in {found:?}");
    }
    assert!(!found.iter().any(|found| found.starts_with("qXfer:exec-file")), "{found:?}");
    assert_eq!(client.ask_alone("qXfer:exec-file:read::0,100"), "");
    assert_eq!(client.ask_alone("vFile:setfs:0"), "");
    assert_eq!(client.ask_alone("vFile:open:2f,0,0"), "");
}

#[test]
fn no_description_is_announced_where_none_is_known() {
    let server = super::serve("nios2/seq-bare.tr", None);
    let mut client = server.connect();
    let found = features(&mut client, "qSupported:swbreak+");
    assert!(!found.iter().any(|found| found.starts_with("qXfer:features")), "{found:?}");
    assert!(found.iter().any(|found| found == "qXfer:traceframe-info:read+"), "{found:?}");
    assert_eq!(client.ask_alone("qXfer:features:read:target.xml:0,100"), "");
}

#[test]
fn threads() {
    let server = steps();
    let mut client = server.connect();
    let stop = client.ask_alone("?");
    let listed = client.list("qfThreadInfo", "qsThreadInfo");
    assert_eq!(listed.len(), 1);
    let threads: Vec<&str> = listed[0].strip_prefix('m').unwrap().split(',').collect();
    let stopped = stop.strip_prefix("T05thread:").and_then(|rest| rest.strip_suffix(';')).unwrap();
    assert!(threads.contains(&stopped), "{stop} names a thread that {listed:?} does not");
    for thread in &threads {
        assert_eq!(client.ask_alone(format!("T{thread}")), "OK");
        assert_eq!(client.ask_alone(format!("Hg{thread}")), "OK");
    }
    // 0 is any thread.
    assert_eq!(client.ask_alone("Hg0"), "OK");
    assert_eq!(client.ask_alone("Hc0"), "OK");
    assert_eq!(client.ask_alone("qAttached"), "1");
    // What `info threads` shows tells where the client stands.
    let about = |client: &mut Client| {
        let reply = client.ask_alone(format!("qThreadExtraInfo,{stopped}"));
        String::from_utf8(super::support::protocol::from_hex(reply)).unwrap()
    };
    assert_eq!(about(&mut client), "before the first move");
    assert_eq!(client.ask_alone("QTFrame:3"), "F3T2");
    assert_eq!(about(&mut client), "trace frame 3");
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(about(&mut client), "outside, last at trace frame 3");
    assert_eq!(client.ask_alone("?"), stop);
}

#[test]
fn symbols_are_not_asked_for() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("qSymbol::"), "OK");
    assert_eq!(client.ask_alone("qSymbol:401126:73746570"), "OK");
}

#[test]
fn only_a_program_that_was_moved_has_offsets() {
    assert_eq!(steps().connect().ask_alone("qOffsets"), "");
    let server = super::serve("tfile/17-pie.tf", Some("bin/casepie"));
    assert_eq!(server.connect().ask_alone("qOffsets"), "TextSeg=555555554000");
    assert_eq!(super::serve("tfile/17-pie.tf", None).connect().ask_alone("qOffsets"), "");
    // Nor one that nothing places; of its memory nothing is shown.
    let server = super::serve("tfile/04-step.tf", Some("bin/casepie"));
    let mut client = server.connect();
    assert_eq!(client.ask_alone("qOffsets"), "");
    assert_eq!(client.ask_alone("m401131,4"), "E01");
    assert_eq!(client.ask_alone("m1131,4"), "E01");
}

#[test]
fn the_description_is_the_recordings_whatever_the_pieces() {
    let server = super::serve("tfile/15-i386.tf", Some("bin/case32"));
    let mut client = server.connect();
    let recorded: String = super::support::made::lines_of(&super::bytes("tfile/15-i386.tf"), "tdesc ")
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    let whole = client.text_object("features", "target.xml");
    assert_eq!(whole.trim_end(), recorded.trim_end());
    for length in [1, 7, 0xff, 0x1000, 0x3fff, 0x4000, 0x1_0000, 0xffff_ffff] {
        if length == 1 && whole.len() > 100_000 {
            continue;
        }
        let found = client.object("features", "target.xml", length).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), whole, "in pieces of {length:#x}");
    }
    // Behind the end there is nothing, and that is the end.
    for offset in [whole.len() as u64, whole.len() as u64 + 1, u64::MAX] {
        assert_eq!(client.ask_alone(format!("qXfer:features:read:target.xml:{offset:x},100")), "l");
    }
}

#[test]
fn a_description_that_has_to_be_escaped_arrives_whole() {
    let mut made = Made::new(&["R 10"]);
    let lines = [
        "<?xml version=\"1.0\"?>",
        "<target><!-- #$}* &#x41; \u{e9} }]}#}} -->",
        "<architecture>i386:x86-64</architecture><feature name=\"org.example.small\">",
        "<reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\"/><reg name=\"rsp\" bitsize=\"64\"/>",
        "</feature></target>",
    ];
    for line in lines {
        made.line(format!("tdesc {line}"));
    }
    let (_folder, file) = made.save("escaped.tf");
    let server = Server::serve(&[&file]);
    let mut client = server.connect();
    for length in [1, 2, 0x1000] {
        let description = client.object("features", "target.xml", length).unwrap();
        assert_eq!(String::from_utf8(description).unwrap().trim_end(), lines.join("\n"), "in pieces of {length}");
    }
}

/// The entries of an auxiliary vector.
fn auxiliary_vector(vector: &[u8], word: usize, big: bool) -> Vec<(u64, u64)> {
    let number = |bytes: &[u8]| {
        let join = |value: u64, byte: &u8| 256 * value + u64::from(*byte);
        if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    };
    assert!(vector.len().is_multiple_of(2 * word), "{} bytes", vector.len());
    vector.chunks(2 * word).map(|entry| (number(&entry[..word]), number(&entry[word..]))).collect()
}

#[test]
fn the_auxiliary_vector_in_every_width_and_byte_order() {
    const BASE: u64 = 7;
    const ENTRY: u64 = 9;
    for (recording, program, word, big, expected) in [
        ("tfile/04-step.tf", Some("bin/case"), 8, false, vec![(BASE, 0), (ENTRY, 0x40_1040), (0, 0)]),
        ("tfile/04-step.tf", None, 8, false, vec![(BASE, 0), (0, 0)]),
        ("tfile/17-pie.tf", Some("bin/casepie"), 8, false, vec![(BASE, 0), (ENTRY, 0x5555_5555_5050), (0, 0)]),
        ("tfile/15-i386.tf", Some("bin/case32"), 4, false, vec![(BASE, 0), (ENTRY, 0x804_9050), (0, 0)]),
        ("tfile/60-be-ppc64.tf", Some("bin/be-ppc64"), 8, true, vec![(BASE, 0), (ENTRY, 0x1001_ffe8), (0, 0)]),
        // Nothing tells where this one lay.
        ("tfile/04-step.tf", Some("bin/casepie"), 8, false, vec![(BASE, 0), (0, 0)]),
    ] {
        let server = super::serve(recording, program);
        let mut client = server.connect();
        for length in [1, 3, 0x1000] {
            let vector = client.object("auxv", "", length).unwrap();
            assert_eq!(auxiliary_vector(&vector, word, big), expected, "{recording} in pieces of {length}");
        }
    }
}
