//! `Qbtrace` and `qXfer:btrace`: what was executed up to here, for gdb's `record btrace` (gdb manual, "Branch Trace
//! Format"). It is what the commands `record instruction-history` and `record function-call-history` show.
//!
//! gdb reads the whole list, decodes every instruction of it, and keeps about 46 bytes of each, so that it gets the last
//! blocks alone. It knows calls and returns on x86 only: elsewhere its own stepping in the list goes into callees, and what
//! the server does itself does not (gdb 13.1, `gdbarch_insn_is_call`).

use std::fmt::Write;

use super::numbers::object_part;
use crate::index::{InterruptionQuery, Query};
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::session::Session;

/// How many blocks gdb is given.
const BLOCKS: usize = 100_000;

/// The list that a client reads.
#[derive(Debug, Default)]
pub struct BranchTrace {
    /// The thread, and the frame up to which it was asked for last.
    given: Option<(u32, u64)>,
    list: Vec<u8>,
}

/// `Qbtrace:bts`, `Qbtrace:off`.
pub fn switch(rest: &[u8], client: &mut Client) -> Reply {
    match rest {
        _ if !is_served(client) => reply::unsupported(),
        b"bts" => {
            client.branch_trace = Some(BranchTrace::default());
            reply::ok()
        }
        b"off" => {
            client.branch_trace = None;
            reply::ok()
        }
        _ => reply::error("there is no other branch trace than bts"),
    }
}

/// `Qbtrace-conf:bts:size=`: the buffer is as large as it is.
pub fn configure(_rest: &[u8], client: &mut Client) -> Reply {
    if is_served(client) { reply::ok() } else { reply::unsupported() }
}

/// `qXfer:btrace-conf:read`.
pub fn configuration(rest: &[u8], client: &mut Client) -> Reply {
    let Some((_, offset, length)) = object_part(rest).filter(|_| is_served(client)) else { return reply::failed() };
    let bts = if client.branch_trace.is_some() { "<bts/>" } else { "" };
    reply::part(format!("<btrace-conf version=\"1.0\">{bts}</btrace-conf>").as_bytes(), offset, length)
}

/// `qXfer:btrace:read:all`, `new` and `delta`.
///
/// gdb keeps one instruction when it begins, and asks what is new behind it first: an error makes it ask for all. It asks
/// again at every stop, and is given nothing where nothing has changed (as tried with gdb 13.1).
pub fn read(rest: &[u8], client: &mut Client) -> Reply {
    let Some((annex, offset, length)) = object_part(rest) else { return reply::failed() };
    let thread = client.asked_thread();
    let Some(frame) = client.session.frame_of(thread) else { return reply::failed() };
    let Some(kept) = &client.branch_trace else { return reply::failed() };
    if offset == 0 {
        let is_same = kept.given == Some((thread, frame));
        let list = match annex {
            b"delta" if !is_same => return reply::failed(),
            b"delta" => "<btrace version=\"1.0\"></btrace>".to_owned(),
            b"new" if is_same => "<btrace version=\"1.0\"></btrace>".to_owned(),
            b"new" | b"all" => list(&client.session, thread, frame),
            _ => return reply::failed(),
        };
        client.branch_trace = Some(BranchTrace { given: Some((thread, frame)), list: list.into_bytes() });
    }
    match &client.branch_trace {
        Some(BranchTrace { list, .. }) => reply::part(list, offset, length),
        None => reply::failed(),
    }
}

/// Whether the recording has what a branch trace is made of.
pub fn is_served(client: &Client) -> bool {
    client.session.replay().recording().is_instruction_trace()
}

/// The blocks that were executed up to a frame, the newest first. A block that ends before it begins is a gap.
fn list(session: &Session, thread: u32, frame: u64) -> String {
    let (replay, addresses) = (session.replay(), session.replay().recording().target().addresses());
    let index = replay.index();
    let mut list = "<btrace version=\"1.0\">\n".to_owned();
    let (mut at, mut gap) = (Some(frame), None);
    for _ in 0..BLOCKS {
        let Some(last) = at else { break };
        if gap == Some(last) {
            list += "<block begin=\"0x1\" end=\"0x0\"/>\n";
        }
        let Some(location) = index.locate(last).found() else { break };
        let Some(run) = replay.recording().instructions(location) else { break };
        let Some(end) = index.pc(last).found().flatten() else { break };
        let first = last.saturating_sub(location.0.saturating_sub(run.location.0));
        let (begin, end) = (addresses.for_gdb(run.start), addresses.for_gdb(end));
        let _ = writeln!(list, "<block begin=\"{begin:#x}\" end=\"{end:#x}\"/>");
        at = index.find_back(first, &Query::Thread(thread)).found();
        let between = InterruptionQuery { thread: Some(thread), gaps: true, exceptions: false };
        gap = index.previous_interruption(first, &between).found().and_then(|found| found.before);
    }
    // That there is more before is told as gdb tells a gap.
    if at.is_some() {
        list += "<block begin=\"0x1\" end=\"0x0\"/>\n";
    }
    list + "</btrace>\n"
}
