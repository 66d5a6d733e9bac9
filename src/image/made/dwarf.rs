//! The types, as DWARF: one compilation unit of types that no function refers to.
//!
//! Facts: DWARF 4, chapter 5. gdb finds a structure by its name at the top of a unit.

use super::frames;
use super::identifier::{identifier, is_part};
use super::types::{Compound, Encoding, Keyword, Member, Place, Qualifier, Type, TypeId, Types};
use gimli::write::{AttributeValue, DwarfUnit, UnitEntryId};
use gimli::{
    DW_AT_bit_size, DW_AT_byte_size, DW_AT_const_value, DW_AT_count, DW_AT_data_bit_offset, DW_AT_data_member_location,
    DW_AT_declaration, DW_AT_encoding, DW_AT_language, DW_AT_name, DW_AT_producer, DW_AT_prototyped, DW_AT_type,
    DW_ATE_boolean, DW_ATE_float, DW_ATE_signed, DW_ATE_signed_char, DW_ATE_unsigned, DW_ATE_unsigned_char,
    DW_LANG_C99, DW_TAG_array_type, DW_TAG_base_type, DW_TAG_const_type, DW_TAG_enumeration_type, DW_TAG_enumerator,
    DW_TAG_formal_parameter, DW_TAG_member, DW_TAG_pointer_type, DW_TAG_restrict_type, DW_TAG_structure_type,
    DW_TAG_subrange_type, DW_TAG_subroutine_type, DW_TAG_typedef, DW_TAG_union_type, DW_TAG_unspecified_parameters,
    DW_TAG_volatile_type, DwAt, DwTag,
};
use std::collections::HashMap;

/// The unit with all types.
pub(super) fn unit(types: &Types<'_>) -> DwarfUnit {
    let encoding = frames::encoding(types.address_size);
    let mut unit = Unit { dwarf: DwarfUnit::new(encoding), types, entries: HashMap::new() };
    let root = unit.dwarf.unit.root();
    unit.set_name(root, "recorded event formats");
    let producer = unit.string("traceframe");
    unit.set(root, DW_AT_producer, producer);
    unit.set(root, DW_AT_language, AttributeValue::Language(DW_LANG_C99));
    for (number, added) in types.in_order() {
        if let Some(entry) = unit.add_type(added) {
            unit.entries.insert(number, Entry { entry, is_compound: matches!(added, Type::Compound(_)) });
        }
    }
    unit.dwarf
}

struct Unit<'t, 'a> {
    dwarf: DwarfUnit,
    types: &'t Types<'a>,
    /// The types that are in the unit; `void` has no entry.
    entries: HashMap<TypeId, Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    entry: UnitEntryId,
    is_compound: bool,
}

impl Unit<'_, '_> {
    fn add_type(&mut self, added: &Type<'_>) -> Option<UnitEntryId> {
        Some(match added {
            Type::Void => return None,
            Type::Base { name, size, encoding } => {
                let entry = self.top(DW_TAG_base_type);
                // It may be of several words.
                let name = self.string(&name.replace(|letter: char| !is_part(letter), " "));
                self.set(entry, DW_AT_name, name);
                self.set(entry, DW_AT_byte_size, AttributeValue::Udata(*size));
                let encoding = match (encoding, size) {
                    (Encoding::Signed, 1) => DW_ATE_signed_char,
                    (Encoding::Unsigned, 1) => DW_ATE_unsigned_char,
                    (Encoding::Signed, _) => DW_ATE_signed,
                    (Encoding::Unsigned, _) => DW_ATE_unsigned,
                    (Encoding::Boolean, _) => DW_ATE_boolean,
                    (Encoding::Float, _) => DW_ATE_float,
                };
                self.set(entry, DW_AT_encoding, AttributeValue::Encoding(encoding));
                entry
            }
            Type::Pointer(to) => {
                let entry = self.of_type(DW_TAG_pointer_type, *to);
                self.set(entry, DW_AT_byte_size, AttributeValue::Udata(self.types.address_size as u64));
                entry
            }
            Type::Array(element, count) => {
                let entry = self.of_type(DW_TAG_array_type, *element);
                let range = self.add(entry, DW_TAG_subrange_type);
                self.set(range, DW_AT_count, AttributeValue::Udata(*count));
                entry
            }
            Type::Typedef(name, other) => {
                let entry = self.of_type(DW_TAG_typedef, *other);
                self.set_name(entry, name);
                entry
            }
            Type::Qualified(qualifier, other) => {
                let tag = match qualifier {
                    Qualifier::Const => DW_TAG_const_type,
                    Qualifier::Volatile => DW_TAG_volatile_type,
                    Qualifier::Restrict => DW_TAG_restrict_type,
                };
                self.of_type(tag, *other)
            }
            Type::Compound(compound) => self.compound(compound),
            Type::Enumeration { name, size, is_signed, values } => {
                let entry = self.named(DW_TAG_enumeration_type, name);
                self.set(entry, DW_AT_byte_size, AttributeValue::Udata(*size));
                for (name, bits) in values {
                    let value = self.add(entry, DW_TAG_enumerator);
                    self.set_name(value, name);
                    let bits = if *is_signed {
                        AttributeValue::Sdata(bits.cast_signed())
                    } else {
                        AttributeValue::Udata(*bits)
                    };
                    self.set(value, DW_AT_const_value, bits);
                }
                entry
            }
            Type::Declared(keyword, name) => {
                let tag = match keyword {
                    Keyword::Struct => DW_TAG_structure_type,
                    Keyword::Union => DW_TAG_union_type,
                    Keyword::Enum => DW_TAG_enumeration_type,
                };
                let entry = self.named(tag, name);
                self.set(entry, DW_AT_declaration, AttributeValue::Flag(true));
                entry
            }
            Type::Function { result, parameters, is_variadic } => {
                let entry = self.of_type(DW_TAG_subroutine_type, *result);
                self.set(entry, DW_AT_prototyped, AttributeValue::Flag(true));
                for parameter in parameters {
                    let taken = self.add(entry, DW_TAG_formal_parameter);
                    self.set_type(taken, *parameter);
                }
                if *is_variadic {
                    self.add(entry, DW_TAG_unspecified_parameters);
                }
                entry
            }
        })
    }

