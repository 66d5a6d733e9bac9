//! The texts that tell what the ring buffer's pages and events are made of.
//!
//! trace-cmd.dat.v7(5), "Header info section", "Ftrace event formats section" and "Event formats section". Version 6 has
//! the same parts one behind the other, without section headers.

use super::extent::Extent;
use crate::source::Cursor;

/// How many event formats are kept at most: the number of an event has 16 bits (Linux's trace_output.c,
/// `TRACE_EVENT_TYPE_MAX`).
const MOST: usize = 1 << 16;

/// How many bytes the name of a system is looked for in. It is the name of a directory.
const LONGEST_NAME: usize = 256;

/// What is wrong, and at which byte.
pub(super) type Wrong = (u64, String);

/// The texts of the header_page and header_event files.
#[derive(Debug, Default)]
pub(super) struct HeaderInfo {
    pub page: Option<Extent>,
    pub event: Option<Extent>,
}

/// The format text of one event.
#[derive(Clone, Debug)]
pub(super) struct Format {
    /// Which of the systems it is in; `None` for ftrace's own.
    pub system: Option<usize>,
    pub text: Extent,
}

/// All format texts.
#[derive(Debug, Default)]
pub(super) struct Formats {
    pub systems: Vec<Extent>,
    pub formats: Vec<Format>,
}

/// Reads `"header_page\0" size text "header_event\0" size text` into `into`, with sizes of 8 bytes.
pub(super) fn header_info(cursor: &mut Cursor<'_>, content: &Extent, into: &mut HeaderInfo) -> Result<(), Wrong> {
    let parts = [(&b"header_page\0"[..], &mut into.page), (b"header_event\0", &mut into.event)];
    for (word, text) in parts {
        let at = cursor.position();
        if !cursor.rest().starts_with(word) {
            let found = cursor.rest().get(..word.len()).unwrap_or(cursor.rest());
            let what = format!("\"{}\" is where \"{}\" belongs", found.escape_ascii(), word.escape_ascii());
            return Err((at, format!("{what}; what the pages of the ring buffer are made of is lost")));
        }
        let _word = cursor.take(word.len());
        *text = Some(sized(cursor, content, at, "the text of the ring buffer's header")?);
    }
    Ok(())
}

/// Reads `count, count times: size text`, a count of 4 bytes and sizes of 8.
pub(super) fn ftrace_formats(cursor: &mut Cursor<'_>, content: &Extent, into: &mut Formats) -> Result<(), Wrong> {
    let at = cursor.position();
    let count = cursor.u32().map_err(|_| (at, "the number of ftrace's own formats is cut".to_owned()))?;
    formats(cursor, content, None, count, into)
}

/// Reads `count, count times: system "\0" count, count times: size text`, counts of 4 bytes and sizes of 8.
pub(super) fn event_formats(cursor: &mut Cursor<'_>, content: &Extent, into: &mut Formats) -> Result<(), Wrong> {
    let at = cursor.position();
    let systems = cursor.u32().map_err(|_| (at, "the number of event systems is cut".to_owned()))?;
    for number in 0..systems {
        let at = cursor.position();
        let lost = format!("of {systems} event systems, the last {} are lost", systems - number);
        if into.systems.len() >= MOST {
            return Err((at, format!("there are more than {MOST} event systems; {lost}")));
        }
        let searched = cursor.rest().get(..LONGEST_NAME).unwrap_or(cursor.rest());
        let Some(length) = memchr::memchr(0, searched) else {
            return Err((at, format!("no NUL ends the name of an event system; {lost}")));
        };
        let system = content.part(at, length as u64);
        let _name = cursor.take(length + 1);
        let count = cursor.u32().map_err(|_| (at, format!("an event system is cut; {lost}")))?;
        let index = into.systems.len();
        into.systems.push(system);
        formats(cursor, content, Some(index), count, into)?;
    }
    Ok(())
}

fn formats(
    cursor: &mut Cursor<'_>,
    content: &Extent,
    system: Option<usize>,
    count: u32,
    into: &mut Formats,
) -> Result<(), Wrong> {
    for number in 0..count {
        let at = cursor.position();
        let lost = || format!("format {number} of {count} in a system of events");
        if into.formats.len() >= MOST {
            return Err((at, format!("{} is more than {MOST} in all; it and the rest are lost", lost())));
        }
        let text = sized(cursor, content, at, &lost())?;
        into.formats.push(Format { system, text });
    }
    Ok(())
}

/// Reads a size of 8 bytes and a text, which must be whole.
fn sized(cursor: &mut Cursor<'_>, content: &Extent, at: u64, what: &str) -> Result<Extent, Wrong> {
    let size = cursor.u64().map_err(|_| (at, format!("{what} is cut; it and what follows are lost")))?;
    let start = cursor.position();
    let left = cursor.rest().len();
    match usize::try_from(size).ok().and_then(|size| cursor.take(size).ok()) {
        Some(text) => Ok(content.part(start, text.len() as u64)),
        None => Err((at, format!("{what} has {size} bytes, of which {left} are there; it and what follows are lost"))),
    }
}

/// Reads a size of `width` bytes and a text; where that is cut, what is there of it, and what is wrong.
pub(super) fn lines(cursor: &mut Cursor<'_>, content: &Extent, width: usize) -> (Option<Extent>, Result<(), Wrong>) {
    let at = cursor.position();
    let size = if width == 4 { cursor.u32().map(u64::from) } else { cursor.u64() };
    let Ok(size) = size else { return (None, Err((at, "its size is cut; it is lost".to_owned()))) };
    let start = cursor.position();
    let left = cursor.rest().len() as u64;
    let taken = size.min(left);
    let _text = cursor.take(usize::try_from(taken).unwrap_or(usize::MAX));
    let text = content.part(start, taken);
    if size <= left {
        return (Some(text), Ok(()));
    }
    (Some(text), Err((at, format!("it has {size} bytes, of which {left} are there; the rest is lost"))))
}
