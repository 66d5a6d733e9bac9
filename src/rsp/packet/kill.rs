//! `k` and `vKill`: there is nothing to kill, so the client just leaves.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `k` has no reply.
pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() { Reply::Close(None) } else { reply::unsupported() }
}

/// `vKill;PID`. gdb made the number up, so it is not looked at.
pub fn with_reply(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.starts_with(b";") { Reply::Close(Some(b"OK".to_vec())) } else { reply::unsupported() }
}
