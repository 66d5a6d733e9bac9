//! `QStartNoAckMode`. gdbstub is in that mode from the start; the client's own wish is kept here.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() { Reply::NoAcknowledgement } else { reply::unsupported() }
}
