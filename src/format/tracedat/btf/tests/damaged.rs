//! BTF that is cut, changed, or leads in a ring.

use super::*;
use crate::image::made::Types;
use proptest::prelude::*;

/// Asks everything of every type; what was wrong.
fn asked(bytes: &[u8]) -> Vec<Fault> {
    let (btf, fault) = Btf::read(bytes);
    let mut faults: Vec<Fault> = fault.into_iter().collect();
    let mut types = Types::new(8);
    let mut translation = Translation::new(&btf);
    for number in (0..=btf.places.len() as u32 + 1).chain([u32::MAX]) {
        faults.extend(btf.called(number).err());
        faults.extend(btf.size(number, 8).err());
        faults.extend(btf.resolved(number).err());
        if let Ok(Type { kind: Kind::Compound { members, .. }, .. }) = btf.get(number) {
            faults.extend(btf.fields(&members, 8).err());
            faults.extend(translation.structure(&mut types, number).err());
        }
    }
    for number in btf.structures("trace_event_raw_") {
        assert!(btf.get(number).is_ok_and(|found| found.name.starts_with("trace_event_raw_")) || !faults.is_empty());
    }
    faults
}

#[test]
fn cut_anywhere_it_says_so() {
    for order in ORDERS {
        let whole = everything(order).bytes(0);
        // Of the numbers that are none.
        let known = asked(&whole).len();
        for length in 0..whole.len() {
            assert!(asked(&whole[..length]).len() > known || Btf::read(&whole[..length]).1.is_some(), "{length}");
        }
    }
}

#[test]
fn any_changed_byte_is_survived() {
    for order in ORDERS {
        let whole = everything(order).bytes(0);
        for at in 0..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                asked(&bytes);
            }
        }
    }
}

#[test]
fn rings_end() {
    let mut made = Made::new(ByteOrder::Little);
    let itself = made.plain(8, "itself", 1);
    let array = made.array(2, 1);
    let inside = made.structure("inside", 8, &[("a", 3, 0), ("b", 3, 4)]);
    let pointer = made.plain(2, "", 4);
    let function = made.add(13, "", (false, 1), 6, &[0, 6]);
    assert_eq!([pointer, function], [4, 5]);
    let to_function = made.plain(2, "", 5);
    let holders = [itself, array, inside, pointer, to_function].map(|of| made.structure("holder", 8, &[("x", of, 0)]));
    let bytes = made.bytes(0);
    let (btf, fault) = Btf::read(&bytes);
    assert_eq!(fault, None);
    let mut translation = Translation::new(&btf);
    for holder in holders {
        let fault = translation.structure(&mut Types::new(8), holder).unwrap_err();
        assert!(fault.what.starts_with("more than 50 types lead to"), "{fault}");
    }
    assert!(btf.size(array, 8).is_err() && btf.called(pointer).is_err() && btf.resolved(itself).is_err());
}

#[test]
fn much_of_little_is_not_made() {
    // Each structure holds the next twice, and is read once.
    let mut made = Made::new(ByteOrder::Little);
    let mut of = made.integer("int", 4, true);
    for _ in 0..40 {
        of = made.structure("s", 8, &[("a", of, 0), ("b", of, 4)]);
    }
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    assert!(Translation::new(&btf).structure(&mut Types::new(8), of).is_ok());
    // So many values as no kernel has.
    let mut made = Made::new(ByteOrder::Little);
    let name = made.string(b"same");
    let values = [name, 1].repeat(0xffff);
    let enumerations: Vec<_> = (0..3).map(|_| made.add(6, "e", (false, 0xffff), 4, &values)).collect();
    let members: Vec<_> = enumerations.iter().map(|of| ("x", *of, 0)).collect();
    let all = made.structure("all", 4, &members);
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let fault = Translation::new(&btf).structure(&mut Types::new(8), all).unwrap_err();
    assert_eq!(fault.what, "more than 131072 types and members would be needed");
}

#[test]
fn what_is_wrong_in_words() {
    let mut made = Made::new(ByteOrder::Little);
    made.plain(31, "new", 0);
    let (unknown, fault) = (made.bytes(0), |bytes: &[u8]| Btf::read(bytes).1.unwrap().to_string());
    assert_eq!(fault(&unknown), "at byte 0x18: a type is of the unknown kind 31");
    assert_eq!(fault(b"\x7fELF"), "at byte 0x0: it does not begin with the number 0xeb9f");
    assert_eq!(fault(b"\x9f\xeb\x02\0"), "at byte 0x2: it is of version 2, expected 1");
    assert_eq!(fault(b"\x9f\xeb\x01\0\x18"), "at byte 0x4: 4 bytes belong here, of which 1 are there");
    let mut short = Made::new(ByteOrder::Little).bytes(0);
    short[4] = 23;
    assert_eq!(fault(&short), "at byte 0x4: its header has 23 bytes, expected 24");

    let mut made = Made::new(ByteOrder::Little);
    let (text, long) = (made.string(b"\xff\xfe"), made.string(&[b'x'; 600]));
    let name = made.string(b"member");
    made.add(4, "text", (false, 1), 4, &[text, 1, 0]);
    made.add(4, "long", (false, 1), 4, &[long, 1, 0]);
    made.add(4, "function", (false, 1), 4, &[name, 4, 0]);
    made.plain(12, "main", 0);
    let bytes = made.bytes(0);
    let (btf, _) = Btf::read(&bytes);
    let fault = |number| Translation::new(&btf).structure(&mut Types::new(8), number).unwrap_err().what;
    assert_eq!(fault(1), "the name \"\\xff\\xfe\" is no text");
    assert_eq!(fault(2), "a name of at most 511 bytes belongs here");
    assert_eq!(fault(3), "the number 4 is named as a type, and is none");
    assert_eq!(fault(4), "the type 4 is no structure");
}

proptest! {
    #[test]
    fn any_words_are_survived(
        words in proptest::collection::vec(prop_oneof![0..20u32, (0..24u32).prop_map(|kind| kind << 24 | 2)], 0..60),
        big: bool,
    ) {
        let order = ORDERS[usize::from(big)];
        let mut made = Made::new(order);
        words.iter().for_each(|_| { made.string(b"trace_event_raw_x"); });
        if let [kind, of, behind @ ..] = &words[..] {
            made.add(kind & 31, "first", (false, behind.len() as u32 / 3), *of, behind);
        }
        asked(&made.bytes(0));
    }
}
