//! What compilers and assemblers make.

use super::*;
use crate::image::ImageError;
use crate::source::ByteOrder;
use std::path::Path;

#[test]
fn headers_of_a_position_independent_program() {
    let image = image(CASEPIE);
    assert!(image.is_position_independent());
    assert_eq!(image.entry(), 0x1050);
    assert_eq!(image.machine().elf_machine, 62);
    assert_eq!((image.machine().address_size, image.machine().byte_order), (8, ByteOrder::Little));
    assert_eq!(image.build_id().map(<[u8]>::len), Some(20));
    assert_eq!(image.damage(), [""; 0]);
    assert!(!super::image(CASE).is_position_independent());
}

#[test]
fn every_line_has_its_statements_and_every_function_its_name() {
    for image in [image(CASEPIE), image(CASE)] {
        let mut statements = Vec::new();
        let files = image.each_statement(&mut |statement| statements.push(statement));
        assert_eq!((files.list.len(), files.left_out), (1, 0));
        assert_eq!(files.list[0].name, "case.c");
        assert_eq!(files.list[0].path, "/usr/src/traceframe/case.c");
        assert_eq!(statements.iter().map(|statement| statement.line).min(), Some(14));
        for statement in &statements {
            let line = image.line(statement.address).unwrap();
            let same = statements.iter().filter(|other| other.address == statement.address);
            assert!(same.map(|other| ("case.c".to_owned(), other.line)).any(|found| found == line), "{statement:?}");
        }
        let functions: Vec<(u64, u64)> = image.functions().collect();
        assert!(functions.is_sorted_by(|(one, _), (next, _)| one < next));
        let names: Vec<String> = functions.iter().map(|(first, _)| image.symbol(*first).unwrap()).collect();
        for name in ["_start", "step", "main"] {
            assert!(names.iter().any(|found| found == name), "{names:?}");
        }
        for (first, last) in functions {
            assert_eq!(image.function_at(first), Some((first, last)));
            assert_eq!(image.function(first).unwrap().1, 0);
        }
    }
}

#[test]
fn constants_are_served_and_variables_are_not() {
    let image = image(CASEPIE);
    assert_eq!(image.read_only(0x2004)[..4], 10000u32.to_le_bytes());
    assert_eq!(&image.read_only(0x1139)[..4], &CASEPIE[0x1139..0x113d]);
    for (address, what) in [
        (0x40c0, "counter, in .bss"),
        (0x4048, "origin, in .data"),
        (0x3fc0, ".got"),
        (0x3de0, ".dynamic"),
        (0x3dd0, ".init_array"),
        (0x2140, "behind .eh_frame"),
        (0x0630, "behind the first segment"),
        (u64::MAX, "the last address"),
    ] {
        assert!(image.read_only(address).is_empty(), "{what}");
    }
    assert_eq!(image.read_only(0x2000).len(), 0x140);
}

#[test]
fn the_next_read_only_address() {
    let image = image(CASEPIE);
    assert_eq!(image.next_read_only(0), Some(0));
    assert_eq!(image.next_read_only(0x62f), Some(0x62f));
    assert_eq!(image.next_read_only(0x630), Some(0x1000));
    assert_eq!(image.next_read_only(0x213f), Some(0x213f));
    assert_eq!(image.next_read_only(0x2140), None);
}

#[test]
fn functions_end_where_their_sizes_say() {
    let image = image(CASEPIE);
    let name = |address| image.function(address).map(|(name, offset)| format!("{name}+{offset}"));
    assert_eq!(name(0x1144).as_deref(), Some("step+11"));
    assert_eq!(name(0x117a).as_deref(), Some("step+65"));
    assert_eq!(name(0x117b).as_deref(), Some("done+0"));
    assert_eq!(name(0x121e).as_deref(), Some("main+151"));
    assert_eq!(name(0x1220).as_deref(), Some("_fini+0"));
    assert_eq!(name(0x1030), None, "the procedure linkage table has no symbol");
    assert_eq!(name(0x2004), None, "a constant is no function");
}

#[test]
fn lines_are_those_of_the_debug_information() {
    let image = image(CASEPIE);
    let line = |address| image.line(address);
    assert_eq!(line(0x1139), Some(("case.c".to_owned(), 18)));
    assert_eq!(line(0x1144), Some(("case.c".to_owned(), 19)));
    assert_eq!(line(0x114b), Some(("case.c".to_owned(), 19)));
    assert_eq!(line(0x114c), Some(("case.c".to_owned(), 20)));
    assert_eq!(line(0x11d0), Some(("case.c".to_owned(), 15)), "inlined");
    assert_eq!(line(0x121e), Some(("case.c".to_owned(), 37)));
    assert_eq!(line(0x121f), None);
    assert_eq!(line(0x1050), None, "the C library's start file has no debug information");
}

