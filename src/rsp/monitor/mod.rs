//! Monitor commands: one file each. Answers are short plain text that can be pasted into a report.

mod damage;
mod frames;
mod help;
mod status;

use crate::session::Session;

/// A monitor command.
struct Command {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    answer: fn(&[&str], &Session) -> String,
}

const COMMANDS: &[Command] = &[help::COMMAND, status::COMMAND, frames::COMMAND, damage::COMMAND];

/// The answer to a command line, ending in a newline. As in gdb, a command may be shortened while it stays unique.
pub fn answer(line: &str, session: &Session) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, arguments) = words.split_first().map_or(("help", &[][..]), |(name, rest)| (*name, rest));
    let mut fitting = COMMANDS.iter().filter(|command| command.name.starts_with(name));
    match (fitting.next(), fitting.next()) {
        (Some(command), None) => (command.answer)(arguments, session),
        (Some(_), Some(_)) => format!("monitor {name} is ambiguous; try: monitor help\n"),
        (None, _) => format!("monitor {} is not known; try: monitor help\n", name.escape_debug()),
    }
}
