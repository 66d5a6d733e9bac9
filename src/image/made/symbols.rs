//! The symbols in the order of their addresses, and how far each reaches.

use super::{MadeImage, MadeSymbol};
use std::ops::Range;

/// A symbol reaches to the next one unless that is further away: then nothing is known of what lies between them.
/// The largest object of a kernel, its own type information (BTF), has about 5 MiB.
pub(crate) const FURTHEST: u64 = 16 << 20;

/// Where nothing follows, a symbol reaches to the end of its page: the parts of modules end on one
/// (kernel/module/kallsyms.c, `find_kallsyms_symbol`). No machine has smaller pages.
const PAGE: u64 = 4096;

/// A symbol and its place among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'image, 'a> {
    symbol: &'image MadeSymbol<'a>,
    /// How many bytes from its address on are taken to be its own: no other symbol lies there.
    pub(super) reach: u64,
    /// Whether a debugger is to name its address by another symbol.
    is_alias: bool,
}

impl<'a> Placed<'_, 'a> {
    pub(super) fn name(&self) -> &'a [u8] {
        name(self.symbol)
    }

    pub(super) fn address(&self) -> u64 {
        self.symbol.address
    }

    /// Its size in the file. For an address gdb takes a symbol with a size rather than one without, and of several the
    /// last by the alphabet (gdb/minsyms.c, `lookup_minimal_symbol_by_pc_section`). So an alias has none.
    pub(super) fn size(&self) -> u64 {
        if self.is_alias { 0 } else { self.symbol.size.unwrap_or(self.reach) }
    }

    pub(super) fn is_function(&self) -> bool {
        self.symbol.is_function
    }

    pub(super) fn is_global(&self) -> bool {
        self.symbol.is_global
    }
}

/// All symbols that the file can hold, by address. Of those with one address all but the first that was given are
/// aliases: the first is the one that the kernel itself names (kernel/kallsyms.c, `get_symbol_pos`).
pub(super) fn placed<'image, 'a>(image: &'image MadeImage<'a>, text: &Range<u64>) -> Vec<Placed<'image, 'a>> {
    let last = image.machine.last_address();
    let kept = image.symbols.iter().filter(|symbol| symbol.address <= last && !name(symbol).is_empty());
    let mut symbols: Vec<_> = kept.map(|symbol| Placed { symbol, reach: 0, is_alias: true }).collect();
    symbols.sort_by_key(Placed::address);
    let mut next = None;
    for group in symbols.chunk_by_mut(|one, other| one.address() == other.address()).rev() {
        let given = group.iter().filter_map(|placed| placed.symbol.size).max();
        let Some(address) = group.first().map(Placed::address) else { continue };
        let reach = reach(address, given, next, text).min(last - address);
        group.iter_mut().for_each(|placed| placed.reach = reach);
        group.iter_mut().take(1).for_each(|first| first.is_alias = false);
        next = Some(address);
    }
    symbols
}

fn reach(address: u64, given: Option<u64>, next: Option<u64>, text: &Range<u64>) -> u64 {
    let is_in_text = text.contains(&address);
    let border = [text.start, text.end].into_iter().find(|border| !text.is_empty() && address < *border);
    let known = [next, border].into_iter().flatten().min().map(|end| end - address);
    match known {
        Some(known) if given.is_none() && (known <= FURTHEST || is_in_text) => known,
        _ => given.unwrap_or(PAGE - address % PAGE).clamp(1, known.unwrap_or(u64::MAX)),
    }
}

fn name<'a>(symbol: &MadeSymbol<'a>) -> &'a [u8] {
    symbol.name.split(|byte| *byte == 0).next().unwrap_or_default()
}
