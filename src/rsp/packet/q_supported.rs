//! `qSupported`: gdbstub answers for itself, [`complete`] adds what this room serves.

use super::q_btrace;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// What is served here. `tracenz+`: without it gdb gives up the upload of a tracepoint that collects strings.
/// `binary-upload+`: `x` replies begin with `b`.
const FEATURES: &str = "ConditionalBreakpoints+;tracenz+;qXfer:traceframe-info:read+;qXfer:statictrace:read+;TraceStateVariables+;\
                        DisconnectedTracing+;QTBuffer:size+;binary-upload+";

/// What is served where frames are instructions.
const OF_INSTRUCTIONS: &str =
    "QPassSignals+;Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+;qXfer:btrace:read+;qXfer:btrace-conf:read+";

/// What the client says it can do changes nothing of the answer, so a list with gaps is as good as any.
pub fn answer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() || rest.starts_with(b":") { Reply::Base } else { reply::unsupported() }
}

/// The request as gdbstub is to see it: without gaps, on which it would give up, and without processes in thread
/// numbers, so that gdb says `Thread 1`.
pub fn for_base(request: &[u8]) -> Vec<u8> {
    let list = request.strip_prefix(b"qSupported:").unwrap_or(b"");
    let kept: Vec<&[u8]> = list
        .split(|byte| *byte == b';')
        .filter(|feature| !feature.is_empty() && *feature != b"multiprocess+")
        .collect();
    // gdbstub wants a list with at least one feature.
    let list = if kept.is_empty() { b"swbreak+".to_vec() } else { kept.join(&b';') };
    [b"qSupported:", list.as_slice()].concat()
}

/// gdbstub's reply, made whole.
pub fn complete(reply: &[u8], client: &Client) -> Vec<u8> {
    let text = String::from_utf8_lossy(reply);
    let mut features = vec![format!("PacketSize={:x}", client.packet_size)];
    features.extend(
        text.split(';')
            .filter(|feature| !feature.starts_with("PacketSize=") && !OWN.contains(feature))
            .map(str::to_owned),
    );
    features.push(FEATURES.to_owned());
    if q_btrace::is_served(client) {
        features.push(OF_INSTRUCTIONS.to_owned());
    }
    features.join(";").into_bytes()
}

/// What gdbstub always says and is not so here: nothing forks in a recording.
const OWN: [&str; 4] = ["multiprocess+", "fork-events+", "vfork-events+", "vforkdone-events+"];