/// A machine whose registers hold their number and 0x1000, and whose memory holds its address and 0x100000, if it is
/// known.
struct Numbered {
    memory_is_known: bool,
}

impl MachineState for Numbered {
    fn register(&self, number: u16) -> Option<u64> {
        Some(0x1000 + u64::from(number))
    }

    fn memory(&self, address: u64, _: usize) -> Option<u64> {
        self.memory_is_known.then_some(0x10_0000 + address)
    }
}

#[test]
fn frame_addresses_are_computed_from_registers_and_memory() {
    // The rules as `readelf --debug-dump=frames` shows them.
    let i386 = image(include_bytes!("../../../tests/data/bin/case32"));
    for (address, without_memory, with_memory, what) in [
        (0x0804_91ad, Some(0x1008), Some(0x1008), "main's first instruction: esp+4"),
        (0x0804_91bb, Some(0x1001), Some(0x1001), "the last one before the stack is realigned: ecx"),
        (0x0804_91bc, None, Some(0x10_0ffd), "main behind that: what lies at ebp-8"),
        (0x0804_925f, None, Some(0x10_0ffd), "its last byte"),
        (0x0804_9157, Some(0x100c), Some(0x100c), "step, which realigns nothing: esp+8"),
        (0x0804_9030, Some(0x1008), Some(0x1008), "the procedure linkage table, an expression of registers only"),
        (0x0804_c000, None, None, "no code"),
    ] {
        assert_eq!(i386.frame_address(address, &Numbered { memory_is_known: false }), without_memory, "{what}");
        assert_eq!(i386.frame_address(address, &Numbered { memory_is_known: true }), with_memory, "{what}");
    }
    let known = Numbered { memory_is_known: false };
    assert_eq!(image(CASE).frame_address(0x0040_1136, &known), Some(0x1006 + 16));
    assert_eq!(image(NIOS2).frame_address(0, &known), None);
}

#[test]
fn code_is_what_executable_sections_hold() {
    let image = image(CASEPIE);
    assert!(image.is_code(0x1000) && image.is_code(0x1144) && image.is_code(0x1228));
    assert!(!image.is_code(0xfff) && !image.is_code(0x1018) && !image.is_code(0x1229) && !image.is_code(0x2004));
}

#[test]
fn a_program_without_an_operating_system() {
    let image = image(NIOS2);
    assert_eq!((image.machine().elf_machine, image.machine().address_size), (113, 4));
    assert_eq!(image.build_id(), None);
    assert_eq!(image.function(0x8014), Some(("_start".to_owned(), 20)), "and not the label in it");
    assert_eq!(image.function(0x8024), Some(("calibrate_lane".to_owned(), 0)));
    assert_eq!(image.line(0x8024).map(|(_, line)| line), Some(22));
    assert_eq!(image.read_only(0x8050)[..8], [64, 0, 0, 0, 128, 0, 0, 0]);
    assert!(image.read_only(0x9060).is_empty() && image.read_only(0x9070).is_empty());
}

#[test]
fn an_image_is_shared_by_threads() {
    fn shared<T: Send + Sync>(value: &T) -> &T {
        value
    }
    let image = image(CASEPIE);
    let image = shared(&image);
    std::thread::scope(|scope| {
        let lines = [0x1144, 0x114c].map(|address| scope.spawn(move || image.line(address)));
        let lines = lines.map(|line| line.join().unwrap().unwrap().1);
        assert_eq!(lines, [19, 20]);
    });
}

#[test]
fn the_path_is_absolute_and_without_links() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("casepie");
    std::fs::write(&file, CASEPIE).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let image = Image::open(&link).unwrap();
    assert_eq!(image.path(), file.canonicalize().unwrap());
    assert_eq!(super::image(CASE).path(), Path::new("/bin/test"));
}

#[test]
fn what_is_no_program_is_named() {
    let error = |bytes: &'static [u8]| Image::from_source(Source::from_static("x", bytes)).unwrap_err().to_string();
    assert_eq!(
        error(b"\x7fTRACE0\n"),
        "x: not an ELF file: found 7f 54 52 41 (a trace file), expected 7f 45 4c 46 (give the linked program that was \
         recorded)"
    );
    assert!(error(b"").contains("found an empty file"));
    assert!(error(b"\x7fELF").contains("damaged ELF header: the file ends after 4 bytes"));
    assert!(error(b"\x7fELF\x07\x01").contains("class is 7"));
    assert!(matches!(Image::open(Path::new("/nonexistent")), Err(ImageError::Source(_))));
}
