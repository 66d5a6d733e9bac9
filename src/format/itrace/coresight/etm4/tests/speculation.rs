//! What was told before it was certain. The source speculates about up to 0x78 elements.

use super::super::made::SPECULATING;
use super::*;

fn told_here(bytes: &[u8]) -> Vec<ElementKind> {
    told(SPECULATING, bytes)
}

const E: ElementKind = atom(true);
const N: ElementKind = atom(false);

#[test]
fn what_is_not_committed_is_not_told() {
    assert_eq!(told_here(&[0xff]), []);
    assert_eq!(told_here(&[0xf9, 0x2d, 0x02]), [E, N]);
    assert_eq!(
        told_here(&[0xf9, 0x2d, 0x01, 0x95, 0x01, 0x2d, 0x02]),
        [E, N, N, ElementKind::Address(target(4 | 0x1000, false))]
    );
}

#[test]
fn more_than_can_be_speculated_commits_the_oldest() {
    // 5 times 24 atoms are 0x78.
    assert_eq!(told_here(&[0xd4; 5]), []);
    assert_eq!(told_here(&[0xd4, 0xd4, 0xd4, 0xd4, 0xd4, 0xf8]), [E, E, E]);
}

#[test]
fn a_cancel_takes_back_the_newest_and_what_was_told_with_them() {
    // E, an address, N, another address, a context, and E.
    let bytes = [0xf7, 0x95, 0x01, 0xf6, 0x95, 0x02, 0x81, 0x31, 0xf7];
    let first = ElementKind::Address(target(0x1004, false));
    assert_eq!(told_here(&[&bytes[..], &[0x2e, 0x02, 0x2d, 0x01]].concat()), [E, first.clone()]);
    // The second address was that of N, which stays.
    let second = ElementKind::Address(target(0x1008, false));
    let changed = ElementKind::Context(State { level: "EL1", security: None, context: None, machine: None });
    assert_eq!(told_here(&[&bytes[..], &[0x2e, 0x01, 0x2d, 0x02]].concat()), [E, first, N, second, changed]);
}

#[test]
fn times_and_events_stay_true() {
    let bytes = [0xf7, 0x02, 0x05, 0xf6, 0x71, 0x04, 0x2e, 0x02, 0xf7, 0x2d, 0x01];
    assert_eq!(told_here(&bytes), [ElementKind::Timestamp(5), ElementKind::Events(1), E]);
}

#[test]
fn a_cancel_splits_a_packet_of_atoms() {
    assert_eq!(told_here(&[0xe0, 0x2e, 0x02, 0x2d, 0x02]), [E, E]);
}

#[test]
fn a_mispredict_turns_the_newest_atom_and_takes_back_where_it_led() {
    let bytes = [0xfb, 0x95, 0x01, 0x30, 0x2d, 0x03];
    assert_eq!(told_here(&bytes), [E, E, E]);
    // With atoms before: E, E and N, of which the last is turned.
    assert_eq!(told_here(&[0xf7, 0x32, 0x33, 0x2d, 0x04]), [E, E, N, E]);
    // Twice is not at all.
    assert_eq!(told_here(&[0xf7, 0x30, 0x30, 0x2d, 0x01]), [E]);
}

#[test]
fn a_mispredict_can_come_behind_the_commit() {
    assert_eq!(told_here(&[0xf7, 0x2d, 0x01, 0x30, 0xf7, 0x2d, 0x01]), [N, E]);
    assert_eq!(told(ETM, &[0xf7, 0x30, 0xf7]), [N, E]);
    assert_eq!(told(ETM, &[0xf7, 0x30]), [N]);
}

#[test]
fn a_cancel_and_a_mispredict_in_one_packet() {
    // E and E, then E is told and taken back with the second, and the first turned.
    assert_eq!(told_here(&[0xdb, 0x39, 0x2d, 0x01]), [N]);
    assert_eq!(told_here(&[0xf7, 0x36, 0x2d, 0x02]), [E, N]);
}

#[test]
fn exceptions_and_source_addresses_are_speculated_too() {
    let exception = [0x06, 0x1d, 0x95, 0x03];
    let told_exception = ElementKind::Exception(Exception { number: 0x0e, returns_to: Some(target(0x100c, false)) });
    assert_eq!(told_here(&[&[0xf7][..], &exception, &[0x2d, 0x02]].concat()), [E, told_exception]);
    assert_eq!(told_here(&[&[0xf7][..], &exception, &[0x2e, 0x01, 0x2d, 0x01]].concat()), [E]);
    assert_eq!(told_here(&[0xf7, 0xb4, 0x03, 0x2d, 0x02]), [E, ElementKind::SourceAddress(0x100c)]);
}

#[test]
fn a_cycle_count_belongs_to_what_it_commits() {
    let bytes = [0xff, 0x15, 0xf6, 0x2d, 0x02];
    assert_eq!(told_here(&bytes), [E, E, ElementKind::Cycles(Some(1)), E, N]);
}

#[test]
fn what_was_speculated_before_reading_began_is_not_told() {
    let start = [&ALIGNMENT[..], &[0x01, 0x04, 0x03, 0x04, 0x85, 0, 8, 0, 0, 0, 0, 0, 0, 0x11]].concat();
    let kinds = |bytes: &[u8]| -> Vec<_> {
        elements(SPECULATING, &[&start[..], bytes].concat()).into_iter().map(|element| element.kind).collect()
    };
    let begun = begun();
    assert_eq!(kinds(&[0xf7, 0x2d, 0x02]), begun[..1]);
    assert_eq!(kinds(&[0xf7, 0x2d, 0x04]), [&begun[..], &[E]].concat());
    // All of it, with the address, is taken back.
    assert_eq!(kinds(&[0xf7, 0x2e, 0x02, 0xf7, 0x2d, 0x03]), begun[..1]);
    // The first packet turns an atom that was not seen.
    assert_eq!(kinds(&[0x30, 0xf7, 0x2d, 0x04]), [&begun[..2], &[E][..0]].concat());
}

#[test]
fn loss_throws_away_what_is_not_certain() {
    // Of the last atom that is committed a mispredict may be missing.
    let bytes = [0xff, 0x2d, 0x02, 0x71, 0x00, 0x05];
    assert_eq!(told_here(&bytes), [E, ElementKind::Events(1), ElementKind::Overflow]);
}

#[test]
fn more_resolved_than_told_is_damage() {
    let damaged = |bytes: &[u8]| match &told_here(bytes)[..] {
        [ElementKind::Damaged(words)] => words.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(damaged(&[0xf7, 0x2d, 0x02]), "2 elements are committed, 1 were speculated");
    assert_eq!(damaged(&[0xf7, 0x2e, 0x02]), "2 elements are cancelled, 1 were speculated");
    assert_eq!(
        damaged(&[0xb4, 0x03, 0x30]),
        "a branch was mispredicted, and none was told that can still be corrected"
    );
    assert_eq!(damaged(&[0xf7, 0x01, 0x00]), "0 elements are said to be speculated, 1 were");
}

#[test]
fn a_source_that_rests_behind_an_atom_tells_it() {
    let bytes = [&[0xf7][..], &[0x04, 0x90].repeat(1 << 12)].concat();
    assert_eq!(told(ETM, &bytes).first(), Some(&E));
    let words = told_here(&bytes).pop();
    assert!(
        matches!(&words, Some(ElementKind::Damaged(words)) if words.ends_with("packets wait for speculation to end"))
    );
}
