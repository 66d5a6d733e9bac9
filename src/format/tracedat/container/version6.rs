//! Version 6: one part behind the other, without headers.
//!
//! trace-cmd.dat.v6(5), and trace-cmd's trace-input.c, `read_headers_v6` and `read_options_type`. The page leaves out
//! that options end with the number 0 and no size, that the word "options" may be missing, and that the clock follows
//! the places of the CPUs only where there is an option TRACECLOCK.

use super::buffers::{self, Described};
use super::extent::Extent;
use super::header::{Header, Version};
use super::options::{self, BufferCpu, BufferOption, Next, TraceClock, Value};
use super::parts::{BufferText, Parts};
use super::section::{self, Reader, id};
use super::texts;
use crate::source::Cursor;

/// What follows the number of CPUs: one of these words.
const OPTIONS: &[u8] = b"options  \0";
const LATENCY: &[u8] = b"latency  \0";
const FLYRECORD: &[u8] = b"flyrecord\0";

/// The size in bytes of an offset and a size.
const PLACE: u64 = 16;

/// How long the name of a clock is at most, with its brackets.
const LONGEST_CLOCK: u64 = 4096;

/// Reads everything but the data of buffers.
pub(super) fn read(reader: &mut Reader<'_>, header: &Header) -> Parts {
    let source = reader.source;
    let whole = Extent::in_file(source, 0, u64::MAX);
    let rest = whole.part(header.end, u64::MAX);
    let mut cursor = Cursor::new(rest.bytes(source), header.end, reader.order);
    let mut parts = Parts::default();
    let cpus = match texts(&mut cursor, &whole, &mut parts) {
        Ok(cpus) => cpus,
        Err((at, what)) => {
            reader.damaged(at, what);
            let Some((cpus, behind)) = behind_damage(at, reader) else { return parts };
            cursor = behind;
            cpus
        }
    };
    data(reader, &whole, cursor, cpus, header.page_size, &mut parts);
    parts
}

/// Reads everything up to the number of CPUs.
fn texts(cursor: &mut Cursor<'_>, whole: &Extent, parts: &mut Parts) -> Result<u32, texts::Wrong> {
    texts::header_info(cursor, whole, &mut parts.header_info)?;
    texts::ftrace_formats(cursor, whole, &mut parts.ftrace)?;
    texts::event_formats(cursor, whole, &mut parts.events)?;
    let lines = [
        (id::KALLSYMS, 4, &mut parts.kallsyms),
        (id::PRINTK, 4, &mut parts.printk),
        (id::CMDLINES, 8, &mut parts.command_lines),
    ];
    for (id, width, into) in lines {
        let (text, result) = texts::lines(cursor, whole, width);
        *into = text;
        result.map_err(|(at, what)| (at, format!("the text of {}: {what}", section::called(id))))?;
    }
    let at = cursor.position();
    cursor.u32().map_err(|_| (at, "the number of CPUs is cut; what follows is lost".to_owned()))
}

/// The number of CPUs and what follows it, found by the word that comes next: the sizes in front of it lead elsewhere.
fn behind_damage<'a>(at: u64, reader: &mut Reader<'a>) -> Option<(u32, Cursor<'a>)> {
    let bytes = reader.source.bytes();
    let from = usize::try_from(at).ok()?;
    let searched = bytes.get(from..)?;
    let word = [OPTIONS, FLYRECORD].into_iter().find_map(|word| memchr::memmem::find(searched, word))?;
    let start = from.checked_add(word)?.checked_sub(4)?;
    let mut cursor = Cursor::new(bytes.get(start..)?, start as u64, reader.order);
    let cpus = cursor.u32().ok()?;
    let what = format!("what lies before byte {:#x} is passed over", start + 4);
    reader.damaged(at, what);
    Some((cpus, cursor))
}

