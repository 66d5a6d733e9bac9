//! `monitor place`: the trace frame where the client is, and who made it; for a prompt.

use super::{Answer, Command};
use crate::report;

pub const COMMAND: Command = Command {
    name: "place",
    usage: "place",
    summary: "the frame you are in or were in last, and the task and CPU that made it",
    answer: |_, session| Answer::Text(report::place(session)),
};
