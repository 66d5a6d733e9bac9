//! `monitor find`: frames by what they hold.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::conditions::conditions;
use super::{Answer, Command};
use crate::arch::Addresses;
use crate::index::Query;
use crate::report::{self, printable};
use crate::session::{AgentExpression, Comparison, Condition, Direction, Operand, Search, Session};

pub const COMMAND: Command = Command {
    name: "find",
    usage: "find WHAT [reverse] [all] [from N]",
    summary: "the next frame, or all, where something holds; WHAT: monitor find",
    answer,
};

const HELP: &str = "\
monitor find WHAT [reverse] [all] [from N]
WHAT is one of
  pc ADDRESS[,ADDRESS]       the program counter is this, or from the first to the second
  tracepoint N               made by this tracepoint, as the recording machine counted
  thread N                   recorded on this thread
  reg NAME OP VALUE          a register compares so with a number; OP is == != < <= > or >=
  mem ADDRESS,LENGTH OP VALUE   the same of a number of 1 to 8 bytes in memory
  var NAME OP VALUE          the same of a trace state variable
  NAME=VALUE …               all of these hold, with = or another OP: event=sched_switch pid=42 cpu=1
                             time=1.5..1.6 (seconds; A.. and ..B too), tracepoint, thread, pc, and any
                             variable or field of an event: next_comm=bash prev_prio<100, name=\"a b\"
                             (of an array any element), instance=foo, any register
  reg NAME changes           it has another value than was recorded last, on the way;
                             likewise mem ADDRESS,LENGTH changes and var NAME changes
The search begins behind the frame you are in or were in last, with reverse before it, with from
at frame N. One frame is shown, with all up to 50 of them. Nothing moves you there: type tfind N.
A long search ends after a second and a half, and says where to go on: gdb loses count of replies when
Ctrl-C interrupts a monitor command.
";

/// How many frames are shown of all.
const ROWS: usize = 50;

/// So many program counters are told, to a script.
const PROGRAM_COUNTERS: usize = 200;

/// How many numbers are told at a time, to a script.
const NUMBERS: usize = 5000;

/// How many frames are looked at for that: a fraction of a second, since a script cannot be interrupted while it waits.
const LOOKED_AT: u64 = 500_000;

/// How long a search takes at most. gdb leaves a monitor command that ^C interrupts, between two lines of output or when
/// it has waited for two seconds (`remotetimeout`), and takes the reply for that to its next request: so there is no
/// output but the reply, and that comes sooner (gdb 13.1 and 18.1, remote.c, `remote_target::rcmd`).
const LONGEST: Duration = Duration::from_millis(1500);

/// A search for a client, and how it is to be told.
#[derive(Clone, Debug)]
pub struct Finding {
    pub search: Search,
    form: Form,
    /// When it ends, whatever was found by then.
    pub until: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Next,
    All,
    /// For scripts: nothing but numbers.
    Numbers,
}

fn answer(arguments: &[&str], session: &mut Session) -> Answer {
    if arguments.is_empty() {
        return Answer::Text(HELP.to_owned());
    }
    if arguments == ["pcs"] {
        return program_counters(session);
    }
    match finding(arguments, session) {
        Ok(finding) => Answer::Search(Box::new(finding)),
        Err(error) => Answer::Text(format!("{error}\nmore on it: monitor find\n")),
    }
}

fn finding(words: &[&str], session: &Session) -> Result<Finding, String> {
    let mut rest = words;
    let (mut direction, mut form, mut from) = (Direction::Forward, Form::Next, None);
    loop {
        rest = match rest {
            [before @ .., "reverse"] => {
                direction = Direction::Backward;
                before
            }
            [before @ .., "all"] => {
                form = Form::All;
                before
            }
            [before @ .., "numbers"] => {
                form = Form::Numbers;
                before
            }
            [before @ .., "from", number] => {
                from = Some(report::parse_number(number)?);
                before
            }
            _ => break,
        };
    }
    let most = match form {
        Form::Next => 1,
        Form::All => ROWS,
        Form::Numbers => NUMBERS,
    };
    let mut search = Search::new(session, condition(rest, session)?, direction, most);
    if let Some(from) = from {
        search = search.from(from);
    }
    if form == Form::Numbers {
        search = search.looking_at(LOOKED_AT);
    }
    Ok(Finding { search, form, until: Instant::now() + LONGEST })
}

fn condition(words: &[&str], session: &Session) -> Result<Condition, String> {
    let addresses = session.replay().recording().target().addresses();
    match words {
        ["pc", range] => {
            let (low, high) = report::parse_pc(range)?;
            Ok(Condition::Index(Query::Range { low: addresses.kept(low), high: addresses.kept(high) }))
        }
        ["tracepoint", number] => Ok(Condition::Index(Query::Tracepoint(report::parse_tracepoint(number)?))),
        ["thread", number] => {
            let thread =
                u32::try_from(report::parse_number(number)?).map_err(|_| "there is no such thread".to_owned())?;
            Ok(Condition::Index(Query::Thread(thread)))
        }
        ["code", parts @ .., "changes"] => Ok(Condition::Changes(compiled(parts, addresses)?)),
        ["code", parts @ ..] => Ok(Condition::Compares(compiled(parts, addresses)?, Comparison::Unequal, 0)),
        [kind @ ("reg" | "mem" | "var"), name, "changes"] => Ok(Condition::Changes(operand(kind, name, session)?)),
        [kind @ ("reg" | "mem" | "var"), comparison @ ..] => {
            let text = comparison.concat();
            let (name, comparison, value) =
                compared(&text)?.ok_or(format!("{kind} needs a comparison, or `changes`"))?;
            Ok(Condition::Compares(operand(kind, name, session)?, comparison, number(value)?))
        }
        [word, ..] if word.contains(OPERATORS) => conditions(words, session),
        [word, ..] => Err(format!("{} cannot be found so", printable(word))),
        [] => Err("what is to be found?".to_owned()),
    }
}

