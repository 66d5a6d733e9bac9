//! `qTfP` and `qTsP`: the tracepoints' definitions, piece by piece, in the order of the recording.
//!
//! What gdb could not take of them is replaced: [`crate::session::Told`].

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `qTfP`: the first piece.
pub fn first(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        return reply::unsupported();
    }
    client.tracepoint_piece = (0, 0);
    next(rest, client)
}

/// `qTsP`: the next piece, or `l` where there is none. gdb would take an error for a definition.
pub fn next(rest: &[u8], client: &mut Client) -> Reply {
    if !rest.is_empty() {
        return reply::unsupported();
    }
    let replay = client.session.replay();
    let tracepoints = replay.recording().tracepoints();
    let (mut at, mut piece) = client.tracepoint_piece;
    while let (Some(tracepoint), Some(told)) = (tracepoints.get(at), replay.told().get(at)) {
        if let Some(text) = told.pieces(tracepoint).get(piece) {
            client.tracepoint_piece = (at, piece + 1);
            return reply::text(text.as_str());
        }
        (at, piece) = (at + 1, 0);
    }
    client.tracepoint_piece = (at, piece);
    reply::text("l")
}
