//! The option HOOK (6).

use super::{Wrong, text};

/// Two events that belong together where a field of each has the same value:
/// `[system:]event,field[,pid field]/[system:]event,field[,flags]` (trace-cmd's trace-hooks.c).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The first event.
    pub start: HookEvent,
    /// The field of the first event that names the process; its own process where there is none.
    pub pid: Option<String>,
    /// The second event.
    pub end: HookEvent,
    /// Letters: P, both are on the same CPU; G, of no process; S, with stacks.
    pub flags: Option<String>,
    /// The whole text.
    pub text: String,
}

/// One event of a [`Hook`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    /// The event's system.
    pub system: Option<String>,
    /// The event.
    pub event: String,
    /// The field whose value must be the same in both.
    pub field: String,
}

impl Hook {
    pub(super) fn read(data: &[u8]) -> Result<Hook, Wrong> {
        let text = text::text(data);
        let halves = text.split_once('/').and_then(|(start, end)| Some((half(start)?, half(end)?)));
        let Some(((start, pid), (end, flags))) = halves else {
            return Err(Wrong::Said(format!(
                "{:?} is not two events with a field each and a slash between them",
                text::shortened(&text)
            )));
        };
        Ok(Hook { start, pid, end, flags, text })
    }
}

/// An event, and what follows its field.
fn half(text: &str) -> Option<(HookEvent, Option<String>)> {
    let (named, rest) = text.split_once(',')?;
    let (system, event) = match named.split_once(':') {
        Some((system, event)) => (Some(system.to_owned()), event),
        None => (None, named),
    };
    let (field, more) = match rest.split_once(',') {
        Some((field, more)) => (field, Some(more.to_owned())),
        None => (rest, None),
    };
    Some((HookEvent { system, event: event.to_owned(), field: field.to_owned() }, more))
}
