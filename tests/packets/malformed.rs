//! Packets that are malformed, or that ask for what cannot be: each gets one answer, and the next packet works with
//! all that the session had.
//!
//! Most of these make gdbstub 0.7.10 give up its session; the rest are of the same kinds in the packets that are
//! served in front of it.

use std::io::Write;

use super::support::protocol::{is_refusal, packet};
use super::support::{Client, Server};
use super::{open_program, steps};

/// A session with a frame selected, a thread set, a file open, a breakpoint, and no acknowledgement.
pub struct Standing {
    pub client: Client,
    descriptor: u32,
    registers: String,
    memory_map: String,
}

impl Standing {
    pub fn new(server: &Server) -> Standing {
        let mut client = server.connect();
        client.ask("qSupported:swbreak+;xmlRegisters=i386");
        assert_eq!(client.ask("QTFrame:5"), "F5T2");
        assert_eq!(client.ask("Hg1"), "OK");
        assert_eq!(client.ask("Hc1"), "OK");
        assert_eq!(client.ask("Z0,401139,1"), "OK");
        let descriptor = open_program(&mut client);
        let registers = client.ask("g");
        let memory_map = client.ask("qXfer:traceframe-info:read::0,1000");
        assert!(memory_map.contains("0x4040c0"), "{memory_map}");
        Standing { client, descriptor, registers, memory_map }
    }

    /// Sets as many breakpoints as a client may have, so that it can be seen whether any is lost.
    pub fn fill_breakpoints(&mut self) {
        // One is set already.
        let many: Vec<u8> = (0..0xffff).flat_map(|at| packet(format!("Z0,{at:x},1"))).collect();
        let mut writer = self.client.stream.try_clone().unwrap();
        let writing = std::thread::spawn(move || writer.write_all(&many).unwrap());
        self.client.expect(packet("OK").repeat(0xffff));
        writing.join().unwrap();
    }

    /// None of them was lost: there is room for another only where one is taken away.
    pub fn breakpoints_are_full(&mut self) {
        assert!(is_refusal(&self.client.ask_alone("Z0,20000,1")));
        assert_eq!(self.client.ask_alone("z0,401139,1"), "OK");
        assert_eq!(self.client.ask_alone("Z0,20000,1"), "OK");
        assert!(is_refusal(&self.client.ask_alone("Z0,20001,1")));
    }

    pub fn check(&mut self, after: &str) {
        let Standing { client, descriptor, registers, memory_map } = self;
        assert_eq!(client.ask_alone("g"), *registers, "g after {after}");
        assert_eq!(client.ask_alone("qXfer:traceframe-info:read::0,1000"), *memory_map, "the frame after {after}");
        assert_eq!(client.ask_alone(format!("vFile:pread:{descriptor:x},4,0")), "F04;\x7fELF", "a file after {after}");
        assert_eq!(client.ask_alone("T1"), "OK", "the thread after {after}");
        assert_eq!(client.ask_alone("m4040c0,4").len(), 8, "m after {after}");
    }
}

/// What each packet of a list is answered: exactly once, with a refusal, and without harm to the session.
fn all_are_refused<P: AsRef<[u8]>>(packets: &[P]) {
    let server = steps();
    let mut standing = Standing::new(&server);
    for packet in packets {
        let packet = packet.as_ref();
        let name = packet.escape_ascii().to_string();
        let reply = standing.client.ask_alone(packet);
        assert!(is_refusal(&reply), "{name} is answered {reply}");
        standing.check(&name);
    }
    // A search goes on from the selected frame, and the kept breakpoint can be removed.
    assert_eq!(standing.client.ask_alone("QTFrame:pc:401134"), "F9T2");
    assert_eq!(standing.client.ask_alone("z0,401139,1"), "OK");
}

#[test]
fn something_behind_a_packet_without_arguments() {
    all_are_refused(&[
        "?x",
        "gx",
        "kx",
        "bcx",
        "bsx",
        "qfThreadInfox",
        "qsThreadInfox",
        "QStartNoAckModex",
        "qTStatusx",
        "qTfPx",
        "qTsPx",
        "qTfVx",
        "qTsVx",
        "Dx",
        "D1",
        "vKillx",
        "qSupportedx",
        "qOffsetsx",
        "qTMinFTPILenx",
    ]);
}

