//! Bytes that are no trace.

use super::super::made::{CONDITIONAL, COUNTING, SPECULATING};
use super::*;

/// A bit of everything that an ETE tells.
fn everything() -> Vec<u8> {
    let packets: [&[u8]; 18] = [
        &[0xff, 0xc5, 0xdd],
        &[0x95, 0x83, 0x01, 0x90, 0x9a, 1, 2, 3, 4],
        &[0x9d, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0x81, 0xd2, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0x85, 1, 2, 3, 4, 5, 6, 7, 8, 0x11],
        &[0x06, 0x1d, 0x82, 1, 2, 3, 4, 0x12],
        &[0x06, 0x01, 0x70],
        &[0x02, 0x81, 0x82, 0x03],
        &[0x88, 0x0a, 0xf6, 0x0b],
        &[0x09, 1, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0xac, 0x85, 0x01, 0xa5, 0x81, 0x02, 0x05],
        &[0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xb4, 0x05],
        &[0x71, 0x70, 0x04, 0x90],
        &[0xf6, 0x30, 0xf7],
        &ALIGNMENT,
        &[0x01, 0x09, 0x41, 0x05],
        &[0x04, 0x85, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x11],
        &[0xf7, 0x00, 0x05],
    ];
    [&beginning()[..], &packets.concat(), &beginning(), &[0xfa, 0xf5]].concat()
}

/// That the elements of bytes are sound: after a gap the source begins anew.
fn check(registers: &[(&'static str, u64)], bytes: &[u8]) -> Vec<ElementKind> {
    let kinds: Vec<_> = elements(registers, bytes).into_iter().map(|element| element.kind).collect();
    assert!(kinds.len() <= 32 * bytes.len());
    let mut is_placed = false;
    for kind in &kinds {
        match kind {
            ElementKind::Damaged(_)
            | ElementKind::Cut(_)
            | ElementKind::Overflow
            | ElementKind::TraceOff
            | ElementKind::TraceOn => is_placed = false,
            ElementKind::Address(_) | ElementKind::SourceAddress(_) => is_placed = true,
            ElementKind::Atoms(_) => assert!(is_placed, "{kinds:?}"),
            _ => {}
        }
    }
    kinds
}

#[test]
fn everything_is_read() {
    let kinds = check(ETE, &everything());
    assert!(!kinds.iter().any(|kind| matches!(kind, ElementKind::Damaged(_))), "{kinds:?}");
}

#[test]
fn a_trace_cut_inside_a_packet_says_so() {
    let all = everything();
    let mut cuts = 0;
    for end in 0..all.len() {
        let kinds = check(ETE, &all[..end]);
        let damaged: Vec<_> = kinds
            .iter()
            .filter_map(|kind| match kind {
                ElementKind::Cut(words) => Some(words),
                ElementKind::Damaged(words) => panic!("{words}"),
                _ => None,
            })
            .collect();
        assert!(damaged.iter().all(|words| words.contains("the trace ends inside ")), "{damaged:?}");
        assert!(damaged.len() <= 1);
        cuts += damaged.len();
    }
    // Most places are inside a packet.
    assert!(cuts > all.len() / 2, "{cuts} of {}", all.len());
}

#[test]
fn every_bit_changed() {
    let all = everything();
    for registers in [ETE, ETM, COUNTING, SPECULATING, CONDITIONAL] {
        for at in 0..all.len() {
            for bit in 0..8 {
                let mut changed = all.clone();
                changed[at] ^= 1 << bit;
                check(registers, &changed);
            }
        }
    }
}

#[test]
fn every_byte_behind_a_beginning() {
    for registers in [ETE, ETM, COUNTING, SPECULATING, CONDITIONAL] {
        for header in 0..=0xff {
            for fill in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let bytes = [&beginning()[..], &[0xf7, header], &[fill; 24], &beginning(), &[0xf7]].concat();
                let kinds = check(registers, &bytes);
                assert!(kinds.contains(&ElementKind::Synchronized));
            }
        }
    }
}

#[test]
fn behind_damage_reading_begins_at_the_next_alignment_synchronization() {
    // 64-bit address, of which the beginning eats the first zeros of the synchronization.
    let bytes = [&[0xf7, 0x9d, 1, 2, 3][..], &beginning(), &[0xf6]].concat();
    let damage = "found 0x80 in an alignment synchronization, expected at least 11 zeros and then 80";
    let before = [atom(true), ElementKind::Address(target(0x0003_0404, true)), ElementKind::Damaged(damage.to_owned())];
    assert_eq!(told(ETM, &bytes), [&before[..], &begun(), &[atom(false)]].concat());
}

#[test]
fn more_zeros_than_needed_are_an_alignment_synchronization() {
    let bytes = [&[0xf7, 0, 0, 0][..], &beginning(), &[0xf6]].concat();
    let kinds = told(ETM, &bytes);
    assert_eq!(
        kinds,
        [
            atom(true),
            ElementKind::Synchronized,
            ElementKind::TraceOn,
            ElementKind::Address(target(0x1000, true)),
            atom(false)
        ]
    );
}

#[test]
fn damage_of_the_frames_is_damage_of_the_source() {
    let mut trace = beginning();
    trace.resize(28, 0xf7);
    // The ID, and 14 bytes of data in each frame; bit 0 of those at even places is in the last byte.
    let frame = |bytes: &[u8], id: u8| {
        let mut frame = vec![id << 1 | 1];
        frame.extend(bytes);
        let mut flags = 0;
        for place in (2..15).step_by(2) {
            flags |= (frame[place] & 1) << (place / 2);
            frame[place] &= !1;
        }
        frame.push(flags);
        frame
    };
    let frames = [frame(&trace[..14], 0x10), frame(&trace[14..], 0x10)].concat();
    let read = |sink: &[u8]| -> Vec<_> {
        Source::new(sink, Framing::Aligned, configuration(ETM)).map(|element| element.kind).collect()
    };
    assert_eq!(read(&frames)[4..], [atom(true), atom(true), atom(true)]);
    let barrier = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let kinds = read(&[&frames[..], &barrier, &frames].concat());
    let words = "a barrier, which drivers write where the frames before and behind do not belong together";
    assert_eq!(kinds[6..9], [atom(true), ElementKind::Cut(words.to_owned()), ElementKind::Synchronized]);
    assert_eq!(kinds.len(), 15);
}
