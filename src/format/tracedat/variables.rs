//! The fields of events as trace state variables.
//!
//! A variable of gdb's is an integer of 64 bits. So an integer field is its value; of text, arrays and other content
//! the variable is the address, in the record that the frame holds as memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::event_types::{EventType, is_probe};
use super::events::{EventFormat, Field, Formats};
use super::probe;
use crate::arch::Layout;
use crate::format::tfile::variable_piece;
use crate::trace::TraceStateVariable;

/// What every frame has, in the order of the variables' numbers from 1 on.
pub(super) const EVERY: [&str; 7] = ["timestamp", "raw_timestamp", "cpu", "pid", "event_id", "rec", "rec_size"];

/// What some frames have: how many events of the CPU were lost before this one, -1 where nobody counted.
pub(super) const LOST: &str = "lost_before";

/// The number of a variable of those above.
pub(super) fn number(name: &str) -> i32 {
    EVERY.iter().chain([&LOST]).zip(1..).find(|(every, _)| **every == name).map_or(0, |(_, number)| number)
}

/// All variables, and which fields they are.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: Vec<TraceStateVariable>,
    /// For each event, places in [`EventFormat::fields`] and the variable's number.
    fields: HashMap<u16, Vec<(usize, i32)>>,
    /// The tracepoints of the events that have a variable, by its number.
    holders: BTreeMap<i32, Vec<i32>>,
}

impl Variables {
    pub fn new(types: &[EventType], formats: &Formats, layout: Option<&Layout>) -> Variables {
        let mut variables = Variables::default();
        let everywhere: Vec<i32> = types.iter().map(|event| event.number).collect();
        let mut numbers: HashMap<String, i32> = HashMap::new();
        for name in EVERY.into_iter().chain([LOST]) {
            let number = variables.number_of(name.to_owned(), &mut numbers);
            variables.holders.insert(number, everywhere.clone());
        }
        for event in types {
            let Some(format) = formats.get(event.id) else { continue };
            let mut fields = Vec::new();
            let mut own = HashSet::new();
            for (place, field) in format.fields.iter().enumerate().skip(format.common) {
                let Some(name) = variable_name(field, format, layout) else { continue };
                let number = variables.number_of(name, &mut numbers);
                if own.insert(number) {
                    fields.push((place, number));
                    variables.holders.entry(number).or_default().push(event.number);
                }
            }
            variables.fields.insert(event.id, fields);
        }
        variables
    }

    fn number_of(&mut self, name: String, numbers: &mut HashMap<String, i32>) -> i32 {
        if let Some(number) = numbers.get(&name) {
            return *number;
        }
        let number = self.all.len() as i32 + 1;
        let mut variable =
            TraceStateVariable { number, name: name.clone(), initial: 0, builtin: false, piece: String::new() };
        variable.piece = variable_piece(&variable);
        self.all.push(variable);
        numbers.insert(name, number);
        number
    }

    /// All of them, by ascending number.
    pub fn all(&self) -> &[TraceStateVariable] {
        &self.all
    }

    /// The name of a variable.
    pub fn name(&self, number: i32) -> &str {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        place.and_then(|place| self.all.get(place)).map_or("", |variable| &variable.name)
    }

    /// Which of an event's fields are which variable.
    pub fn fields(&self, id: u16) -> &[(usize, i32)] {
        self.fields.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The tracepoints whose frames may have a variable.
    pub fn holders(&self, number: i32) -> Option<&[i32]> {
        self.holders.get(&number).map(Vec::as_slice)
    }
}

/// What a field is called as a variable: as itself, unless that name means something else.
fn variable_name(field: &Field, format: &EventFormat, layout: Option<&Layout>) -> Option<String> {
    let name = field.name.as_str();
    let is_word = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_word || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let is_register =
        ["pc", "sp", "fp", "ps"].contains(&name) || layout.is_some_and(|layout| layout.by_name(name).is_some());
    if is_register && is_probe(format) && layout.is_some_and(|layout| probe::is_register(field, layout)) {
        // It is shown as the register.
        return None;
    }
    // gdb has `$trace_frame` and others of its own.
    let means_else = EVERY.contains(&name) || name == LOST || name.starts_with("trace_") || is_register;
    Some(if means_else { format!("field_{name}") } else { name.to_owned() })
}
