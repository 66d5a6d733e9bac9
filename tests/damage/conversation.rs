//! A conversation with the stub, as gdb holds one.

use std::sync::Arc;

use traceframe::rsp::{Activity, Stub};
use traceframe::session::Replay;

use super::support::protocol::{from_hex, hex, packet, unescape};

/// Of so many frames the state is asked for in packets: [`super::questions`] looks at all of them.
const FRAMES: u64 = 3;

struct Gdb {
    stub: Stub,
}

impl Gdb {
    /// Sends a packet; all that comes back, in as many turns as it takes.
    fn send(&mut self, data: &str) -> Vec<u8> {
        let mut output = Vec::new();
        let mut activity = self.stub.receive(&packet(data));
        loop {
            output.extend(self.stub.take_output());
            match activity {
                Activity::Busy | Activity::Searching => activity = self.stub.run(),
                Activity::Idle => return output,
                other => panic!("{other:?} after {data}"),
            }
        }
    }

    /// Sends a packet; what comes back, console output first and the reply last.
    fn ask_all(&mut self, data: &str) -> Vec<Vec<u8>> {
        let output = self.send(data);
        let mut replies = Vec::new();
        let mut rest = &output[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'#') {
            let (found, behind) = rest.split_at(end + 3);
            let data = &found[1..end];
            assert_eq!(found, packet(data));
            replies.push(data.to_vec());
            rest = behind;
        }
        assert!(rest.is_empty() && !replies.is_empty(), "{}", output.escape_ascii());
        replies
    }

    fn ask(&mut self, data: &str) -> String {
        String::from_utf8_lossy(&self.ask_all(data).pop().unwrap()).into_owned()
    }

    fn monitor(&mut self, command: &str) -> String {
        let shown = self.ask(&format!("qRcmd,{}", hex(command)));
        String::from_utf8(from_hex(shown)).unwrap()
    }

    fn list(&mut self, first: &str, next: &str) {
        let mut entry = self.ask(first);
        while entry != "l" {
            assert!(!entry.is_empty() && !entry.starts_with('E'), "{first}: {entry}");
            entry = self.ask(next);
        }
    }

    fn object(&mut self, name: &str, annex: &str) -> Option<Vec<u8>> {
        let mut object = Vec::new();
        loop {
            let data = self.ask_all(&format!("qXfer:{name}:read:{annex}:{:x},fff", object.len())).pop().unwrap();
            let (kind, piece) = data.split_first().filter(|(kind, _)| b"ml".contains(kind))?;
            object.extend(unescape(piece));
            if *kind == b'l' {
                return Some(object);
            }
        }
    }
}

/// Asks for everything that gdb asks for when it connects, looks at frames, and saves them.
pub fn hold(replay: &Arc<Replay>, frames: u64) {
    let mut gdb = Gdb { stub: Stub::new(replay.clone()) };
    assert_eq!(gdb.send("QStartNoAckMode"), [&b"+"[..], &packet("OK")].concat());
    assert!(gdb.ask("qSupported:xmlRegisters=i386").contains("PacketSize="));
    let described = gdb.object("features", "target.xml");
    assert_eq!(described, replay.recording().target().description.as_ref().map(|xml| xml.as_bytes().to_vec()));
    gdb.ask("?");
    gdb.ask("g");
    assert!(gdb.ask("qTStatus").starts_with('T'));
    gdb.list("qTfP", "qTsP");
    gdb.list("qTfV", "qTsV");
    assert_eq!(gdb.ask(&format!("QTFrame:{frames:x}")), "F-1");
    for number in (0..frames).take(FRAMES as usize).chain(frames.checked_sub(1)) {
        let frame = replay.frame(number).unwrap();
        assert!(gdb.ask(&format!("QTFrame:{number:x}")).starts_with(&format!("F{number:x}T")));
        gdb.ask("g");
        if let Some(block) = frame.memory.first() {
            let address = replay.recording().target().addresses().for_gdb(block.address);
            let length = block.bytes.len().min(16);
            assert_eq!(gdb.ask(&format!("m{address:x},{length:x}")), hex(frame.read_memory(block.address, length)));
        }
        assert!(gdb.object("traceframe-info", "").is_some());
        if let Some(data) = &frame.static_data {
            assert_eq!(gdb.object("statictrace", "").as_deref(), Some(&data[..]));
        }
        for (variable, _) in frame.variables.iter().take(1) {
            let value = frame.variable(*variable).unwrap();
            assert_eq!(gdb.ask(&format!("qTV:{:x}", variable)), format!("V{value:x}"));
        }
    }
    gdb.ask("QTFrame:pc:401131");
    gdb.ask("QTFrame:range:1:ffffffffffffffff");
    gdb.ask("QTFrame:outside:1:2");
    gdb.ask("QTFrame:tdp:2");
    assert!(!gdb.monitor("status").is_empty());
    assert!(!gdb.monitor("frames").is_empty());
    assert!(!gdb.monitor("damage").is_empty());
    assert_eq!(gdb.ask("QTFrame:ffffffff"), "OK");
    let thread = replay.recording().threads().first().map_or(1, |thread| thread.id);
    let [step, range] = [format!("vCont;s:{thread:x};c"), format!("vCont;r0,ffff:{thread:x};c")];
    // Wherever a move ends, it ends, and with words that gdb knows.
    for packet in
        ["Z0,401131,1", "Z0,401136,1;X6,220117220113", "Z2,1000,8", &step, "vCont;c", "bs", "bc", &range, "bc"]
    {
        let reply = gdb.ask(packet);
        let is_stop = reply.starts_with("T05thread:") || reply.starts_with("T1dthread:");
        assert!(reply == "OK" || is_stop, "{packet}: {reply}");
    }
    gdb.ask("g");
    assert!(!gdb.monitor("find mem 0x1000,2 changes all").is_empty());
    assert_eq!(gdb.ask("QTFrame:ffffffff"), "OK");
    gdb.ask("g");
    gdb.ask("m0,10");
    let length = replay.index().end().found().map_or(0, |end| end.0);
    for offset in [0, length / 2, length, u64::MAX] {
        gdb.ask(&format!("qTBuffer:{offset:x},40"));
    }
}
