//! Monitor commands: one file each. Answers are short plain text that can be pasted into a report.

mod catch;
mod conditions;
mod damage;
mod find;
mod frames;
mod gaps;
mod goto;
mod help;
mod mark;
mod marks;
mod place;
mod status;

pub use find::Finding;

use crate::session::Session;

/// A monitor command.
struct Command {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    answer: fn(&[&str], &mut Session) -> Answer,
}

/// What a command comes to.
pub enum Answer {
    /// Text, ending in a newline.
    Text(String),
    /// A search, whose end is to be told.
    Search(Box<Finding>),
    /// The index has not come far enough: ask again.
    Later,
}

const COMMANDS: &[Command] = &[
    help::COMMAND,
    status::COMMAND,
    place::COMMAND,
    frames::COMMAND,
    find::COMMAND,
    goto::COMMAND,
    mark::COMMAND,
    marks::COMMAND,
    damage::COMMAND,
    gaps::GAPS,
    gaps::EXCEPTIONS,
    catch::COMMAND,
];

/// The answer to a command line. As in gdb, a command may be shortened while it stays unique.
pub fn answer(line: &str, session: &mut Session) -> Answer {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, arguments) = words.split_first().map_or(("help", &[][..]), |(name, rest)| (*name, rest));
    let mut fitting = COMMANDS.iter().filter(|command| command.name.starts_with(name));
    let exact = COMMANDS.iter().find(|command| command.name == name);
    match (exact.or(fitting.next()), fitting.next()) {
        (Some(command), other) if other.is_none() || exact.is_some() => (command.answer)(arguments, session),
        (Some(_), _) => Answer::Text(format!("monitor {name} is ambiguous; try: monitor help\n")),
        (None, _) => Answer::Text(format!("monitor {} is not known; try: monitor help\n", name.escape_debug())),
    }
}