fn operand(kind: &str, name: &str, session: &Session) -> Result<Operand, String> {
    let recording = session.replay().recording();
    let bare = name.strip_prefix('$').unwrap_or(name);
    match kind {
        "reg" => {
            let layout = recording.target().layout.as_ref().ok_or("registers cannot be told apart here")?;
            let register = match bare {
                "pc" => Some(layout.pc()),
                "sp" => layout.sp(),
                _ => layout.by_name(bare),
            };
            let register = register.ok_or(format!("there is no register {}", printable(bare)))?;
            let number = u16::try_from(register.number).ok().filter(|_| register.size <= 8);
            number.map(Operand::Register).ok_or(format!("{} is wider than 64 bits", printable(bare)))
        }
        "var" => {
            let found = recording.variables().iter().find(|variable| variable.name == bare);
            let found = found.ok_or(format!("there is no trace state variable ${}", printable(bare)))?;
            Ok(Operand::Variable(found.number))
        }
        _ => {
            let (address, length) = name.split_once(',').ok_or("memory needs an address and a length: 0x1000,4")?;
            let (address, length) = (report::parse_number(address)?, report::parse_number(length)?);
            let length = usize::try_from(length).ok().filter(|length| (1..=8).contains(length));
            let length = length.ok_or("the length is 1 to 8 bytes".to_owned())?;
            Ok(Operand::Memory { address: recording.target().addresses().kept(address), length })
        }
    }
}

/// What comparisons are written with.
pub(super) const OPERATORS: [char; 4] = ['=', '!', '<', '>'];

/// The parts of `NAME OP VALUE`; none where there is no comparison.
pub(super) fn compared(text: &str) -> Result<Option<(&str, Comparison, &str)>, String> {
    let Some((name, rest)) = text.find(OPERATORS).and_then(|at| text.split_at_checked(at)) else { return Ok(None) };
    let value = rest.trim_start_matches(OPERATORS);
    let sign = rest.strip_suffix(value).unwrap_or(rest);
    let comparison = Comparison::from_text(sign).ok_or(format!("{sign} is no comparison"))?;
    Ok(Some((name, comparison, value)))
}

/// `0x…` or decimal, with a sign or without.
pub(super) fn number(text: &str) -> Result<i128, String> {
    match text.strip_prefix('-') {
        Some(magnitude) => report::parse_number(magnitude).map(|magnitude| -i128::from(magnitude)),
        None => report::parse_number(text).map(i128::from),
    }
}

/// For scripts: the program counters that the frames have, all of them, unless they are too many to compile expressions
/// for; `unknown` where some have none.
fn program_counters(session: &Session) -> Answer {
    let index = session.replay().index();
    if !index.progress().complete {
        return Answer::Later;
    }
    let addresses = session.replay().recording().target().addresses();
    let unknown = if index.has_unknown_pc() { "unknown\n" } else { "" };
    Answer::Text(match index.program_counters(PROGRAM_COUNTERS) {
        Some(pcs) => {
            let lines: String = pcs.iter().map(|pc| format!("{:#x}\n", addresses.for_gdb(*pc))).collect();
            format!("{lines}{unknown}")
        }
        None => format!("more than {PROGRAM_COUNTERS}\n"),
    })
}

/// `PC:BYTECODES`, in hexadecimal, as the commands of the project's gdbinit send them.
fn compiled(parts: &[&str], addresses: Addresses) -> Result<Operand, String> {
    let mut by_pc = BTreeMap::new();
    for part in parts {
        let found = part.split_once(':').and_then(|(pc, code)| {
            let code = hex::decode(code).ok().filter(|code| code.len() <= AgentExpression::LIMIT)?;
            Some((addresses.kept(u64::from_str_radix(pc, 16).ok()?), AgentExpression::new(code)))
        });
        let (pc, code) = found.ok_or(format!("{} is no program counter with bytecodes", printable(part)))?;
        by_pc.insert(pc, code);
    }
    Ok(Operand::Compiled(by_pc))
}

impl Finding {
    /// What was found so far, where the time is up.
    pub fn report_so_far(&self, session: &Session) -> String {
        let at = self.search.at();
        if self.form == Form::Numbers || !self.search.found.is_empty() {
            return self.report(session, Some(at));
        }
        let frames = session.replay().index().progress().frames;
        format!("no such frame so far, {at} of {frames}; go on with: from {at}\n")
    }

    /// What was found; `next` is where another search would go on.
    pub fn report(&self, session: &Session, next: Option<u64>) -> String {
        let Search { found, without_value, .. } = &self.search;
        let replay = session.replay();
        match (self.form, found.first()) {
            (Form::Numbers, _) => {
                let numbers: String = found.iter().map(|number| format!("{number}\n")).collect();
                let next = next.map_or_else(String::new, |next| format!("next {next}\n"));
                format!("{numbers}without {without_value}\n{next}")
            }
            (_, None) if *without_value > 0 => {
                let frames = report::count(*without_value, "frame");
                format!("no such frame; {frames} on the way did not collect what it takes\n")
            }
            (_, None) => "no such frame\n".to_owned(),
            (Form::Next, Some(frame)) => {
                format!("{}go there with: tfind {frame}\n", report::rows(replay, found))
            }
            (Form::All, Some(_)) => {
                let more =
                    next.map_or_else(String::new, |next| format!("… there may be more; go on with: from {next}\n"));
                format!("{}{more}", report::rows(replay, found))
            }
        }
    }
}
