//! `Z` and `z`: breakpoints and watchpoints. gdbstub ends a session on one that is not well formed.

use super::numbers::number;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `Z0,ADDR,KIND` to `Z4,ADDR,LENGTH`, and the same with `z`. Conditions behind it are gdb's to judge: it sends them
/// only where the server says that it can.
pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    let mut fields = rest.split(|byte| *byte == b',');
    let (kind, address, length) = (fields.next(), fields.next(), fields.next());
    match kind {
        Some([b'0'..=b'4']) if fields.next().is_none() => {}
        Some([b'0'..=b'4']) => return reply::failed(),
        _ => return reply::unsupported(),
    }
    let is_number = |field: Option<&[u8]>| field.is_some_and(|field| number(field).is_some());
    if is_number(address) && is_number(length) { Reply::Base } else { reply::failed() }
}
