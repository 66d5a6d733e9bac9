//! `monitor damage`: what of the recording could not be read.

use super::Command;
use crate::report;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "damage",
    usage: "damage",
    summary: "what of the recording could not be read, with byte offsets",
    answer,
};

fn answer(_arguments: &[&str], session: &Session) -> String {
    report::damage(session.replay()).to_string()
}
