//! `monitor damage`: what of the recording could not be read.

use super::{Answer, Command};
use crate::report;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "damage",
    usage: "damage",
    summary: "what of the recording could not be read, with byte offsets",
    answer,
};

fn answer(_arguments: &[&str], session: &mut Session) -> Answer {
    Answer::Text(report::damage(session.replay()).to_string())
}
