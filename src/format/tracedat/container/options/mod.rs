//! Options: what the file says about itself and about the machine it was recorded on.
//!
//! trace-cmd.dat.v7(5), "Options section". An option is `<2 bytes> number, <4 bytes> size, data`. The size is the bound
//! of everything in it: texts need not end with a NUL.
//!
//! Owns: what each option means, one file a group. Knows nothing of where sections and buffers lie.
//! Invariant: an option that cannot be read is [`Value::Damaged`], and named; one that is not known is
//! [`Value::Unknown`].

mod buffer;
mod guest;
mod hook;
mod last_boot;
mod process_maps;
mod statistics;
mod text;
mod time_shift;
mod tsc;

pub use self::buffer::{BufferCpu, BufferOption};
pub use self::guest::{Guest, GuestCpu};
pub use self::hook::{Hook, HookEvent};
pub use self::last_boot::LastBoot;
pub use self::process_maps::{Library, ProcessMap};
pub use self::statistics::Statistics;
pub use self::text::TraceClock;
pub use self::time_shift::{Correction, TimeShift};
pub use self::tsc::TscToNanoseconds;

use super::extent::Extent;
use super::header::Version;
use crate::source::{ByteOrder, Cursor, OutOfBytes, Source};

/// How many options of a file are kept at most. trace-cmd writes one for each CPU of each buffer, and some twenty others.
pub(super) const MOST: usize = 100_000;

/// An option.
#[derive(Clone, Debug)]
pub struct TraceOption {
    /// Offset in the file of its data; of the options section's compressed data where that is compressed.
    pub at: u64,
    /// Its number.
    pub id: u16,
    /// The size of its data in bytes.
    pub size: u32,
    /// What it says.
    pub value: Value,
    pub(super) data: Extent,
}

/// What an option says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// 0, version 7: where the next options section is; 0 for none.
    Done(u64),
    /// 1: what is to be added to timestamps to get the time of day, in microseconds.
    Date(i64),
    /// 2: what the kernel counted for one CPU, or the name of the buffer that the following are of.
    CpuStatistics(Statistics),
    /// 3: a buffer of ring-buffer pages.
    Buffer(BufferOption),
    /// 4: the kernel's trace_clock file.
    TraceClock(TraceClock),
    /// 5: the recorded system, as uname(2) has it.
    Uname(String),
    /// 6: two events that belong together.
    Hook(Hook),
    /// 7: what is to be added to timestamps, in nanoseconds.
    Offset(i64),
    /// 8: how many CPUs the system has.
    CpuCount(u32),
    /// 9: the version of trace-cmd that recorded.
    Version(String),
    /// 10: the memory maps of traced processes.
    ProcessMaps(Vec<ProcessMap>),
    /// 11: the number of the tracing session.
    TraceId(u64),
    /// 12: how a guest's timestamps become the host's.
    TimeShift(TimeShift),
    /// 13: a guest that was traced in the same session.
    Guest(Guest),
    /// 14: how a time stamp counter becomes nanoseconds.
    TscToNanoseconds(TscToNanoseconds),
    /// 16 to 21, 23 and 25: the offset in the file of the section of the same number.
    Section(u64),
    /// 22: the kernel's text of a buffer.
    BufferText(BufferOption),
    /// 24: where the kernel and its modules lay when a persistent buffer was written.
    LastBoot(LastBoot),
    /// A number that is not known, and 15, of which trace-cmd writes a section and no option.
    Unknown,
    /// A known option whose data are not what they should be.
    Damaged,
}

/// What is wrong with an option's data.
pub(super) enum Wrong {
    /// They are too short.
    Short(OutOfBytes),
    /// In words.
    Said(String),
}

impl From<OutOfBytes> for Wrong {
    fn from(cause: OutOfBytes) -> Wrong {
        Wrong::Short(cause)
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Short(cause) => {
                write!(f, "{} bytes are wanted at its byte {}, {} are left", cause.wanted, cause.at, cause.left)
            }
            Wrong::Said(what) => f.write_str(what),
        }
    }
}

