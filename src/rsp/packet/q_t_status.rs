//! `qTStatus`: how the recording ended.
//!
//! Always begins with `T0`: while a trace runs, gdb refuses to look at frames (gdb 13.1).

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::trace::StopReason;

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        return reply::unsupported();
    }
    let status = client.session.replay().recording().status();
    let mut text = "T0".to_owned();
    // A recording saved while it ran has no end, and its `tnotrun` would say that it never ran.
    if status.running || status.stop_reason == StopReason::Unknown {
        text.push_str(";tunknown:0");
    }
    for (name, value) in &status.fields {
        if status.running && REASONS.contains(&name.as_str()) {
            continue;
        }
        text.push_str(&format!(";{name}:{value}"));
    }
    let progress = client.session.replay().index().progress();
    if client.session.replay().recording().is_instruction_trace() && progress.complete {
        text.push_str(&format!(";tframes:{0:x};tcreated:{0:x}", progress.frames));
    }
    reply::text(text)
}

const REASONS: [&str; 7] = ["tnotrun", "tstop", "tfull", "tdisconnected", "tpasscount", "terror", "tunknown"];
