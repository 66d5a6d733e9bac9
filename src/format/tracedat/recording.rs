//! The recording that the rest of the program sees.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use super::TraceDat;
use super::events::{EventFormat, LostEvents};
use super::frames::Event;
use super::losses;
use super::merge::{Merge, Next};
use super::programs_place::{self, Kernel};
use super::variables::{LOST, number};
use crate::arch::Target;
use crate::image::{Image, PlacedImage, Placement};
use crate::source::Change;
use crate::trace::{
    self, Damage, Frame, Item, Library, Location, Recording, RunStatus, Thread, TraceStateVariable, Tracepoint,
};

/// What of frames was not recorded.
const MADE_UP: &str = "\
in a frame: the record, at $rec, and the texts and arrays in it were recorded, the address that they have was not. The
  pc of an event of the kernel is where such events are made, inferred from the event; an event that has no address
  has a made one. Where a stack was recorded, the return addresses are; the frame pointer, with a kernel of yours the
  stack pointer, and the memory that leads gdb from one to the next are made; so is, on arm and aarch64, an undefined
  instruction at each, without which gdb would not look. What an earlier boot recorded has its addresses moved to
  where the recording's symbols are. Everything else was recorded or is unavailable.
";

impl Recording for TraceDat {
    fn format(&self) -> &'static str {
        match self.container.header().version {
            super::container::Version::Six => "trace.dat 6",
            super::container::Version::Seven => "trace.dat 7",
        }
    }

    fn name(&self) -> &Path {
        self.container.source().name()
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn tracepoints(&self) -> &[Tracepoint] {
        &self.tracepoints
    }

    fn variables(&self) -> &[TraceStateVariable] {
        self.variables.all()
    }

    fn holders(&self, variable: i32) -> Option<&[i32]> {
        Some(self.variables.holders(variable).unwrap_or(&[]))
    }

    fn last_value(&self, variable: i32) -> Option<i64> {
        if variable == number(LOST) { losses::value(self.losses.last()) } else { None }
    }

    fn threads(&self) -> &[Thread] {
        &self.threads
    }

    fn program(&self) -> Option<&[u8]> {
        self.program.bytes()
    }

    fn libraries(&self, program: &PlacedImage) -> Vec<Library> {
        programs_place::libraries(&self.container, self.process, program)
    }

    fn refusal(&self, image: &Image) -> Option<String> {
        programs_place::refusal(&self.kernel_functions, self.machine, image)
    }

    fn placement(&self, image: &Image) -> Option<(u64, Placement)> {
        let bias = match self.kernel_functions.compare(image) {
            Kernel::Moved(bias) => Some(bias),
            _ => programs_place::of_process(&self.container, self.process, image),
        };
        Some((bias?, Placement::Recorded))
    }

    fn shown_with(&self, image: &PlacedImage) {
        // Said once: a recording is shown with one program.
        let _ = self.shown_with.set(image.clone());
    }

    fn made_up(&self) -> Option<&'static str> {
        Some(MADE_UP)
    }

    fn event_name(&self, tracepoint: i32) -> Option<(&str, &str)> {
        let kind = self.kind_of_tracepoint(tracepoint)?;
        Some((self.formats.get(kind.id).map_or("", |format| &format.system), &kind.name))
    }

    fn is_of_program(&self, tracepoint: i32) -> bool {
        let kind = self.kind_of_tracepoint(tracepoint).filter(|_| !self.program.is_beside_kernel());
        kind.is_some_and(|kind| kind.is_probe && !kind.is_made)
    }

    fn has_field(&self, name: &str) -> bool {
        let formats = self.types.iter().filter_map(|kind| self.formats.get(kind.id));
        formats.flat_map(EventFormat::own_fields).any(|field| field.name == name)
    }

    fn instances(&self) -> &[String] {
        &self.instances
    }

    fn event(&self, frame: &Frame<'_>) -> Option<trace::Event> {
        self.in_words(frame)
    }

    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn damage(&self) -> &[Damage] {
        &self.damage
    }

    fn change(&self) -> Option<Change> {
        self.container.source().change()
    }

    fn change_seen(&self) -> Option<Change> {
        self.container.source().change_seen()
    }

    fn end(&self) -> Location {
        Location(self.count())
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        let mut merge = Merge::new(&self.container, &self.streams);
        // What was lost of each stream before an event that is not shown.
        let mut unsaid = vec![LostEvents::None; self.streams.all().len()];
        let mut frames = 0;
        let mut frame = Frame::empty(Location(0), 0);
        let mut step = |next: Next<'_>| match next {
            Next::Damage(damage) => visit(Item::Damage(damage)),
            Next::Event { position, found, record, lost } => {
                let kind = self.kind_of(record);
                let lost = match unsaid.get_mut(position.stream) {
                    Some(unsaid) if kind.is_some() => std::mem::take(unsaid).and(lost),
                    Some(unsaid) => {
                        *unsaid = unsaid.and(lost);
                        lost
                    }
                    None => lost,
                };
                let Some(kind) = kind else { return ControlFlow::Continue(()) };
                // Before anybody is told of the frame: who is told may ask for it.
                self.positions.set(frames, position);
                self.losses.set(frames, lost);
                let cpu = self.streams.all().get(position.stream).map_or(0, |stream| stream.cpu);
                let format = self.formats.get(kind.id);
                frame.location = Location(frames);
                let last_boot = self.streams.last_boot(position.stream);
                self.fill(&Event { record, found, cpu, last_boot, kind, format, lost }, &mut frame);
                frames += 1;
                visit(Item::Frame(&frame))
            }
        };
        while let Some(flow) = merge.next(&mut step) {
            if flow.is_break() {
                break;
            }
        }
        Location(frames)
    }

    fn frame(&self, location: Location) -> Frame<'_> {
        match self.positions.get(location.0) {
            Some(position) => self.read(location, position),
            None => Frame::empty(location, 0),
        }
    }

    fn trace_buffer(&self, _: Location, offset: u64, length: usize) -> Cow<'_, [u8]> {
        Cow::Owned(self.buffer(offset, length))
    }
}
