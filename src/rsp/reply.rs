//! Answers to a packet.

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A packet with this data, escaped where it has to be. Empty: not supported.
    Data(Vec<u8>),
    /// Text for the user, in one packet: gdb may leave a monitor command that ^C interrupts between two.
    Console(String),
    /// gdbstub answers.
    Base,
    /// The index has not come far enough: ask again.
    Later,
    /// Nothing is sent.
    Silence,
    /// `OK`, and from then on nothing is acknowledged.
    NoAcknowledgement,
    /// The conversation ends, after this packet if there is one.
    Close(Option<Vec<u8>>),
}

/// Text that holds no byte which would have to be escaped.
pub fn text(data: impl Into<String>) -> Reply {
    Reply::Data(data.into().into_bytes())
}

/// `OK`.
pub fn ok() -> Reply {
    text("OK")
}

/// The packet is not supported.
pub fn unsupported() -> Reply {
    text("")
}

/// An error in words (gdb manual, "Standard Replies"). Never of the form `E1…`, which gdb takes for an error in the
/// packet it sent wherever a tracepoint reply is expected (gdb 13.1, remote.c, `trace_error`).
pub fn error(words: impl AsRef<str>) -> Reply {
    text(format!("E.{}", words.as_ref()))
}

/// An error without words, where gdb does not read them.
pub fn failed() -> Reply {
    text("E01")
}

/// A part of an object (gdb manual, `qXfer`): `l` and the rest, or `m` and as much as was asked for.
pub fn part(object: &[u8], offset: u64, length: usize) -> Reply {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(object.len());
    let end = start.saturating_add(length.min(super::wire::PACKET_SIZE)).min(object.len());
    let mut data = vec![if end == object.len() { b'l' } else { b'm' }];
    data.extend(super::wire::escape(&object[start..end]));
    Reply::Data(data)
}
