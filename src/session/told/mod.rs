//! What gdb is told of the tracepoints where it could not take what the recording says.
//!
//! gdb makes each tracepoint that it is told of anew: it looks for the place by the user's words, and reads the
//! condition and all that is collected. What it has no symbol for ends the connection ("No symbol "…" in current
//! context", "'…' has unknown type"), each time anew, and words for a place that it lacks make it ask a question in the
//! middle (gdb 13.1, 16.3, 17.2 and 18.1). That is what becomes of a tracepoint in a shared library, which gdb has no
//! symbols of here, and of any in a program without debug information.

mod expression;

use std::collections::HashSet;

use crate::format::tfile::pieces_with_source;
use crate::image::{Anchor, Asked, PlacedImage};
use crate::trace::{SourceStrings, Tracepoint};
use expression::{Action, Name};

/// One location of a tracepoint, as gdb is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What the user typed, with what gdb can take instead.
    pub source: SourceStrings,
    /// The names that gdb does not know there; what names one is left out.
    pub unknown: Vec<String>,
    /// Its definition in the remote protocol's words, where that is not as it was recorded.
    pieces: Option<Vec<String>>,
}

/// What gdb is told of each tracepoint.
///
/// Where the program is not known to the server, gdb may know any, and little is changed.
pub(super) fn told(tracepoints: &[Tracepoint], image: Option<&PlacedImage>) -> Vec<Told> {
    let mut told: Vec<Told> = tracepoints
        .iter()
        .map(|tracepoint| Told { source: tracepoint.source.clone(), unknown: Vec::new(), pieces: None })
        .collect();
    for (told, tracepoint) in told.iter_mut().zip(tracepoints) {
        told.find_by_address_if(names_a_marker, tracepoint);
    }
    if let Some(image) = image {
        tell_places(&mut told, tracepoints, image);
        tell_what_is_known(&mut told, tracepoints, image);
    }
    for (told, tracepoint) in told.iter_mut().zip(tracepoints) {
        told.pieces = (told.source != tracepoint.source).then(|| pieces_with_source(tracepoint, &told.source));
    }
    told
}

impl Told {
    /// The definition in the remote protocol's words: as the recording has it, or with what is told instead.
    pub fn pieces<'a>(&'a self, recorded: &'a Tracepoint) -> &'a [String] {
        self.pieces.as_deref().unwrap_or(&recorded.pieces)
    }

    /// Puts the address for the words, if those are such.
    fn find_by_address_if(&mut self, is_so: impl Fn(&str) -> bool, tracepoint: &Tracepoint) {
        if let Some(at) = self.source.at.as_mut().filter(|at| is_so(at)) {
            *at = format!("*{:#x}", tracepoint.address);
        }
    }

    /// The names in the condition and in the commands.
    fn names(&self) -> Vec<Name<'_>> {
        let condition = self.source.condition.as_deref().into_iter().flat_map(expression::names);
        let actions = self.source.commands.iter().map(|command| Action::read(command));
        condition.chain(actions.flat_map(|action| action.expressions).flat_map(expression::names)).collect()
    }

    /// Leaves out what has such names.
    fn leave_out(&mut self, is_unknown: impl Fn(&Name<'_>) -> bool) {
        let mut unknown: Vec<String> =
            self.names().iter().filter(|name| is_unknown(name)).map(|name| name.text.to_owned()).collect();
        unknown.sort();
        unknown.dedup();
        self.unknown = unknown;
        let is_left_out = |expression: &str| expression::names(expression).iter().any(&is_unknown);
        self.source.condition.take_if(|condition| is_left_out(condition));
        let commands = self.source.commands.iter();
        self.source.commands = commands.filter_map(|command| Action::read(command).without(is_left_out)).collect();
    }
}

/// Whether a static tracepoint was set at a marker (`-m ID`). gdb writes such places and cannot read them: it would
/// give the connection up ("invalid explicit location argument", gdb 13.1 and 18.1).
fn names_a_marker(words: &str) -> bool {
    words.starts_with("-m")
}

/// Puts addresses for words that do not lead gdb there.
fn tell_places(told: &mut [Told], tracepoints: &[Tracepoint], image: &PlacedImage) {
    let anchors: Vec<Anchor<'_>> =
        tracepoints.iter().map(|found| Anchor { address: found.address, at: found.source.at.as_deref() }).collect();
    for ((told, tracepoint), found) in told.iter_mut().zip(tracepoints).zip(image.found_by_words(&anchors)) {
        told.find_by_address_if(|_| !found, tracepoint);
    }
}

/// Leaves out what names something that gdb does not know at the tracepoint.
fn tell_what_is_known(told: &mut [Told], tracepoints: &[Tracepoint], image: &PlacedImage) {
    let asked = |name: &Name<'_>, tracepoint: &Tracepoint| {
        let at = Some(tracepoint.address).filter(|_| !name.is_qualified);
        (name.text.to_owned(), at, name.is_typed)
    };
    let names = told.iter().zip(tracepoints);
    let names = names.flat_map(|(told, tracepoint)| told.names().into_iter().map(move |name| asked(&name, tracepoint)));
    let distinct: Vec<(String, Option<u64>, bool)> = names.collect::<HashSet<_>>().into_iter().collect();
    let questions = distinct.iter().map(|(name, at, is_typed)| Asked { name, at: *at, is_typed: *is_typed });
    let known = image.known(&questions.collect::<Vec<_>>());
    let unknown: HashSet<_> =
        distinct.into_iter().zip(known).filter(|(_, known)| !known).map(|(name, _)| name).collect();
    for (told, tracepoint) in told.iter_mut().zip(tracepoints).filter(|_| !unknown.is_empty()) {
        told.leave_out(|name| unknown.contains(&asked(name, tracepoint)));
    }
}
