//! The value of a field in the bytes of a record.

use std::ops::Range;

use super::field::{Content, Field, FieldKind};
use super::word;
use crate::source::ByteOrder;

/// An integer that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Of a type without a sign, or a pointer.
    Unsigned(u64),
    /// Of a type with a sign.
    Signed(i64),
}

impl Integer {
    #[inline]
    fn read(record: &[u8], at: usize, size: usize, signed: bool, order: ByteOrder) -> Option<Integer> {
        let value = word::unsigned(record, at, size, order)?;
        Some(if signed { Integer::Signed(word::signed(value, size)) } else { Integer::Unsigned(value) })
    }

    /// The 64 bits of it, extended by the sign if it has one.
    pub fn bits(self) -> u64 {
        match self {
            Integer::Unsigned(value) => value,
            Integer::Signed(value) => value as u64,
        }
    }
}

/// Where in a record the content of a field lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The bytes, counted from the beginning of the record; all of them are in the record.
    pub range: Range<usize>,
    /// How many bytes more there should be, which the record does not hold.
    pub missing: usize,
}

impl Field {
    /// The integer of a plain field. `None` for a field with content of its own, and where the record is too short.
    #[inline]
    pub fn integer(&self, record: &[u8], order: ByteOrder) -> Option<Integer> {
        match self.kind {
            FieldKind::Integer => Integer::read(record, self.offset, self.size, self.signed, order),
            FieldKind::Pointer => Integer::read(record, self.offset, self.size, false, order),
            _ => None,
        }
    }

    /// Where the field's value lies: the integer itself, or the content. `None` where it would begin behind the record.
    ///
    /// Of arrays and of content that the record does not hold to its end, there is what it does hold: all whole
    /// elements.
    pub fn extent(&self, record: &[u8], order: ByteOrder) -> Option<Extent> {
        let (start, length) = match self.kind {
            FieldKind::Integer | FieldKind::Pointer | FieldKind::Array(_) => (self.offset, self.size),
            FieldKind::Tail(_) => (self.offset, record.len().checked_sub(self.offset)?),
            FieldKind::Counted { at, size, .. } => {
                let count = word::signed(word::unsigned(record, at, size, order)?, size);
                (self.offset, usize::try_from(count).unwrap_or(0).saturating_mul(self.element_size()))
            }
            FieldKind::DataLoc(_) => self.located(record, 0, order)?,
            FieldKind::RelLoc(_) => self.located(record, self.offset.checked_add(self.size)?, order)?,
        };
        let there = record.len().checked_sub(start)?;
        let element = self.element_size();
        let held = if length <= there { length } else { there - there % element };
        Some(Extent { range: start..start + held, missing: length - held })
    }

    /// Offset and length of content that lies elsewhere, counted from `base` on.
    fn located(&self, record: &[u8], base: usize, order: ByteOrder) -> Option<(usize, usize)> {
        let location = word::word(record, self.offset, order)?;
        let offset = base.checked_add(usize::try_from(location & 0xffff).ok()?)?;
        Some((offset, usize::try_from(location >> 16).ok()?))
    }

    fn element_size(&self) -> usize {
        match self.kind.content() {
            Some(Content::Integers(element) | Content::Mask(element)) => element.size,
            Some(Content::Text | Content::Bytes) => 1,
            None => self.size.max(1),
        }
    }

    /// The bytes of the value, as they were recorded.
    pub fn bytes<'a>(&self, record: &'a [u8], order: ByteOrder) -> Option<&'a [u8]> {
        record.get(self.extent(record, order)?.range)
    }

    /// The text of a field of characters, up to the zero byte that ends it. `None` for any other field.
    pub fn text<'a>(&self, record: &'a [u8], order: ByteOrder) -> Option<&'a [u8]> {
        if self.kind.content() != Some(Content::Text) {
            return None;
        }
        self.bytes(record, order)?.split(|byte| *byte == 0).next()
    }

    /// The elements of a field of several integers, a mask's words included. `None` for any other field.
    pub fn integers<'a>(&self, record: &'a [u8], order: ByteOrder) -> Option<Integers<'a>> {
        let Some(Content::Integers(element) | Content::Mask(element)) = self.kind.content() else { return None };
        let bytes = self.bytes(record, order)?;
        Some(Integers { bytes, at: 0, size: element.size, signed: element.signed, order })
    }
}

/// The integers of an array, in the order in which they were recorded.
#[derive(Clone, Debug)]
pub struct Integers<'a> {
    bytes: &'a [u8],
    at: usize,
    size: usize,
    signed: bool,
    order: ByteOrder,
}

impl Integers<'_> {
    /// The size of an element in bytes.
    pub fn element_size(&self) -> usize {
        self.size
    }

    /// Leaves out what is left.
    pub(super) fn finish(&mut self) {
        self.bytes = &[];
    }
}

