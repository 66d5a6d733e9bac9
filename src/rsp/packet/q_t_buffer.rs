//! `qTBuffer:OFFSET,LENGTH`: the trace buffer, from which gdb's `tsave` makes a file.

use super::numbers::pair;
use crate::index::Answer;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Some((offset, length)) = pair(rest, b',') else { return reply::failed() };
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(client.packet_size / 2);
    let replay = client.session.replay();
    if replay.recording().is_instruction_trace() {
        return reply::error("an instruction trace has no trace buffer; traceframe convert writes one");
    }
    match replay.index().end() {
        Answer::Found(end) => {
            let bytes = replay.recording().trace_buffer(end, offset, length);
            if bytes.is_empty() { reply::text("l") } else { reply::text(hex::encode(bytes)) }
        }
        Answer::Nothing => reply::text("l"),
        Answer::NotYet => Reply::Later,
    }
}
