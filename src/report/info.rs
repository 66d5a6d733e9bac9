//! What is in a recording, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::JSON_VERSION;
use super::interruptions::interruption;
use super::text::{count, place, printable};
use super::warnings;
use crate::arch::Origin;
use crate::image::PlacedImage;
use crate::index::{Answer, InterruptionQuery};
use crate::session::Replay;
use crate::trace::{RunStatus, StopReason, Thread, Tracepoint, TracepointKind};

/// How many libraries are named in text.
const LIBRARIES: usize = 20;

/// Everything that `info` tells.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The version of this JSON.
    pub version: u32,
    /// The file, as the user named it.
    pub file: String,
    /// The format.
    pub format: &'static str,
    /// The machine.
    pub target: TargetInfo,
    /// The program, where one was named.
    pub program: Option<ProgramInfo>,
    /// What gdb loads beside the program.
    pub libraries: Vec<LibraryInfo>,
    /// The run.
    pub run: RunInfo,
    /// The trace sources, in instruction traces.
    pub sources: Vec<SourceInfo>,
    /// The tracepoints, by number.
    pub tracepoints: Vec<TracepointInfo>,
    /// The trace state variables.
    pub variables: Vec<VariableInfo>,
    /// How many frames there are.
    pub frames: u64,
    /// How many frames each tracepoint made, by the number in the frames; it need not be defined.
    pub frames_by_tracepoint: BTreeMap<i32, u64>,
    /// What a person should know that is no damage.
    pub remarks: Vec<String>,
    /// Lines of the description with no meaning known here.
    pub unknown_lines: Vec<String>,
    /// What must be known before believing what is shown.
    pub warnings: Vec<String>,
    /// How many places could not be read.
    pub damaged: u64,
    /// The first of them, with their byte offsets.
    pub damage: Vec<String>,
}

/// The machine that was recorded.
#[derive(Debug, Serialize)]
pub struct TargetInfo {
    /// gdb's name of the architecture.
    pub architecture: String,
    /// `little-endian` or `big-endian`.
    pub byte_order: String,
    /// In bytes.
    pub address_size: usize,
    /// Where the target description came from.
    pub description: &'static str,
    /// How many registers it has.
    pub registers: usize,
    /// The size in bytes of a whole register set.
    pub register_set_bytes: usize,
    /// The size in bytes of the recording's register blocks.
    pub register_block_bytes: usize,
}

/// The program that was recorded.
#[derive(Debug, Serialize)]
pub struct ProgramInfo {
    /// Its file.
    pub path: String,
    /// Its build ID in hexadecimal.
    pub build_id: Option<String>,
    /// What is added to the addresses of the file, as `0x…`; `null` where the place is not known.
    pub load_bias: Option<String>,
    /// How the place is known.
    pub placement: String,
}

/// How a library comes to gdb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LibraryOrigin {
    /// It is made of the recording.
    Made,
    /// The user gives its file.
    Given,
    /// Not at all.
    Missing,
}

/// A trace source: a processor core, or a hart.
#[derive(Debug, Serialize)]
pub struct SourceInfo {
    /// The thread that it is to gdb, which also is the number of the tracepoint of its frames.
    pub thread: u32,
    /// What it is called.
    pub name: String,
    /// How many instructions it executed that are known.
    pub instructions: u64,
    /// How often nobody knows what it executed.
    pub gaps: u64,
    /// The first of these gaps, in words: between which frames, why, and at which byte of the dump.
    pub first_gap: Option<String>,
    /// How many exceptions and interrupts it took.
    pub exceptions: u64,
}

/// A file that lay beside the program.
#[derive(Debug, Serialize)]
pub struct LibraryInfo {
    /// Its file: on the recorded machine, or the name of the program that the recording itself gives.
    pub path: String,
    /// The address of its first page, as `0x…`.
    pub address: String,
    /// How it comes to gdb.
    pub origin: LibraryOrigin,
}