/// Reads the options and where the data lie.
fn data(reader: &mut Reader<'_>, whole: &Extent, mut cursor: Cursor<'_>, cpus: u32, page_size: u32, parts: &mut Parts) {
    let options_at = cursor.position();
    let mut top = cpus;
    // Each with the number of its CPUs and the offset of its option.
    let mut instances: Vec<(BufferOption, Option<u32>, u64)> = Vec::new();
    let mut clock = None;
    // Places do not overlap, so together they cannot be larger than the file.
    let mut left = reader.source.length();
    if taken(&mut cursor, OPTIONS) {
        options_of(reader, whole, &mut cursor, parts);
        for option in &parts.options {
            match &option.value {
                Value::Buffer(buffer) => instances.push((buffer.clone(), None, option.at)),
                // A count behind a buffer is that buffer's (trace-output.c, `tracecmd_add_buffer_info`).
                Value::CpuCount(count) => match instances.last_mut() {
                    Some((_, cpus, _)) => *cpus = Some(*count),
                    None => top = *count,
                },
                Value::TraceClock(found) => clock = Some(found.clone()),
                _ => {}
            }
        }
    }
    let at = cursor.position();
    if taken(&mut cursor, LATENCY) {
        let content = whole.part(cursor.position(), u64::MAX);
        let clock = clock.as_ref().and_then(|clock| clock.selected.clone());
        parts.texts.push(BufferText { name: String::new(), clock, content });
    } else if taken(&mut cursor, FLYRECORD) {
        let (cpus, clock) = flyrecord(reader, &mut cursor, top, clock.as_ref(), &mut left);
        let (name, at) = (String::new(), options_at);
        parts.described.push(Described { name, clock, page_size, cpus, compressed: false, recovered: false, at });
    } else {
        let found = cursor.rest().get(..FLYRECORD.len()).unwrap_or(cursor.rest());
        let what = format!(
            "\"{}\" is where \"flyrecord\" or \"latency\" belongs; the data of the top buffer are lost",
            found.escape_ascii()
        );
        reader.damaged(at, what);
    }
    for (buffer, cpus, at) in instances {
        let behind = whole.part(buffer.at, u64::MAX);
        let mut cursor = Cursor::new(behind.bytes(reader.source), behind.at(), reader.order);
        if !taken(&mut cursor, FLYRECORD) {
            let what = format!(
                "the data of {} begin at byte {:#x} with the word \"flyrecord\", which is not there; they are lost",
                buffers::called(&buffer.name),
                buffer.at
            );
            reader.damaged(at, what);
            continue;
        }
        let (cpus, clock) = flyrecord(reader, &mut cursor, cpus.unwrap_or(top), clock.as_ref(), &mut left);
        parts.described.push(Described {
            name: buffer.name,
            clock,
            page_size,
            cpus,
            compressed: false,
            recovered: false,
            at,
        });
    }
}

/// Whether a word comes next; then it is passed.
fn taken(cursor: &mut Cursor<'_>, word: &[u8]) -> bool {
    cursor.rest().starts_with(word) && cursor.take(word.len()).is_ok()
}

fn options_of(reader: &mut Reader<'_>, whole: &Extent, cursor: &mut Cursor<'_>, parts: &mut Parts) {
    loop {
        let at = cursor.position();
        match options::next(cursor, whole, reader.order, Version::Six) {
            Next::Option(option, wrong) => {
                if let Some(wrong) = wrong {
                    reader.damaged(at, format!("{} cannot be read as a whole: {wrong}", options::called(option.id)));
                }
                if parts.options.len() >= options::MOST {
                    reader.damaged(at, format!("there are more than {} options; what follows is lost", options::MOST));
                    return;
                }
                parts.options.push(*option);
            }
            Next::End => return,
            Next::Cut(id, cause) => {
                let named = id.map_or_else(|| "an option".to_owned(), options::called);
                let (wanted, left) = (cause.wanted, cause.left);
                reader.damaged(at, format!("{named} is cut: {wanted} bytes belong here, of which {left} are there"));
                // The data may follow all the same: its size may be what is damaged.
                if let Some(skipped) = memchr::memmem::find(cursor.rest(), FLYRECORD) {
                    let _skipped = cursor.take(skipped);
                }
                return;
            }
        }
    }
}

/// Where the data of CPUs are, and the clock behind that, which is there where the file has an option TRACECLOCK.
fn flyrecord(
    reader: &mut Reader<'_>,
    cursor: &mut Cursor<'_>,
    count: u32,
    clock: Option<&TraceClock>,
    left: &mut u64,
) -> (Vec<BufferCpu>, Option<String>) {
    let mut cpus = Vec::new();
    for id in 0..count {
        let Some(rest) = left.checked_sub(PLACE) else {
            let what = format!("the places of CPUs {id} to {count} overlap others; their data are lost");
            reader.damaged(cursor.position(), what);
            break;
        };
        *left = rest;
        match BufferCpu::read(cursor, id) {
            Ok(cpu) => cpus.push(cpu),
            Err(cause) => {
                reader.damaged(cause.at, format!("the file ends where the data of CPU {id} of {count} are told"));
                break;
            }
        }
    }
    let Some(clock) = clock else { return (cpus, None) };
    let at = cursor.position();
    let length = cursor.u64().ok().filter(|length| *length <= LONGEST_CLOCK);
    let text = length.and_then(|length| cursor.take(usize::try_from(length).ok()?).ok());
    if text.is_none() {
        reader.damaged(at, "the name of the clock is cut; the one in the option TRACECLOCK is taken".to_owned());
    }
    let found = text.map(TraceClock::read).and_then(|found| found.selected);
    (cpus, found.or_else(|| clock.selected.clone()))
}
