//! Files that are cut or changed: no question may end the process, and what is whole still answers.

use super::*;
use crate::image::{Anchor, PlacedImage};
use proptest::prelude::*;
use std::sync::Arc;

/// Asks a file everything.
fn ask(bytes: Vec<u8>) {
    let Ok(image) = Image::from_source(Source::from_vec("x", bytes)) else { return };
    let image = Arc::new(image);
    for address in [0, 0x630, 0x1050, 0x1144, 0x11d0, 0x2004, 0x8014, 0x8024, 0x9060, 0x40_1131, u64::MAX] {
        let _ = (image.read_only(address).len(), image.next_read_only(address), image.is_code(address));
        let _ = (image.function(address), image.line(address), image.frame_address(address, &Everything(address)));
    }
    let files = image.each_statement(&mut |statement| assert!(image.is_code(statement.address))).list.len();
    image.each_statement(&mut |statement| assert!((statement.file as usize) < files));
    assert!(image.functions().is_sorted_by(|(one, _), (next, _)| one < next));
    image.functions().take(10).for_each(|(first, _)| assert!(image.symbol(first).is_some()));
    let at = |address, at| Anchor { address, at: Some(at) };
    let anchors = [at(0x5555_5555_5144, "case.c:19"), at(0x5555_5555_5144, "step"), at(0x5555_5555_5139, "*step")];
    let placed = PlacedImage::place(image, None, &anchors, &[0x5555_5555_5144]);
    let _ = placed.contradiction(0, &[0; 0x5000]);
}

#[test]
fn a_cut_file_is_served_up_to_the_cut() {
    let mut cut = CASEPIE[..0x2010].to_vec();
    let image = made_up(cut.clone());
    assert_eq!(image.read_only(0x2004)[..4], 10000u32.to_le_bytes());
    assert_eq!(image.read_only(0x2000).len(), 0x10);
    assert!(image.is_code(0x1144), "by its segment");
    assert_eq!(image.function(0x1144), None);
    assert_eq!(image.damage().len(), 2, "{:?}", image.damage());
    assert!(image.damage()[0].starts_with("no sections: "), "{:?}", image.damage());
    assert!(image.damage()[1].starts_with("the file ends at byte 0x2010, "), "{:?}", image.damage());

    // The program headers' offset.
    cut[32..40].fill(0xff);
    let image = made_up(cut);
    assert_eq!(image.next_read_only(0), None);
    assert!(image.damage()[0].starts_with("no segments: "), "{:?}", image.damage());
}

#[test]
fn a_damaged_line_program_costs_its_lines() {
    let mut damaged = CASEPIE.to_vec();
    // The version of the only program in .debug_line.
    damaged[0x3576 + 4] = 0xee;
    let image = made_up(damaged);
    assert_eq!(image.line(0x1144), None);
    assert_eq!(image.function(0x1144), Some(("step".to_owned(), 11)));
}

#[test]
fn cuts_at_many_lengths() {
    for whole in [CASEPIE, NIOS2] {
        for length in (0..whole.len()).step_by(37).chain(0..0x80) {
            ask(whole[..length].to_vec());
        }
    }
}

/// Where the tables of `CASEPIE` lie that are worth damaging.
const TABLES: [std::ops::Range<usize>; 6] =
    [0..0x318, 0x358..0x37c, 0x540..0x630, 0x2058..0x2140, 0x3576..0x3778, 0x3778..CASEPIE.len()];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(changes in prop::collection::vec((0usize..6, any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = CASEPIE.to_vec();
        for (table, index, value) in changes {
            let range = TABLES[table].clone();
            bytes[range.start + index.index(range.len())] = value;
        }
        ask(bytes);
    }

    #[test]
    fn changed_bytes_of_a_32_bit_file(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = NIOS2.to_vec();
        for (index, value) in changes {
            // Its page of padding says nothing.
            let at = index.index(0x100 + bytes.len() - 0x1000);
            bytes[if at < 0x100 { at } else { at - 0x100 + 0x1000 }] = value;
        }
        ask(bytes);
    }
}
