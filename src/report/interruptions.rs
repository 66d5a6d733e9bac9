//! What lies between instructions, in words.

use std::fmt::Write;

use serde::Serialize;

use super::text::{place, printable};
use crate::index::Answer;
use crate::session::Replay;
use crate::trace::{InterruptionKind, Placed};

/// An interruption, as JSON.
#[derive(Debug, Serialize)]
pub struct InterruptionRow {
    /// `gap`: nobody knows what was executed. `exception`: one was taken, or an interrupt.
    pub kind: &'static str,
    /// Why, or what the machine calls it.
    pub what: String,
    /// Offset in bytes in the dump of what tells it.
    pub at: u64,
    /// The number of the thread's last frame before it.
    pub last: Option<u64>,
}

impl From<Placed> for InterruptionRow {
    fn from(placed: Placed) -> InterruptionRow {
        let (kind, what) = match placed.interruption.kind {
            InterruptionKind::Gap(reason) => ("gap", reason),
            InterruptionKind::Exception(name) => ("exception", name),
        };
        InterruptionRow { kind, what, at: placed.interruption.at, last: placed.before }
    }
}

/// An interruption in a line.
pub fn interruption(replay: &Replay, placed: &Placed) -> String {
    let Placed { interruption, before, after } = placed;
    let (before, after) = (point(replay, *before), point(replay, *after));
    let at = interruption.at;
    match &interruption.kind {
        InterruptionKind::Gap(reason) => format!(
            "gap: nobody knows what was executed between {before} and {after}: {} (byte {at:#x})\n",
            printable(reason)
        ),
        InterruptionKind::Exception(name) => {
            format!("exception: {} (byte {at:#x}), between {before} and {after}\n", printable(name))
        }
    }
}

/// A frame, and where it is.
fn point(replay: &Replay, frame: Option<u64>) -> String {
    let Some(frame) = frame else { return "nothing".to_owned() };
    let mut text = format!("frame {frame}");
    if let Answer::Found(Some(pc)) = replay.index().pc(frame) {
        let _ = write!(text, " at {pc:#x}");
        if let Some(function) = replay.function(pc) {
            let _ = write!(text, " <{}>", printable(&place(function)));
        }
    }
    text
}
