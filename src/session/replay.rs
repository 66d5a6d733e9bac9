//! What all clients of one recording share.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Marks;
use super::changes::{Changes, Watched};
use super::libraries::Libraries;
use super::told::{self, Told};
use crate::image::{Anchor, Image, PlacedImage};
use crate::index::{Answer, Index, Inspector, Query};
use crate::source::{Change, Source};
use crate::trace::{Frame, Item, Library, Recording};

/// How many frames at the start of a recording tell where a position-independent program lay.
const PLACEMENT_SAMPLE: usize = 256;

/// What the user gives of the programs that were recorded.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The program.
    pub program: Option<Arc<Image>>,
    /// What is added to its addresses.
    pub load_bias: Option<u64>,
    /// Shared libraries, which need a recording that tells where they lay.
    pub libraries: Vec<Arc<Image>>,
}

/// A recording, its index and its program: opened once, never changed, shared by all clients.
pub struct Replay {
    recording: Arc<dyn Recording>,
    index: Arc<Index>,
    image: Option<PlacedImage>,
    /// The program that the recording gives, beside the user's.
    own: Option<PlacedImage>,
    libraries: Vec<PlacedImage>,
    missing_libraries: Vec<Library>,
    unplaced_libraries: Vec<Arc<Image>>,
    block_size: usize,
    told: OnceLock<Vec<Told>>,
    contradiction: Arc<Mutex<Option<String>>>,
    changes_told: AtomicBool,
    watched: Watched,
    marks: Marks,
    /// The frame whose values were asked for last, and its values.
    last_values: Mutex<Option<(u64, BTreeMap<i32, i64>)>>,
}

