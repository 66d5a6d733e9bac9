//! `monitor gaps` and `monitor exceptions`: what lies between instructions.

use super::{Answer, Command};
use crate::index::{self, InterruptionQuery};
use crate::report;
use crate::session::Session;
use crate::trace::Placed;

pub const GAPS: Command = Command {
    name: "gaps",
    usage: "gaps [from N]",
    summary: "where trace was lost: what was executed there nobody knows",
    answer: |arguments, session| list(arguments, session, true),
};

pub const EXCEPTIONS: Command = Command {
    name: "exceptions",
    usage: "exceptions [from N]",
    summary: "where exceptions and interrupts were taken",
    answer: |arguments, session| list(arguments, session, false),
};

/// How many are shown.
const ROWS: usize = 50;

fn list(arguments: &[&str], session: &mut Session, gaps: bool) -> Answer {
    let mut from = match arguments {
        [] => 0,
        ["from", number] => match report::parse_number(number) {
            Ok(number) => number,
            Err(error) => return Answer::Text(format!("{error}\n")),
        },
        _ => return Answer::Text("from which frame on? monitor gaps from 1000\n".to_owned()),
    };
    let index = session.replay().index();
    let between = InterruptionQuery { thread: None, gaps, exceptions: !gaps };
    let mut text = String::new();
    for _ in 0..ROWS {
        match index.next_interruption(from, &between) {
            index::Answer::Found(Placed { after: Some(after), .. }) => {
                // There can be several before one instruction.
                let all = index.interruptions_before(after, ROWS);
                let wanted = all.iter().filter(|placed| placed.interruption.kind.is_gap() == gaps);
                text.extend(wanted.map(|placed| report::interruption(session.replay(), placed)));
                if all.len() == ROWS {
                    text.push_str("… there may be more here\n");
                }
                from = after + 1;
            }
            index::Answer::Found(placed) => {
                return Answer::Text(text + &report::interruption(session.replay(), &placed));
            }
            index::Answer::Nothing => {
                let behind = index.interruptions_behind(ROWS);
                let more = if behind.len() == ROWS { "… there may be more here\n" } else { "" };
                let wanted = behind.iter().filter(|placed| placed.interruption.kind.is_gap() == gaps);
                text.extend(wanted.map(|placed| report::interruption(session.replay(), placed)));
                return Answer::Text(if text.is_empty() { "none\n".to_owned() } else { text + more });
            }
            index::Answer::NotYet => return Answer::Later,
        }
    }
    Answer::Text(format!("{text}… there may be more; go on with: from {from}\n"))
}
