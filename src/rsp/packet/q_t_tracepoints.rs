//! `qTfP` and `qTsP`: the tracepoints' definitions, piece by piece, in the order of the recording.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::trace::Tracepoint;

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
    let tracepoints = client.session.replay().recording().tracepoints();
    let (mut at, mut piece) = client.tracepoint_piece;
    while let Some(tracepoint) = tracepoints.get(at) {
        let Some(text) = tracepoint.pieces.get(piece) else {
            (at, piece) = (at + 1, 0);
            continue;
        };
        piece += 1;
        if !names_a_marker(tracepoint, text) {
            client.tracepoint_piece = (at, piece);
            return reply::text(text.as_str());
        }
    }
    client.tracepoint_piece = (at, piece);
    reply::text("l")
}

/// Whether a piece says that the user set a static tracepoint at a marker (`-m ID`). gdb writes such places and cannot
/// read them: it would give the connection up ("invalid explicit location argument", gdb 13.1 and 18.1). Without the
/// piece it goes by the address, and says so.
fn names_a_marker(tracepoint: &Tracepoint, piece: &str) -> bool {
    let at = tracepoint.source.at.as_deref();
    at.is_some_and(|at| at.starts_with("-m")) && piece.starts_with('Z') && piece.split(':').nth(2) == Some("at")
}
