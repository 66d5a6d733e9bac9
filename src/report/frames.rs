//! The table of frames.

use std::collections::HashMap;
use std::fmt::Write;

use serde::Serialize;

use super::JSON_VERSION;
use super::events::EventRow;
use super::interruptions::InterruptionRow;
use super::text::{place, printable};
use super::times::parse_times;
use crate::index::{Answer, Query};
use crate::session::{Direction, Replay, Selection};
use crate::trace::{Frame, Placed, Recording};

/// Which frames to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameFilter {
    /// Only frames of this tracepoint, as the recording machine counted.
    pub tracepoint: Option<i32>,
    /// Only frames whose program counter lies here, both ends inside.
    pub pc: Option<(u64, u64)>,
    /// Only frames with these numbers, both ends inside.
    pub range: Option<(u64, u64)>,
    /// Only frames of the task of this number.
    pub pid: Option<i32>,
    /// Only frames recorded at these times, in nanoseconds of the recording's clock, both ends inside.
    pub time: Option<(u64, u64)>,
}

impl FrameFilter {
    /// Reads `tracepoint N`, `pc A[,B]`, `range M..N`, `pid N` and `time A..B`, in any order.
    pub fn from_words(words: &[&str]) -> Result<FrameFilter, String> {
        let mut filter = FrameFilter::default();
        for pair in words.chunks(2) {
            match pair {
                ["tracepoint", value] => filter.tracepoint = Some(parse_tracepoint(value)?),
                ["pc", value] => filter.pc = Some(parse_pc(value)?),
                ["range", value] => filter.range = Some(parse_range(value)?),
                ["pid", value] => filter.pid = Some(parse_pid(value)?),
                ["time", value] => filter.time = Some(parse_times(value)?),
                [word @ ("tracepoint" | "pc" | "range" | "pid" | "time")] => {
                    return Err(format!("{word} needs a value"));
                }
                [word, ..] => return Err(format!("{} is no filter", printable(word))),
                [] => {}
            }
        }
        Ok(filter)
    }
}

/// A tracepoint's number.
pub fn parse_tracepoint(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("{} is no tracepoint number", printable(text)))
}

/// An address, or two with a comma between them; hexadecimal with `0x`, else decimal, as in gdb.
pub fn parse_pc(text: &str) -> Result<(u64, u64), String> {
    let (low, high) = text.split_once(',').unwrap_or((text, text));
    let (low, high) = (parse_number(low)?, parse_number(high)?);
    if low > high { Err(format!("{text}: the first address is above the second")) } else { Ok((low, high)) }
}

/// Two frame numbers with `..` between them; one that is missing means the first or the last frame.
pub fn parse_range(text: &str) -> Result<(u64, u64), String> {
    let (low, high) = text
        .split_once("..")
        .ok_or_else(|| format!("{} is no range; write M..N, both ends inside", printable(text)))?;
    let low = if low.is_empty() { 0 } else { parse_number(low)? };
    let high = if high.is_empty() { u64::MAX } else { parse_number(high)? };
    if low > high { Err(format!("{text}: the first frame is behind the second")) } else { Ok((low, high)) }
}

/// A task's number.
pub fn parse_pid(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("{} is no number of a task", printable(text)))
}

/// A number as gdb reads it: hexadecimal with `0x`, else decimal.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{} is no number (0x… for hexadecimal)", printable(text)))
}

/// One frame, as JSON and as a row.
#[derive(Debug, Serialize)]
pub struct FrameRow {
    /// The version of this JSON.
    pub version: u32,
    /// The number of the frame, from 0.
    pub frame: u64,
    /// The number of its tracepoint, as the recording machine counted.
    pub tracepoint: i32,
    /// Its program counter as `0x…`; `null` where it is not known.
    pub pc: Option<String>,
    /// Whether the program counter is the tracepoint's address, or that of an earlier boot moved, and not recorded.
    pub pc_inferred: bool,
    /// The function at the program counter.
    pub function: Option<String>,
    /// The source file at the program counter.
    pub file: Option<String>,
    /// The source line at the program counter.
    pub line: Option<u32>,
    /// When it was recorded, in nanoseconds of the recording's clock.
    pub time: Option<u64>,
    /// The trace source that told of the instruction, and between which times of its clock, in instruction traces.
    pub source: Option<String>,
    /// What lies between it and the frame before it of its thread, in instruction traces.
    pub before: Vec<InterruptionRow>,
    /// What lies behind it, if it is the last of its thread, in instruction traces.
    pub behind: Vec<InterruptionRow>,
    /// The event that the frame was made of, in recordings of a tracer.
    pub event: Option<EventRow>,
    /// The size in bytes of the register block; 0 where none was collected.
    pub register_bytes: usize,
    /// The memory collected.
    pub memory: Vec<MemoryRange>,
    /// The trace state variables collected.
    pub variables: Vec<VariableValue>,
    /// The size in bytes of a static tracepoint's data.
    pub static_data_bytes: Option<usize>,
    /// What of the frame could not be read.
    pub damage: Option<String>,
}

