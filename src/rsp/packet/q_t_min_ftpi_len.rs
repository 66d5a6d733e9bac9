//! `qTMinFTPILen`: the shortest instruction that a fast tracepoint can replace; 0 for not known.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() { reply::text("0") } else { reply::unsupported() }
}