impl Replay {
    /// Places the program and begins to index in the background. Without a program of the user's, it is the one that the
    /// recording itself gives.
    ///
    /// # Errors
    ///
    /// When the system gives no thread for the index.
    pub fn new(recording: Arc<dyn Recording>, programs: Programs) -> std::io::Result<Replay> {
        let Programs { program: image, load_bias, libraries } = programs;
        let own = own_program(recording.as_ref());
        let (program_counters, block_size) = sample(recording.as_ref());
        let tracepoints = recording.tracepoints();
        let set: Vec<_> = tracepoints.iter().filter(|tracepoint| recording.is_of_program(tracepoint.number)).collect();
        let anchors: Vec<Anchor<'_>> = set
            .iter()
            .map(|tracepoint| Anchor { address: tracepoint.address, at: tracepoint.source.at.as_deref() })
            .collect();
        let target = recording.target();
        let foreign = image.as_ref().filter(|_| target.image_is_foreign).map(|image| {
            format!("{} is for another machine than {}, and is not used", image.path().display(), target.architecture)
        });
        let foreign = foreign.or_else(|| recording.refusal(image.as_deref()?));
        let image = image.filter(|_| foreign.is_none());
        let given = image.map(|image| match recording.placement(&image).filter(|_| load_bias.is_none()) {
            Some((bias, placement)) => PlacedImage { image, bias, placement },
            None => PlacedImage::place(image, load_bias, &anchors, &program_counters),
        });
        let recorded = given.as_ref().map_or_else(Vec::new, |image| recording.libraries(image));
        let Libraries { placed, missing, unplaced } = Libraries::new(libraries, recorded);
        if let Some(image) = &given {
            recording.shown_with(image);
        }
        let (image, own) = if given.is_some() { (given, own) } else { (own, None) };
        let disagreement = image.as_ref().and_then(|image| image.disagreement(&anchors));
        let disagreement = disagreement.map(|(at, what)| format!("tracepoint {} {what}", set[at].number));
        let contradiction = Arc::new(Mutex::new(foreign.or(disagreement)));
        let inspect = image.clone().map(|image| inspector(image, contradiction.clone()));
        let index = Index::start(recording.clone(), inspect)?;
        let (told, changes_told) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Replay {
            recording,
            index,
            image,
            own,
            libraries: placed,
            missing_libraries: missing,
            unplaced_libraries: unplaced,
            block_size,
            told,
            contradiction,
            changes_told,
            watched: Watched::default(),
            marks: Marks::default(),
            last_values: Mutex::default(),
        })
    }

    /// The recording.
    pub fn recording(&self) -> &dyn Recording {
        &*self.recording
    }

    /// Where its frames are.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The program, where it ran.
    pub fn image(&self) -> Option<&PlacedImage> {
        self.image.as_ref()
    }

    /// The program that the recording itself gives, where it lies beside the user's.
    pub fn own_program(&self) -> Option<&PlacedImage> {
        self.own.as_ref()
    }

    /// The shared libraries that the user gives, where they lay.
    pub fn libraries(&self) -> &[PlacedImage] {
        &self.libraries
    }

    /// What lies beside the program: the one that the recording itself gives, and shared libraries.
    pub fn beside(&self) -> impl Iterator<Item = &PlacedImage> {
        self.own.iter().chain(&self.libraries)
    }

    /// The shared libraries that the recording tells of, and that the user does not give.
    pub fn missing_libraries(&self) -> &[Library] {
        &self.missing_libraries
    }

    /// The shared libraries that the user gives, and that are not used since the recording does not tell where they lay.
    pub fn unplaced_libraries(&self) -> &[Arc<Image>] {
        &self.unplaced_libraries
    }

    /// The function that holds an address, of the program or of what lies beside it, and the offset from its start in
    /// bytes.
    pub fn function(&self, address: u64) -> Option<(String, u64)> {
        self.image.iter().chain(self.beside()).find_map(|image| image.function(address))
    }

    /// What gdb is told of each tracepoint.
    pub fn told(&self) -> &[Told] {
        self.told.get_or_init(|| told::told(self.recording.tracepoints(), self.image()))
    }

    /// Where the recorded value of a piece of memory changes, as far as clients wanted to know it.
    pub(super) fn memory_changes(&self, address: u64, length: usize) -> Arc<Mutex<Changes>> {
        self.watched.changes(address, length)
    }

    /// The bookmarks.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// The frame that was recorded last before a time, or at it; `Err` where frames have no times.
    ///
    /// Frames are in the order of their times, so that few are looked at. Times are nanoseconds of the recording's clock.
    pub fn frame_at(&self, time: u64) -> Result<Option<u64>, NoTimes> {
        let (mut low, mut high) = (0, self.index.progress().frames);
        while low < high {
            let middle = low.midpoint(high);
            let found = self.frame(middle).and_then(|frame| frame.time).ok_or(NoTimes)?;
            if found <= time { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }

    /// Whether frames have times, as far as it is known.
    pub fn has_times(&self) -> bool {
        self.frame(0).is_none_or(|frame| frame.time.is_some())
    }

    /// The last value of a trace state variable in the whole recording.
    pub fn last_value(&self, variable: i32) -> Answer<i64> {
        let Some(holders) = self.recording.holders(variable) else { return self.index.last_value(variable) };
        let mut last = None;
        for tracepoint in holders {
            match self.index.find_back(u64::MAX, &Query::Tracepoint(*tracepoint)) {
                Answer::Found(number) => last = last.max(Some(number)),
                Answer::Nothing => {}
                Answer::NotYet => return Answer::NotYet,
            }
        }
        let known = self.recording.last_value(variable);
        let value = known.or_else(|| self.value_in(last?, variable));
        value.map_or(Answer::Nothing, Answer::Found)
    }

    /// The value of a variable in a frame. The frame's other values are kept: who asks for one asks for all, and many
    /// are of the same frame.
    fn value_in(&self, number: u64, variable: i32) -> Option<i64> {
        if self.recording.change_seen().is_some() {
            return None;
        }
        let mut kept = self.last_values.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|(of, _)| *of != number) {
            *kept = Some((number, self.frame(number)?.variable_values()));
        }
        kept.as_ref().and_then(|(_, values)| values.get(&variable).copied())
    }

    /// The first thing in the part indexed so far that the program image contradicts.
    pub fn contradiction(&self) -> Option<String> {
        self.contradiction.lock().map_or(None, |found| found.clone())
    }

    /// How many places of the recording could not be read, as far as it is indexed.
    pub fn damaged(&self) -> u64 {
        self.recording.damage().len() as u64 + self.index.damage().total()
    }

    /// The size in bytes of the first register block.
    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// What happened to the recording's file or a program's since they were opened: which file, and what. Of a file
    /// that changed nothing is shown any more.
    pub fn changes(&self) -> Vec<(&Path, Change)> {
        let recording = self.recording.change().map(|change| (self.recording.name(), change));
        let programs = self.image.iter().chain(&self.libraries).map(|image| &image.image);
        let programs = programs.filter_map(|program| Some((program.path(), program.file().change()?)));
        recording.into_iter().chain(programs).collect()
    }

    /// Whether nobody has asked this before: what happened to the files is told once.
    pub fn changes_are_news(&self) -> bool {
        !self.changes_told.swap(true, Ordering::Relaxed)
    }

    /// How many of the files are known to have changed. Where the number stays the same while something is read, it
    /// was read as it is in the files.
    pub fn changes_seen(&self) -> usize {
        let programs = self.image.iter().chain(&self.libraries);
        let changed = programs.filter(|image| image.image.file().change_seen().is_some()).count();
        usize::from(self.recording.change_seen().is_some()) + changed
    }

    /// The frame of this number, if it is indexed and its file is as it was.
    pub fn frame(&self, number: u64) -> Option<Frame<'_>> {
        match self.index.locate(number) {
            _ if self.recording.change_seen().is_some() => None,
            Answer::Found(location) => Some(self.recording.frame(location)),
            Answer::Nothing | Answer::NotYet => None,
        }
    }
}

