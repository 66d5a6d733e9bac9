//! `qTfV` and `qTsV`: the trace state variables' definitions, in the order of the recording.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `qTfV`: the first definition.
pub fn first(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        return reply::unsupported();
    }
    client.variable_piece = 0;
    next(rest, client)
}

/// `qTsV`: the next definition, or `l` where there is none. gdb would take an error for a definition.
pub fn next(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        return reply::unsupported();
    }
    match client.session.replay().recording().variables().get(client.variable_piece) {
        Some(variable) => {
            client.variable_piece += 1;
            reply::text(variable.piece.as_str())
        }
        None => reply::text("l"),
    }
}
