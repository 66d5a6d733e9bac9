//! `monitor find NAME=VALUE …`: several conditions, all of which hold.

use super::find::{compared, number};
use crate::index::Query;
use crate::report::{self, printable};
use crate::session::{Check, Comparison, Condition, Replay, Selection, Session, Subject};

/// Names that mean what the index knows.
const OF_INDEX: [&str; 5] = ["event", "tracepoint", "thread", "pc", "time"];

/// Reads them.
pub fn conditions(words: &[&str], session: &Session) -> Result<Condition, String> {
    let replay = session.replay();
    let addresses = replay.recording().target().addresses();
    let mut selection = Selection::default();
    let mut checks = Vec::new();
    for text in quoted(words)? {
        let (name, comparison, value) =
            compared(&text)?.ok_or(format!("{} is no condition: write NAME=VALUE", printable(&text)))?;
        let name = name.strip_prefix('$').unwrap_or(name);
        if OF_INDEX.contains(&name) && comparison != Comparison::Equal {
            return Err(format!("{name} is found with = only"));
        }
        match name {
            "event" => selection.add(events(value, replay)?),
            "tracepoint" => selection.add(vec![Query::Tracepoint(report::parse_tracepoint(value)?)]),
            "thread" => selection.add(vec![Query::Thread(
                u32::try_from(report::parse_number(value)?).map_err(|_| "there is no such thread".to_owned())?,
            )]),
            "pc" => {
                let (low, high) = report::parse_pc(value)?;
                selection.add(vec![Query::Range { low: addresses.kept(low), high: addresses.kept(high) }]);
            }
            "time" if !replay.has_times() => {
                return Err("the frames of this recording have no time of their own".to_owned());
            }
            "time" => {
                let (from, to) = report::parse_times(value)?;
                selection.between(from, to);
            }
            _ => {
                let check = check(name, comparison, value, replay)?;
                if name == "pid" && comparison == Comparison::Equal {
                    selection.add_task(check.number, replay);
                }
                checks.push(check);
            }
        }
    }
    Ok(Condition::All(selection, checks))
}

/// Words in which spaces between quotation marks are part of one.
fn quoted(words: &[&str]) -> Result<Vec<String>, String> {
    let line = words.join(" ");
    let mut found = vec![String::new()];
    let mut inside = false;
    for letter in line.chars() {
        match (letter, found.last_mut()) {
            ('"', _) => inside = !inside,
            (' ', _) if !inside => found.push(String::new()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    if inside { Err("a quotation mark is missing".to_owned()) } else { Ok(found) }
}

/// The tracepoints that an event means: by its name, or as SYSTEM:NAME; where frames are no events, by the function at the
/// tracepoint, or where its maker said it was; and by number everywhere.
fn events(value: &str, replay: &Replay) -> Result<Vec<Query>, String> {
    let recording = replay.recording();
    let means = |tracepoint: &crate::trace::Tracepoint| match recording.event_name(tracepoint.number) {
        Some((system, name)) => value == name || value.split_once(':') == Some((system, name)),
        None => {
            let function = || replay.function(tracepoint.address);
            tracepoint.source.at.as_deref() == Some(value) || function().is_some_and(|(name, _)| name == value)
        }
    };
    let mut numbers: Vec<i32> =
        recording.tracepoints().iter().filter(|found| means(found)).map(|found| found.number).collect();
    numbers.extend(report::parse_tracepoint(value).ok().filter(|_| numbers.is_empty()));
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.is_empty() {
        true => Err(format!("there is no event {} in this recording", printable(value))),
        false => Ok(numbers.into_iter().map(Query::Tracepoint).collect()),
    }
}

/// What a name means: the tracing instance of an event, a variable, a field of events that is none, or a register.
fn subject(name: &str, replay: &Replay) -> Result<Subject, String> {
    let recording = replay.recording();
    if name == "instance" && !recording.instances().is_empty() {
        return Ok(Subject::Instance);
    }
    if let Some(variable) = recording.variables().iter().find(|variable| variable.name == name) {
        return Ok(Subject::Variable(name.to_owned(), variable.number));
    }
    if recording.has_field(name) {
        return Ok(Subject::Field(name.to_owned()));
    }
    let register = recording.target().layout.as_ref().and_then(|layout| layout.by_name(name));
    let number = register.filter(|register| register.size <= 8).and_then(|register| register.number.try_into().ok());
    number.map(Subject::Register).ok_or_else(|| {
        format!("there is no trace state variable, no field of an event and no register {} here", printable(name))
    })
}

fn check(name: &str, comparison: Comparison, value: &str, replay: &Replay) -> Result<Check, String> {
    let subject = subject(name, replay)?;
    if subject == Subject::Instance {
        let instances = replay.recording().instances();
        if !matches!(comparison, Comparison::Equal | Comparison::Unequal) {
            return Err("instance is found with = and != only".to_owned());
        }
        if !instances.iter().any(|instance| instance == value) {
            return Err(format!("there is no instance {} in this recording", printable(value)));
        }
    }
    Ok(Check { subject, comparison, text: value.to_owned(), number: number(value).ok() })
}
