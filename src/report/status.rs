//! `monitor status`: what is served, where a client stands, and what of it was made up.

use std::fmt::Write;

use super::info::Info;
use super::text::count;
use super::warnings;
use crate::session::{Position, Session};

/// What made up state gdb is given outside any frame.
const OUTSIDE: &str = "outside a frame: gdb cannot live without registers there. Before the first tfind they are the\n  \
                       first frame's pc and zeros; after it they are the last visited frame's, or its pc and zeros\n  \
                       if it holds none. They are all zeros where gdb would need the stack to tell one function\n  \
                       from another. Memory is the last visited frame's, and the program's read-only parts.\n";

/// Where a client stands in its recording.
pub fn status(session: &Session) -> String {
    let replay = session.replay();
    let mut text = Info::new(replay).summary();
    let progress = replay.index().progress();
    if !progress.complete {
        let _ = writeln!(
            text,
            "indexing: {:.0} %, {} so far",
            100.0 * progress.fraction(),
            count(progress.frames, "frame")
        );
    }
    let position = match session.cursor().position() {
        Position::Start => "outside any frame, none visited yet".to_owned(),
        Position::Frame(frame) => format!("in trace frame {frame}"),
        Position::After(frame) => format!("outside any frame, last in trace frame {frame}"),
    };
    let _ = writeln!(text, "you are: {position}");
    if let Some(frame) = session.frame() {
        let pc = match frame.pc.address() {
            None => "not known: the frame holds no registers and its tracepoint does not tell".to_owned(),
            Some(pc) if frame.pc.is_inferred() => {
                format!("{pc:#x}, inferred: the frame holds no registers, this is its tracepoint's address")
            }
            Some(pc) => format!("{pc:#x}, recorded"),
        };
        let _ = writeln!(text, "pc: {pc}");
        if let Some(damage) = &frame.damage {
            let _ = writeln!(text, "this frame is damaged: {}", super::printable(&damage.to_string()));
        }
    }
    text.push_str("made up in a frame: nothing; a pc marked as inferred is its tracepoint's address\n");
    text.push_str(OUTSIDE);
    for warning in warnings(replay) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}
