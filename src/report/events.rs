//! A frame that is an event, in the table of frames.

use std::fmt::Write;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::text::printable;
use crate::trace::{Event, FieldValue, Recording};

/// How many elements of a list are shown.
const ELEMENTS: usize = 8;

/// An event, as JSON and as a row.
///
/// As JSON it is an object of what [`Event`] has, by the same names: `null` for what is not known or not there, `fields`
/// an object in the order of the event.
#[derive(Debug)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// Whether events of several tracing instances are shown: then the row says of which this is.
    pub names_instance: bool,
}

impl EventRow {
    /// What [`EventRow::line`] shows of a recording's events.
    pub(super) fn heading(recording: &dyn Recording) -> &'static str {
        match EventRow::names_instances(recording) {
            false => "   frame                time  cpu  task                  event                   fields",
            true => {
                "   frame                time  cpu  instance    task                  event                   fields"
            }
        }
    }

    /// Whether the rows of a recording say of which instance they are.
    pub(super) fn names_instances(recording: &dyn Recording) -> bool {
        recording.instances().len() > 1
    }

    /// The event in one line.
    pub(super) fn line(&self, frame: u64, is_damaged: bool) -> String {
        let EventRow { event, names_instance } = self;
        let mut line = format!("{frame:>8}  {:>18}  {:>3}", event.time, event.cpu);
        if *names_instance {
            let _ = write!(line, "  {:<10}", word(event.instance.as_deref().unwrap_or_default()));
        }
        let task = event.task().map_or_else(String::new, |task| printable(&task));
        let _ = write!(line, "  {task:<20}  {:<22}", printable(&event.name));
        for (name, value) in &event.fields {
            let _ = write!(line, " {}={}", printable(name), shown(value));
        }
        if let Some(lost) = event.lost() {
            let _ = write!(line, " ({lost})");
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
        FieldValue::Text(text) => word(&String::from_utf8_lossy(text)),
        FieldValue::Numbers(numbers) => list(numbers, i64::to_string),
        FieldValue::Addresses(addresses) => list(addresses, |address| format!("{address:#x}")),
        FieldValue::Bytes(bytes) => list(bytes, u8::to_string),
    }
}

fn word(text: &str) -> String {
    let text = printable(text);
    if text.is_empty() || text.contains([' ', '"']) { format!("\"{text}\"") } else { text }
}

fn list<T>(elements: &[T], shown: impl Fn(&T) -> String) -> String {
    let mut parts: Vec<String> = elements.iter().take(ELEMENTS).map(shown).collect();
    if elements.len() > ELEMENTS {
        parts.push(format!("… {} more", elements.len() - ELEMENTS));
    }
    format!("[{}]", parts.join(" "))
}

impl Serialize for EventRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Event { name, task, pid, cpu, instance, time, lost_before, fields } = &self.event;
        let mut event = serializer.serialize_struct("EventRow", 8)?;
        event.serialize_field("name", name)?;
        event.serialize_field("task", task)?;
        event.serialize_field("pid", pid)?;
        event.serialize_field("cpu", cpu)?;
        event.serialize_field("instance", instance)?;
        event.serialize_field("time", time)?;
        event.serialize_field("lost_before", lost_before)?;
        event.serialize_field("fields", &Fields(fields))?;
        event.end()
    }
}

struct Fields<'a>(&'a [(String, FieldValue)]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, Value(value))))
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
