//! A recording for tests, made of a function.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;

use crate::arch::{Origin, Target};
use crate::source::ByteOrder;
use crate::trace::{Damage, Frame, Item, Location, Recording, RunStatus, Thread, TraceStateVariable, Tracepoint};

type Make = Box<dyn Fn(u64) -> Frame<'static> + Send + Sync>;

pub(crate) struct Fake {
    frames: u64,
    frame: Make,
    /// The number of a frame before which the walk waits for a message.
    pub(crate) stall: Option<(u64, Mutex<Receiver<()>>)>,
    pub(crate) damage_behind: Option<Damage>,
    pub(crate) threads: Vec<Thread>,
    target: Target,
    status: RunStatus,
}

impl Fake {
    pub(crate) fn new(frames: u64, frame: impl Fn(u64) -> Frame<'static> + Send + Sync + 'static) -> Fake {
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
        Fake { frames, frame: Box::new(frame), stall: None, damage_behind: None, threads, target, status }
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
        Location(1000_u64.saturating_add(self.frames.saturating_mul(300)))
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        for number in 0..self.frames {
            if let Some((_, stalled)) = self.stall.as_ref().filter(|(at, _)| *at == number) {
                // An error means that the test is over; the walk goes on then.
                let _ = stalled.lock().unwrap().recv();
            }
            let frame = (self.frame)(number);
            if visit(Item::Frame(&frame)).is_break() {
                return frame.location;
            }
        }
        if let Some(damage) = &self.damage_behind {
            let _ = visit(Item::Damage(damage.clone()));
        }
        self.end()
    }

    fn frame(&self, location: Location) -> Frame<'_> {
        let (mut low, mut high) = (0, self.frames);
        while low < high {
            let middle = low.midpoint(high);
            if (self.frame)(middle).location < location { low = middle + 1 } else { high = middle }
        }
        (self.frame)(low)
    }

    fn trace_buffer(&self, _end: Location, _offset: u64, _length: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }
}
