//! The structure of a record, by the event's format.

use std::borrow::Cow;

use crate::format::tracedat::events::{Content, Element, EventFormat, Field, FieldKind};
use crate::image::made::{Compound, Member, Place, Type, TypeId, Types};

/// Adds the structure of an event.
pub(super) fn add<'a>(types: &mut Types<'a>, name: String, format: &'a EventFormat) {
    let mut size = 0;
    let mut members = Vec::new();
    for (place, field) in format.fields.iter().enumerate() {
        // Fields of system calls are as wide as a register: what their types are called means another size.
        let is_wide = format.system == "syscalls" && place >= format.common;
        let member_type = member_type(types, field, is_wide);
        let offset = field.offset as u64;
        size = size.max(offset.saturating_add(size_in_all(field)));
        members.push(Member { name: member_name(field), place: Place::Byte(offset), member_type });
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

/// How many bytes of a field every record has. One of another size in each has none, as C has it.
fn size_in_all(field: &Field) -> u64 {
    match field.kind {
        FieldKind::Tail(_) | FieldKind::Counted { .. } => 0,
        _ => field.size as u64,
    }
}

/// The type of a field.
fn member_type<'a>(types: &mut Types<'a>, field: &'a Field, is_wide: bool) -> TypeId {
    let mut integer = |is_signed, declared| types.integer(field.size as u8, is_signed, declared);
    let content = match field.kind {
        FieldKind::Integer => return integer(field.signed, Some(field.declared.as_str()).filter(|_| !is_wide)),
        FieldKind::Pointer | FieldKind::DataLoc(_) | FieldKind::RelLoc(_) => return integer(false, None),
        FieldKind::Array(content) | FieldKind::Tail(content) | FieldKind::Counted { content, .. } => content,
    };
    let (element, size) = match content {
        Content::Text => (types.character(true), 1),
        Content::Integers(Element { size, signed }) | Content::Mask(Element { size, signed }) => {
            (types.integer(size as u8, signed, None), size.max(1) as u64)
        }
        Content::Bytes => (types.integer(1, false, None), 1),
    };
    types.add(Type::Array(element, size_in_all(field) / size))
}
