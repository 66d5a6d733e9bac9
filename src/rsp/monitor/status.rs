//! `monitor status`: what is served, where this client stands, and what of it was made up.

use super::{Answer, Command};
use crate::report;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "status",
    usage: "status",
    summary: "what is served, where you stand, and what is made up",
    answer,
};

fn answer(_arguments: &[&str], session: &mut Session) -> Answer {
    Answer::Text(report::status(session))
}
