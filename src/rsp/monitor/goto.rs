//! `monitor goto`: moves to a frame, outside of which the client then is.

use super::{Answer, Command};
use crate::report::{self, printable};
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "goto",
    usage: "goto N|start|end|time T|percent P|mark NAME",
    summary: "go to a frame, to go on from there with stepi and its like",
    answer,
};

fn answer(arguments: &[&str], session: &mut Session) -> Answer {
    Answer::Text(match target(arguments, session) {
        Ok(_) if arguments == ["before"] && session.cursor().selected().is_none() => {
            session.go_before_all();
            "you are outside any frame, as if you had visited none\n".to_owned()
        }
        // gdb would take the registers of another frame for those of the one that it has selected.
        Ok(_) if session.cursor().selected().is_some() => {
            "a trace frame is selected: move with tfind, or type first: tfind none\n".to_owned()
        }
        Ok(frame) if session.go_to(frame) => format!(
            "{}gdb does not know that you moved; type: maintenance flush register-cache\n",
            report::rows(session.replay(), &[frame])
        ),
        Ok(frame) => {
            let progress = session.replay().index().progress();
            let so_far = if progress.complete { "" } else { " so far" };
            format!("there is no frame {frame}: there are {}{so_far}\n", report::count(progress.frames, "frame"))
        }
        Err(error) => format!("{error}\nusage: monitor {}\n", COMMAND.usage),
    })
}

fn target(arguments: &[&str], session: &Session) -> Result<u64, String> {
    let replay = session.replay();
    let progress = replay.index().progress();
    let last = progress.frames.saturating_sub(1);
    match arguments {
        // Of use to scripts that come back to where they were.
        ["start" | "before"] => Ok(0),
        ["end"] if !progress.complete => Err("the end is not known yet: still indexing".to_owned()),
        ["end"] => Ok(last),
        ["time", time] => match replay.frame_at(report::parse_nanoseconds(time)?) {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err("no frame was recorded so early".to_owned()),
            Err(_) => Err("the frames of this recording have no time of their own".to_owned()),
        },
        ["percent", part] => match part.trim_end_matches('%').parse::<f64>() {
            Ok(part) if (0.0..=100.0).contains(&part) => Ok((part / 100.0 * last as f64).round() as u64),
            _ => Err(format!("{} is no number from 0 to 100", printable(part))),
        },
        ["mark", name] => replay.marks().get(name).ok_or(format!("there is no mark {}", printable(name))),
        [number] => report::parse_number(number),
        _ => Err("where to?".to_owned()),
    }
}
