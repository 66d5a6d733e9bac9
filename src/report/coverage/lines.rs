//! The lines of the programs, with their counts.

use std::collections::HashMap;

use super::functions::Functions;
use crate::image::{PlacedImage, SourceFile};
use crate::index::PcCounts;

/// Stands for code that is in no function.
const NO_FUNCTION: u32 = u32::MAX;

/// So many entries are gathered before those of the same place become one.
const AT_LEAST: usize = 1 << 16;

/// A line in a function: the largest count of the instructions there at which one of its statements begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) function: u32,
    pub(super) count: u64,
}

/// The lines of all programs. They take memory for each line in each function, not for each statement.
#[derive(Default)]
pub(super) struct Lines {
    /// The files that entries name by their numbers.
    pub(super) files: Vec<SourceFile>,
    pub(super) entries: Vec<Entry>,
    /// How many statements have no file that can be named.
    pub(super) nameless: u64,
}

impl Lines {
    /// Adds a program.
    pub(super) fn add(&mut self, image: &PlacedImage, counts: &PcCounts, functions: &mut Functions) {
        // A file has its number once it is known which of another program's it is, so that these come behind all.
        let before = self.files.len() as u32;
        let (mut entries, mut most) = (std::mem::take(&mut self.entries), 0);
        let found = image.each_statement(&mut |statement| {
            let file = before.saturating_add(statement.file);
            let function = functions.holding(statement.address);
            if let Some(function) = function {
                functions.begins(function, statement.address, (file, statement.line));
            }
            let (function, count) = (function.unwrap_or(NO_FUNCTION), counts.at(statement.address));
            entries.push(Entry { file, line: statement.line, function, count });
            if entries.len() > most {
                one_a_place(&mut entries);
                most = AT_LEAST.max(2 * entries.len());
            }
        });
        self.nameless += found.left_out;
        self.files.extend(found.list);
        self.entries = entries;
    }

    /// The same with each file once, in the order of paths.
    pub(super) fn sorted(mut self, functions: &mut Functions) -> Lines {
        let mut order: Vec<u32> = (0..self.files.len() as u32).collect();
        let path = |number: u32| self.files.get(number as usize).map_or("", |file| file.path.as_str());
        order.sort_by_key(|number| path(*number));
        let mut turned: HashMap<u32, u32> = HashMap::new();
        let mut files: Vec<SourceFile> = Vec::new();
        for number in order {
            if files.last().is_none_or(|last| last.path != path(number)) {
                files.extend(self.files.get(number as usize).cloned());
            }
            turned.insert(number, (files.len() as u32).saturating_sub(1));
        }
        let turn = |number: u32| turned.get(&number).copied().unwrap_or(number);
        self.entries.iter_mut().for_each(|entry| entry.file = turn(entry.file));
        functions.renumber(turn);
        one_a_place(&mut self.entries);
        Lines { files, ..self }
    }
}

/// Leaves of the entries of a place the one with the largest count, and puts them in order.
fn one_a_place(entries: &mut Vec<Entry>) {
    entries.sort_unstable();
    entries.dedup_by(|next, kept| {
        let is_same = (next.file, next.line, next.function) == (kept.file, kept.line, kept.function);
        if is_same {
            kept.count = kept.count.max(next.count);
        }
        is_same
    });
}
