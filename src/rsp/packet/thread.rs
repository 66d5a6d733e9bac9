//! `Hg` and `Hc`: the thread that is asked of next. gdbstub takes one that there is not, and ends a session on others.

use super::numbers::number;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `Hg THREAD`: of registers.
pub fn general(rest: &[u8], client: &mut Client) -> Reply {
    match rest {
        b"0" => {
            // Any thread, and the same as long as it names none: it is the one that it takes for its own.
            client.general_thread = Some(client.session.thread());
            Reply::Base
        }
        _ => match number_of(rest).filter(|thread| client.has_thread(*thread)) {
            Some(thread) => {
                client.general_thread = Some(thread);
                Reply::Base
            }
            None => reply::failed(),
        },
    }
}

/// `Hc THREAD`: of run control. Of all or any (-1, 0) gdbstub could not step back: there it stays with the one before.
pub fn run_control(rest: &[u8], client: &mut Client) -> Reply {
    match rest {
        b"0" | b"-1" => reply::ok(),
        _ if number_of(rest).is_some_and(|thread| client.has_thread(thread)) => Reply::Base,
        _ => reply::failed(),
    }
}

/// The thread that is named, as `3`, or as `p1.3` by a client that numbers processes.
pub fn number_of(id: &[u8]) -> Option<u32> {
    let thread = match id.strip_prefix(b"p") {
        Some(id) => id.split(|byte| *byte == b'.').nth(1)?,
        None => id,
    };
    u32::try_from(number(thread)?).ok()
}
