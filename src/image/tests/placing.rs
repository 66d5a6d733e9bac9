//! Where a program lay, and whether the recording agrees.

use super::*;
use crate::image::{Anchor, PlacedImage, Placement};
use std::sync::Arc;

const USUAL: u64 = 0x5555_5555_4000;
const RANDOM: u64 = 0x55d3_c1a5_2000;

fn anchor(address: u64, at: &str) -> Anchor<'_> {
    Anchor { address, at: Some(at) }
}

fn place(anchors: &[Anchor<'_>], program_counters: &[u64]) -> PlacedImage {
    PlacedImage::place(Arc::new(image(CASEPIE)), None, anchors, program_counters)
}

fn placed(anchors: &[Anchor<'_>], program_counters: &[u64]) -> (u64, Placement) {
    let placed = place(anchors, program_counters);
    (placed.bias, placed.placement)
}

fn tracepoints(agree: usize, of: usize) -> Placement {
    Placement::Tracepoints { agree, of }
}

#[test]
fn by_line() {
    assert_eq!(placed(&[anchor(0x5555_5555_5144, "case.c:19")], &[]), (USUAL, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(RANDOM + 0x1144, "/home/user/case.c:19")], &[]), (RANDOM, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(0x1144, "case.c:19")], &[]), (0, tracepoints(1, 1)), "not relocated");
    assert_eq!(
        placed(&[anchor(RANDOM + 0x1144, "case.c:18")], &[]),
        (RANDOM, tracepoints(1, 1)),
        "behind the prologue"
    );
    let between = [anchor(RANDOM + 0x11aa, "case.c:31")];
    assert_eq!(placed(&between, &[]), (RANDOM, tracepoints(1, 1)), "a line without code");
}

#[test]
fn by_function() {
    assert_eq!(placed(&[anchor(RANDOM + 0x1144, "step")], &[]), (RANDOM, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(RANDOM + 0x1144, "case.c:step")], &[]), (RANDOM, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(RANDOM + 0x1139, "*step")], &[]), (RANDOM, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(RANDOM + 0x113d, "*step+0x4")], &[]), (RANDOM, tracepoints(1, 1)));
    assert_eq!(placed(&[anchor(RANDOM + 0x1054, "_start")], &[]), (RANDOM, tracepoints(1, 1)), "without lines");
}

#[test]
fn several_locations_and_some_that_say_nothing() {
    let anchors = [
        anchor(RANDOM + 0x11c4, "case.c:14"),
        anchor(RANDOM + 0x11e7, "case.c:14"),
        anchor(RANDOM + 0x1182, "done"),
        anchor(0x7f00_0000_1234, "malloc"),
        anchor(RANDOM + 0x1139, "*0x55d3c1a53139"),
        Anchor { address: RANDOM + 0x1144, at: None },
    ];
    assert_eq!(placed(&anchors, &[]), (RANDOM, tracepoints(3, 3)));
    let with_a_wrong_one = [&anchors[..], &[anchor(RANDOM + 0x1145, "case.c:19")]].concat();
    assert_eq!(placed(&with_a_wrong_one, &[]), (RANDOM, tracepoints(3, 4)));
}

#[test]
fn equal_votes_go_to_the_usual_base_then_to_what_fits() {
    let anchors = [anchor(RANDOM + 0x1144, "case.c:19"), anchor(USUAL + 0x114c, "case.c:20")];
    assert_eq!(placed(&anchors, &[]), (USUAL, tracepoints(1, 2)));
    let other = RANDOM - 0x10_0000;
    let anchors = [anchor(RANDOM + 0x1144, "case.c:19"), anchor(other + 0x114c, "case.c:20")];
    assert_eq!(placed(&anchors, &[RANDOM + 0x1050]), (RANDOM, tracepoints(1, 2)));
    assert_eq!(placed(&anchors, &[]), (other, tracepoints(1, 2)));
}

#[test]
fn by_program_counters() {
    assert_eq!(placed(&[], &[USUAL + 0x1144, USUAL + 0x1228]), (USUAL, Placement::UsualBase));
    assert_eq!(placed(&[Anchor { address: USUAL + 0x1144, at: None }], &[]), (USUAL, Placement::UsualBase));
    assert_eq!(placed(&[], &[0x1144]), (0, Placement::Unrelocated));
    assert_eq!(placed(&[], &[USUAL + 0x1144, 0x7fff_f7dd_1234]), (0, Placement::Unknown));
    assert_eq!(placed(&[], &[RANDOM + 0x1144]), (0, Placement::Unknown));
    assert_eq!(placed(&[], &[]), (0, Placement::Unknown));
}

