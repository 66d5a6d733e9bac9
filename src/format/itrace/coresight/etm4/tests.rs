//! Sources: from bytes to elements.

mod damage;
mod recorded;
mod speculation;

use super::super::super::atoms::Atoms;
use super::super::super::element::{Element, ElementKind, Exception, Target};
use super::super::super::instruction::InstructionSet;
use super::super::super::state::State;
use super::super::formatter::Framing;
use super::Source;
use super::made::{ALIGNMENT, ETE, ETM, configuration};

/// A trace info packet, trace on, a context of EL1 in AArch64 state, and the address 0x1000.
const BEGINNING: [u8; 12] = [0x01, 0x00, 0x04, 0x85, 0x00, 0x08, 0, 0, 0, 0, 0, 0];
const CONTEXT: u8 = 0x11;

/// An alignment synchronization and a beginning.
fn beginning() -> Vec<u8> {
    [&ALIGNMENT[..], &BEGINNING, &[CONTEXT]].concat()
}

/// Elements, atoms one by one.
fn elements(registers: &[(&'static str, u64)], bytes: &[u8]) -> Vec<Element> {
    let one_by_one = |element: Element| match element.kind {
        ElementKind::Atoms(mut atoms) => {
            let kinds = std::iter::from_fn(|| atoms.take_oldest()).map(atom);
            kinds.map(|kind| Element { at: element.at, kind }).collect()
        }
        _ => vec![element],
    };
    Source::new(bytes, Framing::Unformatted, configuration(registers)).flat_map(one_by_one).collect()
}

/// What is told behind a beginning, without it.
fn told(registers: &[(&'static str, u64)], bytes: &[u8]) -> Vec<ElementKind> {
    let elements = elements(registers, &[&beginning(), bytes].concat());
    elements.into_iter().skip(4).map(|element| element.kind).collect()
}

fn target(address: u64, is_full: bool) -> Target {
    Target { address, instruction_set: InstructionSet::A64, is_full }
}

const fn atom(taken: bool) -> ElementKind {
    ElementKind::Atoms(Atoms::new(taken as u32, 1))
}

/// EL1 in AArch64 state.
fn context() -> ElementKind {
    ElementKind::Context(State { level: "EL1", security: Some("secure"), context: None, machine: None })
}

/// What a beginning tells.
fn begun() -> [ElementKind; 4] {
    [ElementKind::Synchronized, ElementKind::TraceOn, context(), ElementKind::Address(target(0x1000, true))]
}

#[test]
fn a_source_begins_with_trace_info_trace_on_context_and_address() {
    let bytes = [&[0xf7, 0xf7, 0x9a][..], &beginning(), &[0xf6, 0xf7]].concat();
    let expected = [
        (15, ElementKind::Synchronized),
        (17, ElementKind::TraceOn),
        (18, context()),
        (18, ElementKind::Address(target(0x1000, true))),
        (28, atom(false)),
        (29, atom(true)),
    ];
    assert_eq!(elements(ETM, &bytes), expected.map(|(at, kind)| Element { at, kind }));
}

#[test]
fn atoms_count_only_when_context_and_address_are_known() {
    let bytes = [&ALIGNMENT[..], &[0x01, 0x00, 0xf7, 0x81, 0x11, 0xf7, 0x95, 0x01, 0xf6]].concat();
    let kinds: Vec<_> = elements(ETM, &bytes).into_iter().map(|element| element.kind).collect();
    let expected = [ElementKind::Synchronized, context(), ElementKind::Address(target(4, false)), atom(false)];
    assert_eq!(kinds, expected);
}

#[test]
fn a_context_can_come_behind_its_address() {
    let bytes = [&ALIGNMENT[..], &[0x01, 0x00, 0x95, 0x01, 0x81, 0x11, 0xf7, 0x96, 0x02, 0x81, 0x21, 0xf6]].concat();
    let kinds: Vec<_> = elements(ETM, &bytes).into_iter().map(|element| element.kind).collect();
    let t32 = Target { address: 4, instruction_set: InstructionSet::T32, is_full: false };
    let aarch32 = ElementKind::Context(State { level: "EL1", security: None, context: None, machine: None });
    let expected = [
        ElementKind::Synchronized,
        context(),
        ElementKind::Address(target(4, false)),
        atom(true),
        ElementKind::Address(t32),
        aarch32,
        ElementKind::Address(t32),
        atom(false),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_context_is_told_when_it_changes() {
    let bytes = [0xf7, 0x80, 0xf7, 0x81, 0x11, 0xf7, 0x81, 0x31, 0xf7];
    let changed = ElementKind::Context(State { level: "EL1", security: None, context: None, machine: None });
    assert_eq!(told(ETM, &bytes), [atom(true), atom(true), atom(true), changed, atom(true)]);
}

#[test]
fn ids_are_told_if_they_are_traced() {
    let bytes = [0x81, 0xd1, 1, 0, 0, 0, 2, 0, 0, 0];
    let expected =
        ElementKind::Context(State { level: "EL1", security: Some("secure"), context: Some(2), machine: Some(1) });
    assert_eq!(told(ETE, &bytes), [expected]);
}

#[test]
fn an_exception_has_where_it_returns_to() {
    let bytes = [0xf7, 0x06, 0x1d, 0x95, 0x03, 0x95, 0x44, 0xf6];
    let exception = Exception { number: 0x0e, returns_to: Some(target(0x100c, false)) };
    let expected =
        [atom(true), ElementKind::Exception(exception), ElementKind::Address(target(0x1110, false)), atom(false)];
    assert_eq!(told(ETM, &bytes), expected);
}

#[test]
fn an_exception_at_once_behind_a_branch_tells_where_that_led() {
    let bytes = [0xf7, 0x06, 0x5c, 0x95, 0x03];
    let exception = Exception { number: 0x0e, returns_to: Some(target(0x100c, false)) };
    let expected = [atom(true), ElementKind::Address(target(0x100c, false)), ElementKind::Exception(exception)];
    assert_eq!(told(ETM, &bytes), expected);
}

#[test]
fn a_reset_returns_nowhere() {
    let reset = Exception { number: 0, returns_to: None };
    assert_eq!(told(ETE, &[0x06, 0x01, 0x70]), [ElementKind::Exception(reset)]);
}

#[test]
fn what_else_is_told() {
    use crate::format::itrace::Transaction;
    let bytes = [
        0x07, 0x73, 0xf7, // an ETE has no exception return
    ];
    assert!(matches!(told(ETE, &bytes)[..], [ElementKind::Damaged(_)]));
    assert_eq!(told(ETM, &[0x07, 0x73]), [ElementKind::ExceptionReturn, ElementKind::Events(3)]);
    let bytes =
        [0x88, 0x02, 0x07, 0x0a, 0x0b, 0x0a, 0x06, 0x31, 0x70, 0x09, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0xaf, 0xac, 5, 0xb4, 3];
    let expected = [
        ElementKind::TimestampMarker,
        ElementKind::Timestamp(7),
        ElementKind::Transaction(Transaction::Started),
        ElementKind::Transaction(Transaction::Committed),
        ElementKind::Transaction(Transaction::Started),
        ElementKind::Transaction(Transaction::Failed),
        ElementKind::Instrumentation { exception_level: 1, value: 2 },
        ElementKind::Unknown(None),
        ElementKind::Unknown(Some(5)),
        ElementKind::SourceAddress(0x0c),
    ];
    assert_eq!(told(ETE, &bytes), expected);
}

#[test]
fn behind_trace_on_an_address_comes_first() {
    let bytes = [0xf7, 0x04, 0xf7, 0x90, 0xf6];
    let expected = [atom(true), ElementKind::TraceOn, ElementKind::Address(target(0x1000, false)), atom(false)];
    assert_eq!(told(ETM, &bytes), expected);
}

#[test]
fn trace_info_in_between_is_told_and_loses_nothing() {
    let bytes = [&[0xf7][..], &ALIGNMENT, &[0x01, 0x00, 0xf6, 0xf7]].concat();
    assert_eq!(told(ETM, &bytes), [atom(true), ElementKind::Synchronized, atom(false), atom(true)]);
}

#[test]
fn overflow_and_discard_are_gaps() {
    for (packet, gap) in [(0x05, ElementKind::Overflow), (0x03, ElementKind::TraceOff)] {
        let bytes = [&[0xf7, 0x00, packet, 0xf7][..], &beginning(), &[0xf6]].concat();
        let expected = [&[atom(true), gap][..], &begun(), &[atom(false)]].concat();
        assert_eq!(told(ETM, &bytes), expected);
    }
}

#[test]
fn a_clone_reads_on_from_the_same_place() {
    let bytes = [&beginning()[..], &[0xff, 0xc0, 0xdd, 0x95, 0x01, 0xf6]].concat();
    let mut source = Source::new(&bytes, Framing::Unformatted, configuration(ETM));
    while source.next().is_some() {
        let rest: Vec<_> = source.clone().collect();
        assert_eq!(source.clone().collect::<Vec<_>>(), rest);
    }
}
