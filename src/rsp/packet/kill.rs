//! `k` and `vKill`: there is nothing to kill, so the client just leaves.

use super::numbers::is_process;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `k` has no reply.
pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() { Reply::Close(None) } else { reply::unsupported() }
}

/// `vKill;PID`.
pub fn with_reply(rest: &[u8], _client: &mut Client) -> Reply {
    match rest {
        [b';', process @ ..] if is_process(process) => Reply::Close(Some(b"OK".to_vec())),
        [b';', ..] => reply::failed(),
        _ => reply::unsupported(),
    }
}