#[test]
fn another_build_is_not_placed() {
    let wrong = [anchor(USUAL + 0x1145, "case.c:19")];
    assert_eq!(placed(&wrong, &[USUAL + 0x1144]), (0, Placement::Unknown));
    let unknown = place(&wrong, &[]);
    assert!(!unknown.is_placed());
    assert!(unknown.read_only(0x2004).is_empty() && unknown.next_read_only(0).is_none());
    assert!(!unknown.is_code(0x1144) && unknown.function(0x1144).is_none() && unknown.line(0x1144).is_none());
    assert_eq!(unknown.contradiction(0x2004, &[0; 4]), None);
}

#[test]
fn the_user_has_the_last_word_and_fixed_programs_stay() {
    let given = PlacedImage::place(Arc::new(image(CASEPIE)), Some(0x1000), &[anchor(0x1144, "case.c:19")], &[]);
    assert_eq!((given.bias, given.placement), (0x1000, Placement::Option));
    let fixed = PlacedImage::place(Arc::new(image(CASE)), None, &[anchor(USUAL + 0x1144, "case.c:19")], &[]);
    assert_eq!((fixed.bias, fixed.placement), (0, Placement::Fixed));
}

#[test]
fn a_placed_image_answers_for_run_time_addresses() {
    let placed = place(&[anchor(USUAL + 0x1144, "case.c:19")], &[]);
    assert_eq!(placed.read_only(USUAL + 0x2004)[..4], 10000u32.to_le_bytes());
    assert!(placed.read_only(0x2004).is_empty());
    assert_eq!(placed.next_read_only(0), Some(USUAL));
    assert_eq!(placed.next_read_only(USUAL + 0x630), Some(USUAL + 0x1000));
    assert_eq!(placed.next_read_only(USUAL + 0x2140), None);
    assert_eq!(placed.function(USUAL + 0x1144), Some(("step".to_owned(), 11)));
    assert_eq!(placed.line(USUAL + 0x1144), Some(("case.c".to_owned(), 19)));
    assert_eq!(placed.entry(), USUAL + 0x1050);
    assert_eq!(placed.to_string(), "load bias 0x555555554000, from 1 of 1 tracepoint");
}

#[test]
fn a_part_that_is_moved_over_the_end_of_the_address_space_ends_there() {
    let top = u64::MAX - 0xfff;
    let placed = PlacedImage::place(Arc::new(image(CASEPIE)), Some(top - 0x1000), &[], &[]);
    assert_eq!(placed.read_only(top).len(), 0x229);
    assert!(placed.read_only(u64::MAX).is_empty());
    assert_eq!(placed.next_read_only(top + 0x229), None, "what follows lies at low addresses");
    assert_eq!(placed.next_read_only(0), Some(0), "and begins there");
    assert_eq!(placed.next_read_only(0x141), Some(top - 0x1000));
    let cut = PlacedImage::place(Arc::new(image(CASEPIE)), Some(0u64.wrapping_sub(0x1010)), &[], &[]);
    assert_eq!(cut.read_only(0u64.wrapping_sub(0x10)).len(), 0x10);
    assert_eq!(cut.read_only(0).len(), 0x219);
}

#[test]
fn the_first_recorded_byte_that_differs() {
    let placed = place(&[anchor(USUAL + 0x1144, "case.c:19")], &[]);
    let mut recorded = CASEPIE[0x1f00..0x2010].to_vec();
    recorded[..0x100].fill(0xcc);
    assert_eq!(placed.contradiction(USUAL + 0x1f00, &recorded), None, "no part holds the bytes before .rodata");
    recorded[0x104] ^= 1;
    assert_eq!(placed.contradiction(USUAL + 0x1f00, &recorded), Some(USUAL + 0x2004));
    assert_eq!(placed.contradiction(USUAL + 0x4048, &recorded), None, "variables change");
    assert_eq!(placed.contradiction(USUAL + 0x1f00, &[]), None);
    assert_eq!(placed.contradiction(u64::MAX, &[1, 2, 3]), None);
}

#[test]
fn odd_words_are_survived() {
    for at in [
        "",
        "case.c:",
        ":19",
        "*",
        "*step+",
        "\u{fffd}\u{0}:1",
        "case.c:18446744073709551615",
        "*step-0xffffffffffffffff",
    ] {
        for address in [0, 0x1144, u64::MAX] {
            let _ = place(&[anchor(address, at)], &[]);
        }
    }
}
