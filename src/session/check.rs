//! What a frame holds under a name, compared with a number or a text.

use super::{Comparison, Moment, Replay};
use crate::trace::{Event, FieldValue, Frame};

/// A comparison of what a frame holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is compared.
    pub subject: Subject,
    /// How they are to compare.
    pub comparison: Comparison,
    /// What the value is compared with if it is a text.
    pub text: String,
    /// What it is compared with if it is a number; `None` if that is none.
    pub number: Option<i128>,
}

/// What of a frame is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The tracing instance of the event that the frame was made of, by its name.
    Instance,
    /// A field of that event, by its name.
    Field(String),
    /// The field that has the name of a trace state variable; where there is none, that variable, by its number.
    Variable(String, i32),
    /// A register, by its number in the target description; without a sign.
    Register(u16),
}

impl Check {
    /// Whether all of them hold; `None` where the frame does not hold what one of them takes.
    pub fn all(checks: &[Check], replay: &Replay, frame: &Frame<'_>) -> Option<bool> {
        let event = replay.recording().event(frame);
        let moment = Moment::new(replay, frame);
        let mut holds = true;
        for check in checks {
            holds &= check.holds(event.as_ref(), &moment)?;
        }
        Some(holds)
    }

    fn holds(&self, event: Option<&Event>, moment: &Moment<'_>) -> Option<bool> {
        match &self.subject {
            Subject::Instance => {
                let instance = event?.instance.as_deref().unwrap_or_default();
                self.comparison.of_texts(instance.as_bytes(), self.text.as_bytes())
            }
            Subject::Field(name) => self.holds_of(event?.field(name)?),
            Subject::Variable(name, number) => match event.and_then(|event| event.field(name)) {
                Some(value) => self.holds_of(value),
                None => Some(self.holds_of_number(moment.variable(*number)?)),
            },
            Subject::Register(number) => Some(self.holds_of_number(moment.register(*number)?)),
        }
    }

    fn holds_of(&self, value: &FieldValue) -> Option<bool> {
        Some(match value {
            FieldValue::Text(text) => return self.comparison.of_texts(text, self.text.as_bytes()),
            FieldValue::Number(number) => self.holds_of_number(*number),
            FieldValue::Address(address) => self.holds_of_number(*address),
            FieldValue::Numbers(numbers) => self.holds_of_any(numbers),
            FieldValue::Addresses(addresses) => self.holds_of_any(addresses),
            FieldValue::Bytes(bytes) => self.holds_of_any(bytes),
        })
    }

    /// An array is equal to what any of its elements is, and unequal to what none of them is.
    fn holds_of_any(&self, elements: &[impl Copy + Into<i128>]) -> bool {
        match self.comparison {
            Comparison::Unequal => elements.iter().all(|element| self.holds_of_number(*element)),
            _ => elements.iter().any(|element| self.holds_of_number(*element)),
        }
    }

    /// A number is no text.
    fn holds_of_number(&self, number: impl Into<i128>) -> bool {
        let wanted = self.number;
        wanted.map_or(self.comparison == Comparison::Unequal, |wanted| self.comparison.holds(number.into(), wanted))
    }
}
