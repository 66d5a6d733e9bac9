//! `qXfer:traceframe-info`: which memory and which variables the selected frame holds (gdb manual, "Traceframe Info
//! Format"). By this gdb tells memory that was not collected from memory that cannot be read.

use std::fmt::Write;

use super::numbers::object_part;
use crate::arch::Addresses;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::trace::Frame;

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Some((b"", offset, length)) = object_part(rest) else { return reply::failed() };
    let Some(number) = client.session.cursor().selected() else { return reply::failed() };
    if client.traceframe_info.as_ref().is_none_or(|(kept, _)| *kept != number) {
        let Some(frame) = client.session.frame() else { return reply::failed() };
        let addresses = client.addresses();
        client.traceframe_info = Some((number, xml(&frame, addresses).into_bytes()));
    }
    match &client.traceframe_info {
        Some((_, xml)) => reply::part(xml, offset, length),
        None => reply::failed(),
    }
}

fn xml(frame: &Frame<'_>, addresses: Addresses) -> String {
    let mut xml = String::from("<traceframe-info>\n");
    for (start, length) in frame.memory_ranges() {
        let start = addresses.for_gdb(start);
        let _ = writeln!(xml, "<memory start=\"{start:#x}\" length=\"{length:#x}\"/>");
    }
    for number in frame.variable_values().into_keys() {
        let _ = writeln!(xml, "<tvar id=\"{number:#x}\"/>");
    }
    xml.push_str("</traceframe-info>\n");
    xml
}
