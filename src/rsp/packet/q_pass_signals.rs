//! `QPassSignals`: the signals with which gdb wants nothing told (`handle SIGNAL nostop noprint pass`). Of those there is
//! one here, that of a gap: moves go through then, and gdb is not asked at each.

use gdbstub::common::Signal;

use super::{numbers, q_btrace};
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    if !q_btrace::is_served(client) {
        return reply::unsupported();
    }
    let signals = rest.split(|byte| *byte == b';').filter(|signal| !signal.is_empty()).map(numbers::number);
    let Some(signals) = signals.collect::<Option<Vec<_>>>() else {
        return reply::error("the signals are numbers in hexadecimal, with ; between them");
    };
    client.session.passes_gaps = signals.contains(&Signal::SIGLOST.0.into());
    reply::ok()
}