/// A piece of memory that a frame holds.
#[derive(Debug, Serialize)]
pub struct MemoryRange {
    /// The first address as `0x…`.
    pub address: String,
    /// The length in bytes.
    pub length: u64,
}

/// The value of a trace state variable in a frame.
#[derive(Debug, Serialize)]
pub struct VariableValue {
    /// The variable's number.
    pub number: i32,
    /// Its name, where it is defined.
    pub name: Option<String>,
    /// Its value.
    pub value: i64,
}

impl FrameRow {
    fn new(replay: &Replay, context: &Context<'_>, number: u64, frame: &Frame<'_>) -> FrameRow {
        let pc = frame.pc.address();
        let image = replay.image();
        let line = image.zip(pc).and_then(|(image, pc)| image.line(pc));
        let (file, line) = line.map_or((None, None), |(file, line)| (Some(file), Some(line)));
        let function = pc.and_then(|pc| replay.function(pc)).map(place);
        let recording = replay.recording();
        let names_instance = EventRow::names_instances(recording);
        let is_instruction = recording.is_instruction_trace();
        // Of an instruction nothing was collected.
        let registers = frame.registers.as_ref().filter(|_| !is_instruction);
        let memory = if is_instruction { Vec::new() } else { frame.memory_ranges() };
        FrameRow {
            version: JSON_VERSION,
            frame: number,
            tracepoint: frame.tracepoint,
            pc: pc.map(|pc| format!("{pc:#x}")),
            pc_inferred: frame.pc.is_inferred(),
            function,
            file,
            line,
            time: frame.time,
            source: recording.label(frame).filter(|_| is_instruction),
            before: match is_instruction {
                true => {
                    let placed = replay.index().interruptions_before(number, INTERRUPTIONS);
                    placed.into_iter().map(InterruptionRow::from).collect()
                }
                false => Vec::new(),
            },
            behind: context.behind(number).map(InterruptionRow::from).collect(),
            event: recording.event(frame).map(|event| EventRow { event, names_instance }),
            register_bytes: registers.map_or(0, |block| block.bytes.len()),
            memory: memory
                .into_iter()
                .map(|(address, length)| MemoryRange { address: format!("{address:#x}"), length })
                .collect(),
            variables: frame
                .variable_values()
                .into_iter()
                .map(|(number, value)| VariableValue {
                    number,
                    name: context.names.get(&number).map(|name| (*name).to_owned()),
                    value,
                })
                .collect(),
            static_data_bytes: frame.static_data.as_ref().map(|data| data.len()),
            damage: frame.damage.as_ref().map(ToString::to_string),
        }
    }

