//! `qTfSTM`, `qTsSTM`, `qTSTMat`: static tracepoint markers. A recording holds none of their names.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::text("l")
}
