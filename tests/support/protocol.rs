//! The client's side of the remote protocol, as far as tests need it.

use std::io::{ErrorKind, Read, Write};

use super::Client;

/// The bytes that a reply with escapes stands for (gdb manual, "Binary Data").
pub fn unescape(data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = data.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'}' => bytes.push(rest.next().unwrap() ^ 0x20),
            byte => bytes.push(*byte),
        }
    }
    bytes
}

/// A packet around data, as it is on the wire.
pub fn packet(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", data, format!("#{sum:02x}").as_bytes()].concat()
}

/// Text in hexadecimal, as packets hold names and commands.
pub fn hex(text: impl AsRef<[u8]>) -> String {
    text.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a reply is text in hexadecimal.
fn is_text(reply: &[u8]) -> bool {
    !reply.is_empty() && reply.len().is_multiple_of(2) && reply.iter().all(u8::is_ascii_hexdigit)
}

/// What hexadecimal digits stand for.
pub fn from_hex(digits: impl AsRef<[u8]>) -> Vec<u8> {
    let digits = digits.as_ref();
    assert!(digits.len().is_multiple_of(2), "{}", digits.escape_ascii());
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect()
}

/// Whether a reply refuses a packet: an error, an errno of host I/O, or nothing at all for a packet not known.
pub fn is_refusal(reply: &str) -> bool {
    reply.is_empty() || reply.starts_with('E') || reply.starts_with("F-1,")
}

impl Client {
    /// The data of the next packet, before which nothing else may come: no acknowledgement, no noise.
    pub fn receive_alone(&mut self) -> Vec<u8> {
        let mut begin = [0];
        self.stream.read_exact(&mut begin).unwrap();
        assert_eq!(begin, *b"$", "found {} where a packet begins", begin.escape_ascii());
        let mut data = Vec::new();
        loop {
            let mut part = [0; 4096];
            let seen = self.stream.peek(&mut part).unwrap();
            assert!(seen > 0, "the connection ended in a packet");
            let end = part[..seen].iter().position(|byte| *byte == b'#');
            let taken = end.unwrap_or(seen);
            self.stream.read_exact(&mut part[..taken]).unwrap();
            data.extend_from_slice(&part[..taken]);
            if end.is_some() {
                let mut sum = [0; 3];
                self.stream.read_exact(&mut sum).unwrap();
                assert!(packet(&data).ends_with(&sum), "checksum of {}", data.escape_ascii());
                return data;
            }
        }
    }

    /// Sends a packet; the reply as text, before which nothing else may come.
    pub fn ask_alone(&mut self, data: impl AsRef<[u8]>) -> String {
        self.send(data);
        String::from_utf8_lossy(&self.receive_alone()).into_owned()
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    /// The next bytes, as many as `expected` has, must be those.
    pub fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let mut found = vec![0; expected.len()];
        self.stream.read_exact(&mut found).unwrap();
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    /// What a monitor command shows.
    pub fn monitor(&mut self, command: &str) -> String {
        self.send(format!("qRcmd,{}", hex(command)));
        self.console_until_reply("OK")
    }

    /// The console output before a reply, which must be the one expected.
    pub fn console_until_reply(&mut self, expected: &str) -> String {
        let (shown, reply) = self.console_and_reply();
        assert_eq!(reply, expected, "{shown}");
        shown
    }

    /// The console output before a reply, and the reply.
    pub fn console_and_reply(&mut self) -> (String, String) {
        let mut shown = Vec::new();
        loop {
            let data = self.receive();
            match data.strip_prefix(b"O") {
                Some(digits) if data != b"OK" => shown.extend(from_hex(digits)),
                // The text of a monitor command is its reply.
                _ if is_text(&data) => {
                    shown.extend(from_hex(&data));
                    return (String::from_utf8(shown).unwrap(), "OK".to_owned());
                }
                _ => {
                    let reply = String::from_utf8_lossy(&data).into_owned();
                    return (String::from_utf8(shown).unwrap(), reply);
                }
            }
        }
    }

    /// A whole object, read in pieces of `length` bytes; `None` where it is refused.
    pub fn object(&mut self, name: &str, annex: &str, length: usize) -> Option<Vec<u8>> {
        let mut object = Vec::new();
        loop {
            self.send(format!("qXfer:{name}:read:{annex}:{:x},{length:x}", object.len()));
            let data = self.receive();
            match data.split_first() {
                Some((b'm' | b'l', escaped)) => {
                    let piece = unescape(escaped);
                    assert!(piece.len() <= length, "more than was asked for");
                    object.extend(piece);
                }
                _ => return None,
            }
            if data[0] == b'l' {
                return Some(object);
            }
        }
    }

    /// The same as [`Client::object`], as text; it must be there.
    pub fn text_object(&mut self, name: &str, annex: &str) -> String {
        String::from_utf8(self.object(name, annex, 0x1000).unwrap()).unwrap()
    }

    /// A list that is asked for with one packet for its first entry and another for each that follows.
    pub fn list(&mut self, first: &str, next: &str) -> Vec<String> {
        let mut entries = Vec::new();
        let mut entry = self.ask(first);
        while entry != "l" {
            assert!(!is_refusal(&entry), "{first}: {entry}");
            entries.push(entry);
            entry = self.ask(next);
        }
        entries
    }

    /// Memory, read in as many packets as it takes; shorter than asked for where it ends.
    pub fn memory(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let reply = self.ask(format!("m{:x},{:x}", address + bytes.len() as u64, length - bytes.len()));
            if is_refusal(&reply) {
                break;
            }
            bytes.extend(from_hex(reply));
        }
        bytes
    }

    /// Waits for the other side to end the connection, and gives what came before.
    pub fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Ok(_) => bytes,
            // The other side may close with bytes of ours unread.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => bytes,
            Err(error) => panic!("the connection does not end: {error}"),
        }
    }
}
