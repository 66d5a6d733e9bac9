//! `qTP:NUMBER:ADDRESS`: how often a tracepoint was hit, and how much of the trace buffer it used.
//!
//! Never an error: it would end gdb's `tstatus` and `tsave` (gdb 13.1).

use super::numbers::{number, signed};
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let mut fields = rest.splitn(2, |byte| *byte == b':');
    let wanted = fields
        .next()
        .and_then(signed)
        .zip(fields.next().and_then(number).map(|address| client.addresses().kept(address)));
    let tracepoints = client.session.replay().recording().tracepoints();
    let found = tracepoints.iter().find(|tracepoint| Some((tracepoint.number, tracepoint.address)) == wanted);
    let (hits, usage) = found.map_or((None, None), |tracepoint| (tracepoint.hits, tracepoint.usage));
    reply::text(format!("V{:x}:{:x}", hits.unwrap_or(0), usage.unwrap_or(0)))
}
