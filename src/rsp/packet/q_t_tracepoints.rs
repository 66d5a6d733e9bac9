//! `qTfP` and `qTsP`: the tracepoints' definitions, piece by piece, in the order of the recording.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `qTfP`: the first piece.
pub fn first(rest: &[u8], client: &mut Client) -> Reply {
    client.tracepoint_piece = (0, 0);
    next(rest, client)
}

/// `qTsP`: the next piece, or `l` where there is none. gdb would take an error for a definition.
pub fn next(_rest: &[u8], client: &mut Client) -> Reply {
    let tracepoints = client.session.replay().recording().tracepoints();
    let (mut at, mut piece) = client.tracepoint_piece;
    while let Some(tracepoint) = tracepoints.get(at) {
        if let Some(text) = tracepoint.pieces.get(piece) {
            client.tracepoint_piece = (at, piece + 1);
            return reply::text(text.as_str());
        }
        (at, piece) = (at + 1, 0);
    }
    client.tracepoint_piece = (at, piece);
    reply::text("l")
}