    fn compound(&mut self, compound: &Compound<'_>) -> UnitEntryId {
        let tag = if compound.is_union { DW_TAG_union_type } else { DW_TAG_structure_type };
        let entry = self.named(tag, &compound.name);
        self.set(entry, DW_AT_byte_size, AttributeValue::Udata(compound.size));
        for member in &compound.members {
            if self.is_within(member, compound.size) {
                self.member(entry, member);
            }
        }
        entry
    }

    /// Whether a member is one that a debugger can show in a structure of this size.
    fn is_within(&self, member: &Member<'_>, size: u64) -> bool {
        let end = self.types.size(member.member_type).and_then(|size| member.place.end(size));
        let is_compound = self.entries.get(&member.member_type).is_some_and(|entry| entry.is_compound);
        end.is_some_and(|end| end <= size) && (is_compound || !member.name.is_empty())
    }

    fn member(&mut self, compound: UnitEntryId, member: &Member<'_>) {
        let entry = self.add(compound, DW_TAG_member);
        self.set_name(entry, &member.name);
        self.set_type(entry, member.member_type);
        match member.place {
            Place::Byte(offset) => self.set(entry, DW_AT_data_member_location, AttributeValue::Udata(offset)),
            Place::Bits { offset, width } => {
                self.set(entry, DW_AT_bit_size, AttributeValue::Udata(width));
                self.set(entry, DW_AT_data_bit_offset, AttributeValue::Udata(offset));
            }
        }
    }

    fn named(&mut self, tag: DwTag, name: &str) -> UnitEntryId {
        let entry = self.top(tag);
        self.set_name(entry, name);
        entry
    }

    fn of_type(&mut self, tag: DwTag, of: TypeId) -> UnitEntryId {
        let entry = self.top(tag);
        self.set_type(entry, of);
        entry
    }

    fn set_name(&mut self, entry: UnitEntryId, name: &str) {
        if let Some(name) = identifier(name) {
            let name = self.string(&name);
            self.set(entry, DW_AT_name, name);
        }
    }

    fn set_type(&mut self, entry: UnitEntryId, of: TypeId) {
        if let Some(of) = self.entries.get(&of) {
            let of = AttributeValue::UnitRef(of.entry);
            self.set(entry, DW_AT_type, of);
        }
    }

    fn string(&mut self, text: &str) -> AttributeValue {
        AttributeValue::StringRef(self.dwarf.strings.add(text))
    }

    fn top(&mut self, tag: DwTag) -> UnitEntryId {
        let root = self.dwarf.unit.root();
        self.add(root, tag)
    }

    fn add(&mut self, parent: UnitEntryId, tag: DwTag) -> UnitEntryId {
        self.dwarf.unit.add(parent, tag)
    }

    fn set(&mut self, entry: UnitEntryId, name: DwAt, value: AttributeValue) {
        self.dwarf.unit.get_mut(entry).set(name, value);
    }
}
