//! Where a position-independent program lay when it was recorded.
//!
//! gdb stores with each tracepoint the user's words for the place (`case.c:19`) and the address that it had. The
//! words name a place in the program file, so the difference is the load bias; several tracepoints must agree.

use super::Image;
use super::lines::SourceLine;
use super::location::{Location, parse};
use super::usual::{self, PAGE};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

/// So many different tracepoints are looked at, and so many program counters.
const MOST_ADDRESSES: usize = 1000;
/// So many load biases are looked at for one tracepoint.
const MOST_BIASES: usize = 1000;

/// How it is known where the program lay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The file is linked to fixed addresses.
    Fixed,
    /// `--load-bias`.
    Option,
    /// What describes the recording, or `--image`.
    Described,
    /// From what the recording says of it: where the kernel's functions lay, or a process's files.
    Recorded,
    /// From tracepoints' source strings and addresses: how many agree, out of how many that say anything.
    Tracepoints {
        /// Tracepoints that agree with the load bias.
        agree: usize,
        /// Tracepoints whose source string names a place in the image.
        of: usize,
    },
    /// gdbserver's usual base for this machine, and every recorded address fits it.
    UsualBase,
    /// The program could be placed anywhere, but every recorded address fits the file's own addresses: it ran
    /// where it was linked, as programs without an operating system do.
    Unrelocated,
    /// Not found: the image is not used.
    Unknown,
}

impl fmt::Display for Placement {
    /// How the place is known, as a phrase for the ready lines. [`super::PlacedImage`] shows the load bias too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Fixed => f.write_str("at its linked addresses"),
            Placement::Option => f.write_str("from --load-bias"),
            Placement::Described => f.write_str("as the description says"),
            Placement::Recorded => f.write_str("as the recording says"),
            Placement::Tracepoints { agree, of: 1 } => write!(f, "from {agree} of 1 tracepoint"),
            Placement::Tracepoints { agree, of } => write!(f, "from {agree} of {of} tracepoints"),
            Placement::UsualBase => f.write_str("gdbserver's usual base, which every recorded address fits"),
            Placement::Unrelocated => f.write_str("at its linked addresses, which every recorded address fits"),
            Placement::Unknown => f.write_str("load address unknown, not used (give --load-bias)"),
        }
    }
}

/// A tracepoint, as far as it can tell where the program lay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor<'a> {
    /// The recorded (run-time) address.
    pub address: u64,
    /// The user's words for the place: `case.c:19`, `step`, `*step+4`, `*0x1234`.
    pub at: Option<&'a str>,
}

/// Finds the load bias of a position-independent program.
pub(super) fn find(image: &Image, anchors: &[Anchor<'_>], program_counters: &[u64]) -> (u64, Placement) {
    let mut seen = HashSet::new();
    let anchors: Vec<Anchor<'_>> =
        anchors.iter().copied().filter(|anchor| seen.insert(*anchor)).take(MOST_ADDRESSES).collect();
    let evidence = Evidence {
        image,
        usual: usual::biases(image),
        addresses: anchors
            .iter()
            .map(|anchor| anchor.address)
            .chain(program_counters.iter().copied().take(MOST_ADDRESSES))
            .collect(),
    };
    let votes = Votes::of(image, &anchors);
    if let Some((bias, agree)) = evidence.best(&votes) {
        return (bias, Placement::Tracepoints { agree, of: votes.concerned(image, bias) });
    }
    // A tracepoint at a line that is elsewhere in this file was set in another build of the program.
    if votes.is_contradicted {
        return (0, Placement::Unknown);
    }
    if let Some(bias) = evidence.usual.iter().copied().find(|bias| evidence.all_fit(*bias)) {
        return (bias, Placement::UsualBase);
    }
    if evidence.all_fit(0) { (0, Placement::Unrelocated) } else { (0, Placement::Unknown) }
}

/// What is recorded, besides the tracepoints' words.
struct Evidence<'image> {
    image: &'image Image,
    usual: Vec<u64>,
    addresses: Vec<u64>,
}

impl Evidence<'_> {
    fn fitting(&self, bias: u64) -> usize {
        self.addresses.iter().filter(|address| self.image.is_code(address.wrapping_sub(bias))).count()
    }

    fn all_fit(&self, bias: u64) -> bool {
        !self.addresses.is_empty() && self.fitting(bias) == self.addresses.len()
    }

    /// The bias with most votes; among equals a usual one, then the one that most recorded addresses fit, then the
    /// smallest.
    fn best(&self, votes: &Votes<'_>) -> Option<(u64, usize)> {
        let most = votes.by_bias.values().copied().max()?;
        let equals: BTreeSet<u64> =
            votes.by_bias.iter().filter(|(_, agree)| **agree == most).map(|(bias, _)| *bias).collect();
        let usual = self.usual.iter().copied().find(|bias| equals.contains(bias));
        let bias = match usual {
            Some(bias) => bias,
            None => equals
                .iter()
                .copied()
                .take(MOST_BIASES)
                .max_by_key(|bias| (self.fitting(*bias), std::cmp::Reverse(*bias)))?,
        };
        Some((bias, most))
    }
}

