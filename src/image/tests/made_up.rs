//! Files of other classes, byte orders, types and shapes.

use super::build::*;
use super::*;
use crate::source::ByteOrder::{Big, Little};

const LOAD: u32 = 1;
const RELRO: u32 = 0x6474_e552;
const DATA: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

fn segment(flags: u32, address: u64, sections: (usize, usize)) -> Segment {
    Segment { kind: LOAD, flags, address, sections, more_memory: 0 }
}

fn read_only(image: &Image, address: u64) -> Vec<u8> {
    image.read_only(address).to_vec()
}

#[test]
fn one_segment_for_everything() {
    for (wide, order) in [(false, Little), (false, Big), (true, Little), (true, Big)] {
        let mut elf = Elf::new(wide, order, 8);
        elf.sections = vec![
            Section::new(".text", ALLOC | EXEC, 0x1000, &DATA),
            Section::new(".data", ALLOC | WRITE, 0x1010, &DATA),
            Section::new(".rodata", ALLOC, 0x1020, &DATA[..8]),
        ];
        elf.segments = vec![segment(7, 0x1000, (1, 3))];
        let image = made_up(elf.bytes());
        assert_eq!(image.machine().byte_order, order);
        assert_eq!(read_only(&image, 0x1004), DATA[4..]);
        assert!(read_only(&image, 0x1010).is_empty());
        assert_eq!(read_only(&image, 0x1020), DATA[..8]);
        assert!(image.is_code(0x100f) && !image.is_code(0x1010));

        elf.has_table = false;
        let image = made_up(elf.bytes());
        assert_eq!(image.next_read_only(0), None, "without sections, a writable segment is writable throughout");
        assert!(image.is_code(0x1020));
    }
}

#[test]
fn the_file_part_of_a_segment_without_sections_is_served() {
    let mut elf = Elf::new(true, Little, 62);
    elf.sections = vec![Section::new("", 0, 0, &DATA)];
    elf.segments = vec![segment(5, 0xffff_ffff_ffff_fff0, (1, 1)), segment(6, 0x2000, (1, 1))];
    elf.segments[0].more_memory = 0x100;
    elf.has_table = false;
    let image = made_up(elf.bytes());
    assert_eq!(read_only(&image, u64::MAX), DATA[15..]);
    assert_eq!(image.next_read_only(0x2000), Some(0xffff_ffff_ffff_fff0));
    assert!(image.is_code(u64::MAX) && !image.is_code(0x2000) && !image.is_code(0));
}

#[test]
fn what_the_loader_writes_is_not_served() {
    let mut elf = Elf::new(true, Little, 62);
    elf.kind = 3;
    let relocation = [elf.number(0x1004, 8), elf.number(8, 8), elf.number(0, 8)].concat();
    elf.sections = vec![
        Section::new(".text", ALLOC | EXEC, 0x1000, &DATA),
        Section { kind: 4, ..Section::new(".rela.dyn", ALLOC, 0x2000, &relocation) },
        Section::new(".relro", ALLOC, 0x3000, &DATA),
        Section { nobits: 0x10, ..Section::new(".tbss", ALLOC | WRITE | 0x400, 0x1000, &[]) },
    ];
    elf.segments = vec![Segment { kind: RELRO, ..segment(4, 0x3000, (3, 3)) }];
    let image = made_up(elf.bytes());
    assert_eq!(read_only(&image, 0x1000), DATA[..4]);
    assert!(read_only(&image, 0x1004).is_empty());
    assert_eq!(read_only(&image, 0x100c), DATA[12..]);
    assert!(read_only(&image, 0x3000).is_empty());
}

#[test]
fn relocations_in_the_short_form_are_seen() {
    let mut elf = Elf::new(true, Little, 62);
    elf.kind = 3;
    // An address, and a bit map of the words behind it: the second one.
    let entries = [elf.number(0x1000, 8), elf.number(0b101, 8)].concat();
    let text = vec![0x90; 0x400];
    elf.sections = vec![
        Section::new(".text", ALLOC | EXEC, 0x1000, &text),
        Section { kind: 19, ..Section::new(".relr.dyn", ALLOC, 0x2000, &entries) },
    ];
    let image = made_up(elf.bytes());
    assert!(image.read_only(0x1000).is_empty() && image.read_only(0x1017).is_empty());
    assert_eq!(image.read_only(0x1018).len(), 0x400 - 0x18);
}

