//! `QTFrame`: selects a trace frame.
//!
//! `QTFrame:N`, `pc:ADDR`, `tdp:N`, `range:LOW:HIGH` and `outside:LOW:HIGH` (both ends inside). Searches start behind
//! the selected frame. `F-1` and the old selection where nothing is found; -1, as 32 bits, for no frame.

use super::numbers::{number, pair, signed};
use crate::index::{Answer, Query};
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::session::{Find, Selected};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let addresses = client.addresses();
    let two = |text| pair(text, b':').map(|(low, high)| (addresses.kept(low), addresses.kept(high)));
    let find = if let Some(address) = rest.strip_prefix(b"pc:") {
        number(address).map(|address| Find::Next(Query::Pc(addresses.kept(address))))
    } else if let Some(tracepoint) = rest.strip_prefix(b"tdp:") {
        signed(tracepoint).map(|tracepoint| Find::Next(Query::Tracepoint(tracepoint)))
    } else if let Some(range) = rest.strip_prefix(b"range:") {
        two(range).map(|(low, high)| Find::Next(Query::Range { low, high }))
    } else if let Some(range) = rest.strip_prefix(b"outside:") {
        two(range).map(|(low, high)| Find::Next(Query::Outside { low, high }))
    } else if matches!(rest, b"ffffffff" | b"-1") {
        client.session.leave_frame();
        return reply::ok();
    } else {
        number(rest).map(Find::Number)
    };
    let Some(find) = find else { return reply::failed() };
    match client.session.find(find) {
        Answer::Found(selected) => reply::text(found(selected)),
        Answer::Nothing => reply::text("F-1"),
        Answer::NotYet => Reply::Later,
    }
}

/// gdb reads both numbers with `strtol`, which takes a sign.
fn found(Selected { frame, tracepoint }: Selected) -> String {
    let sign = if tracepoint < 0 { "-" } else { "" };
    format!("F{frame:x}T{sign}{:x}", tracepoint.unsigned_abs())
}
