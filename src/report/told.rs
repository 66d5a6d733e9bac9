//! What gdb is told of the tracepoints otherwise than it was recorded.

use std::collections::BTreeSet;

use super::text::printable;
use crate::session::Replay;

/// How many are named in a line.
const NAMED: usize = 3;

/// What gdb is told instead of what was recorded, a line for each kind; nothing where all is told as recorded.
pub fn told_otherwise(replay: &Replay) -> Vec<String> {
    let (mut places, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (tracepoint, told) in replay.recording().tracepoints().iter().zip(replay.told()) {
        let (number, recorded, told_of_it) = (tracepoint.number, &tracepoint.source, &told.source);
        if told_of_it.at != recorded.at {
            places.extend(recorded.at.as_deref().map(|words| (number, words)));
        }
        names.extend(told.unknown.iter().map(|name| (number, name.as_str())));
    }
    let kinds = [
        ("gdb is told the address, as words do not lead it there: ", places),
        ("gdb is not told to collect or test what it has no symbol for there: ", names),
    ];
    let kinds = kinds.iter().filter(|(_, found)| !found.is_empty());
    kinds.map(|(what, found)| format!("{what}{}", some_of(found))).collect()
}

/// The first of them, and how many more there are.
fn some_of(found: &BTreeSet<(i32, &str)>) -> String {
    let named = found.iter().take(NAMED).map(|(number, text)| format!("`{}` (tracepoint {number})", printable(text)));
    let named = named.collect::<Vec<_>>().join(", ");
    match found.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