#[test]
fn writing_memory_and_registers() {
    all_are_refused(&[
        &b"G"[..],
        b"Gzz",
        b"G0",
        b"G00",
        b"P",
        b"P0",
        b"P=",
        b"P0=",
        b"P0=0",
        b"P0=0000000000000000",
        b"Pzz=00",
        b"P11111111111111111=00",
        b"M",
        b"M0",
        b"M0,",
        b"M0,1",
        b"M0,1:",
        b"M0,1:z",
        b"M0,1:00",
        b"Mzz,1:00",
        b"M0,zz:00",
        b"M4040c0,4:00000000",
        b"X",
        b"X0",
        b"X0,1",
        b"X0,0:",
        b"X4040c0,4:abcd",
        b"X0,1:}",
        b"X0,1:\x03",
        b"Xzz,1:a",
    ]);
}

#[test]
fn reading_memory() {
    all_are_refused(&[
        "m",
        "m0",
        "m,",
        "m4040c0",
        "m4040c0,",
        "m4040c0,-1",
        "m4040c0,zz",
        "mzz,4",
        "m-1,4",
        "m4040c0,4;x",
        "m4040c0,4,4",
        "m 4040c0,4",
        "m0x4040c0,4",
        "m4040c0,11111111111111111",
        "m11111111111111111,1",
        "mfffffffffffffff8,8000",
        "mffffffffffffffff,ffffffffffffffff",
        "x",
        "x4040c0",
        "x4040c0,",
        "x4040c0,zz",
        "x4040c0,4;x",
        "x11111111111111111,1",
        "xfffffffffffffff8,8000",
    ]);
}

#[test]
fn reading_registers() {
    all_are_refused(&["p", "pzz", "p-1", "p11111111111111111", "pffffffffffffffff", "p1000", "p0;x", "p0 "]);
}

#[test]
fn threads() {
    all_are_refused(&[
        "H",
        "Hg",
        "Hc",
        "Hm0",
        "Hgzz",
        "Hgp.1",
        "Hgp1",
        "Hg-1",
        "Hgp1.-1",
        "Hgp-1.-1",
        "Hg11111111111111111",
        "T",
        "T0",
        "T-1",
        "Tzz",
        "Tp1",
        "T7",
        "qThreadExtraInfo",
        "qThreadExtraInfo,",
        "qThreadExtraInfo,0",
        "qThreadExtraInfo,-1",
        "qThreadExtraInfo,zz",
        "qAttached:",
        "qAttached:0",
        "qAttached:zz",
    ]);
}

#[test]
fn leaving() {
    all_are_refused(&["D;", "D;0", "D;zz", "D;1;", "D;11111111111111111", "vKill", "vKill;", "vKill;0", "vKill;zz"]);
}

#[test]
fn running() {
    all_are_refused(&[
        "vCont",
        "vContx",
        "vCont?x",
        "vCont;",
        "vCont;x",
        "vCont;t",
        "vCont;C",
        "vCont;Czz",
        "vCont;S1dd",
        "vCont;r",
        "vCont;r1,2",
        "vCont;r1,2:-1",
        "vCont;rzz,2:1",
        "vCont;s:zz",
        "vCont;s",
        "vCont;s:-1",
        "vCont;s:7",
        "vCont;c;x",
        "vCont;c:zz",
        "C05",
        "S05",
        "cz",
        "c11111111111111111",
        "sz",
        "s11111111111111111",
        "C",
        "Czz",
        "C05;zz",
        "S",
        "Szz",
        "i",
        "iz",
        "I",
        "R",
        "Rzz",
        "!",
    ]);
    all_are_refused(&["Hczz", "Hc7", "Hg7", "bsx", "bcx"]);
}

