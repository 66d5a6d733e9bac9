//! Traces of programs whose every instruction is known (`tests/data/itrace`).
//!
//! The numbers are those of another reader of the same files, a script that knows no more than the layout of frames and
//! the lengths of the packets that are in them. Every context in them is the same.

use super::super::super::formatter::source_ids;
use super::super::super::tests::configuration_in;
use super::*;

const ONE: &[u8] = include_bytes!("../../../../../../tests/data/itrace/gen-etm4-one/cstrace.bin");
const TWO: &[u8] = include_bytes!("../../../../../../tests/data/itrace/gen-etm4-two-rs/cstrace.bin");

/// How many of each there are.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    synchronized: usize,
    trace_on: usize,
    contexts: usize,
    addresses: usize,
    taken: usize,
    not_taken: usize,
    others: usize,
}

fn counts(sink: &[u8], ini: &str) -> Counts {
    let source = Source::new(sink, Framing::Aligned, configuration_in(ini));
    let first: Vec<_> = source.clone().take(4).map(|element| element.kind).collect();
    assert!(
        matches!(
            first[..],
            [
                ElementKind::Synchronized,
                ElementKind::TraceOn,
                ElementKind::Context(_),
                ElementKind::Address(Target {
                    address: 0x40_0000..,
                    instruction_set: InstructionSet::A64,
                    is_full: true
                }),
            ]
        ),
        "{first:?}"
    );
    source.fold(Counts::default(), |mut counts, element| {
        if let ElementKind::Atoms(mut atoms) = element.kind {
            while let Some(taken) = atoms.take_oldest() {
                *if taken { &mut counts.taken } else { &mut counts.not_taken } += 1;
            }
            return counts;
        }
        *match element.kind {
            ElementKind::Synchronized => &mut counts.synchronized,
            ElementKind::TraceOn => &mut counts.trace_on,
            ElementKind::Context(_) => &mut counts.contexts,
            ElementKind::Address(_) => &mut counts.addresses,
            _ => &mut counts.others,
        } += 1;
        counts
    })
}

#[test]
fn one_source() {
    let ini = include_str!("../../../../../../tests/data/itrace/gen-etm4-one/etm_0.ini");
    let expected = Counts {
        synchronized: 23,
        trace_on: 1,
        contexts: 1,
        addresses: 2065,
        taken: 11_083,
        not_taken: 1362,
        others: 0,
    };
    assert_eq!(counts(ONE, ini), expected);
}

#[test]
fn two_sources_in_one_sink() {
    let first = include_str!("../../../../../../tests/data/itrace/gen-etm4-two-rs/etm_0.ini");
    let expected =
        Counts { synchronized: 6, trace_on: 1, contexts: 1, addresses: 101, taken: 11_083, not_taken: 1362, others: 0 };
    assert_eq!(counts(TWO, first), expected);
    let second = include_str!("../../../../../../tests/data/itrace/gen-etm4-two-rs/etm_1.ini");
    let expected =
        Counts { synchronized: 1, trace_on: 1, contexts: 1, addresses: 5, taken: 557, not_taken: 70, others: 0 };
    assert_eq!(counts(TWO, second), expected);
    assert_eq!(source_ids(TWO, Framing::Aligned).into_iter().collect::<Vec<_>>(), [0x10, 0x11]);
}

#[test]
fn the_return_stack_leaves_the_same_branches() {
    let taken = |sink: &[u8], ini: &str| -> Vec<_> {
        Source::new(sink, Framing::Aligned, configuration_in(ini))
            .filter_map(|element| match element.kind {
                ElementKind::Atoms(atoms) => Some(atoms),
                _ => None,
            })
            .flat_map(|mut atoms| std::iter::from_fn(move || atoms.take_oldest()))
            .collect()
    };
    let one = include_str!("../../../../../../tests/data/itrace/gen-etm4-one/etm_0.ini");
    let two = include_str!("../../../../../../tests/data/itrace/gen-etm4-two-rs/etm_0.ini");
    assert_eq!(taken(ONE, one), taken(TWO, two));
}
