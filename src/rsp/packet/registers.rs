//! `g`: gdbstub answers, once the frame whose registers are to be shown is indexed.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        reply::unsupported()
    } else if client.session.is_settled() {
        Reply::Base
    } else {
        Reply::Later
    }
}
