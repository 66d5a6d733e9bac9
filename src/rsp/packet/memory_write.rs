//! `M` and `X`: a recording cannot be written to.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::failed()
}
