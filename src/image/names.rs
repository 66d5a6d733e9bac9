//! Which names a debugger knows at an address, by the program's debug information (DWARF 5, chapters 2 to 5).
//!
//! Read anew for each list of questions, the compilation units of their addresses first: most names are found there,
//! and then the others need not be read.

use super::elf::{Elf, SymbolKind};
use super::symbols::name;
use super::units::{Slice, UnitSections};
use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit};
use std::collections::{BTreeMap, HashMap, HashSet};

type Entry<'data> = DebuggingInformationEntry<Slice<'data>>;

/// What has members: a declaration in it is defined elsewhere in the program.
const OF_MEMBERS: [gimli::DwTag; 4] =
    [gimli::DW_TAG_class_type, gimli::DW_TAG_namespace, gimli::DW_TAG_structure_type, gimli::DW_TAG_union_type];

/// A function's code, and other code, in more ranges than this is read no further.
const MOST_RANGES: usize = 1000;

/// A name that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'name> {
    /// The name, as a person types it.
    pub name: &'name str,
    /// The address where it is to be known; `None` for anywhere in the program.
    pub at: Option<u64>,
    /// Whether a symbol of a variable suffices, as where its address is taken or its type is told.
    pub is_typed: bool,
}

/// The names that a program's debug information declares.
#[derive(Debug)]
pub(super) struct Names {
    units: UnitSections,
    /// Where in the file the names of the symbols of data are.
    data: Vec<usize>,
    /// Whether some of the debug information lies in another file.
    is_shared: bool,
}

impl Names {
    pub(super) fn new(elf: &Elf<'_>) -> Names {
        let data = elf.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Data).map(|symbol| symbol.name);
        Names {
            units: UnitSections::new(elf),
            data: data.collect(),
            is_shared: elf.sections.iter().any(|section| section.name == b".gnu_debugaltlink"),
        }
    }

    /// In which directory the compiler ran that made a line number program, by where the program begins.
    pub(super) fn directories(&self, file: &[u8]) -> HashMap<usize, String> {
        self.units.directories(file)
    }

    /// Which of the names are known where they are asked for.
    ///
    /// What a function declares is known in its code only. Functions without code of their own are patterns for
    /// inlining, and what they declare is taken to be known everywhere; so is every name where debug information lies
    /// in other files, which a debugger may have.
    pub(super) fn known(&self, file: &[u8], asked: &[Asked<'_>]) -> Vec<bool> {
        let mut search = Search::new(asked);
        if search.wanted.is_empty() || self.is_shared {
            return vec![self.is_shared; asked.len()];
        }
        let data = self.data.iter().filter_map(|at| search.wanted.get_key_value(name(file, *at)));
        search.defined = data.map(|(name, _)| *name).collect();
        self.units.read(file, |dwarf, units| {
            for near in [true, false] {
                units.each(|unit| {
                    if search.is_near(dwarf, unit) == near {
                        search.read(dwarf, unit);
                    }
                    !search.is_done()
                });
            }
        });
        for (asked, known) in asked.iter().zip(&mut search.known) {
            *known |= asked.is_typed && search.defined.contains(asked.name.as_bytes());
        }
        search.known
    }
}

/// What is asked, and what is found so far.
struct Search<'asked> {
    /// The questions about each name that have no answer yet.
    wanted: HashMap<&'asked [u8], Questions>,
    /// All addresses that are asked about, in ascending order.
    addresses: Vec<u64>,
    /// The names that are defined, as data, and not only declared.
    defined: HashSet<&'asked [u8]>,
    known: Vec<bool>,
    unknown: usize,
}

/// Where in the list the questions about a name are.
#[derive(Default)]
struct Questions {
    anywhere: Vec<usize>,
    by_address: BTreeMap<u64, Vec<usize>>,
}

/// The ranges of code of the functions around an entry, with the depths of those.
type Functions = Vec<(isize, Vec<(u64, u64)>)>;

impl Questions {
    /// Takes out those that a declaration within such functions answers.
    fn take(&mut self, functions: &Functions) -> Vec<usize> {
        let mut taken = std::mem::take(&mut self.anywhere);
        let Some((_, innermost)) = functions.last() else {
            taken.extend(std::mem::take(&mut self.by_address).into_values().flatten());
            return taken;
        };
        for (low, high) in innermost.iter().filter(|(low, high)| low < high) {
            let in_scope = |at: &u64| functions.iter().all(|(_, code)| covers(code, *at));
            let found: Vec<u64> = self.by_address.range(low..high).map(|(at, _)| *at).filter(in_scope).collect();
            taken.extend(found.iter().filter_map(|at| self.by_address.remove(at)).flatten());
        }
        taken
    }
}

