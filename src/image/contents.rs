//! The contents of memory that no running program changes.
//!
//! Invariant: a byte is held here only if the file tells it in one way: what two sections or segments fill
//! differently (overlays), what a writable one covers too, and what the loader changes is left out.

use super::elf::{Elf, SegmentKind};
use super::ranges;
use std::collections::BTreeMap;

/// A read-only part of memory whose bytes lie in one piece in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    address: u64,
    /// Offset in the file.
    offset: usize,
    /// Size in bytes, at least 1.
    size: usize,
}

impl Part {
    /// Whether `address` and `offset` lie right behind this part, in memory and in the file.
    fn goes_on_at(&self, address: u64, offset: usize) -> bool {
        self.address.checked_add(self.size as u64) == Some(address)
            && self.offset.checked_add(self.size) == Some(offset)
    }
}

/// The read-only parts of memory, by ascending address; no two overlap.
#[derive(Debug, Default)]
pub(super) struct Contents(Vec<Part>);

impl Contents {
    pub(super) fn new(elf: &Elf<'_>) -> Contents {
        let mut sweep = Sweep::default();
        for section in elf.sections.iter().filter(|section| section.is_in_memory()) {
            match &section.file {
                _ if section.is_writable() => sweep.cover(section.address, section.size, Cover::Changed),
                Some(file) => {
                    sweep.cover(section.address, file.len() as u64, Cover::Section(shift(file.start, section.address)));
                }
                None => {}
            }
        }
        for segment in &elf.segments {
            let file = &segment.file;
            match segment.kind {
                SegmentKind::RelocatedReadOnly => sweep.cover(segment.address, segment.size, Cover::Changed),
                SegmentKind::Load if segment.writable => {
                    sweep.cover(segment.address, segment.size, Cover::WritableSegment);
                }
                SegmentKind::Load => {
                    sweep.cover(segment.address, file.len() as u64, Cover::Segment(shift(file.start, segment.address)));
                }
            }
        }
        for (address, size) in &elf.relocated {
            sweep.cover(*address, *size, Cover::Changed);
        }
        Contents(sweep.parts())
    }

    /// The bytes from `address` to the end of the part that holds it; empty outside.
    pub(super) fn from<'data>(&self, file: &'data [u8], address: u64) -> &'data [u8] {
        let behind = self.0.partition_point(|part| part.address <= address);
        let found = behind.checked_sub(1).and_then(|at| self.0.get(at)).and_then(|part| {
            let skipped = usize::try_from(address.checked_sub(part.address)?).ok()?;
            let end = part.offset.checked_add(part.size)?;
            file.get(part.offset.checked_add(skipped)?..end)
        });
        found.unwrap_or(&[])
    }

    /// The first address at or above `address` that lies in a part.
    pub(super) fn next(&self, address: u64) -> Option<u64> {
        let at = self
            .0
            .partition_point(|part| ranges::last(part.address, part.size as u64).is_none_or(|last| last < address));
        self.0.get(at).map(|part| part.address.max(address))
    }
}

/// What is added to an address to get an offset in the file.
fn shift(offset: usize, address: u64) -> u64 {
    (offset as u64).wrapping_sub(address)
}

/// How a section, a segment or the loader covers memory.
#[derive(Clone, Copy, Debug)]
enum Cover {
    /// A section that is not writable, with the shift to its contents.
    Section(u64),
    /// A segment that is not writable, likewise.
    Segment(u64),
    /// A writable segment. A section in it that is not writable still counts: embedded programs often have one
    /// segment that is readable, writable and executable.
    WritableSegment,
    /// Writable for sure, or written by the loader.
    Changed,
}

/// Walks memory upwards over the borders of everything that covers it.
#[derive(Default)]
struct Sweep {
    /// Addresses up to and including 2^64, what begins or ends there, and whether it begins.
    borders: Vec<(u128, Cover, bool)>,
}

impl Sweep {
    /// Notes a cover; what would go on behind 2^64 ends there.
    fn cover(&mut self, address: u64, size: u64, cover: Cover) {
        if let Some(last) = ranges::last(address, size) {
            self.borders.push((u128::from(address), cover, true));
            self.borders.push((u128::from(last) + 1, cover, false));
        }
    }