    /// The frame under [`FrameRow::heading`], in lines: what lies before it, itself, and what lies behind it.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        between(&self.before).chain([self.line()]).chain(between(&self.behind))
    }

    /// The frame in one line.
    fn line(&self) -> String {
        if let Some(event) = &self.event {
            return event.line(self.frame, self.damage.is_some());
        }
        let pc = match (&self.pc, self.pc_inferred) {
            (Some(pc), false) => pc.clone(),
            (Some(pc), true) => format!("{pc} inferred"),
            (None, _) => "unknown".to_owned(),
        };
        let mut place = printable(self.function.as_deref().unwrap_or(""));
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            let _ = write!(place, " {}:{line}", printable(file));
        }
        if let Some(source) = &self.source {
            let line = format!("{:>8}  {pc:<18}  {:<40}  {}", self.frame, place.trim(), printable(source));
            return line.trim_end().to_owned();
        }
        let line =
            format!("{:>8}  {:>10}  {pc:<27}  {:<32}  {}", self.frame, self.tracepoint, place.trim(), self.collected());
        line.trim_end().to_owned()
    }

    /// What [`FrameRow::lines`] shows of a recording's frames.
    pub fn heading(recording: &dyn Recording) -> &'static str {
        if recording.is_instruction_trace() {
            return "   frame  pc                  where                                     source";
        }
        let mut tracepoints = recording.tracepoints().iter();
        if tracepoints.any(|tracepoint| recording.event_name(tracepoint.number).is_some()) {
            return EventRow::heading(recording);
        }
        "   frame  tracepoint  pc                           where                             collected"
    }

    fn collected(&self) -> String {
        let mut parts = Vec::new();
        if self.register_bytes > 0 {
            parts.push("registers".to_owned());
        }
        // Three pieces of memory are a hint, thirty are noise.
        parts.extend(self.memory.iter().take(3).map(|range| format!("{}+{}", range.address, range.length)));
        if self.memory.len() > 3 {
            parts.push(format!("{} more pieces", self.memory.len() - 3));
        }
        parts.extend(self.variables.iter().take(8).map(|variable| match &variable.name {
            Some(name) => format!("${}={}", printable(name), variable.value),
            None => format!("variable {}={}", variable.number, variable.value),
        }));
        if self.variables.len() > 8 {
            parts.push(format!("{} more variables", self.variables.len() - 8));
        }
        if let Some(length) = self.static_data_bytes {
            parts.push(format!("static data of {length} bytes"));
        }
        if self.damage.is_some() {
            parts.push("DAMAGED".to_owned());
        }
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(" ") }
    }
}

/// What lies between frames, a line each.
fn between(rows: &[InterruptionRow]) -> impl Iterator<Item = String> {
    let line =
        |row: &InterruptionRow| format!("          -- {}: {} (byte {:#x})", row.kind, printable(&row.what), row.at);
    let more = (rows.len() == INTERRUPTIONS).then(|| "          -- … there may be more here".to_owned());
    rows.iter().map(line).chain(more)
}

/// The gaps of a recording that has no frame that they could be shown with, a line each.
pub fn lines_without_frames(replay: &Replay) -> Vec<String> {
    let rows: Vec<_> = match replay.index().progress().frames {
        0 => replay.index().interruptions_behind(INTERRUPTIONS).into_iter().map(InterruptionRow::from).collect(),
        _ => Vec::new(),
    };
    between(&rows).collect()
}

/// How many interruptions are shown before a frame.
const INTERRUPTIONS: usize = 20;

/// What is asked for once for all frames.
struct Context<'a> {
    /// The names of the variables that are defined.
    names: HashMap<i32, &'a str>,
    /// What lies behind all frames of its thread.
    behind: Vec<Placed>,
}

impl<'a> Context<'a> {
    fn new(replay: &'a Replay) -> Context<'a> {
        let defined = replay.recording().variables().iter();
        let names = defined.map(|variable| (variable.number, variable.name.as_str())).collect();
        let behind = match replay.recording().is_instruction_trace() {
            true => replay.index().interruptions_behind(INTERRUPTIONS),
            false => Vec::new(),
        };
        Context { names, behind }
    }

    /// What lies behind a frame, if it is the last of its thread.
    fn behind(&self, number: u64) -> impl Iterator<Item = Placed> {
        self.behind.iter().filter(move |placed| placed.before == Some(number)).cloned()
    }
}

/// The frames that a filter lets through, of those indexed when they are asked for.
pub struct FrameRows<'a> {
    replay: &'a Replay,
    filter: &'a FrameFilter,
    selection: Selection,
    /// The variable that is the task's number.
    pid: Option<i32>,
    context: Context<'a>,
    next: u64,
    /// How many more times the queries may be asked.
    questions: u64,
}

