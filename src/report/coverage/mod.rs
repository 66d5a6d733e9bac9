//! Which lines and functions of the programs were executed, and how often: as text, as JSON, and for lcov.
//!
//! Where a recording is of instructions, each execution counts; in any other each frame does.

mod functions;
mod lcov;
mod lines;
mod show;

use std::ops::Range;

use functions::{Found, Functions};
use lines::{Entry, Lines};

use super::text::printable;
use super::warnings;
use crate::image::{PlacedImage, SourceFile};
use crate::index::InterruptionQuery;
use crate::session::Replay;
use crate::trace::Thread;

/// What of the programs was executed.
///
/// The count of a line is the largest count of any of the instructions at which one of its statements begins. A sum
/// would count a line twice that the compiler split, and as often as it is there one that is in several places:
/// inlined, in templates, in unrolled loops. The count of a function is that of its first instruction, and so the
/// number of its calls, but for those that were inlined.
///
/// Where statements begin the compiler tells. In optimized code it may have merged the last of a line with those of
/// others, so that no execution of it can be seen.
///
/// The counts are of what the recording shows. What lies in no line table is counted by functions alone.
pub struct Coverage<'a> {
    replay: &'a Replay,
    thread: Option<&'a Thread>,
    /// The programs that are counted.
    images: Vec<&'a PlacedImage>,
    /// How many instructions were executed, or frames made.
    executed: u64,
    /// How many of them in no program's code.
    outside: u64,
    /// How many of them at no known place.
    unknown: u64,
    gaps: u64,
    /// How many statements have no file that can be named.
    nameless: u64,
    /// In the order of their paths.
    files: Vec<File>,
    /// In the order of files and lines.
    entries: Vec<Entry>,
    functions: Functions,
}

/// A source file of which there is code.
struct File {
    file: SourceFile,
    /// Whether another has the same name, so that it takes the path to tell them apart.
    is_ambiguous: bool,
    /// What there is of it.
    entries: Range<usize>,
    lines: Hit,
}

/// How many there are, and how many of them were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hit {
    found: u64,
    hit: u64,
}

impl Hit {
    fn add(&mut self, count: u64) {
        self.found += 1;
        self.hit += u64::from(count > 0);
    }

    fn of(counts: impl Iterator<Item = u64>) -> Hit {
        let mut hit = Hit::default();
        counts.for_each(|count| hit.add(count));
        hit
    }
}

impl<'a> Coverage<'a> {
    /// Of a recording, as far as it is indexed; of one thread, or of all.
    pub fn new(replay: &'a Replay, thread: Option<&'a Thread>) -> Coverage<'a> {
        let images: Vec<&PlacedImage> = replay.image().into_iter().chain(replay.beside()).collect();
        let id = thread.map(|thread| thread.id);
        let counts = replay.index().counts_by_pc(id);
        let mut functions = Functions::new(&images, &counts);
        let mut lines = Lines::default();
        for image in &images {
            lines.add(image, &counts, &mut functions);
        }
        let Lines { files, entries, nameless } = lines.sorted(&mut functions);
        for entry in &entries {
            functions.add(entry);
        }
        let files = with_entries(files, &entries);
        let is_outside = |pc: u64| !images.iter().any(|image| image.is_code(pc));
        let outside = counts.iter().filter(|(pc, _)| is_outside(*pc)).map(|(_, count)| count).sum();
        let (unknown, executed) = (counts.unknown(), counts.known() + counts.unknown());
        let gaps = replay.index().interruptions_of(&InterruptionQuery { thread: id, gaps: true, exceptions: false });
        Coverage { replay, thread, images, executed, outside, unknown, gaps, nameless, files, entries, functions }
    }

    /// Whether a line of any program is known.
    pub fn has_lines(&self) -> bool {
        !self.files.is_empty()
    }

    /// In how many gaps of the trace lines may have been executed that are not counted.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// How many lines there are, and how many were executed.
    fn lines(&self) -> Hit {
        let add = |sum: Hit, file: &File| Hit { found: sum.found + file.lines.found, hit: sum.hit + file.lines.hit };
        self.files.iter().fold(Hit::default(), add)
    }

    /// How many functions there are, and how many were executed.
    fn called(&self) -> Hit {
        Hit::of(self.functions.iter().map(|function| function.count))
    }

    /// Each line of a file with its count, in ascending order.
    fn counts(&self, file: &File) -> impl Iterator<Item = (u32, u64)> {
        counts(self.entries.get(file.entries.clone()).unwrap_or(&[]))
    }

    /// The functions that begin on a line, by their files.
    fn by_file(&self) -> Vec<Vec<&Found>> {
        let mut by_file: Vec<Vec<&Found>> = self.files.iter().map(|_| Vec::new()).collect();
        for function in self.functions.iter() {
            let file = function.place.and_then(|(file, _)| by_file.get_mut(file as usize));
            file.into_iter().for_each(|functions| functions.push(function));
        }
        by_file
    }

    /// The name of a function, as a person types it.
    fn name(&self, function: &Found) -> String {
        let image = self.images.get(function.image);
        image.and_then(|image| image.function(function.first)).map_or_else(String::new, |(name, _)| name)
    }

    /// Its name as the linker has it, by which functions are told apart.
    fn symbol(&self, function: &Found) -> String {
        let image = self.images.get(function.image);
        image.and_then(|image| image.symbol(function.first)).unwrap_or_default()
    }

    /// What must be known before believing the counts.
    fn warnings(&self) -> Vec<String> {
        let mut all = warnings(self.replay);
        if self.nameless > 0 {
            let statements = super::count(self.nameless, "statement");
            all.push(format!(
                "{statements} of files that the line table gives no name for, or too many, are not counted"
            ));
        }
        all
    }

    /// What counts, so many of it.
    fn noun(&self) -> &'static str {
        if self.replay.recording().is_instruction_trace() { "instruction" } else { "frame" }
    }
}

/// Each line with its count.
fn counts(entries: &[Entry]) -> impl Iterator<Item = (u32, u64)> {
    let lines = entries.chunk_by(|one, next| one.line == next.line);
    lines.filter_map(|line| Some((line.first()?.line, line.iter().map(|entry| entry.count).max()?)))
}

/// Files, each with what there is of it. Both are in the order of files.
fn with_entries(files: Vec<SourceFile>, entries: &[Entry]) -> Vec<File> {
    let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    let of = |name: &str| names.partition_point(|found| *found <= name) - names.partition_point(|found| *found < name);
    let ambiguous: Vec<bool> = files.iter().map(|file| of(&file.name) > 1).collect();
    let mut rest = entries;
    let mut start = 0;
    let with_entries = |((at, file), is_ambiguous): ((u32, SourceFile), bool)| {
        let count = rest.iter().take_while(|entry| entry.file == at).count();
        let (own, behind) = rest.split_at(count);
        let entries = start..start + count;
        (rest, start) = (behind, entries.end);
        File { file, is_ambiguous, lines: Hit::of(counts(own).map(|(_, count)| count)), entries }
    };
    let files = (0..).zip(files).zip(ambiguous).map(with_entries);
    files.collect()
}

impl File {
    /// What tells it from the others.
    fn shown(&self) -> String {
        printable(if self.is_ambiguous { &self.file.path } else { &self.file.name })
    }
}