#[test]
fn objects() {
    all_are_refused(&[
        "qXfer",
        "qXfer:",
        "qXfer:features",
        "qXfer:features:",
        "qXfer:features:read",
        "qXfer:features:read:",
        "qXfer:features:read:target.xml",
        "qXfer:features:read:target.xml:",
        "qXfer:features:read:target.xml:0",
        "qXfer:features:read:target.xml:0,",
        "qXfer:features:read:target.xml:,10",
        "qXfer:features:read:target.xml:zz,10",
        "qXfer:features:read:target.xml:0,zz",
        "qXfer:features:read:target.xml:-1,10",
        "qXfer:features:read:target.xml:11111111111111111,10",
        "qXfer:features:read:other.xml:0,10",
        "qXfer:features:read:../target.xml:0,10",
        "qXfer:features:write:target.xml:0:00",
        "qXfer:auxv:read:0,100",
        "qXfer:auxv:read::",
        "qXfer:auxv:read::0",
        "qXfer:auxv:read:x:0,100",
        "qXfer:auxv:read::zz,100",
        "qXfer:exec-file:read:0:0,100",
        "qXfer:exec-file:read:zz:0,100",
        "qXfer:exec-file:read:0,100",
        "qXfer:exec-file:read::0",
        "qXfer:traceframe-info:read",
        "qXfer:traceframe-info:read:",
        "qXfer:traceframe-info:read:0,1000",
        "qXfer:traceframe-info:read:x:0,1000",
        "qXfer:traceframe-info:read::0",
        "qXfer:traceframe-info:read::0,",
        "qXfer:traceframe-info:read::zz,1000",
        "qXfer:traceframe-info:write::0:00",
        "qXfer:statictrace:read",
        "qXfer:statictrace:read::0",
        "qXfer:statictrace:read:x:0,10",
        "qXfer:libraries:read::0,1000",
        "qXfer:no-such-object:read::0,1000",
    ]);
}

#[test]
fn files() {
    all_are_refused(&[
        "vFile",
        "vFile:",
        "vFile:open",
        "vFile:open:",
        "vFile:open:2f",
        "vFile:open:2f,0",
        "vFile:open:zz,0,0",
        "vFile:open:2f,zz,0",
        "vFile:open:2f,4,0",
        "vFile:open:2f,0,200000",
        "vFile:open:2f,0,0,0",
        "vFile:close",
        "vFile:close:",
        "vFile:close:zz",
        "vFile:close:-1",
        "vFile:close:7",
        "vFile:pread",
        "vFile:pread:0",
        "vFile:pread:0,10",
        "vFile:pread:0,zz,0",
        "vFile:pread:0,-1,0",
        "vFile:pread:7,10,0",
        "vFile:pread:111111111,10,0",
        "vFile:fstat",
        "vFile:fstat:",
        "vFile:fstat:zz",
        "vFile:fstat:7",
        "vFile:readlink",
        "vFile:readlink:zz",
        "vFile:setfs",
        "vFile:setfs:",
        "vFile:setfs:zz",
        "vFile:stat:2f",
        "vFile:lstat:2f",
        "vFile:no-such-operation:1",
    ]);
}

#[test]
fn breakpoints() {
    all_are_refused(&[
        "Z",
        "z",
        "Zq",
        "Z0",
        "Z0,",
        "Z0,401131",
        "Z0,401131,",
        "Z0,zz,1",
        "Z0,401131,zz",
        "Z0,-1,1",
        "Z0,11111111111111111,1",
        "Z1,zz,1",
        "Z5,401131,1",
        "Zff,401131,1",
        "Z100,401131,1",
        "Zzz,401131,1",
        "z0",
        "z0,",
        "z0,401131",
        "z0,zz,1",
        "z5,401131,1",
        "z100,401131,1",
        "Z0,401131,1;X",
        "Z0,401131,1;X2,22",
        "Z0,401131,1;Xzz,22",
        "Z0,401131,1;X3,22002g",
        "Z0,401131,1;X10000,22",
        "Z0,401131,1;cmds:0,X3,220027",
        "Z2,4040c0,4;X3,220027",
        "Z2,4040c0,0",
        "Z2,4040c0,10001",
        "Z2,ffffffffffffffff,2",
    ]);
}

#[test]
fn monitor_commands_that_are_no_hexadecimal() {
    all_are_refused(&["qRcmd,zz", "qRcmd,68zz", "qRcmd,zz68"]);
}