impl<'a> FrameRows<'a> {
    /// Starts at the first frame.
    pub fn new(replay: &'a Replay, filter: &'a FrameFilter) -> FrameRows<'a> {
        let recording = replay.recording();
        let addresses = recording.target().addresses();
        let mut selection = Selection::default();
        if let Some(number) = filter.tracepoint {
            selection.add(vec![Query::Tracepoint(number)]);
        }
        if let Some((low, high)) = filter.pc {
            selection.add(vec![Query::Range { low: addresses.kept(low), high: addresses.kept(high) }]);
        }
        if let Some(pid) = filter.pid {
            selection.add_task(Some(pid.into()), replay);
        }
        if let Some((from, to)) = filter.time {
            selection.between(from, to);
        }
        let defined = || recording.variables().iter();
        let pid = defined().find(|variable| variable.name == "pid").map(|variable| variable.number);
        let next = filter.range.map_or(0, |(low, _)| low);
        FrameRows { replay, filter, selection, pid, context: Context::new(replay), questions: u64::MAX, next }
    }
}

impl Iterator for FrameRows<'_> {
    type Item = FrameRow;

    fn next(&mut self) -> Option<FrameRow> {
        loop {
            let found = self.selection.find(self.replay, Direction::Forward, &mut self.next, &mut self.questions);
            let Answer::Found(at) = found else { return None };
            if self.filter.range.is_some_and(|(_, high)| at > high) {
                return None;
            }
            let frame = self.replay.frame(at)?;
            self.next = at.saturating_add(1);
            let is_of_task = |pid: i32| self.pid.and_then(|number| frame.variable(number)) == Some(pid.into());
            if self.filter.pid.is_none_or(is_of_task) {
                return Some(FrameRow::new(self.replay, &self.context, at, &frame));
            }
            self.questions = self.questions.saturating_sub(1);
            if self.questions == 0 {
                return None;
            }
        }
    }
}

/// A table of these frames.
pub fn rows(replay: &Replay, frames: &[u64]) -> String {
    let context = Context::new(replay);
    let mut text = format!("{}\n", FrameRow::heading(replay.recording()));
    for number in frames {
        if let Some(frame) = replay.frame(*number) {
            let row = FrameRow::new(replay, &context, *number, &frame);
            row.lines().for_each(|line| text.extend([line.as_str(), "\n"]));
        }
    }
    text
}

/// How often the index is asked for one table. Two conditions that each hold often, but seldom together, take many
/// questions; a client that asks for a table does not keep others waiting for so long.
const QUESTIONS: u64 = 20_000;

/// The table as text, `most` rows of it.
pub fn frames_table(replay: &Replay, filter: &FrameFilter, most: usize) -> String {
    let mut text = String::new();
    let mut rows = FrameRows { questions: QUESTIONS, ..FrameRows::new(replay, filter) };
    for row in rows.by_ref().take(most) {
        if text.is_empty() {
            text = format!("{}\n", FrameRow::heading(replay.recording()));
        }
        row.lines().for_each(|line| text.extend([line.as_str(), "\n"]));
    }
    let rest = rows.next;
    let more = rows.next().is_some();
    if !more && rows.questions == 0 {
        let _ = writeln!(text, "… not looked further than frame {0}; go on with: range {0}..", rows.next);
    } else if text.is_empty() {
        text.push_str("no frames");
        text.push_str(if *filter == FrameFilter::default() { "\n" } else { " that fit\n" });
    } else if more {
        let _ = writeln!(text, "… more follow; go on with: range {rest}..");
    }
    let progress = replay.index().progress();
    if !progress.complete {
        let _ = writeln!(text, "(still indexing: {} frames so far)", progress.frames);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_read_as_they_are_written() {
        let filter = FrameFilter::from_words(&["pc", "0x10,0x20", "tracepoint", "-3", "range", "5..9"]);
        assert_eq!(
            filter,
            Ok(FrameFilter { tracepoint: Some(-3), pc: Some((16, 32)), range: Some((5, 9)), ..FrameFilter::default() })
        );
        assert_eq!(parse_range("7.."), Ok((7, u64::MAX)));
        assert_eq!(parse_range("..7"), Ok((0, 7)));
        assert_eq!(parse_pc("0x401131"), Ok((0x401131, 0x401131)));
    }

    #[test]
    fn wrong_filters_say_what_is_wrong() {
        let error = |words: &[&str]| FrameFilter::from_words(words).unwrap_err();
        assert!(error(&["pc"]).contains("pc needs a value"));
        assert!(error(&["pc", "xyz"]).contains("xyz is no number"));
        assert!(error(&["pc", "9,8"]).contains("first address is above"));
        assert!(error(&["range", "9"]).contains("write M..N"));
        assert!(error(&["colour", "red"]).contains("colour is no filter"));
    }
}
