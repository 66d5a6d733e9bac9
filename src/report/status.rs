//! `monitor status`: what is served, where a client stands, and what of it was made up.

use std::fmt::Write;

use super::info::Info;
use super::text::count;
use super::warnings;
use crate::session::{Position, Session};
use crate::trace::{Frame, ProgramCounter, Recording};

/// What made-up state gdb is given in a frame.
const INSIDE: &str =
    "in a frame: nothing is made up; a pc that is not recorded is inferred from the tracepoint, and marked\n";

/// What made-up state gdb is given outside any frame: registers before the first move.
const OUTSIDE: &str = "outside a frame: gdb cannot live without registers there. Before the first tfind they are the\n  \
                       first frame's pc and zeros; after it ";

/// And after it, with memory.
const VISITED: &str = "they are the last visited frame's, or its pc and zeros\n  \
                       if it holds none; an unknown pc is zero. Memory is the last visited frame's, and\n  ";

/// The same where the recording knows threads.
const OF_THREADS: &str = "each thread's are those of the last frame that it made\n  \
                          up to there, or that frame's pc and zeros if it holds none, and zeros where there is none;\n  \
                          an unknown pc is zero. Memory is that frame's, and\n  ";

/// And what memory there is in any case.
const PROGRAM: &str = "the program's read-only parts; a word of the stack that gdb needs to tell a function's\n  \
                       frame from others, and that was not collected, is zero.\n";

/// The same where registers cannot be told apart.
const OUTSIDE_UNKNOWN: &str = "outside a frame: gdb cannot live without registers there. Before the first tfind they are\n  \
                               zeros; after it they are the last visited frame's, or zeros if it holds none. Memory is\n  \
                               the last visited frame's, and the program's read-only parts.\n";

/// Where a client stands in its recording.
pub fn status(session: &Session) -> String {
    let replay = session.replay();
    let progress = replay.index().progress();
    let mut text = String::new();
    for line in Info::new(replay).summary().lines() {
        // How many frames there are is not known yet.
        if line.starts_with("frames:") && !progress.complete {
            let frames = count(progress.frames, "frame");
            let _ = writeln!(text, "indexing: {:.0} %, {frames} so far", 100.0 * progress.fraction());
        } else {
            let _ = writeln!(text, "{line}");
        }
    }
    if let Some(advice) = super::without_program(replay) {
        let _ = writeln!(text, "{advice}");
    }
    for line in super::told_otherwise(replay) {
        let _ = writeln!(text, "{line}");
    }
    let position = match session.cursor().position() {
        Position::Start => "outside any frame, none visited yet".to_owned(),
        Position::Frame(frame) => format!("in trace frame {frame}"),
        Position::After(frame) => format!("outside any frame, last in trace frame {frame}"),
    };
    let _ = writeln!(text, "you are: {position}");
    let is_described = replay.recording().target().layout.is_some();
    if let Some(frame) = session.frame() {
        let pc = program_counter(&frame, replay.recording());
        let _ = writeln!(text, "pc: {pc}");
        if let Some(label) = replay.recording().label(&frame) {
            let _ = writeln!(text, "made by: {}", super::printable(&label));
        }
        if let Some(damage) = &frame.damage {
            let _ = writeln!(text, "this frame is damaged: {}", super::printable(&damage.to_string()));
        }
    }
    text.push_str(replay.recording().made_up().unwrap_or(INSIDE));
    match is_described {
        true => {
            let after = if replay.recording().threads().is_empty() { VISITED } else { OF_THREADS };
            text.extend([OUTSIDE, after, PROGRAM]);
        }
        false => text.push_str(OUTSIDE_UNKNOWN),
    }
    for warning in warnings(replay) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

/// Where a client stands, in a line.
pub fn place(session: &Session) -> String {
    let (place, frame) = match session.cursor().position() {
        Position::Start => return "in no trace frame so far\n".to_owned(),
        Position::Frame(frame) => (format!("in trace frame {frame}"), frame),
        Position::After(frame) => (format!("outside, last in trace frame {frame}"), frame),
    };
    let replay = session.replay();
    let maker = replay.frame(frame).and_then(|frame| replay.recording().maker(&frame));
    let maker = maker.map_or_else(String::new, |maker| format!(" of {}", super::printable(&maker)));
    format!("{place}{maker}\n")
}

/// Where a thread stands, as `info threads` shows it.
pub fn thread(session: &Session, thread: u32) -> String {
    let name = session.threads().iter().find(|known| known.id == thread).map_or("", |known| &known.name);
    let place = match (session.cursor().position(), session.frame_of(thread)) {
        (Position::Start, _) => "before the first move".to_owned(),
        (Position::Frame(_), Some(frame)) => format!("trace frame {frame}"),
        (Position::After(_), Some(frame)) => format!("outside, last at trace frame {frame}"),
        (_, None) => "in no trace frame so far".to_owned(),
    };
    let frame = session.frame_of(thread).and_then(|number| session.replay().frame(number));
    let label = frame.and_then(|frame| Some((session.replay().recording().label(&frame)?, frame.thread)));
    match label {
        // gdb keeps its thread where the user selects a frame of another.
        Some((label, other)) if other != thread && matches!(session.cursor().position(), Position::Frame(_)) => {
            return format!("{}, while {place} is of {}", super::printable(name), super::printable(&label));
        }
        Some((label, _)) => return format!("{}, {place}", super::printable(&label)),
        None => {}
    }
    if name.is_empty() { place } else { format!("{}, {place}", super::printable(name)) }
}

/// A frame's program counter, and how it is known.
fn program_counter(frame: &Frame<'_>, recording: &dyn Recording) -> String {
    let is_described = recording.target().layout.is_some();
    let lacks = match &frame.registers {
        None => "the frame holds no registers",
        Some(_) if is_described => "the frame's registers do not hold it",
        Some(_) => "registers cannot be told apart",
    };
    let is_of_tracepoint = |pc| {
        let mut tracepoints = recording.tracepoints().iter();
        tracepoints.any(|tracepoint| tracepoint.number == frame.tracepoint && tracepoint.address == pc)
    };
    match frame.pc {
        ProgramCounter::Unknown => format!("not known: {lacks} and its tracepoint does not tell"),
        ProgramCounter::Inferred(pc) if is_of_tracepoint(pc) => {
            let place = if is_described { "" } else { "; gdb cannot be given it" };
            format!("{pc:#x}, inferred: {lacks}, this is its tracepoint's address{place}")
        }
        ProgramCounter::Inferred(pc) => {
            format!("{pc:#x}, inferred: an earlier boot recorded it, and it is moved to where this one's kernel has it")
        }
        ProgramCounter::Recorded(pc) => format!("{pc:#x}, recorded"),
    }
}
