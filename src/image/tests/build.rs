//! A small ELF writer, so that tests can have files that no tool chain at hand makes.

use crate::source::ByteOrder;

pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) contents: Vec<u8>,
    /// Size in memory if there are no contents in the file.
    pub(super) nobits: u64,
    pub(super) link: u32,
}

impl Section {
    pub(super) fn new(name: &'static str, flags: u64, address: u64, contents: &[u8]) -> Section {
        Section { name, kind: 1, flags, address, contents: contents.to_vec(), nobits: 0, link: 0 }
    }
}

/// A segment that holds the sections with these indices (from 1), the first to the last.
pub(super) struct Segment {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) address: u64,
    pub(super) sections: (usize, usize),
    pub(super) more_memory: u64,
}

pub(super) struct Elf {
    pub(super) wide: bool,
    pub(super) order: ByteOrder,
    pub(super) kind: u16,
    pub(super) machine: u16,
    pub(super) flags: u32,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section>,
    /// Whether the file is to have a section table.
    pub(super) has_table: bool,
}

pub(super) const WRITE: u64 = 1;
pub(super) const ALLOC: u64 = 2;
pub(super) const EXEC: u64 = 4;

impl Elf {
    pub(super) fn new(wide: bool, order: ByteOrder, machine: u16) -> Elf {
        let (segments, sections) = (Vec::new(), Vec::new());
        Elf { wide, order, kind: 2, machine, flags: 0, segments, sections, has_table: true }
    }

    pub(super) fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        self.order.store(value, &mut bytes);
        bytes
    }

    fn word(&self, value: u64) -> Vec<u8> {
        self.number(value, if self.wide { 8 } else { 4 })
    }

    pub(super) fn symbol(&self, name: u32, info: u8, section: u16, value: u64, size: u64) -> Vec<u8> {
        let (name, section) = (self.number(name.into(), 4), self.number(section.into(), 2));
        let (value, size) = (self.word(value), self.word(size));
        if self.wide {
            [name, vec![info, 0], section, value, size].concat()
        } else {
            [name, value, size, vec![info, 0], section].concat()
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let (header, program, entry) = if self.wide { (64, 56, 64) } else { (52, 32, 40) };
        let mut names = vec![0u8];
        let mut contents = Vec::new();
        let mut places = vec![(0usize, 0usize, 0u64)];
        let base = header + program * self.segments.len();
        for section in &self.sections {
            let name = names.len() as u64;
            names.extend(section.name.bytes().chain([0]));
            places.push((base + contents.len(), section.contents.len(), name));
            contents.extend(&section.contents);
        }
        let names_at = base + contents.len();
        contents.extend(&names);
        let table = base + contents.len();
        let count = if self.has_table { self.sections.len() + 2 } else { 0 };

        let data = if self.order == ByteOrder::Little { 1 } else { 2 };
        let mut file = vec![0x7f, b'E', b'L', b'F', if self.wide { 2 } else { 1 }, data, 1];
        file.resize(16, 0);
        file.extend([self.number(self.kind.into(), 2), self.number(self.machine.into(), 2)].concat());
        file.extend([self.number(1, 4), self.word(0), self.word(header as u64)].concat());
        file.extend(self.word(if self.has_table { table as u64 } else { 0 }));
        file.extend(self.number(self.flags.into(), 4));
        for half in [header, program, self.segments.len(), entry, count, count.saturating_sub(1)] {
            file.extend(self.number(half as u64, 2));
        }
        for segment in &self.segments {
            let (start, ..) = places[segment.sections.0];
            let (last, length, _) = places[segment.sections.1];
            let size = (last + length - start) as u64;
            let [kind, flags] = [segment.kind, segment.flags].map(|value| self.number(value.into(), 4));
            let address = self.word(segment.address);
            let rest = [
                self.word(start as u64),
                address.clone(),
                address,
                self.word(size),
                self.word(size + segment.more_memory),
            ];
            let rest = rest.concat();
            let header = if self.wide { [kind, flags, rest].concat() } else { [kind, rest, flags].concat() };
            file.extend(header);
            file.extend(self.word(0x1000));
        }
        file.extend(&contents);
        if self.has_table {
            file.extend(vec![0; entry]);
            for (section, (at, length, name)) in self.sections.iter().zip(&places[1..]) {
                let (kind, size) =
                    if section.nobits == 0 { (section.kind, *length as u64) } else { (8, section.nobits) };
                file.extend(self.section(*name, kind, section.flags, section.address, *at as u64, size, section.link));
            }
            file.extend(self.section(0, 3, 0, 0, names_at as u64, names.len() as u64, 0));
        }
        file
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of a section header, in their order")]
    fn section(&self, name: u64, kind: u32, flags: u64, address: u64, at: u64, size: u64, link: u32) -> Vec<u8> {
        let small = |value: u32| self.number(value.into(), 4);
        let head = [self.number(name, 4), small(kind), self.word(flags), self.word(address), self.word(at)];
        let tail = [self.word(size), small(link), small(0), self.word(1), self.word(0)];
        [head.concat(), tail.concat()].concat()
    }
}
