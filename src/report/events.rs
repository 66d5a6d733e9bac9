//! A frame that is an event, in the table of frames.

use std::fmt::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::text::printable;
use crate::trace::{Event, FieldValue};

/// How many elements of a list are shown.
const ELEMENTS: usize = 8;

/// An event, as JSON and as a row.
#[derive(Debug, Serialize)]
pub struct EventRow {
    /// Its name.
    pub name: String,
    /// The name of the task that made it, where it is known.
    pub task: Option<String>,
    /// The number of that task.
    pub pid: Option<i32>,
    /// The CPU on which it was made.
    pub cpu: u32,
    /// When it was made, as the tracer's own tool writes it.
    pub time: String,
    /// How many events of its CPU were lost before it: -1 where nobody counted them, `null` where none was.
    pub lost_before: Option<i64>,
    /// Its fields: numbers, texts, and lists of these, an object in the order of the event.
    pub fields: Fields,
    #[serde(skip)]
    task_and_pid: Option<String>,
}

/// The fields of an event.
#[derive(Debug)]
pub struct Fields(Vec<(String, FieldValue)>);

impl From<Event> for EventRow {
    fn from(event: Event) -> EventRow {
        let task_and_pid = event.task();
        let Event { name, task, pid, cpu, time, lost_before, fields } = event;
        EventRow { name, task, pid, cpu, time, lost_before, fields: Fields(fields), task_and_pid }
    }
}

impl EventRow {
    /// What [`EventRow::line`] shows.
    pub(super) const HEADING: &str =
        "   frame                time  cpu  task                  event                   fields";

    /// The event in one line.
    pub(super) fn line(&self, frame: u64, is_damaged: bool) -> String {
        let task = self.task_and_pid.as_deref().map_or_else(String::new, printable);
        let mut line =
            format!("{frame:>8}  {:>18}  {:>3}  {task:<20}  {:<22}", self.time, self.cpu, printable(&self.name));
        for (name, value) in &self.fields.0 {
            let _ = write!(line, " {}={}", printable(name), shown(value));
        }
        match self.lost_before {
            None => {}
            Some(-1) => line += " (events lost before)",
            Some(count) => {
                let _ = write!(line, " ({count} events lost before)");
            }
        }
        if is_damaged {
            line += " DAMAGED";
        }
        line.trim_end().to_owned()
    }
}

/// As `monitor find` reads it: a text that is not one word in quotation marks.
fn shown(value: &FieldValue) -> String {
    match value {
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Address(address) => format!("{address:#x}"),
        FieldValue::Text(text) => {
            let text = printable(&String::from_utf8_lossy(text));
            if text.is_empty() || text.contains([' ', '"']) { format!("\"{text}\"") } else { text }
        }
        FieldValue::Numbers(numbers) => list(numbers, i64::to_string),
        FieldValue::Addresses(addresses) => list(addresses, |address| format!("{address:#x}")),
        FieldValue::Bytes(bytes) => list(bytes, u8::to_string),
    }
}

fn list<T>(elements: &[T], shown: impl Fn(&T) -> String) -> String {
    let mut parts: Vec<String> = elements.iter().take(ELEMENTS).map(shown).collect();
    if elements.len() > ELEMENTS {
        parts.push(format!("… {} more", elements.len() - ELEMENTS));
    }
    format!("[{}]", parts.join(" "))
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, &Value(value))?;
        }
        map.end()
    }
}

struct Value<'a>(&'a FieldValue);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            FieldValue::Number(number) => serializer.serialize_i128(*number),
            FieldValue::Address(address) => serializer.serialize_u64(*address),
            FieldValue::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            FieldValue::Numbers(numbers) => numbers.serialize(serializer),
            FieldValue::Addresses(addresses) => addresses.serialize(serializer),
            FieldValue::Bytes(bytes) => bytes.serialize(serializer),
        }
    }
}
