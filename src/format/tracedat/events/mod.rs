//! The pages of the kernel's ring buffer, and the events in them.
//!
//! A page holds records, each with a time; a record is an event's fields, laid out as the text of the event's format
//! says (the files `format` below `/sys/kernel/tracing/events`, copied into the recording). Byte order, the size of the
//! kernel's `long`, the layout of pages and of events: all of it is read from the recording, none is assumed while the
//! recording says it.
//!
//! Owns: pages to records, format texts to fields, fields to values, raw times to times, process ids to names.
//! Knows nothing of files: of sections, options, compression and where pages lie.
//! Invariant: nothing is read outside a page's committed bytes, nor outside a record; a walk allocates nothing.

mod clock;
mod declaration;
mod field;
mod field_line;
mod format_text;
mod formats;
mod name_sources;
mod page;
mod page_layout;
mod stack;
mod task_collector;
mod tasks;
#[cfg(test)]
mod tests;
mod value;
mod word;

pub use self::clock::{Clock, TimeSample, TimeShift, Tsc2Nsec};
pub use self::field::{Content, Element, Field, FieldKind};
pub use self::format_text::{EventFormat, FormatTextError};
pub use self::formats::Formats;
pub use self::page::{LostEvents, Page, PageDamage, PageFault, RawRecord, Records};
pub use self::page_layout::{LongSize, PageLayout};
pub use self::stack::StackEntries;
pub use self::task_collector::TaskCollector;
pub use self::tasks::Tasks;
pub use self::value::{Extent, Integer, Integers};
