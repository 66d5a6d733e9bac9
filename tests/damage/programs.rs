//! Programs that are cut, and programs with changed bytes.

use std::sync::Arc;

use traceframe::format::OpenOptions;
use traceframe::image::{Image, MachineState};
use traceframe::source::{ByteOrder, Source};

use super::case::{Cases, is_soak, sample, turn};
use super::fixtures::programs;
use super::questions::{ask, open};
use super::support::data;

/// What a program may take of memory besides twice its length, and a recording with it: the tables of a file are kept
/// as plain values, some of which are longer than in the file, and its lines are read once into a list.
const ROOM: usize = 2 << 20;

/// Of each program so many places are taken where not all are.
const SAMPLE: usize = 12;

/// A machine that has one number everywhere.
struct Everything(u64);

impl MachineState for Everything {
    fn register(&self, _: u16) -> Option<u64> {
        Some(self.0)
    }

    fn memory(&self, _: u64, _: usize) -> Option<u64> {
        Some(self.0)
    }
}

/// Where the tables of an ELF file lie.
struct Tables {
    headers: Vec<std::ops::Range<usize>>,
}

impl Tables {
    /// The ELF header, and the tables that it speaks of (System V ABI, chapter 4).
    fn of(file: &[u8]) -> Tables {
        let (wide, big) = (file[4] == 2, file[5] == 2);
        let number = |at: usize, width: usize| {
            let bytes = file[at..at + width].iter();
            let join = |value: usize, byte: &u8| (value << 8) | usize::from(*byte);
            if big { bytes.fold(0, join) } else { bytes.rev().fold(0, join) }
        };
        let (header, word, counts) = if wide { (0x40, 8, 0x36) } else { (0x34, 4, 0x2a) };
        let (segments, sections) = (number(0x18 + word, word), number(0x18 + 2 * word, word));
        let table = |at: usize, counts: usize| at..at + number(counts, 2) * number(counts + 2, 2);
        Tables { headers: vec![0..header, table(segments, counts), table(sections, counts + 4)] }
    }

    /// Places where a field may begin.
    fn fields(&self, width: usize) -> Vec<usize> {
        self.headers.iter().flat_map(|range| range.clone().step_by(width)).collect()
    }
}

/// Asks everything of a program, alone and under a recording.
fn examine(cases: &mut Cases, name: String, bytes: Vec<u8>, recording: &[u8]) {
    let (length, recording) = (bytes.len(), recording.to_vec());
    let room = 2 * (length + recording.len()) + ROOM;
    cases.run(name, room, || {
        let image = match Image::from_source(Source::from_vec("program", bytes)) {
            Ok(image) => Arc::new(image),
            Err(refused) => return assert!(refused.to_string().starts_with("program: "), "{refused}"),
        };
        for damage in image.damage() {
            assert!(!damage.is_empty() && !damage.contains('\n'), "{damage}");
        }
        let parts = std::iter::successors(image.next_read_only(0), |address| {
            let behind = address.checked_add(image.read_only(*address).len() as u64)?;
            image.next_read_only(behind)
        });
        let parts: Vec<u64> = parts.take(1000).collect();
        for address in parts.iter().copied().take(50).chain([0, image.entry(), u64::MAX]) {
            image.function(address);
            image.line(address);
            image.frame_address(address, &Everything(address));
            assert!(image.read_only(address).len() <= length);
        }
        let options = OpenOptions { image: Some(&image), ..OpenOptions::default() };
        let length = recording.len();
        if let Ok(replay) = open(recording, &options, Some(&image)) {
            ask(&replay, length);
        }
    });
}

/// A small recording, which every program is tried on.
fn recording() -> Vec<u8> {
    std::fs::read(data("architectures/x86-64-symbol.tf")).unwrap()
}

#[test]
fn cut_at_every_byte() {
    let mut cases = Cases::of("programs cut at every byte");
    for (program, bytes) in programs() {
        for length in sample(bytes.len(), SAMPLE) {
            examine(&mut cases, format!("{program} cut to {length} bytes"), bytes[..length].to_vec(), &recording());
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut cases = Cases::of("programs with every byte changed");
    for (program, bytes) in programs() {
        for (number, at) in sample(bytes.len(), SAMPLE).enumerate() {
            for value in turn(vec![!bytes[at], bytes[at] ^ (1 << (at % 8)), 0, 0xff], number, false) {
                let mut changed = bytes.clone();
                changed[at] = value;
                examine(&mut cases, format!("{program} with {value:#x} at byte {at:#x}"), changed, &recording());
            }
        }
    }
}

#[test]
fn every_field_of_the_headers_at_its_extremes() {
    let mut cases = Cases::of("programs with every field of their headers at its extremes");
    for (program, bytes) in programs() {
        let tables = Tables::of(&bytes);
        for width in [2, 4, 8] {
            let fields = tables.fields(width);
            for (number, place) in sample(fields.len(), SAMPLE / 3).enumerate() {
                let range = fields[place]..fields[place] + width;
                if bytes.len() < range.end {
                    continue;
                }
                for value in turn(vec![0, 1, u64::MAX, u64::MAX >> 1, bytes.len() as u64 + 1], number, false) {
                    // In both byte orders: one of them is the file's.
                    let orders = [ByteOrder::Little, ByteOrder::Big];
                    for order in turn(orders.to_vec(), number, is_soak()) {
                        let mut changed = bytes.clone();
                        order.store(value, &mut changed[range.clone()]);
                        let name = format!("{program} with {value:#x}, {order}, at bytes {range:x?}");
                        examine(&mut cases, name, changed, &recording());
                    }
                }
            }
        }
    }
}
