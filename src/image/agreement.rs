//! Whether tracepoints lie where their own words say, in this build of the program.

use super::location::{Location, address, parse};
use super::placement::{Anchor, Candidates, Places};
use super::{Asked, PlacedImage};
use std::collections::{BTreeMap, HashSet};

/// So many tracepoints are compared with the program.
const MOST_ANCHORS: usize = 1000;

/// So many places that words may mean are looked at: words are taken not to lead anywhere behind that.
const MOST_CANDIDATES: usize = 10_000_000;

impl PlacedImage {
    /// The first of the tracepoints that this program contradicts, by its place in `anchors`, and in which way: its
    /// words name a place that is elsewhere in this program, or it lies where the program has no code. Another build
    /// was recorded then, or another program.
    ///
    /// A tracepoint outside the program is in a library. That says nothing, unless its words name a function of this
    /// program, or a line that has code: gdb would have set it there, too.
    pub fn disagreement(&self, anchors: &[Anchor<'_>]) -> Option<(usize, String)> {
        if !self.is_placed() {
            return None;
        }
        let anchors = anchors.get(..MOST_ANCHORS).unwrap_or(anchors);
        let named: Vec<Option<Location<'_>>> = anchors.iter().map(|anchor| parse(anchor.at?)).collect();
        let places = Places::of(&self.image, named.iter().flatten().copied());
        let within: HashSet<&str> =
            anchors.iter().filter(|anchor| self.spans(anchor.address)).filter_map(|anchor| anchor.at).collect();
        let moved = anchors.iter().zip(&named).position(|(anchor, location)| {
            let Some((location, words)) = location.zip(anchor.at) else { return false };
            let candidates = places.candidates(&self.image, location);
            if self.is_code(anchor.address) {
                !candidates.is_nowhere() && !self.is_at(anchor.address, location, &candidates)
            } else {
                !within.contains(words) && self.has(words, location, &candidates)
            }
        });
        if let Some(at) = moved {
            let Anchor { address, at: words } = anchors.get(at)?;
            let found = self.place_name(*address);
            return Some((at, format!("was set at {}, and {address:#x} is {found}", words.unwrap_or_default())));
        }
        let astray = anchors.iter().position(|anchor| self.spans(anchor.address) && !self.is_code(anchor.address))?;
        let address = anchors.get(astray)?.address;
        Some((astray, format!("is at {address:#x}, where there is no code")))
    }

    /// For each tracepoint, whether a gdb that knows this program, and no library, comes to its address by its words.
    ///
    /// Only words for a place with source lines are believed: elsewhere gdb reads the code to find the end of a
    /// function's prologue. Words that are not understood here are taken to lead there.
    pub fn found_by_words(&self, anchors: &[Anchor<'_>]) -> Vec<bool> {
        let mut found = vec![false; anchors.len()];
        let mut by_words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for ((at, anchor), found) in anchors.iter().enumerate().zip(&mut found) {
            let Some(words) = anchor.at else { continue };
            *found = address(words) == Some(anchor.address);
            if !*found && self.line(anchor.address).is_some() {
                by_words.entry(words).or_default().push(at);
            }
        }
        let places = Places::of(&self.image, by_words.keys().filter_map(|words| parse(words)));
        let mut left = MOST_CANDIDATES;
        let mut without_symbols = Vec::new();
        for (words, tracepoints) in by_words {
            let location = parse(words);
            let candidates = location.map(|location| places.candidates(&self.image, location)).unwrap_or_default();
            left = left.saturating_sub(candidates.addresses().count());
            for at in tracepoints.into_iter().filter(|_| left > 0) {
                let (Some(anchor), Some(found)) = (anchors.get(at), found.get_mut(at)) else { continue };
                match location {
                    None => *found = true,
                    Some(location) if !candidates.is_nowhere() => {
                        *found = self.is_at(anchor.address, location, &candidates);
                    }
                    Some(Location::Function(path)) => without_symbols.push((at, anchor.address, path)),
                    Some(Location::Code(..) | Location::Line { .. }) => {}
                }
            }
        }
        // A function that is inlined wherever it is called has no symbol.
        let asked: Vec<Asked<'_>> = without_symbols
            .iter()
            .map(|(_, address, path)| Asked {
                name: path.rsplit("::").next().unwrap_or(path),
                at: Some(*address),
                is_typed: false,
            })
            .collect();
        for ((at, ..), known) in without_symbols.iter().zip(self.known(&asked)) {
            if let Some(found) = found.get_mut(*at) {
                *found = known;
            }
        }
        found
    }

    /// Whether an address can be meant by words that mean one of these places in this program.
    fn is_at(&self, address: u64, location: Location<'_>, candidates: &Candidates) -> bool {
        let linked = address.wrapping_sub(self.bias);
        if candidates.contains(linked) {
            return true;
        }
        // A line may have been split up, and a function been inlined where it has no symbol: then the address is of
        // that line, or of a line of that function.
        let found = self.image.line(linked);
        match location {
            Location::Code(..) => false,
            Location::Line { line, .. } => found.is_some_and(|(_, found)| u64::from(found) == line),
            Location::Function(_) => {
                found.is_some() && candidates.addresses().any(|address| self.image.line(address) == found)
            }
        }
    }

    /// Whether the program has the very place that words name, and not only a line behind it, or a function of that
    /// name in another file.
    fn has(&self, words: &str, location: Location<'_>, candidates: &Candidates) -> bool {
        let mut lines = candidates.addresses().filter_map(|address| self.image.line(address));
        match location {
            Location::Line { line, .. } => lines.any(|(_, found)| u64::from(found) == line),
            Location::Function(name) => words.trim() == name && !candidates.is_nowhere(),
            Location::Code(..) => !candidates.is_nowhere(),
        }
    }

    /// `step+4 case.c:19`.
    fn place_name(&self, address: u64) -> String {
        let function = self.function(address).map(|(name, offset)| format!("{name}+{offset}"));
        let line = self.line(address).map(|(file, line)| format!("{file}:{line}"));
        match (function, line) {
            (Some(function), Some(line)) => format!("{function} {line}"),
            (Some(place), None) | (None, Some(place)) => place,
            (None, None) => "a place without a name".to_owned(),
        }
    }
}