/// How the recording ended.
#[derive(Debug, Serialize)]
pub struct RunInfo {
    /// Whether the file says anything of it.
    pub known: bool,
    /// Whether it was saved while still running.
    pub running: bool,
    /// Why it ended, in words.
    pub stopped_by: String,
    /// Frames in the buffer, as the file counts them.
    pub frames: Option<u64>,
    /// Frames made in all.
    pub frames_created: Option<u64>,
    /// Free bytes of the trace buffer.
    pub buffer_free: Option<u64>,
    /// Size of the trace buffer in bytes.
    pub buffer_size: Option<u64>,
    /// Whether the buffer was circular.
    pub circular: Option<bool>,
    /// In microseconds of the recording machine's clock.
    pub start_us: Option<u64>,
    /// Likewise.
    pub stop_us: Option<u64>,
    /// Who recorded.
    pub user: Option<String>,
    /// The notes.
    pub notes: Option<String>,
}

/// A tracepoint, with all its locations.
#[derive(Debug, Serialize)]
pub struct TracepointInfo {
    /// Its number, as the recording machine counted.
    pub number: i32,
    /// `trap`, `fast` or `static`.
    pub kind: &'static str,
    /// Whether it was enabled.
    pub enabled: bool,
    /// What the user typed for its place.
    pub at: Option<String>,
    /// What the user typed for its condition.
    pub condition: Option<String>,
    /// What the user typed to collect.
    pub commands: Vec<String>,
    /// What was collected, in the remote protocol's spelling.
    pub actions: Vec<String>,
    /// What was collected at each step.
    pub step_actions: Vec<String>,
    /// Steps after each hit.
    pub step_count: u64,
    /// Hits after which the recording ended.
    pub pass_count: u64,
    /// Its locations.
    pub locations: Vec<LocationInfo>,
    /// How many frames it made.
    pub frames: u64,
}

/// One location of a tracepoint.
#[derive(Debug, Serialize)]
pub struct LocationInfo {
    /// Its address as `0x…`.
    pub address: String,
    /// The function there.
    pub function: Option<String>,
    /// The source file there.
    pub file: Option<String>,
    /// The source line there.
    pub line: Option<u32>,
    /// Hits, as the file's hexadecimal digits spell them.
    pub hits: Option<u64>,
    /// Hits, if the file's digits are decimal, which they may be where this is not `null`.
    pub hits_if_decimal: Option<u64>,
    /// Bytes of the trace buffer, in hexadecimal as above.
    pub usage: Option<u64>,
    /// The same, if the digits are decimal.
    pub usage_if_decimal: Option<u64>,
}

/// A trace state variable.
#[derive(Debug, Serialize)]
pub struct VariableInfo {
    /// Its number.
    pub number: i32,
    /// Its name.
    pub name: String,
    /// Its value when the recording began.
    pub initial: i64,
    /// Its last recorded value.
    pub last: Option<i64>,
    /// Whether the target made it by itself.
    pub builtin: bool,
}

impl Info {
    /// Of a recording, as far as it is indexed.
    pub fn new(replay: &Replay) -> Info {
        let recording = replay.recording();
        let index = replay.index();
        let damage = index.damage();
        let counts = index.counts_by_tracepoint();
        Info {
            version: JSON_VERSION,
            file: recording.name().display().to_string(),
            format: recording.format(),
            target: target(replay),
            program: program(replay),
            libraries: libraries(replay),
            run: run(recording.status()),
            sources: sources(replay, &counts),
            tracepoints: tracepoints(replay, &counts),
            variables: recording
                .variables()
                .iter()
                .map(|variable| VariableInfo {
                    number: variable.number,
                    name: variable.name.clone(),
                    initial: variable.initial,
                    last: replay.last_value(variable.number).found(),
                    builtin: variable.builtin,
                })
                .collect(),
            frames: index.progress().frames,
            frames_by_tracepoint: counts,
            remarks: recording.remarks().to_vec(),
            unknown_lines: recording.unknown_lines().to_vec(),
            warnings: warnings(replay),
            damaged: replay.damaged(),
            damage: recording.damage().iter().chain(damage.kept()).map(ToString::to_string).collect(),
        }
    }

