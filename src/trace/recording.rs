//! The interface of a recording.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use super::{
    Damage, Event, Frame, Instructions, Interruption, Library, RunStatus, Thread, TraceStateVariable, Tracepoint,
};
use crate::arch::Target;
use crate::image::{Image, PlacedImage, Placement};
use crate::source::Change;

/// Where a recording keeps a frame: a number that only the recording understands (a file offset, a position in a
/// decoded stream). Later frames have greater locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(pub u64);

/// What one pass over a recording finds, in order.
#[derive(Debug)]
pub enum Item<'a, 'f> {
    /// The next frame.
    Frame(&'f Frame<'a>),
    /// The next frames, each of which is an instruction. A recording that shows these shows no other frames.
    Instructions(Instructions),
    /// Something between the last frame of a thread and its next.
    Interruption(Interruption),
    /// Something between the frames, or behind them, that could not be read. What is wrong inside a frame comes
    /// with that frame.
    Damage(Damage),
}

/// A recording of any format.
///
/// Nothing here searches: [`Recording::walk`] shows every frame once, in order, and whoever wants to find frames
/// keeps what they need of it; [`Recording::frame`] gives the state at a place without looking at any other frame.
pub trait Recording: Send + Sync {
    /// The format, as it is called in its field.
    fn format(&self) -> &'static str;

    /// The file, as the user named it.
    fn name(&self) -> &Path;

    /// The machine that was recorded: its registers and their layout, byte order and address size.
    fn target(&self) -> &Target;

    /// Every location of every tracepoint, in the order of the file.
    fn tracepoints(&self) -> &[Tracepoint];

    /// The trace state variables that are defined, in the order of the file.
    fn variables(&self) -> &[TraceStateVariable];

    /// All threads that frames may name, in ascending order; none where the recording knows no threads, and then every
    /// frame is of thread 1.
    fn threads(&self) -> &[Thread] {
        &[]
    }

    /// The tracepoints whose frames may hold a variable; then a walk need not show variables, and the last value of one is
    /// looked for in their last frames. `None` where a walk shows them.
    fn holders(&self, _variable: i32) -> Option<&[i32]> {
        None
    }

    /// The last value of a variable in the frames that a walk showed so far, where the recording knows it without a look at
    /// them: of one that few frames of its [`Recording::holders`] have.
    fn last_value(&self, _variable: i32) -> Option<i64> {
        None
    }

    /// The program that the recording itself gives, as an ELF file at fixed addresses: the symbols of the kernel that was
    /// recorded, types, call frame information. Where the user gives another program, it lies beside that one.
    fn program(&self) -> Option<&[u8]> {
        None
    }

    /// The shared libraries of the process that ran a program, where the recording says it.
    fn libraries(&self, _program: &PlacedImage) -> Vec<Library> {
        Vec::new()
    }

    /// Whether each frame is an instruction that was executed: nothing was collected then, and registers and memory of frames
    /// are made.
    fn is_instruction_trace(&self) -> bool {
        false
    }

    /// A frame without what was made for a debugger to unwind by, where frames are instructions.
    fn without_made<'a>(&self, frame: Frame<'a>) -> Frame<'a> {
        frame
    }

    /// The run of instructions that holds a frame, if frames are instructions.
    fn instructions(&self, _location: Location) -> Option<Instructions> {
        None
    }

    /// The bytes of code that the recording itself gives from an address on, to the end of what holds it; the same in every
    /// frame. Programs go before it.
    fn code(&self, _address: u64) -> &[u8] {
        &[]
    }

    /// Why a program that the user gives cannot be the one that was recorded, if the recording says it: a phrase in lower
    /// case, without a full stop.
    fn refusal(&self, _image: &Image) -> Option<String> {
        None
    }

    /// What is to be added to the addresses of a program that the user gives, where the recording says where it lay, and
    /// how that is known.
    fn placement(&self, _image: &Image) -> Option<(u64, Placement)> {
        None
    }

    /// Tells the recording of the program of the user's that it is shown with, once it is placed.
    fn shown_with(&self, _image: &PlacedImage) {}

    /// What of a frame is made, so that gdb can show what was recorded: whole sentences for a person. `None` where nothing
    /// is.
    fn made_up(&self) -> Option<&'static str> {
        None
    }

    /// The system and the name of the events that a tracepoint makes frames of (`sched`, `sched_switch`), where frames are
    /// events of a tracer.
    fn event_name(&self, _tracepoint: i32) -> Option<(&str, &str)> {
        None
    }

    /// Whether a tracepoint lies in a program, the user's if it is that of the recording: not in a kernel, and at no made
    /// address.
    fn is_of_program(&self, _tracepoint: i32) -> bool {
        true
    }

    /// Whether events have a field of this name, be it a trace state variable or not.
    fn has_field(&self, _name: &str) -> bool {
        false
    }

    /// The tracing instances of whose events there are frames, by name, the top one having none; none at all where frames
    /// are no events of a tracer.
    fn instances(&self) -> &[String] {
        &[]
    }

    /// The event that a frame was made of, in words; of a frame as [`Recording::frame`] gives it.
    fn event(&self, _frame: &Frame<'_>) -> Option<Event> {
        None
    }

    /// Who made a frame, in as few words as a prompt has room for, where the recording knows more than its thread.
    fn maker(&self, frame: &Frame<'_>) -> Option<String> {
        self.event(frame)?.maker()
    }

    /// Who made a frame, in words, where the recording knows more than its thread.
    fn label(&self, frame: &Frame<'_>) -> Option<String> {
        self.event(frame)?.label()
    }

    /// How the recording began and ended.
    fn status(&self) -> &RunStatus;

    /// The lines of the description that have no meaning known here; nothing of them is lost.
    fn unknown_lines(&self) -> &[String] {
        &[]
    }

    /// Whether the tracepoints' counts may be decimal digits that were read as hexadecimal.
    fn counts_may_be_decimal(&self) -> bool {
        false
    }

    /// Things a person should know about this recording that are no damage (an ambiguous hit count, a guess that
    /// was made and what it was made from). Whole sentences, lower case, no full stop.
    fn remarks(&self) -> &[String];

    /// Why a person should not believe what is shown. Whole sentences, lower case, no full stop.
    fn doubts(&self) -> &[String] {
        &[]
    }

    /// What could not be read of the parts before the frames.
    fn damage(&self) -> &[Damage];

    /// What happened to the file since it was opened; asks the system. What is read of the recording after that means
    /// nothing.
    fn change(&self) -> Option<Change> {
        None
    }

    /// What is known of such a change so far. Where nothing is known behind a read, what was read is what the file held.
    fn change_seen(&self) -> Option<Change> {
        None
    }

    /// A location that no frame reaches; with the location of a frame it tells how far a walk has come.
    fn end(&self) -> Location;

    /// Shows every frame in order, until the end or until `visit` breaks off. Returns the location behind the last
    /// frame shown. Registers, and variables that have [`Recording::holders`], may be left out here, and memory too;
    /// [`Recording::frame`] has them.
    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location;

    /// The frame at a location that [`Recording::walk`] showed. At any other location an empty frame.
    fn frame(&self, location: Location) -> Frame<'_>;

    /// The frames as gdb's trace buffer holds them (the frame section of the TRACE0 format, without its end mark):
    /// up to `length` bytes from `offset`, none at the end. `end` is what [`Recording::walk`] returned.
    fn trace_buffer(&self, end: Location, offset: u64, length: usize) -> Cow<'_, [u8]>;
}
