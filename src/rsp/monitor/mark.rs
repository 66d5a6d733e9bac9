//! `monitor mark`: names the frame where the client is, for everybody.

use super::{Answer, Command};
use crate::report::printable;
use crate::session::{Marks, Session};

pub const COMMAND: Command = Command {
    name: "mark",
    usage: "mark NAME",
    summary: "name the frame you are in or were in last, for all clients of this server",
    answer,
};

fn answer(arguments: &[&str], session: &mut Session) -> Answer {
    Answer::Text(match (arguments, session.cursor().visited()) {
        ([_], None) => "you were in no frame so far: there is nothing to mark\n".to_owned(),
        ([name], Some(frame)) if session.replay().marks().set(name, frame) => {
            format!("{} is trace frame {frame}\n", printable(name))
        }
        ([_], Some(_)) => {
            format!("no more than {} marks, with names of {} bytes\n", Marks::LIMIT, Marks::NAME_LIMIT)
        }
        _ => format!("a mark has one word for a name\nusage: monitor {}\n", COMMAND.usage),
    })
}
