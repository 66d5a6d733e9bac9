//! `QPassSignals`: the signals with which gdb wants nothing told (`handle SIGNAL nostop noprint pass`). Of those there is
//! one here, that of a gap: moves go through then, and gdb is not asked at each.

use super::numbers;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// gdb's number of `SIGLOST` (gdb/signals.def).
const LOST: u64 = 29;

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    if !client.session.replay().recording().is_instruction_trace() {
        return reply::unsupported();
    }
    let signals = rest.split(|byte| *byte == b';').filter(|signal| !signal.is_empty()).map(numbers::number);
    let Some(signals) = signals.collect::<Option<Vec<_>>>() else {
        return reply::error("the signals are numbers in hexadecimal, with ; between them");
    };
    client.session.passes_gaps = signals.contains(&LOST);
    reply::ok()
}