    /// The first lines: file, target, program, libraries, frames, run.
    pub fn summary(&self) -> String {
        let mut text = format!("{}: {}\n", printable(&self.file), self.format);
        let target = &self.target;
        let architecture = if target.architecture.is_empty() {
            "unknown architecture".to_owned()
        } else {
            printable(&target.architecture)
        };
        let _ = writeln!(
            text,
            "target: {architecture}, {}, {}-bit addresses; {}{}",
            target.byte_order,
            8 * target.address_size,
            // Of instructions nothing was collected.
            match self.sources.is_empty() {
                true => format!("register block of {} bytes; ", target.register_block_bytes),
                false => String::new(),
            },
            match target.registers {
                0 => "registers cannot be told apart".to_owned(),
                registers => format!(
                    "{registers} registers in {} bytes, as {} says",
                    target.register_set_bytes, target.description
                ),
            }
        );
        if let Some(program) = &self.program {
            let _ = write!(text, "program: {}, {}", printable(&program.path), program.placement);
            if let Some(id) = &program.build_id {
                let _ = write!(text, ", build ID {id}");
            }
            text.push('\n');
        }
        for library in self.libraries.iter().take(LIBRARIES) {
            let address = &library.address;
            let from = match library.origin {
                LibraryOrigin::Made => "made of the recording".to_owned(),
                LibraryOrigin::Given => format!("at {address}, as the recording says"),
                LibraryOrigin::Missing => format!("at {address}, as the recording says; not here (--library gives it)"),
            };
            let _ = writeln!(text, "library: {}, {from}", printable(&library.path));
        }
        if let Some(more) = self.libraries.len().checked_sub(LIBRARIES).filter(|more| *more > 0) {
            let _ = writeln!(text, "library: … and {more} more (info --json names all)");
        }
        let _ = writeln!(text, "frames: {}", self.frames);
        if self.sources.is_empty() {
            let _ = writeln!(text, "run: {}", self.run_text());
        }
        if self.damaged > 0 {
            let _ = writeln!(text, "damage: {} could not be read", count(self.damaged, "place"));
        }
        text
    }

    fn run_text(&self) -> String {
        let run = &self.run;
        let mut text = printable(&run.stopped_by);
        if let (Some(start), Some(stop)) = (run.start_us, run.stop_us)
            && stop >= start
        {
            let _ = write!(text, ", {} after its start at {} of its own clock", seconds(stop - start), seconds(start));
        }
        if let (Some(frames), Some(created)) = (run.frames, run.frames_created) {
            let _ = write!(text, "; by its own count {frames} of the {created} frames made were in the buffer");
        }
        if let (Some(free), Some(size)) = (run.buffer_free, run.buffer_size) {
            let circular = if run.circular == Some(true) { ", circular" } else { "" };
            let _ = write!(text, "; {free} of {size} bytes free{circular}");
        }
        if let Some(user) = run.user.as_deref().filter(|user| !user.is_empty()) {
            let _ = write!(text, "; by {}", printable(user));
        }
        if let Some(notes) = run.notes.as_deref().filter(|notes| !notes.is_empty()) {
            let _ = write!(text, "; notes: {}", printable(notes));
        }
        text
    }
}

