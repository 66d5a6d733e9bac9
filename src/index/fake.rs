//! A recording for tests, made of a function.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;

use crate::arch::{Origin, Target};
use crate::source::ByteOrder;
use crate::trace::{
    Damage, Frame, Instructions, Interruption, Item, Location, ProgramCounter, Recording, RunStatus, Thread,
    TraceStateVariable, Tracepoint,
};

/// What the recording shows.
pub(crate) enum Shown {
    Frame(Frame<'static>),
    Instructions(Instructions),
    Interruption(Interruption),
}

type Make = Box<dyn Fn(u64) -> Shown + Send + Sync>;

pub(crate) struct Fake {
    items: u64,
    item: Make,
    /// The number of an item before which the walk waits for a message.
    pub(crate) stall: Option<(u64, Mutex<Receiver<()>>)>,
    pub(crate) damage_behind: Option<Damage>,
    pub(crate) threads: Vec<Thread>,
    target: Target,
    status: RunStatus,
}

impl Fake {
    /// A recording of frames.
    pub(crate) fn new(frames: u64, frame: impl Fn(u64) -> Frame<'static> + Send + Sync + 'static) -> Fake {
        Fake::of_items(frames, move |number| Shown::Frame(frame(number)))
    }

    /// A recording of anything.
    pub(crate) fn of_items(items: u64, item: impl Fn(u64) -> Shown + Send + Sync + 'static) -> Fake {
        let target = Target {
            architecture: String::new(),
            byte_order: ByteOrder::Little,
            address_size: 8,
            layout: None,
            description: None,
            origin: Origin::None,
            image_is_foreign: false,
        };
        let (threads, status) = (Vec::new(), RunStatus::default());
        Fake { items, item: Box::new(item), stall: None, damage_behind: None, threads, target, status }
    }
}

impl Recording for Fake {
    fn format(&self) -> &'static str {
        "fake"
    }

    fn name(&self) -> &Path {
        Path::new("fake")
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn is_instruction_trace(&self) -> bool {
        self.items > 0 && !matches!((self.item)(0), Shown::Frame(_))
    }

    fn tracepoints(&self) -> &[Tracepoint] {
        &[]
    }

    fn variables(&self) -> &[TraceStateVariable] {
        &[]
    }

    fn threads(&self) -> &[Thread] {
        &self.threads
    }

    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn remarks(&self) -> &[String] {
        &[]
    }

    fn damage(&self) -> &[Damage] {
        &[]
    }

    fn end(&self) -> Location {
        Location(1000_u64.saturating_add(self.items.saturating_mul(300)))
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        let mut reached = Location(0);
        for number in 0..self.items {
            if let Some((_, stalled)) = self.stall.as_ref().filter(|(at, _)| *at == number) {
                // An error means that the test is over; the walk goes on then.
                let _ = stalled.lock().unwrap().recv();
            }
            let shown = (self.item)(number);
            let item = match &shown {
                Shown::Frame(frame) => Item::Frame(frame),
                Shown::Instructions(instructions) => Item::Instructions(*instructions),
                Shown::Interruption(interruption) => Item::Interruption(interruption.clone()),
            };
            reached = location(&shown).unwrap_or(reached);
            if visit(item).is_break() {
                return reached;
            }
        }
        if let Some(damage) = &self.damage_behind {
            let _ = visit(Item::Damage(damage.clone()));
        }
        self.end()
    }

    fn frame(&self, at: Location) -> Frame<'_> {
        let (mut low, mut high) = (0, self.items);
        while low < high {
            let middle = low.midpoint(high);
            let located = (middle..high).find_map(|item| location(&(self.item)(item)));
            if located.is_some_and(|located| located <= at) { low = middle + 1 } else { high = middle }
        }
        let last = (0..low).rev().map(&self.item).find(|shown| location(shown).is_some());
        match last {
            Some(Shown::Frame(frame)) => frame,
            Some(Shown::Instructions(instructions)) => {
                let mut frame = Frame::empty(at, instructions.tracepoint);
                frame.thread = instructions.thread;
                let nth = u32::try_from(at.0 - instructions.location.0).ok();
                let address = nth.and_then(|nth| instructions.address(nth));
                frame.pc = address.map_or(ProgramCounter::Unknown, ProgramCounter::Recorded);
                frame
            }
            Some(Shown::Interruption(_)) | None => Frame::empty(at, 0),
        }
    }

    fn trace_buffer(&self, _end: Location, _offset: u64, _length: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }
}

fn location(shown: &Shown) -> Option<Location> {
    match shown {
        Shown::Frame(frame) => Some(frame.location),
        Shown::Instructions(instructions) => Some(instructions.location),
        Shown::Interruption(_) => None,
    }
}
