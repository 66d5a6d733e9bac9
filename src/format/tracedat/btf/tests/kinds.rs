//! What a type of each kind says.

use super::*;
use crate::image::made::{Keyword, Place, Qualifier};

#[test]
fn all_kinds_in_both_byte_orders() {
    for order in ORDERS {
        let bytes = everything(order).bytes(0);
        let (btf, fault) = Btf::read(&bytes);
        assert_eq!(fault, None);
        let get = |number| btf.get(number).unwrap();
        let kind = |number| get(number).kind;
        assert!(matches!(kind(0), Kind::Void));
        assert!(matches!(kind(1), Kind::Integer { size: 4, is_signed: true, is_boolean: false, bits: (0, 32) }));
        assert!(matches!(kind(2), Kind::Pointer(1)));
        assert!(matches!(kind(3), Kind::Array(1, 6)));
        let Kind::Compound { is_union: false, size: 28, members } = kind(4) else { panic!() };
        let members = members.members(&btf).unwrap();
        let found: Vec<_> = members.iter().map(|member| (member.name, member.member_type)).collect();
        assert_eq!(found, [("low", 1), ("high", 1), ("whole", 3)]);
        let places: Vec<_> = members.iter().map(|member| btf.place(member).unwrap()).collect();
        let bits = |offset, width| Place::Bits { offset, width };
        assert_eq!(places, [bits(0, 3), bits(3, 29), Place::Byte(4)]);
        assert!(matches!(kind(5), Kind::Compound { is_union: true, size: 4, .. }));
        let Kind::Enumeration { size: 4, is_signed: true, values } = kind(6) else { panic!() };
        assert_eq!(values.values(&btf).unwrap(), [("a", 5), ("b", -3i64 as u64)]);
        assert!(matches!((kind(7), get(7).name), (Kind::Forward(Keyword::Union), "far")));
        assert!(matches!((kind(8), get(8).name), (Kind::Typedef(1), "number")));
        assert!(matches!(kind(9), Kind::Qualified(Qualifier::Volatile, 1)));
        assert!(matches!(kind(10), Kind::Qualified(Qualifier::Const, 0)));
        assert!(matches!(kind(11), Kind::Qualified(Qualifier::Restrict, 2)));
        let Kind::Function(1, parameters) = kind(13) else { panic!() };
        assert_eq!(parameters.parameters().unwrap(), (vec![1, 2], true));
        assert!([12, 14, 15, 17].iter().all(|number| matches!(kind(*number), Kind::Other)));
        assert!(matches!(kind(16), Kind::Float(4)));
        assert!(matches!(kind(18), Kind::Tagged(1)));
        let Kind::Enumeration { size: 8, is_signed: false, values } = kind(19) else { panic!() };
        assert_eq!(values.values(&btf).unwrap(), [("a", 2 << 32 | 1)]);
        assert!(matches!(kind(20), Kind::Integer { size: 1, is_boolean: true, .. }));
        assert_eq!(btf.get(23).unwrap_err().what, "a type has the number 23, and there are 22");
        assert_eq!(btf.structures("trace_event_raw_").collect::<Vec<_>>(), [21]);
    }
}

#[test]
fn a_header_may_be_longer_than_what_is_known() {
    let (made, more) = (everything(ByteOrder::Big), 8);
    let (short, long) = (made.bytes(0), made.bytes(more));
    let ((short, _), (long, fault)) = (Btf::read(&short), Btf::read(&long));
    assert_eq!(fault, None);
    for number in 0..=22 {
        assert_eq!(short.get(number).unwrap().name, long.get(number).unwrap().name);
    }
}

#[test]
fn values_without_a_sign_and_enumerations_that_are_only_named() {
    let mut made = Made::new(ByteOrder::Little);
    let name = made.string(b"all");
    made.add(6, "e", (false, 1), 4, &[name, u32::MAX]);
    made.add(6, "later", (false, 0), 4, &[]);
    made.add(19, "", (true, 1), 8, &[name, u32::MAX, u32::MAX]);
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let values = |number| match btf.get(number).unwrap().kind {
        Kind::Enumeration { is_signed, values, .. } => (is_signed, values.values(&btf).unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(values(1), (false, vec![("all", u64::from(u32::MAX))]));
    assert!(matches!(btf.get(2).unwrap().kind, Kind::Forward(Keyword::Enum)));
    assert_eq!(values(3), (true, vec![("all", u64::MAX)]));
}

#[test]
fn sizes_and_places() {
    let mut made = Made::new(ByteOrder::Little);
    let int = made.integer("int", 4, true);
    // A bit-field as old compilers wrote it: an integer of some of its bits.
    let some = made.add(1, "int", (false, 0), 4, &[3 << 16 | 5]);
    let other = made.plain(8, "some", some);
    let row = made.array(int, 3);
    let rows = made.array(row, 2);
    let constant = made.plain(10, "", rows);
    let pointer = made.plain(2, "", constant);
    let endless = (0..3).fold(rows, |of, _| made.array(of, u32::MAX));
    let name = made.string(b"inside");
    let odd = made.add(4, "odd", (false, 2), 8, &[name, other, 32, name, int, 4]);
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let size = |number| btf.size(number, 4).unwrap();
    assert_eq!([int, rows, constant, pointer, odd].map(size), [4, 24, 24, 4, 8].map(Some));
    assert_eq!([0, endless].map(size), [None, None]);
    let Kind::Compound { members, .. } = btf.get(odd).unwrap().kind else { panic!() };
    let members = members.members(&btf).unwrap();
    assert_eq!(btf.place(&members[0]), Ok(Place::Bits { offset: 35, width: 5 }));
    assert_eq!(btf.place(&members[1]).unwrap_err().what, "the member \"inside\" begins inside a byte");
}

#[test]
fn types_as_a_format_declares_them() {
    let mut made = everything(ByteOrder::Little);
    let twice = made.plain(2, "", 2);
    let table = made.array(22, 3);
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let called = |number| btf.called(number).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = [(0, "void"), (4, "struct mixed"), (5, "union"), (6, "enum signs"), (7, "union far")];
    let more = [(2, "int *"), (3, "int"), (8, "number"), (11, "int *"), (18, "int"), (20, "_Bool")];
    for (number, name) in expected.into_iter().chain(more).chain([(twice, "int **"), (table, "int")]) {
        assert_eq!(called(number), name, "{number}");
    }
}
