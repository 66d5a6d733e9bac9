//! `vCont`, `c`, `s`, `C`, `S`, `bc`, `bs`: run control. gdbstub resumes on some packets that name no action, and ends
//! a session on others.

use super::numbers::{number, pair};
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `vCont?`.
pub fn offer(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() { Reply::Base } else { reply::unsupported() }
}

/// `vCont;ACTION[:THREAD]…`.
pub fn actions(rest: &[u8], client: &mut Client) -> Reply {
    match rest.strip_prefix(b";") {
        Some(actions) if actions.split(|byte| *byte == b';').all(|action| is_action(action, client)) => Reply::Base,
        Some(_) => reply::error("expected c, or s, or r with a range, the last two with a thread that there is"),
        None => reply::unsupported(),
    }
}

fn is_action(action: &[u8], client: &Client) -> bool {
    let mut parts = action.splitn(2, |byte| *byte == b':');
    let (action, thread) = (parts.next().unwrap_or_default(), parts.next());
    let all = matches!(thread, None | Some(b"-1"));
    let is_there = || thread.and_then(super::thread::number_of).is_some_and(|thread| client.has_thread(thread));
    let is_signal = |digits: &[u8]| digits.len() == 2 && number(digits).is_some();
    match action {
        [b'c'] => all || is_there(),
        [b'C', signal @ ..] => is_signal(signal) && (all || is_there()),
        [b's'] => is_there(),
        [b'S', signal @ ..] => is_signal(signal) && is_there(),
        [b'r', range @ ..] => pair(range, b',').is_some() && is_there(),
        _ => false,
    }
}

/// `c`, `s`, `bc`, `bs`: the last two take no address, and a recording goes on from where it is.
pub fn plain(rest: &[u8], _client: &mut Client) -> Reply {
    if rest.is_empty() {
        Reply::Base
    } else {
        reply::error("a recording goes on from where it is, not from an address")
    }
}

/// `C` and `S`: what gdb sends in their place is `vCont`, which gdbstub knows.
pub fn with_signal(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::error("resume with vCont")
}
