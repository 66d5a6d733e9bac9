//! A field of the event that a frame was made of, or a trace state variable, compared with a number or a text.

use super::{Comparison, Replay};
use crate::trace::{Event, FieldValue, Frame};

/// A comparison of what a frame holds under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name of the field or of the variable.
    pub name: String,
    /// The number of the variable.
    pub variable: i32,
    /// How they are to compare.
    pub comparison: Comparison,
    /// What the value is compared with if it is a text.
    pub text: String,
    /// What it is compared with if it is a number; `None` if that is none.
    pub number: Option<i128>,
}

impl Check {
    /// Whether all of them hold; `None` where the frame does not hold what one of them takes.
    pub fn all(checks: &[Check], replay: &Replay, frame: &Frame<'_>) -> Option<bool> {
        let event = replay.recording().event(frame);
        let mut holds = true;
        for check in checks {
            holds &= check.holds(event.as_ref(), frame)?;
        }
        Some(holds)
    }

    fn holds(&self, event: Option<&Event>, frame: &Frame<'_>) -> Option<bool> {
        let number = match event.and_then(|event| event.field(&self.name)) {
            Some(FieldValue::Text(text)) => return self.comparison.of_texts(text, self.text.as_bytes()),
            Some(FieldValue::Numbers(_) | FieldValue::Addresses(_) | FieldValue::Bytes(_)) => return None,
            Some(FieldValue::Number(number)) => *number,
            Some(FieldValue::Address(address)) => i128::from(*address),
            None => i128::from(frame.variable(self.variable)?),
        };
        // A number is no text.
        Some(self.number.map_or(self.comparison == Comparison::Unequal, |wanted| self.comparison.holds(number, wanted)))
    }
}
