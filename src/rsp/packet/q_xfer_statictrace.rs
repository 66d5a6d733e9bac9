//! `qXfer:statictrace`: what the static tracepoint's marker passed (`$_sdata`).

use super::numbers::object_part;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Some((b"", offset, length)) = object_part(rest) else { return reply::failed() };
    if client.session.cursor().selected().is_none() {
        return reply::failed();
    }
    match client.session.frame().and_then(|frame| frame.static_data.map(|data| data.into_owned())) {
        Some(data) => reply::part(&data, offset, length),
        None => reply::failed(),
    }
}
