//! The functions of the programs, with their counts.

use super::Hit;
use super::lines::Entry;
use crate::image::PlacedImage;
use crate::index::PcCounts;

/// A function of a program. Its name is asked for when it is shown, since a program can have very many.
#[derive(Debug)]
pub(super) struct Found {
    /// Which of the programs it is of.
    pub(super) image: usize,
    pub(super) first: u64,
    last: u64,
    /// How often its first instruction was executed.
    pub(super) count: u64,
    /// The file and line on which it begins.
    pub(super) place: Option<(u32, u32)>,
    /// The lines that have statements in it.
    pub(super) lines: Hit,
}

/// All functions, by the order of their addresses.
pub(super) struct Functions {
    list: Vec<Found>,
    /// From which addresses on it is which function, or none.
    from: Vec<(u64, Option<u32>)>,
}

impl Functions {
    pub(super) fn new(images: &[&PlacedImage], counts: &PcCounts) -> Functions {
        let mut list = Vec::new();
        for (image, placed) in images.iter().enumerate() {
            list.extend(placed.functions().filter(|(first, last)| first <= last).map(|(first, last)| {
                let count = counts.at(first);
                Found { image, first, last, count, place: None, lines: Hit::default() }
            }));
        }
        list.sort_by_key(|function: &Found| (function.first, std::cmp::Reverse(function.last)));
        let from = innermost(&list);
        Functions { list, from }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Found> {
        self.list.iter()
    }

    /// The number of the innermost function that holds an address.
    pub(super) fn holding(&self, address: u64) -> Option<u32> {
        let behind = self.from.partition_point(|(from, _)| *from <= address);
        self.from.get(behind.checked_sub(1)?)?.1
    }

    /// Notes the file and line of a statement at the beginning of a function; the first is the function's own.
    pub(super) fn begins(&mut self, function: u32, address: u64, place: (u32, u32)) {
        let found = self.list.get_mut(function as usize).filter(|found| found.first == address);
        if let Some(found) = found.filter(|found| found.place.is_none()) {
            found.place = Some(place);
        }
    }

    /// Gives files other numbers.
    pub(super) fn renumber(&mut self, turn: impl Fn(u32) -> u32) {
        for (file, _) in self.list.iter_mut().filter_map(|found| found.place.as_mut()) {
            *file = turn(*file);
        }
    }

    /// Adds a line to its function.
    pub(super) fn add(&mut self, entry: &Entry) {
        if let Some(found) = self.list.get_mut(entry.function as usize) {
            found.lines.add(entry.count);
        }
    }
}

/// From which addresses on which of these is the innermost that holds them.
fn innermost(list: &[Found]) -> Vec<(u64, Option<u32>)> {
    let mut from: Vec<(u64, Option<u32>)> = Vec::new();
    // Those that are not over, each ending before the one that it lies in.
    let mut open: Vec<(u64, u32)> = Vec::new();
    let close = |open: &mut Vec<(u64, u32)>, from: &mut Vec<(u64, Option<u32>)>, before: Option<u64>| {
        while let Some((last, _)) = open.pop_if(|(last, _)| before.is_none_or(|before| *last < before)) {
            while open.pop_if(|(outer, _)| *outer <= last).is_some() {}
            let outer = open.last().map(|(_, function)| *function);
            from.extend(last.checked_add(1).map(|behind| (behind, outer)));
        }
    };
    for (number, function) in (0..).zip(list) {
        close(&mut open, &mut from, Some(function.first));
        from.push((function.first, Some(number)));
        open.push((function.last, number));
    }
    close(&mut open, &mut from, None);
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_innermost_function() {
        let spans: [(u64, u64); 6] = [(10, 99), (20, 39), (20, 29), (40, 40), (90, 120), (u64::MAX - 1, u64::MAX)];
        let function =
            |&(first, last): &_| Found { image: 0, first, last, count: 0, place: None, lines: Hit::default() };
        let list: Vec<Found> = spans.iter().map(function).collect();
        let functions = Functions { from: innermost(&list), list };
        for (address, expected) in [
            (0, None),
            (9, None),
            (10, Some(0)),
            (20, Some(2)),
            (29, Some(2)),
            (30, Some(1)),
            (39, Some(1)),
            (40, Some(3)),
            (41, Some(0)),
            (89, Some(0)),
            (90, Some(4)),
            (100, Some(4)),
            (120, Some(4)),
            (121, None),
            (u64::MAX, Some(5)),
        ] {
            assert_eq!(functions.holding(address), expected, "{address}");
        }
    }
}