#[test]
fn frames() {
    all_are_refused(&[
        "QTFrame",
        "QTFrame:",
        "QTFrame:zz",
        "QTFrame:0x1",
        "QTFrame:+1",
        "QTFrame: 1",
        "QTFrame:1 ",
        "QTFrame:1:2",
        "QTFrame:-2",
        "QTFrame:11111111111111111",
        "QTFrame:pc",
        "QTFrame:pc:",
        "QTFrame:pc:zz",
        "QTFrame:pc:-1",
        "QTFrame:pc:401134:1",
        "QTFrame:pc:11111111111111111",
        "QTFrame:tdp:",
        "QTFrame:tdp:zz",
        "QTFrame:tdp:100000000",
        "QTFrame:range:",
        "QTFrame:range:401131",
        "QTFrame:range:401131:",
        "QTFrame:range::401131",
        "QTFrame:range:401131:zz",
        "QTFrame:range:1:2:3",
        "QTFrame:range:1,2",
        "QTFrame:outside:",
        "QTFrame:outside:401131",
        "QTFrame:outside:401131:",
        "QTFrame:outside:401131:zz",
        "QTFrame:line:19",
    ]);
}

#[test]
fn other_trace_packets() {
    all_are_refused(&[
        "qTBuffer",
        "qTBuffer:",
        "qTBuffer:0",
        "qTBuffer:0,",
        "qTBuffer:zz,10",
        "qTBuffer:0,zz",
        "qTBuffer:-1,10",
        "qTBuffer:0,10,0",
        "QTNotes",
        "QTDP",
        "qT",
        "QT",
        "qTf",
        "qTX:1",
    ]);
}

#[test]
fn packets_of_no_known_name_are_answered_with_nothing() {
    let server = steps();
    let mut standing = Standing::new(&server);
    for packet in [
        &b"vMustReplyEmpty"[..],
        b"",
        b"q",
        b"Q",
        b"v",
        b"_",
        b"A",
        b"B",
        b"\0",
        b"\xff\xfe",
        b"j",
        b"jThreadsInfo",
        b"qHostInfo",
        b"qProcessInfo",
        b"qNoSuchThing:1,2",
        b"QNoSuchThing",
        b"QNonStop:0",
        b"QPassSignals:e;10",
        b"vRun;",
        b"vAttach;1",
        b"vStopped",
        b"vNoSuchThing",
        b"qSearch:memory:0;10;a",
        b"qCRC:0,10",
        b"$",
    ] {
        let name = packet.escape_ascii().to_string();
        // A `$` begins a packet anew, and then this one is empty.
        let reply = match packet {
            b"$" => {
                standing.client.write("$$#00");
                String::from_utf8(standing.client.receive_alone()).unwrap()
            }
            packet => standing.client.ask_alone(packet),
        };
        assert_eq!(reply, "", "{name}");
        standing.check(&name);
    }
}

/// Whatever a prefix of a well-formed packet or a change of one byte is answered, the session lives.
#[test]
fn prefixes_and_changed_bytes_of_good_packets() {
    let server = steps();
    let mut standing = Standing::new(&server);
    let good = [
        "qSupported:multiprocess+;swbreak+",
        "qXfer:features:read:target.xml:0,10",
        "qXfer:traceframe-info:read::0,1000",
        "qThreadExtraInfo,1",
        "vFile:pread:0,10,0",
        "vFile:open:2f746d70,0,0",
        "Z0,401131,1;X3,220027",
        "m4040c0,4",
        "QTFrame:range:401131:401139",
        "qTBuffer:0,10",
        "qRcmd,68656c70",
        "vCont;s:1;c",
    ];
    for packet in good {
        for end in 1..packet.len() {
            for changed in [None, Some(b'z'), Some(b','), Some(b':'), Some(0xff)] {
                let mut bytes = packet.as_bytes()[..end].to_vec();
                if let (Some(byte), Some(last)) = (changed, bytes.last_mut()) {
                    *last = byte;
                    bytes.extend_from_slice(&packet.as_bytes()[end..]);
                }
                // These leave, which is no mistake.
                if matches!(bytes.first(), Some(b'D' | b'k')) || bytes.starts_with(b"vKill") {
                    continue;
                }
                standing.client.send(&bytes);
                standing.client.console_and_reply();
            }
        }
        // Some of these were well-formed and moved the cursor.
        assert_eq!(standing.client.ask_alone("QTFrame:5"), "F5T2", "after parts of {packet}");
        standing.check(&format!("parts of {packet}"));
    }
}