/// The program that a recording itself gives, under a name of its own beside it.
fn own_program(recording: &dyn Recording) -> Option<PlacedImage> {
    let program = recording.program()?;
    let path = std::path::absolute(recording.name()).unwrap_or_else(|_| recording.name().to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".symbols");
    let image = Image::from_source(Source::from_vec(path.with_file_name(name), program.to_vec())).ok()?;
    Some(PlacedImage::place(Arc::new(image), None, &[], &[]))
}

/// The frames of a recording have no times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTimes;

fn sample(recording: &dyn Recording) -> (Vec<u64>, usize) {
    let mut program_counters = Vec::new();
    let mut block_size = 0;
    let mut seen = 0;
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => {
                program_counters.extend(frame.pc.address());
                if let Some(block) = frame.registers.as_ref().filter(|_| block_size == 0) {
                    block_size = block.bytes.len();
                }
            }
            Item::Instructions(instructions) => program_counters.push(instructions.start),
            Item::Interruption(_) | Item::Damage(_) => {}
        }
        seen += 1;
        if seen < PLACEMENT_SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (program_counters, block_size)
}

/// Compares what frames recorded of read-only memory with the image, until the first difference.
fn inspector(image: PlacedImage, found: Arc<Mutex<Option<String>>>) -> Inspector {
    let mut done = found.lock().map_or(true, |found| found.is_some());
    Box::new(move |number, frame| {
        if done {
            return;
        }
        let differing = frame.memory.iter().find_map(|block| image.contradiction(block.address, &block.bytes));
        if let Some(address) = differing {
            done = true;
            let recorded = frame.read_memory(address, 1).first().copied().unwrap_or_default();
            let expected = image.read_only(address).first().copied().unwrap_or_default();
            if let Ok(mut found) = found.lock() {
                *found = Some(format!(
                    "frame {number} recorded {recorded:#04x} at {address:#x}, where {} has {expected:#04x} in a \
                     read-only part",
                    image.image.path().display()
                ));
            }
        }
    })
}
