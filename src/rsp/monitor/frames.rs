//! `monitor frames`: a table of frames.

use super::{Answer, Command};
use crate::report::{self, FrameFilter};
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "frames",
    usage: "frames [tracepoint N] [pc A[,B]] [range M..N]",
    summary: "a table of frames, the first 50 that fit",
    answer,
};

/// A console is no place for a million rows.
const ROWS: usize = 50;

fn answer(arguments: &[&str], session: &mut Session) -> Answer {
    Answer::Text(match FrameFilter::from_words(arguments) {
        Ok(filter) => report::frames_table(session.replay(), &filter, ROWS),
        Err(error) => format!("{error}\nusage: monitor {}\n", COMMAND.usage),
    })
}