impl Iterator for Integers<'_> {
    type Item = Integer;

    fn next(&mut self) -> Option<Integer> {
        let integer = Integer::read(self.bytes, self.at, self.size, self.signed, self.order)?;
        self.at += self.size;
        Some(integer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::Element;
    use super::*;

    fn field(offset: usize, size: usize, signed: bool, kind: FieldKind) -> Field {
        Field { name: "f".to_owned(), declared: "t".to_owned(), offset, size, signed, kind }
    }

    fn integers(size: usize, signed: bool) -> Content {
        Content::Integers(Element { size, signed })
    }

    const LITTLE: ByteOrder = ByteOrder::Little;
    const BIG: ByteOrder = ByteOrder::Big;

    #[test]
    fn integers_are_extended_by_size_and_sign_wherever_they_lie() {
        let record = [0, 0xff, 0xfe, 0xff, 0xff, 0x80, 1, 2, 3];
        let value =
            |offset, size, signed, order| field(offset, size, signed, FieldKind::Integer).integer(&record, order);
        assert_eq!(value(1, 4, true, LITTLE), Some(Integer::Signed(-257)));
        assert_eq!(value(1, 4, false, LITTLE), Some(Integer::Unsigned(0xffff_feff)));
        assert_eq!(value(1, 2, true, BIG), Some(Integer::Signed(-2)));
        assert_eq!(value(5, 1, true, BIG), Some(Integer::Signed(-128)));
        assert_eq!(value(1, 8, true, BIG), Some(Integer::Signed(0xfffe_ffff_8001_0203_u64 as i64)));
        assert_eq!(value(1, 8, false, BIG).unwrap().bits(), 0xfffe_ffff_8001_0203);
        assert_eq!(value(2, 8, false, BIG), None, "a byte is missing");
        assert_eq!(value(usize::MAX, 8, false, BIG), None);
        assert_eq!(field(1, 4, true, FieldKind::Pointer).integer(&record, BIG), Some(Integer::Unsigned(0xfffe_ffff)));
    }

    #[test]
    fn content_elsewhere_is_found_from_the_record_or_from_the_field() {
        // Two bytes at 6; and at 2 behind the field, which ends at 4.
        let record = [6, 0, 2, 0, b'a', b'b', b'c', 0, b'd'];
        let located = field(0, 4, false, FieldKind::DataLoc(Content::Text));
        assert_eq!(located.extent(&record, LITTLE), Some(Extent { range: 6..8, missing: 0 }));
        assert_eq!(located.text(&record, LITTLE), Some(&b"c"[..]));
        let related = field(0, 4, false, FieldKind::RelLoc(Content::Text));
        assert_eq!(
            related.extent(&[2, 0, 3, 0, b'a', b'b', b'c', b'd'], LITTLE),
            Some(Extent { range: 6..8, missing: 1 })
        );
        assert_eq!(related.extent(&[0, 3, 0, 2, 0, 0, 7, 8, 9], BIG), Some(Extent { range: 6..9, missing: 0 }));
        assert_eq!(related.extent(&[9, 0, 3, 0, 0], LITTLE), None, "it begins behind the record");
        assert_eq!(located.extent(&[6, 0, 2], LITTLE), None);
    }

    #[test]
    fn what_a_record_does_not_hold_is_missing() {
        let array = field(2, 12, true, FieldKind::Array(integers(4, true)));
        let record = [9, 9, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7, 7];
        assert_eq!(array.extent(&record, LITTLE), Some(Extent { range: 2..10, missing: 4 }));
        let values: Vec<_> = array.integers(&record, LITTLE).unwrap().collect();
        assert_eq!(values, [Integer::Signed(1), Integer::Signed(-1)]);
        assert_eq!(array.extent(&record[..1], LITTLE), None);
        let tail = field(6, 0, false, FieldKind::Tail(integers(4, false)));
        assert_eq!(tail.integers(&record, LITTLE).unwrap().count(), 1, "six bytes hold one word");
        assert_eq!(tail.extent(&record[..6], LITTLE), Some(Extent { range: 6..6, missing: 0 }));
    }

    #[test]
    fn a_counted_field_has_as_many_elements_as_the_record_says_and_holds() {
        let kind = FieldKind::Counted { content: integers(8, false), at: 0, size: 4 };
        let entries = |count: i32, held| {
            let mut record = count.to_be_bytes().to_vec();
            record.extend(vec![1; held]);
            field(4, 64, false, kind).extent(&record, BIG)
        };
        assert_eq!(entries(2, 32), Some(Extent { range: 4..20, missing: 0 }));
        assert_eq!(entries(12, 96), Some(Extent { range: 4..100, missing: 0 }));
        assert_eq!(entries(3, 20), Some(Extent { range: 4..20, missing: 8 }));
        assert_eq!(entries(-1, 20), Some(Extent { range: 4..4, missing: 0 }));
        assert_eq!(entries(i32::MAX, 8).unwrap().range, 4..12);
    }

    #[test]
    fn text_ends_at_a_zero_byte() {
        let text = field(0, 4, false, FieldKind::Array(Content::Text));
        assert_eq!(text.text(b"ab\0c", LITTLE), Some(&b"ab"[..]));
        assert_eq!(text.text(b"abcd", LITTLE), Some(&b"abcd"[..]));
        assert_eq!(text.text(b"ab", LITTLE), Some(&b"ab"[..]));
        assert_eq!(text.bytes(b"ab\0c", LITTLE), Some(&b"ab\0c"[..]));
        assert!(text.integer(b"abcd", LITTLE).is_none() && text.integers(b"abcd", LITTLE).is_none());
    }
}
