//! `D`: the client leaves; the recording stays.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    // `D;PID` comes from clients that number processes.
    if rest.is_empty() || rest.starts_with(b";") { Reply::Close(Some(b"OK".to_vec())) } else { reply::unsupported() }
}
