//! The structure of a record, by the event's format.

use std::borrow::Cow;

use crate::format::tracedat::events::{Content, Element, EventFormat, Field, FieldKind};
use crate::image::made::{Compound, Member, Place, Type, TypeId, Types};

/// Adds the structure of an event that has fields of a size that every record has.
pub(super) fn add<'a>(types: &mut Types<'a>, name: String, format: &'a EventFormat) {
    let mut size = 0;
    let mut members = Vec::new();
    for field in &format.fields {
        if let Some(member_type) = member_type(types, field) {
            let offset = field.offset as u64;
            size = size.max(offset.saturating_add(field.size as u64));
            members.push(Member { name: member_name(field), place: Place::Byte(offset), member_type });
        }
    }
    if !members.is_empty() {
        types.add(Type::Compound(Compound { is_union: false, name: name.into(), size, members }));
    }
}

/// What a field is called in the kernel's structure, which has the place and the length of content that lies elsewhere.
pub(super) fn member_name(field: &Field) -> Cow<'_, str> {
    match field.kind {
        FieldKind::DataLoc(_) => format!("__data_loc_{}", field.name).into(),
        FieldKind::RelLoc(_) => format!("__rel_loc_{}", field.name).into(),
        _ => field.name.as_str().into(),
    }
}

/// The type of a field of a size that every record has.
fn member_type<'a>(types: &mut Types<'a>, field: &'a Field) -> Option<TypeId> {
    let size = field.size as u64;
    let byte = Element { size: 1, signed: false };
    let mut integer = |is_signed, declared| types.integer(field.size as u8, is_signed, declared);
    let (element, count) = match field.kind {
        FieldKind::Integer => return Some(integer(field.signed, Some(field.declared.as_str()))),
        FieldKind::Pointer | FieldKind::DataLoc(_) | FieldKind::RelLoc(_) => return Some(integer(false, None)),
        FieldKind::Array(Content::Text) => (types.character(true), size),
        FieldKind::Array(Content::Integers(element) | Content::Mask(element)) => integers(types, element, size),
        FieldKind::Array(Content::Bytes) => integers(types, byte, size),
        FieldKind::Tail(_) | FieldKind::Counted { .. } => return None,
    };
    Some(types.add(Type::Array(element, count)))
}

/// The type of an element, and how many there are in so many bytes.
fn integers(types: &mut Types<'_>, element: Element, size: u64) -> (TypeId, u64) {
    (types.integer(element.size as u8, element.signed, None), size / (element.size.max(1) as u64))
}