/// What an option's data say, and what is wrong with them all the same.
fn parse(id: u16, data: &[u8], order: ByteOrder, version: Version) -> Result<(Value, Option<Wrong>), Wrong> {
    let mut cursor = Cursor::new(data, 0, order);
    let cursor = &mut cursor;
    let value = match id {
        0 => Value::Done(cursor.u64()?),
        1 => Value::Date(text::number(data)?),
        2 => Value::CpuStatistics(Statistics::read(data)),
        3 => {
            let (buffer, wrong) = BufferOption::read(cursor, version)?;
            return Ok((Value::Buffer(buffer), wrong));
        }
        4 => Value::TraceClock(TraceClock::read(data)),
        5 => Value::Uname(text::text(data)),
        6 => Value::Hook(Hook::read(data)?),
        7 => Value::Offset(text::number(data)?),
        8 => Value::CpuCount(cursor.u32()?),
        9 => Value::Version(text::text(data)),
        10 => Value::ProcessMaps(process_maps::read(data)?),
        11 => Value::TraceId(cursor.u64()?),
        12 => Value::TimeShift(TimeShift::read(cursor)?),
        13 => Value::Guest(Guest::read(cursor)?),
        14 => Value::TscToNanoseconds(TscToNanoseconds::read(cursor)?),
        16..=21 | 23 | 25 => Value::Section(cursor.u64()?),
        22 => {
            let (buffer, wrong) = BufferOption::read_text(cursor)?;
            return Ok((Value::BufferText(buffer), wrong));
        }
        24 => Value::LastBoot(LastBoot::read(data)?),
        _ => Value::Unknown,
    };
    Ok((value, None))
}

/// What is lost with an option.
pub(super) fn called(id: u16) -> String {
    let name = match id {
        0 => "DONE",
        1 => "DATE",
        2 => "CPUSTAT",
        3 => "BUFFER",
        4 => "TRACECLOCK",
        5 => "UNAME",
        6 => "HOOK",
        7 => "OFFSET",
        8 => "CPUCOUNT",
        9 => "VERSION",
        10 => "PROCMAPS",
        11 => "TRACEID",
        12 => "TIME_SHIFT",
        13 => "GUEST",
        14 => "TSC2NSEC",
        15 => "STRINGS",
        16 => "HEADER_INFO",
        17 => "FTRACE_EVENTS",
        18 => "EVENT_FORMATS",
        19 => "KALLSYMS",
        20 => "PRINTK",
        21 => "CMDLINES",
        22 => "BUFFER_TEXT",
        23 => "BTF_FILE",
        24 => "LAST_BOOT_INFO",
        25 => "MODULES_FILE",
        other => return format!("unknown option {other}"),
    };
    format!("option {id} ({name})")
}

/// What comes next in an options section.
pub(super) enum Next {
    /// An option, and what is wrong with it.
    Option(Box<TraceOption>, Option<Wrong>),
    /// The end of the options that version 6 writes: the number 0, and no size.
    End,
    /// The bytes end before the option does; its number, where that is whole.
    Cut(Option<u16>, OutOfBytes),
}

/// Reads the next option of `content`, at which `cursor` is.
pub(super) fn next(cursor: &mut Cursor<'_>, content: &Extent, order: ByteOrder, version: Version) -> Next {
    let id = match cursor.u16() {
        Ok(0) if version == Version::Six => return Next::End,
        Ok(id) => id,
        Err(cause) => return Next::Cut(None, cause),
    };
    let size = match cursor.u32() {
        Ok(size) => size,
        Err(cause) => return Next::Cut(Some(id), cause),
    };
    let position = cursor.position();
    let bytes = match cursor.take(size as usize) {
        Ok(bytes) => bytes,
        Err(cause) => return Next::Cut(Some(id), cause),
    };
    let data = content.part(position, u64::from(size));
    let (value, wrong) = parse(id, bytes, order, version).unwrap_or_else(|wrong| (Value::Damaged, Some(wrong)));
    Next::Option(Box::new(TraceOption { at: data.at(), id, size, value, data }), wrong)
}

impl TraceOption {
    /// The bytes of its data; `source` is that of its container.
    pub(super) fn bytes<'a>(&'a self, source: &'a Source) -> &'a [u8] {
        self.data.bytes(source)
    }
}