#[test]
fn symbols_of_thumb_code_and_of_function_descriptors() {
    let names = b"\0step\0$t\0.Lx\0after\0";
    let mut arm = Elf::new(false, Little, 40);
    let symbols = [
        arm.symbol(0, 0, 0, 0, 0),
        arm.symbol(1, 0x12, 1, 0x1001, 4),
        arm.symbol(6, 0, 1, 0x1000, 0),
        arm.symbol(9, 0, 1, 0x1002, 0),
        arm.symbol(13, 0, 1, 0x1008, 0),
    ];
    arm.sections = vec![
        Section::new(".text", ALLOC | EXEC, 0x1000, &DATA),
        Section { kind: 2, link: 3, ..Section::new(".symtab", 0, 0, &symbols.concat()) },
        Section { kind: 3, ..Section::new(".strtab", 0, 0, names) },
    ];
    let image = made_up(arm.bytes());
    assert_eq!(image.function(0x1000), Some(("step".to_owned(), 0)));
    assert_eq!(image.function(0x1003), Some(("step".to_owned(), 3)));
    assert_eq!(image.function(0x1004), None);
    assert_eq!(image.function(0x100f), Some(("after".to_owned(), 7)));

    let mut power = Elf::new(true, Big, 21);
    power.flags = 1;
    let descriptor = [power.number(0x1004, 8), vec![0; 16]].concat();
    let symbols = [power.symbol(0, 0, 0, 0, 0), power.symbol(1, 0x12, 2, 0x2000, 8)].concat();
    power.sections = vec![
        Section::new(".text", ALLOC | EXEC, 0x1000, &DATA),
        Section::new(".opd", ALLOC | WRITE, 0x2000, &descriptor),
        Section { kind: 2, link: 4, ..Section::new(".symtab", 0, 0, &symbols) },
        Section { kind: 3, ..Section::new(".strtab", 0, 0, names) },
    ];
    let image = made_up(power.bytes());
    assert_eq!(image.function(0x1005), Some(("step".to_owned(), 1)));
    assert_eq!(image.function(0x2000), None);
}

#[test]
fn compressed_sections_are_expanded_up_to_what_can_be_true() {
    use crate::image::debug::DebugSection;
    let mut elf = Elf::new(true, Little, 62);
    // zlib, "stored": the five bytes `hello`.
    let stored = b"\x78\x01\x01\x05\x00\xfa\xffhello\x06\x2c\x02\x15";
    // zlib, a thousand zero bytes: fifty times as many as are stored.
    let zeroes = b"\x78\xda\x63\x60\x18\x05\xa3\x60\x14\x0c\x77\x00\x00\x03\xe8\x00\x01";
    let section = |elf: &Elf, size: u64, stored: &[u8]| {
        let header = [elf.number(1, 4), elf.number(0, 4), elf.number(size, 8), elf.number(1, 8)].concat();
        Section::new(".debug_line_str", 0x800, 0, &[&header[..], stored].concat())
    };
    let cases = [(5, &stored[..], &b"hello"[..]), (6, stored, b""), (1 << 40, stored, b""), (1000, zeroes, b"")];
    for (size, stored, expanded) in cases {
        elf.sections = vec![section(&elf, size, stored)];
        let source = Source::from_vec("x", elf.bytes());
        let read = crate::image::elf::read(&source).unwrap_or_else(|error| panic!("{error}"));
        let bytes = DebugSection::named(&read, ".debug_line_str").bytes(source.bytes(), read.machine);
        assert_eq!(bytes.get(source.bytes()), expanded, "{size}");
    }
}

#[test]
fn files_without_a_place_in_memory_are_refused() {
    let mut elf = Elf::new(true, Little, 62);
    for (kind, found) in [(1, "an object file"), (4, "a core dump"), (0xfe00, "an ELF file of type 0xfe00")] {
        elf.kind = kind;
        let error = Image::from_source(Source::from_vec("x", elf.bytes())).unwrap_err().to_string();
        assert!(error.starts_with(&format!("x: is {found}")), "{error}");
    }
}
