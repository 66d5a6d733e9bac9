//! The sections that the symbols lie in.
//!
//! gdb looks an address up only where a section covers it, and passes over absolute symbols (gdb/minsyms.c,
//! `lookup_minimal_symbol_by_pc_section`); whether a symbol is a function it takes from its section
//! (gdb/elfread.c, `elf_symtab_read`). So all that is known to lie somewhere needs a section of its kind.

use super::symbols::Placed;
use std::ops::Range;

/// More sections than this are not made: what lies outside them is in the file, but only found by its name. A kernel
/// with its modules needs far fewer.
const MOST: usize = 1000;

/// Addresses without a gap that hold only code or only data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) addresses: Range<u64>,
    pub(super) is_code: bool,
}

/// The sections, and for each symbol the number of its section, counted from 1; 0 is none. The main code comes first.
pub(super) fn cover(symbols: &[Placed<'_, '_>], text: &Range<u64>) -> (Vec<Section>, Vec<u32>) {
    let mut sections = Vec::new();
    if !text.is_empty() {
        sections.push(Section { addresses: text.clone(), is_code: true });
    }
    let mut numbers = Vec::with_capacity(symbols.len());
    for group in symbols.chunk_by(|one, other| one.address() == other.address()) {
        let Some(first) = group.first() else { continue };
        let number = if text.contains(&first.address()) {
            1
        } else {
            let is_code = group.iter().any(Placed::is_function);
            let end = first.address().saturating_add(first.reach);
            join(&mut sections, first.address()..end, is_code)
        };
        numbers.resize(numbers.len() + group.len(), number);
    }
    (sections, numbers)
}

/// Puts addresses into the last section if they follow it, or else into a new one. The section's number.
fn join(sections: &mut Vec<Section>, addresses: Range<u64>, is_code: bool) -> u32 {
    if addresses.is_empty() {
        return 0;
    }
    let count = sections.len();
    match sections.last_mut() {
        Some(last) if last.is_code == is_code && last.addresses.end == addresses.start => {
            last.addresses.end = addresses.end;
        }
        _ if count >= MOST => return 0,
        _ => sections.push(Section { addresses, is_code }),
    }
    u32::try_from(sections.len()).unwrap_or(0)
}
