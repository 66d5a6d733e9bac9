//! `vCont`, `c`, `s`, `C`, `S`, `bc`, `bs`: moving other than with `tfind`.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `vCont?`
pub fn not_offered(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::unsupported()
}

/// gdb shows the words as a warning and stays where it was (gdb 13.1).
pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::error("this is a recording and cannot run; move with tfind")
}
