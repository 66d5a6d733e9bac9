//! `monitor marks`: all bookmarks.

use super::{Answer, Command};
use crate::report::printable;
use crate::session::Session;

pub const COMMAND: Command =
    Command { name: "marks", usage: "marks", summary: "the frames that were marked, by name", answer };

fn answer(_arguments: &[&str], session: &mut Session) -> Answer {
    let marks = session.replay().marks().all();
    let lines = marks.iter().map(|(name, frame)| format!("{:>8}  {}\n", frame, printable(name)));
    Answer::Text(if marks.is_empty() { "no frame is marked\n".to_owned() } else { lines.collect() })
}