impl std::fmt::Display for Info {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.summary())?;
        for tracepoint in &self.tracepoints {
            write!(f, "\n{tracepoint}")?;
        }
        for source in &self.sources {
            writeln!(
                f,
                "source {} (thread {}): {}, {}, {}",
                printable(&source.name),
                source.thread,
                count(source.instructions, "instruction"),
                count(source.gaps, "gap"),
                count(source.exceptions, "exception")
            )?;
            if let Some(gap) = &source.first_gap {
                writeln!(f, "  {}{gap}", if source.gaps == 1 { "" } else { "first " })?;
            }
        }
        let sources = self.sources.iter().map(|source| source.thread.cast_signed());
        let defined: BTreeSet<i32> =
            self.tracepoints.iter().map(|tracepoint| tracepoint.number).chain(sources).collect();
        for (number, frames) in self.frames_by_tracepoint.iter().filter(|(number, _)| !defined.contains(number)) {
            writeln!(f, "\ntracepoint {number}, which is not defined: {}", count(*frames, "frame"))?;
        }
        if !self.variables.is_empty() {
            writeln!(f, "\nvariables:")?;
        }
        for variable in &self.variables {
            let last = variable.last.map_or("never recorded".to_owned(), |value| format!("last recorded {value}"));
            writeln!(
                f,
                "  ${} (variable {}): initial {}, {last}",
                printable(&variable.name),
                variable.number,
                variable.initial
            )?;
        }
        let lists = [
            ("remarks", &self.remarks),
            ("lines that are not known here", &self.unknown_lines),
            ("warnings", &self.warnings),
            ("damage", &self.damage),
        ];
        for (name, lines) in lists.iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(f, "\n{name}:")?;
            for line in lines.iter() {
                writeln!(f, "  {}", printable(line))?;
            }
        }
        let kept = self.damage.len() as u64;
        if self.damaged > kept {
            writeln!(f, "  … and {} more", self.damaged - kept)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for TracepointInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.at.as_deref().map_or(String::new(), |at| format!(" at {}", printable(at)));
        let enabled = if self.enabled { "" } else { ", disabled" };
        writeln!(f, "tracepoint {} ({}){at}{enabled}: {}", self.number, self.kind, count(self.frames, "frame"))?;
        for location in &self.locations {
            write!(f, "  {}", location.address)?;
            if let Some(function) = &location.function {
                write!(f, " {}", printable(function))?;
            }
            if let (Some(file), Some(line)) = (&location.file, location.line) {
                write!(f, " {}:{line}", printable(file))?;
            }
            if let Some(hits) = location.hits {
                write!(f, ", hit {}", either(hits, location.hits_if_decimal, "time"))?;
            }
            if let Some(usage) = location.usage {
                write!(f, ", {} of the buffer", either(usage, location.usage_if_decimal, "byte"))?;
            }
            writeln!(f)?;
        }
        if let Some(condition) = &self.condition {
            writeln!(f, "  if {}", printable(condition))?;
        }
        if self.pass_count > 0 {
            writeln!(f, "  ends the recording after {} hits", self.pass_count)?;
        }
        for command in &self.commands {
            writeln!(f, "  {}", printable(command))?;
        }
        // Where the user's words are missing, the target's say what was collected.
        if self.commands.is_empty() {
            for action in &self.actions {
                writeln!(f, "  action {}", printable(action))?;
            }
            for action in &self.step_actions {
                writeln!(f, "  action at each of {} steps {}", self.step_count, printable(action))?;
            }
        }
        Ok(())
    }
}

/// A count, and what it is if its digits are decimal.
fn either(number: u64, if_decimal: Option<u64>, noun: &str) -> String {
    match if_decimal {
        Some(decimal) => format!("{decimal} or {}", count(number, noun)),
        None => count(number, noun),
    }
}

fn seconds(microseconds: u64) -> String {
    format!("{}.{:06} s", microseconds / 1_000_000, microseconds % 1_000_000)
}

fn target(replay: &Replay) -> TargetInfo {
    let target = replay.recording().target();
    TargetInfo {
        architecture: target.architecture.clone(),
        byte_order: target.byte_order.to_string(),
        address_size: target.address_size,
        description: match target.origin {
            Origin::Recording => "the recording's target description",
            Origin::Option => "the given target description",
            Origin::BuiltIn => "the built-in target description",
            Origin::None => "no target description",
        },
        registers: target.layout.as_ref().map_or(0, |layout| layout.registers().len()),
        register_set_bytes: target.layout.as_ref().map_or(0, |layout| layout.size()),
        register_block_bytes: replay.block_size(),
    }
}

fn program(replay: &Replay) -> Option<ProgramInfo> {
    let image = replay.image()?;
    Some(ProgramInfo {
        path: image.image.path().display().to_string(),
        build_id: image.image.build_id().map(hex::encode),
        load_bias: image.is_placed().then(|| format!("{:#x}", image.bias)),
        placement: image.to_string(),
    })
}

fn libraries(replay: &Replay) -> Vec<LibraryInfo> {
    let info = |path: &Path, address: u64, origin| LibraryInfo {
        path: path.display().to_string(),
        address: format!("{address:#x}"),
        origin,
    };
    let placed = |library: &PlacedImage, origin| {
        info(library.image.path(), library.bias.wrapping_add(library.image.first_page()), origin)
    };
    let own = replay.own_program().map(|own| placed(own, LibraryOrigin::Made));
    let given = replay.libraries().iter().map(|library| placed(library, LibraryOrigin::Given));
    let missing = replay.missing_libraries().iter();
    let missing = missing.map(|library| info(&library.path, library.address, LibraryOrigin::Missing));
    own.into_iter().chain(given).chain(missing).collect()
}