impl<'asked> Search<'asked> {
    fn new(asked: &'asked [Asked<'asked>]) -> Search<'asked> {
        let mut wanted: HashMap<&[u8], Questions> = HashMap::new();
        for (question, asked) in asked.iter().enumerate() {
            let questions = wanted.entry(asked.name.as_bytes()).or_default();
            match asked.at {
                Some(at) => questions.by_address.entry(at).or_default().push(question),
                None => questions.anywhere.push(question),
            }
        }
        let mut addresses: Vec<u64> = asked.iter().filter_map(|asked| asked.at).collect();
        addresses.sort_unstable();
        let (known, unknown) = (vec![false; asked.len()], asked.len());
        Search { wanted, addresses, defined: HashSet::new(), known, unknown }
    }

    fn is_done(&self) -> bool {
        self.unknown == 0
    }

    /// Whether a unit has code at an address that is asked about.
    fn is_near(&self, dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) -> bool {
        let mut entries = unit.entries();
        let Ok(Some(root)) = entries.next_dfs() else { return false };
        let next = |low: u64| self.addresses.get(self.addresses.partition_point(|at| *at < low));
        ranges(dwarf, unit, root).iter().any(|(low, high)| next(*low).is_some_and(|at| at < high))
    }

    /// Looks for the names in a unit, up to where it is damaged.
    fn read(&mut self, dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>) {
        if unit.dwo_id.is_some() {
            self.known.fill(true);
            self.unknown = 0;
            return;
        }
        let mut functions: Functions = Vec::new();
        let mut parents: Vec<(isize, gimli::DwTag)> = Vec::new();
        let mut is_c = false;
        let mut entries = unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            let (depth, tag) = (entry.depth(), entry.tag());
            while functions.pop_if(|(found, _)| *found >= depth).is_some() {}
            while parents.pop_if(|(found, _)| *found >= depth).is_some() {}
            if parents.is_empty() {
                is_c = is_written_in_c(entry);
            }
            let parent = parents.last().map(|(_, tag)| *tag);
            let speaks = match tag {
                // A member is a name of its own only where an object is implied, in C++.
                gimli::DW_TAG_member => !is_c,
                gimli::DW_TAG_label => false,
                _ => true,
            };
            if speaks {
                self.note(dwarf, unit, entry, parent, &functions);
            }
            if tag == gimli::DW_TAG_subprogram {
                let code = ranges(dwarf, unit, entry);
                if !code.is_empty() {
                    functions.push((depth, code));
                }
            }
            if entry.has_children() {
                parents.push((depth, tag));
            }
            if self.is_done() {
                return;
            }
        }
    }

    /// Takes the name of an entry.
    fn note(
        &mut self,
        dwarf: &Dwarf<Slice<'_>>,
        unit: &Unit<Slice<'_>>,
        entry: &Entry<'_>,
        parent: Option<gimli::DwTag>,
        functions: &Functions,
    ) {
        let Some(name) = entry.attr_value(gimli::DW_AT_name) else { return };
        let Ok(name) = dwarf.attr_string(unit, name) else { return };
        let full = name.slice();
        // A template is spoken of without its arguments, too, and a file without its folder.
        let bare = match entry.tag() {
            gimli::DW_TAG_compile_unit => full.rsplit(|byte| *byte == b'/').next(),
            _ => full.iter().position(|byte| *byte == b'<').and_then(|end| full.get(..end)),
        };
        for name in [Some(full), bare].into_iter().flatten() {
            let Some(questions) = self.wanted.get_mut(name) else { continue };
            // A variable that another file is to define has no place here, unless the linker gave it one.
            let is_declared_only = entry.tag() == gimli::DW_TAG_variable && entry.has_attr(gimli::DW_AT_declaration);
            let is_member = parent.is_some_and(|parent| OF_MEMBERS.contains(&parent));
            if is_declared_only && !is_member && !self.defined.contains(name) {
                continue;
            }
            for question in questions.take(functions) {
                self.known.get_mut(question).into_iter().for_each(|known| *known = true);
                self.unknown = self.unknown.saturating_sub(1);
            }
        }
    }
}

fn is_written_in_c(root: &Entry<'_>) -> bool {
    let language = root.attr_value(gimli::DW_AT_language);
    let c = [gimli::DW_LANG_C, gimli::DW_LANG_C89, gimli::DW_LANG_C99, gimli::DW_LANG_C11, gimli::DW_LANG_C17];
    matches!(language, Some(AttributeValue::Language(language)) if c.contains(&language))
}

/// The first address of each range of an entry's code, and the first one behind it.
fn ranges(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>, entry: &Entry<'_>) -> Vec<(u64, u64)> {
    let list = entry.attr_value(gimli::DW_AT_ranges).and_then(|list| dwarf.attr_ranges(unit, list).ok().flatten());
    if let Some(mut list) = list {
        let ranges = std::iter::from_fn(|| list.next().ok().flatten());
        return ranges.take(MOST_RANGES).map(|range| (range.begin, range.end)).collect();
    }
    let address = |attribute| dwarf.attr_address(unit, entry.attr_value(attribute)?).ok().flatten();
    let Some(low) = address(gimli::DW_AT_low_pc) else { return Vec::new() };
    let high = match entry.attr_value(gimli::DW_AT_high_pc) {
        Some(AttributeValue::Udata(size)) => Some(low.saturating_add(size)),
        _ => address(gimli::DW_AT_high_pc),
    };
    high.map(|high| (low, high)).into_iter().collect()
}

fn covers(code: &[(u64, u64)], address: u64) -> bool {
    code.iter().any(|(low, high)| (*low..*high).contains(&address))
}
