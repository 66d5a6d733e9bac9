//! `monitor catch exceptions`: whether a move ends where an exception was taken.

use super::{Answer, Command};
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "catch",
    usage: "catch exceptions | off",
    summary: "stop where an exception or an interrupt was taken, or no longer",
    answer,
};

fn answer(arguments: &[&str], session: &mut Session) -> Answer {
    let catches = match arguments {
        [word] if !word.is_empty() && "exceptions".starts_with(word) => true,
        ["off"] => false,
        _ => return Answer::Text(format!("usage: monitor {}\n", COMMAND.usage)),
    };
    session.catches_exceptions = catches;
    Answer::Text(match catches {
        true => "moves end where an exception was taken\n".to_owned(),
        false => "moves pass over exceptions\n".to_owned(),
    })
}
