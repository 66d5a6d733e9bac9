//! `D`: the client leaves; the recording stays.

use super::numbers::is_process;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `D`, or `D;PID` from clients that number processes.
pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    match rest {
        [] => Reply::Close(Some(b"OK".to_vec())),
        [b';', process @ ..] if is_process(process) => Reply::Close(Some(b"OK".to_vec())),
        [b';', ..] => reply::failed(),
        _ => reply::unsupported(),
    }
}
