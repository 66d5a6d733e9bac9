//! Which names a debugger knows where.

use super::*;
use crate::image::{Anchor, Asked, PlacedImage, Placement};
use std::sync::Arc;

const BORROWER: &[u8] = include_bytes!("../../../tests/data/library/borrower");
const BORROWER_PIE: &[u8] = include_bytes!("../../../tests/data/library/borrower-pie");
const WITHOUT_DEBUG: &[u8] = include_bytes!("../../../tests/data/library/borrower-without-debug");
const VALUES: &[u8] = include_bytes!("../../../tests/data/partial/values");
const ENTRY: &[u8] = include_bytes!("../../../tests/data/partial/entry");

/// Addresses in `_start`, in `common` and in the library.
const START: Option<u64> = Some(0x40_02bd);
const COMMON: Option<u64> = Some(0x40_0297);
const LIBRARY: Option<u64> = Some(0x7fff_f7fb_d210);

fn known(image: &Image, names: &[&str], at: Option<u64>) -> Vec<bool> {
    image.known(&names.iter().map(|name| Asked { name, at, is_typed: false }).collect::<Vec<_>>())
}

#[test]
fn names_are_known_where_they_are_in_scope() {
    let image = image(BORROWER);
    let names = ["borrowed", "i", "value", "more", "lent", "int", "finish", "lend", ""];
    assert_eq!(known(&image, &names, START), [true, true, false, false, false, true, true, true, false]);
    assert_eq!(known(&image, &names, COMMON), [true, false, true, true, false, true, true, true, false]);
    assert_eq!(known(&image, &names, LIBRARY), [true, false, false, false, false, true, true, true, false]);
    assert_eq!(known(&image, &names, None), [true, true, true, true, false, true, true, true, false]);
    assert_eq!(known(&image, &["borrower.c", "shared.h", "library.c"], None), [true, false, false]);
}

#[test]
fn a_program_without_debug_information_declares_nothing() {
    assert_eq!(known(&image(WITHOUT_DEBUG), &["borrowed", "i", "int"], START), [false; 3]);
    let typed = ["borrowed", "i", "lent"].map(|name| Asked { name, at: START, is_typed: true });
    assert_eq!(image(WITHOUT_DEBUG).known(&typed), [true, false, false], "but it has symbols");
}

#[test]
fn names_of_objects_and_of_optimised_code() {
    let values = image(VALUES);
    let names = ["square", "given", "bits", "sides", "Shape", "Flags", "this", "i", "nothing"];
    let in_look = Some(0x40_00fb);
    assert_eq!(known(&values, &names, in_look), [true, true, true, true, true, true, false, false, false]);
    let entry = image(ENTRY);
    let names = ["given", "other", "both", "pair", "first", "sink"];
    assert_eq!(
        known(&entry, &names, Some(0x40_0100)),
        [true, true, false, true, false, true],
        "members are no names in C"
    );
    assert_eq!(known(&entry, &names, Some(0x40_0120)), [false, false, true, true, true, true]);
}

fn placed(bytes: &'static [u8], anchors: &[(u64, &str)]) -> (PlacedImage, Vec<bool>, Option<(usize, String)>) {
    let anchors: Vec<Anchor<'_>> =
        anchors.iter().map(|(address, at)| Anchor { address: *address, at: Some(at) }).collect();
    let placed = PlacedImage::place(Arc::new(image(bytes)), None, &anchors, &[]);
    let (found, disagreement) = (placed.found_by_words(&anchors), placed.disagreement(&anchors));
    (placed, found, disagreement)
}

#[test]
fn words_that_lead_to_the_address_and_words_that_do_not() {
    let anchors = [
        (0x40_02bd, "borrower.c:17"),
        (0x40_02a9, "finish"),
        (0x40_02a9, "*finish+4"),
        (0x40_02a9, "*0x4002a9"),
        (0x40_0297, "shared.h:5"),
        (0x7fff_f7fb_d1f7, "shared.h:5"),
        (0x7fff_f7fb_d210, "lend"),
        (0x7fff_f7fb_d210, "*0x7ffff7fbd210"),
        (0x40_02a9, "-probe one"),
        (0x40_02a9, "library.c:9"),
        (0x40_02a9, "nothing"),
    ];
    let (_, found, disagreement) = placed(BORROWER, &anchors);
    assert_eq!(found, [true, true, true, true, true, false, false, true, true, false, false]);
    assert_eq!(disagreement, None);
    let (_, found, disagreement) = placed(WITHOUT_DEBUG, &anchors);
    assert_eq!(found, anchors.map(|(_, words)| words.starts_with("*0x")));
    assert_eq!(disagreement, None);
    let moved = [(0x40_02a9, "borrower.c:17"), (0x40_02a9, "_start")];
    let (_, found, disagreement) = placed(BORROWER, &moved);
    assert_eq!(found, [false, false]);
    assert_eq!(disagreement, Some((0, "was set at borrower.c:17, and 0x4002a9 is finish+4 borrower.c:11".to_owned())));
}

#[test]
fn a_tracepoint_outside_the_program_proves_nothing_unless_the_program_has_its_place() {
    let library = 0x7fff_f7fb_d210;
    for words in ["lend", "library.c:9", "*0x7ffff7fbd210", "borrower.c:3000", "library.c:finish", ""] {
        assert_eq!(placed(BORROWER, &[(library, words)]).2, None, "{words}");
    }
    for words in ["finish", "borrower.c:17", "*finish+4"] {
        let (.., disagreement) = placed(BORROWER, &[(library, words)]);
        let expected = format!("was set at {words}, and 0x7ffff7fbd210 is a place without a name");
        assert_eq!(disagreement, Some((0, expected)), "{words}");
        let both = [(library, words), (0x40_02bd, words), (0x40_02a9, words)];
        let (.., disagreement) = placed(BORROWER, &both);
        assert_ne!(disagreement.map(|(at, _)| at), Some(0), "{words} has a location in the program, too");
    }
    let (.., disagreement) = placed(BORROWER, &[(0x40_0000, "lend")]);
    assert_eq!(disagreement, Some((0, "is at 0x400000, where there is no code".to_owned())));
}

#[test]
fn a_location_in_a_library_does_not_speak_against_a_load_bias() {
    let base = 0x5555_5555_4000;
    let tracepoints = |agree, of| Placement::Tracepoints { agree, of };
    let both = [(0x7fff_f7fb_d1f7, "shared.h:5"), (base + 0x297, "shared.h:5")];
    assert_eq!(placed(BORROWER_PIE, &both).0.placement, tracepoints(1, 1));
    let elsewhere = [(0x7fff_f7fb_d1f7, "shared.h:5"), (base + 0x2bd, "borrower.c:17")];
    assert_eq!(
        placed(BORROWER_PIE, &elsewhere).0.placement,
        tracepoints(1, 2),
        "gdb would have set it in the program, too"
    );
}

#[test]
fn damaged_debug_information_is_survived() {
    // Each byte of the file's second half, where the debug information lies, changed in turn.
    for at in (BORROWER.len() / 3..BORROWER.len()).step_by(7) {
        for change in [0x00, 0xff, 0x80] {
            let mut bytes = BORROWER.to_vec();
            bytes[at] ^= change;
            if let Ok(image) = Image::from_source(Source::from_vec("/bin/test", bytes)) {
                let _ = known(&image, &["borrowed", "i", "lent"], START);
            }
        }
    }
}
