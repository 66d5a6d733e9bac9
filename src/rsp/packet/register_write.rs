//! `G` and `P`: a recording cannot be written to. gdb shows the words (13.1), those of a refused `M` or `X` never.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::error("this is a recording and cannot be changed")
}
