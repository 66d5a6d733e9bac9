//! `monitor help`.

use super::{COMMANDS, Command};
use crate::session::Session;

pub const COMMAND: Command = Command { name: "help", usage: "help", summary: "this list", answer };

fn answer(_arguments: &[&str], _session: &Session) -> String {
    let width = COMMANDS.iter().map(|command| command.usage.len()).max().unwrap_or(0);
    let lines = COMMANDS.iter().map(|command| format!("monitor {:width$}  {}\n", command.usage, command.summary));
    lines.collect()
}
