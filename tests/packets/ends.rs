//! Every row of what ends a session in plain gdbstub 0.7.10: here it ends nothing, and the session goes on with all
//! that it had. The rows are kinds of mistakes, by packet; `malformed.rs` has more of each.
//!
//! Two rows have no packet of their own: errors of target methods cannot be made (their type is empty), and stops are
//! only of kinds that are offered.

use super::malformed::Standing;
use super::support::protocol::{is_refusal, packet};
use super::{serve, steps};

/// What is answered.
enum Answer {
    /// An error, or nothing.
    Refused,
    /// A sound answer, for what is no mistake after all.
    Begins(&'static str),
}
use Answer::{Begins, Refused};

const ROWS: &[(&str, Answer, &[&str])] = &[
    (
        "something behind a packet without arguments",
        Refused,
        &["?x", "gx", "kx", "bcx", "bsx", "qfThreadInfox", "qsThreadInfox", "QStartNoAckModex"],
    ),
    ("G with what is not hexadecimal", Refused, &["Gzz", "G", "G0", "G:00"]),
    (
        "m with a missing, bad or negative length, bad digits, too many bits, or something behind it",
        Refused,
        &["m4040c0", "m4040c0,", "m4040c0,-1", "m4040c0,zz", "mzz,4", "m4040c0,11111111111111111", "m4040c0,4;x"],
    ),
    ("m at an address of more than 64 bits", Refused, &["m11111111111111111,4"]),
    (
        "M and X with missing parts or bad digits, and X that ends in an escape",
        Refused,
        &["M", "M0,1", "Mzz,1:00", "M0,zz:00", "M0,1:zz", "X", "X0,1", "Xzz,1:a", "X0,1:}"],
    ),
    (
        "p and P that are empty, no number, or of more than 64 bits",
        Refused,
        &["p", "pzz", "p11111111111111111", "P", "Pzz=00", "P11111111111111111=00", "P0=zz"],
    ),
    ("H with bad threads", Refused, &["Hm0", "H", "Hg", "Hgzz", "Hgp.1"]),
    ("H with all threads, or a process alone", Refused, &["Hg-1", "Hgp1.-1", "Hgp1", "Hgp-1.-1"]),
    ("H with a thread that is not there", Refused, &["Hg7", "Hc7"]),
    ("T with bad threads", Refused, &["T", "T0", "T-1", "Tzz", "Tp1", "T7"]),
    (
        "leaving, or asking how it was attached, with process 0 or a bad one",
        Refused,
        &["D;", "D;0", "D;zz", "vKill", "vKill;0", "vKill;zz", "qAttached:", "qAttached:0", "qAttached:zz"],
    ),
    (
        "qSupported without `:`, or with an empty feature",
        Begins("PacketSize=4000;"),
        &["qSupported", "qSupported:", "qSupported:a;;b"],
    ),
    (
        "qThreadExtraInfo without a thread, or of all or any",
        Refused,
        &["qThreadExtraInfo", "qThreadExtraInfo,", "qThreadExtraInfo,-1", "qThreadExtraInfo,0"],
    ),
    // There is one thread, so what is told is of that one.
    ("qThreadExtraInfo of a thread that is not there", Begins(""), &["qThreadExtraInfo,7"]),
    ("qRcmd with what is not hexadecimal", Refused, &["qRcmd,zz", "qRcmd,68zz"]),
    (
        "qXfer with missing or bad annex, offset or length",
        Refused,
        &[
            "qXfer:features:read",
            "qXfer:features:read:target.xml",
            "qXfer:features:read:target.xml:zz,10",
            "qXfer:features:read:target.xml:0",
            "qXfer:auxv:read::zz,100",
            "qXfer:auxv:read:0,100",
            "qXfer:exec-file:read::0",
            "qXfer:exec-file:read:0:0,100",
            "qXfer:exec-file:read:zz:0,100",
        ],
    ),
    (
        "qXfer of what is not there, or to be written",
        Refused,
        &["qXfer:features:write:target.xml:0:00", "qXfer:no-such-object:read::0,100"],
    ),
    ("vFile:open with unknown flags or mode", Refused, &["vFile:open:2f,4,0", "vFile:open:2f,0,200000"]),
    (
        "vFile with what is not hexadecimal",
        Refused,
        &["vFile:open:zz,0,0", "vFile:close:zz", "vFile:pread:zz,1,0", "vFile:fstat:zz", "vFile:readlink:zz"],
    ),
    (
        "Z and z with missing parts, bad digits, or too many bits",
        Refused,
        &["Z", "Z0", "Z0,401131", "Z0,zz,1", "Z100,401131,1", "Z0,11111111111111111,1", "z", "z0,zz,1", "z100,1,1"],
    ),
    ("Z and z of an unknown type", Refused, &["Z5,401131,1", "Zff,401131,1", "z5,401131,1"]),
    (
        "vCont with unknown actions, bad signals, threads or ranges",
        Refused,
        &["vCont;x", "vCont;t", "vCont;Czz", "vCont;s:zz", "vCont;r", "vCont;r1,2", "vCont;rzz,2:1"],
    ),
    ("vCont for all threads", Refused, &["vCont;s", "vCont;s:-1", "vCont;r1,2:-1"]),
    ("vCont for a thread that is not there", Refused, &["vCont;s:7", "vCont;c:7", "vCont;s:p1.7;c"]),
    ("vCont that names no action", Refused, &["vCont", "vContx", "vCont?x"]),
    ("c and s at a bad address", Refused, &["czz", "szz", "c11111111111111111", "s11111111111111111"]),
    ("C and S without a signal", Refused, &["C", "S"]),
    ("D with something behind it", Refused, &["Dx"]),
    (
        "m over the end of the address space, and of more than a packet holds",
        Refused,
        &["mfffffffffffffff8,8000", "m0,ffffffffffffffff"],
    ),
];

#[test]
fn what_ends_plain_gdbstub_ends_nothing_here() {
    let server = steps();
    let mut standing = Standing::new(&server);
    standing.fill_breakpoints();
    for (row, answer, packets) in ROWS {
        for packet in *packets {
            let reply = standing.client.ask_alone(packet);
            match answer {
                Refused => assert!(is_refusal(&reply), "{row}: {packet} is answered {reply}"),
                Begins(with) => assert!(reply.starts_with(with), "{row}: {packet} is answered {reply}"),
            }
            standing.check(&format!("{packet} ({row})"));
        }
    }
    // Backwards with all threads chosen, and one thread without the others: both move.
    for packets in [["Hc-1", "bs"], ["Hc-1", "s"], ["Hc0", "vCont;s:1"], ["Hc0", "vCont;s:p1.1"]] {
        assert_eq!(standing.client.ask_alone(packets[0]), "OK");
        assert_eq!(standing.client.ask_alone(packets[1]), "T05thread:01;", "{packets:?}");
        assert_eq!(standing.client.ask_alone("QTFrame:5"), "F5T2");
        standing.check(packets[1]);
    }
    // Checksums, framing and repetition.
    for (bytes, reply) in [("$g#00", "E.wrong checksum"), ("$g#zz", "E.wrong checksum"), ("$k$T1#85", "OK")] {
        standing.client.write(bytes);
        standing.client.expect(packet(reply));
        standing.check(bytes);
    }
    standing.client.write("-+-+#85\x03");
    standing.check("nacks and noise");
    // The breakpoints are all there still: there is no room for another, until one of them is taken away.
    standing.breakpoints_are_full();
    // A search goes on from the selected frame.
    assert_eq!(standing.client.ask_alone("QTFrame:pc:401134"), "F9T2");
    // Killing is answered, and ends this session alone.
    standing.client.send("vKill;1");
    assert_eq!(standing.client.rest(), packet("OK"));
    assert_eq!(server.connect().ask_alone("T1"), "OK");
}

/// This row needs a frame without registers.
#[test]
fn a_register_that_was_not_collected_ends_nothing_here() {
    let server = serve("tfile/02-mem.tf", Some("bin/case"));
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:1"), "F1T2");
    for register in ["p0", "p7", "p28"] {
        let reply = client.ask_alone(register);
        assert!(reply.len() >= 8 && reply.bytes().all(|byte| byte == b'x'), "{register}: {reply}");
    }
    assert!(client.ask_alone("QTFrame:tdp:2").starts_with("F2T2"));
}