    fn parts(mut self) -> Vec<Part> {
        self.borders.sort_by_key(|(at, ..)| *at);
        let mut state = State::default();
        let mut parts: Vec<Part> = Vec::new();
        let mut borders = self.borders.into_iter().peekable();
        while let Some((at, cover, begins)) = borders.next() {
            state.change(cover, begins);
            let Some((end, ..)) = borders.peek() else { break };
            if let Some(part) = state.only_source().and_then(|shift| part(at, *end, shift)) {
                match parts.last_mut() {
                    Some(before) if before.goes_on_at(part.address, part.offset) => before.size += part.size,
                    _ => parts.push(part),
                }
            }
        }
        parts
    }
}

fn part(start: u128, end: u128, shift: u64) -> Option<Part> {
    let address = u64::try_from(start).ok()?;
    let size = usize::try_from(end.checked_sub(start)?).ok().filter(|size| *size != 0)?;
    Some(Part { address, offset: usize::try_from(address.wrapping_add(shift)).ok()?, size })
}

/// What covers the address that the sweep has come to.
#[derive(Default)]
struct State {
    sections: BTreeMap<u64, usize>,
    segments: BTreeMap<u64, usize>,
    writable_segments: usize,
    changed: usize,
}

impl State {
    fn change(&mut self, cover: Cover, begins: bool) {
        let count = |count: usize| if begins { count.saturating_add(1) } else { count.saturating_sub(1) };
        let (sources, shift) = match cover {
            Cover::WritableSegment => return self.writable_segments = count(self.writable_segments),
            Cover::Changed => return self.changed = count(self.changed),
            Cover::Section(shift) => (&mut self.sections, shift),
            Cover::Segment(shift) => (&mut self.segments, shift),
        };
        let of_shift = count(sources.get(&shift).copied().unwrap_or(0));
        if of_shift == 0 {
            sources.remove(&shift);
        } else {
            sources.insert(shift, of_shift);
        }
    }

    /// The shift to the one place in the file where the byte lies.
    fn only_source(&self) -> Option<u64> {
        if self.changed != 0 {
            return None;
        }
        let segments = self.segments.keys().filter(|_| self.writable_segments == 0);
        let mut sources = self.sections.keys().chain(segments).take(3);
        let first = *sources.next()?;
        sources.all(|other| *other == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(covers: &[(u64, u64, Cover)]) -> Vec<(u64, usize, usize)> {
        let mut sweep = Sweep::default();
        for (address, size, cover) in covers {
            sweep.cover(*address, *size, *cover);
        }
        sweep.parts().iter().map(|part| (part.address, part.offset, part.size)).collect()
    }

    #[test]
    fn sections_and_segments_unite_and_writable_ones_are_cut_out() {
        let at_8 = 8u64.wrapping_sub(0x1000);
        let covers = [
            (0x1000, 0x100, Cover::Segment(at_8)),
            (0x1080, 0x100, Cover::Section(at_8)),
            (0x1040, 0x10, Cover::Changed),
            (0x1170, 0, Cover::Changed),
        ];
        assert_eq!(parts(&covers), [(0x1000, 8, 0x40), (0x1050, 0x58, 0x130)]);
    }

    #[test]
    fn a_writable_segment_hides_segments_and_not_sections() {
        let covers = [
            (0x100, 0x100, Cover::WritableSegment),
            (0x140, 0x10, Cover::Section(0)),
            (0x180, 0x100, Cover::Segment(0)),
        ];
        assert_eq!(parts(&covers), [(0x140, 0x140, 0x10), (0x200, 0x200, 0x80)]);
    }

    #[test]
    fn overlays_are_not_told_apart_and_so_not_held() {
        let covers = [(0x100, 0x20, Cover::Section(0)), (0x110, 0x20, Cover::Section(0x1000))];
        assert_eq!(parts(&covers), [(0x100, 0x100, 0x10), (0x120, 0x1120, 0x10)]);
    }

    #[test]
    fn a_part_may_end_at_the_last_address() {
        let top = u64::MAX - 0xf;
        let covers = [(top, 0x40, Cover::Section(0u64.wrapping_sub(top)))];
        assert_eq!(parts(&covers), [(top, 0, 0x10)]);
        let contents = Contents(vec![Part { address: top, offset: 0, size: 0x10 }]);
        let file: Vec<u8> = (0..0x20).collect();
        assert_eq!(contents.from(&file, u64::MAX), [0xf]);
        assert_eq!(contents.next(0), Some(top));
        assert_eq!(contents.next(u64::MAX), Some(u64::MAX));
        assert!(contents.from(&file, top - 1).is_empty());
    }
}