fn sources(replay: &Replay, counts: &BTreeMap<i32, u64>) -> Vec<SourceInfo> {
    let recording = replay.recording();
    let threads = recording.threads().iter().filter(|_| recording.is_instruction_trace());
    let source = |thread: &Thread| {
        let index = replay.index();
        let of = |gaps| InterruptionQuery { thread: Some(thread.id), gaps, exceptions: !gaps };
        let (gaps, exceptions) = (index.interruptions_of(&of(true)), index.interruptions_of(&of(false)));
        let first_gap = match index.next_interruption(0, &of(true)) {
            Answer::Found(placed) => Some(interruption(replay, &placed).trim_end().to_owned()),
            Answer::Nothing | Answer::NotYet => None,
        };
        let instructions = counts.get(&thread.id.cast_signed()).copied().unwrap_or(0);
        SourceInfo { thread: thread.id, name: thread.name.clone(), instructions, gaps, first_gap, exceptions }
    };
    threads.map(source).collect()
}

fn run(status: &RunStatus) -> RunInfo {
    let stopped_by = match (&status.stop_reason, status.running) {
        _ if !status.known => "the file does not say how it ended".to_owned(),
        (_, true) => "saved while it was running".to_owned(),
        (StopReason::Unknown, _) => "stopped for an unknown reason".to_owned(),
        (StopReason::NotRun, _) => "never ran".to_owned(),
        (StopReason::Command(note), _) if note.is_empty() => "stopped by a tstop command".to_owned(),
        (StopReason::Command(note), _) => format!("stopped by a tstop command ({note})"),
        (StopReason::BufferFull, _) => "stopped because the buffer was full".to_owned(),
        (StopReason::Disconnected, _) => "stopped because gdb left".to_owned(),
        (StopReason::PassCount(number), _) => format!("stopped by the pass count of tracepoint {number}"),
        (StopReason::Error(text, number), _) => format!("stopped by an error at tracepoint {number} ({text})"),
        (StopReason::Other(text), _) => format!("stopped for a reason that is not known here ({text})"),
    };
    RunInfo {
        known: status.known,
        running: status.running,
        stopped_by,
        frames: status.frames,
        frames_created: status.created,
        buffer_free: status.free,
        buffer_size: status.size,
        circular: status.circular,
        start_us: status.start,
        stop_us: status.stop,
        user: status.user.clone(),
        notes: status.notes.clone(),
    }
}

fn tracepoints(replay: &Replay, counts: &BTreeMap<i32, u64>) -> Vec<TracepointInfo> {
    let mut by_number: BTreeMap<i32, Vec<&Tracepoint>> = BTreeMap::new();
    for tracepoint in replay.recording().tracepoints() {
        by_number.entry(tracepoint.number).or_default().push(tracepoint);
    }
    let if_decimal = |count: Option<u64>| {
        let decimal = format!("{:x}", count?).parse().ok().filter(|decimal| Some(*decimal) != count);
        decimal.filter(|_| replay.recording().counts_may_be_decimal())
    };
    let location = |tracepoint: &&Tracepoint| {
        let line = replay.image().and_then(|image| image.line(tracepoint.address));
        let (file, line) = line.map_or((None, None), |(file, line)| (Some(file), Some(line)));
        LocationInfo {
            address: format!("{:#x}", tracepoint.address),
            function: replay.function(tracepoint.address).map(place),
            file,
            line,
            hits: tracepoint.hits,
            hits_if_decimal: if_decimal(tracepoint.hits),
            usage: tracepoint.usage,
            usage_if_decimal: if_decimal(tracepoint.usage),
        }
    };
    by_number
        .into_iter()
        .filter_map(|(number, locations)| {
            let first = *locations.first()?;
            Some(TracepointInfo {
                number,
                kind: match first.kind {
                    TracepointKind::Trap => "trap",
                    TracepointKind::Fast(_) => "fast",
                    TracepointKind::Static => "static",
                },
                enabled: locations.iter().any(|tracepoint| tracepoint.enabled),
                at: first.source.at.clone(),
                condition: first.source.condition.clone(),
                commands: first.source.commands.clone(),
                actions: first.actions.clone(),
                step_actions: first.step_actions.clone(),
                step_count: first.step_count,
                pass_count: first.pass_count,
                locations: locations.iter().map(location).collect(),
                frames: counts.get(&number).copied().unwrap_or(0),
            })
        })
        .collect()
}
