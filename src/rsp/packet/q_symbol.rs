//! `qSymbol::`: the client offers to look symbols up; none are needed.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::ok()
}
