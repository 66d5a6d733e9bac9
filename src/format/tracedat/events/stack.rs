//! Recorded stacks: the events `kernel_stack` and `user_stack`.

use super::field::FieldKind;
use super::format_text::EventFormat;
use super::value::{Integer, Integers};
use crate::source::ByteOrder;

/// The entries of a recorded stack, the innermost first.
#[derive(Clone, Debug)]
pub struct StackEntries<'a> {
    entries: Integers<'a>,
    /// Whether entries are as many as were counted; else a zero ends them.
    counted: bool,
    /// The value with all bits set, which ends stacks of kernels that did not count them.
    end: u64,
}

impl<'a> StackEntries<'a> {
    /// The entries in a record of this format; `None` if it is none of a stack, or does not hold one.
    pub fn of(format: &EventFormat, record: &'a [u8], order: ByteOrder) -> Option<StackEntries<'a>> {
        if format.system != "ftrace" || !matches!(format.name.as_str(), "kernel_stack" | "user_stack") {
            return None;
        }
        let caller = format.field("caller")?;
        let entries = caller.integers(record, order)?;
        let end = if entries.element_size() == 4 { u64::from(u32::MAX) } else { u64::MAX };
        Some(StackEntries { entries, counted: matches!(caller.kind, FieldKind::Counted { .. }), end })
    }
}

impl Iterator for StackEntries<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let entry = self.entries.next().map(Integer::bits)?;
        if entry == self.end || (entry == 0 && !self.counted) {
            self.entries.finish();
            return None;
        }
        Some(entry)
    }
}