/// What the tracepoints' words say.
#[derive(Default)]
struct Votes<'text> {
    by_bias: HashMap<u64, usize>,
    /// The tracepoints that name a place in the image: their words and addresses.
    voters: Vec<(&'text str, u64)>,
    /// Whether one names an exact place and no load bias makes it true.
    is_contradicted: bool,
}

impl<'text> Votes<'text> {
    fn of(image: &Image, anchors: &[Anchor<'text>]) -> Votes<'text> {
        let named: Vec<(&'text str, u64, Location<'_>)> =
            anchors.iter().filter_map(|anchor| Some((anchor.at?, anchor.address, parse(anchor.at?)?))).collect();
        let places = Places::of(image, named.iter().map(|(.., location)| *location));
        let mut votes = Votes::default();
        for (words, address, location) in named {
            let candidates = places.candidates(image, location);
            if candidates.is_nowhere() {
                continue;
            }
            votes.voters.push((words, address));
            let biases = candidates.biases(address);
            votes.is_contradicted |= biases.is_empty() && !matches!(location, Location::Function(_));
            for bias in biases {
                *votes.by_bias.entry(bias).or_default() += 1;
            }
        }
        votes
    }
}

impl Votes<'_> {
    /// How many of the voters a load bias must suit. The same words may name a place in a library as well: where one
    /// location of theirs lies in the program, others need not.
    fn concerned(&self, image: &Image, bias: u64) -> usize {
        let inside = |address: u64| image.spans(address.wrapping_sub(bias));
        let settled: HashSet<&str> =
            self.voters.iter().filter(|(_, address)| inside(*address)).map(|(words, _)| *words).collect();
        self.voters.iter().filter(|(words, address)| inside(*address) || !settled.contains(words)).count()
    }
}

/// Where the image has the functions and lines that are named.
pub(super) struct Places<'text> {
    functions: HashMap<&'text str, Vec<(u64, u64)>>,
    lines: HashMap<SourceLine<'text>, Vec<u64>>,
}

impl<'text> Places<'text> {
    pub(super) fn of(image: &Image, locations: impl Iterator<Item = Location<'text>>) -> Places<'text> {
        let (mut names, mut lines) = (HashSet::new(), HashSet::new());
        for location in locations {
            match location {
                Location::Function(name) | Location::Code(name, _) => drop(names.insert(name)),
                Location::Line { file, line } => drop(lines.insert(SourceLine { file, line })),
            }
        }
        let lines: Vec<SourceLine<'text>> = lines.into_iter().collect();
        Places {
            functions: if names.is_empty() { HashMap::new() } else { image.functions_named(names) },
            lines: if lines.is_empty() { HashMap::new() } else { image.statements(&lines) },
        }
    }

    pub(super) fn candidates(&self, image: &Image, location: Location<'_>) -> Candidates {
        let mut candidates = Candidates::default();
        match location {
            Location::Line { file, line } => {
                for address in self.lines.get(&SourceLine { file, line }).into_iter().flatten() {
                    candidates.addresses.insert(*address);
                    // At the line that opens a function, gdb goes on behind the prologue.
                    if let Some((first, last)) = image.function_at(*address).filter(|(first, _)| first == address) {
                        candidates.addresses.extend(image.statements_within(first, last));
                    }
                }
            }
            Location::Code(name, offset) => {
                let functions = self.functions.get(name).into_iter().flatten();
                let addresses = functions.map(|(first, _)| first.wrapping_add(offset));
                candidates.addresses.extend(addresses.filter(|address| image.is_code(*address)));
            }
            Location::Function(name) => {
                for (first, last) in self.functions.get(name).into_iter().flatten().copied() {
                    // gdb goes on behind the prologue, which it finds in the line table, else by reading the code.
                    let statements = image.statements_within(first, last);
                    if statements.is_empty() {
                        candidates.ranges.push((first, last));
                    }
                    candidates.addresses.extend(statements);
                    candidates.addresses.insert(first);
                }
            }
        }
        candidates
    }
}

/// The places in the file that a tracepoint's words can mean.
#[derive(Default)]
pub(super) struct Candidates {
    addresses: BTreeSet<u64>,
    /// Somewhere from the first to the last address.
    ranges: Vec<(u64, u64)>,
}

impl Candidates {
    pub(super) fn is_nowhere(&self) -> bool {
        self.addresses.is_empty() && self.ranges.is_empty()
    }

    /// Whether an address of the file is one of them.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.addresses.contains(&address) || self.ranges.iter().any(|(first, last)| (first..=last).contains(&&address))
    }

    /// Those that are single addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.addresses.iter().copied()
    }

    /// The load biases that bring a candidate to `recorded`: whole pages, as programs are mapped.
    fn biases(&self, recorded: u64) -> BTreeSet<u64> {
        let from_addresses = self.addresses.iter().map(|address| recorded.wrapping_sub(*address));
        let from_ranges = self.ranges.iter().flat_map(|(first, last)| {
            let nearest = first.wrapping_add(recorded.wrapping_sub(*first) % PAGE);
            let in_page = std::iter::successors(Some(nearest), |address| address.checked_add(PAGE));
            in_page
                .take_while(move |address| (first..=last).contains(&address))
                .map(|address| recorded.wrapping_sub(address))
        });
        from_addresses.chain(from_ranges).filter(|bias| bias % PAGE == 0).take(MOST_BIASES).collect()
    }
}
