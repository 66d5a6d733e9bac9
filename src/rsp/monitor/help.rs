//! `monitor help`.

use super::{Answer, COMMANDS, Command};
use crate::session::Session;

pub const COMMAND: Command = Command { name: "help", usage: "help", summary: "this list", answer };

fn answer(_arguments: &[&str], _session: &mut Session) -> Answer {
    let width = COMMANDS.iter().map(|command| command.usage.len()).max().unwrap_or(0);
    let lines = COMMANDS.iter().map(|command| format!("monitor {:width$}  {}\n", command.usage, command.summary));
    Answer::Text(lines.collect())
}
