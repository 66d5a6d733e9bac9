//! The types, as DWARF: one compilation unit of structures that no function refers to.
//!
//! Facts: DWARF 4, chapter 5. gdb finds a structure by its name at the top of a unit.

use super::base_types::{Declared, declared, usual};
use super::frames;
use super::identifier::{identifier, is_identifier};
use super::structure::{Kind, Scalar, Structure};
use gimli::write::{AttributeValue, DwarfUnit, StringId, UnitEntryId};
use gimli::{
    DW_AT_byte_size, DW_AT_count, DW_AT_data_member_location, DW_AT_encoding, DW_AT_language, DW_AT_name,
    DW_AT_producer, DW_AT_type, DW_ATE_boolean, DW_ATE_signed, DW_ATE_signed_char, DW_ATE_unsigned,
    DW_ATE_unsigned_char, DW_LANG_C99, DW_TAG_array_type, DW_TAG_base_type, DW_TAG_member, DW_TAG_pointer_type,
    DW_TAG_structure_type, DW_TAG_subrange_type, DW_TAG_typedef, DwAt, DwAte, DwTag,
};
use std::collections::{HashMap, HashSet};

/// The unit with all structures, for a machine with addresses of this size.
pub(super) fn unit(structures: &[Structure<'_>], address_size: usize) -> DwarfUnit {
    let encoding = frames::encoding(address_size);
    let mut types = Types {
        dwarf: DwarfUnit::new(encoding),
        address_size,
        known: HashMap::new(),
        base: HashMap::new(),
        typedefs: HashMap::new(),
    };
    let root = types.dwarf.unit.root();
    types.set_name(root, "recorded event formats");
    let producer = types.string("traceframe");
    types.set(root, DW_AT_producer, producer);
    types.set(root, DW_AT_language, AttributeValue::Language(DW_LANG_C99));
    let mut names = HashSet::new();
    for structure in structures {
        if let Some(name) = identifier(structure.name)
            && !names.contains(&name)
        {
            types.structure(&name, structure);
            names.insert(name);
        }
    }
    types.dwarf
}

struct Types<'a> {
    dwarf: DwarfUnit,
    address_size: usize,
    /// The types of members that are in the unit.
    known: HashMap<Kind<'a>, UnitEntryId>,
    /// The base types in the unit. Two sizes never have one name.
    base: HashMap<&'static str, UnitEntryId>,
    /// What each typedef stands for.
    typedefs: HashMap<&'a str, (UnitEntryId, UnitEntryId)>,
}

impl<'a> Types<'a> {
    fn structure(&mut self, name: &str, structure: &Structure<'a>) {
        let entry = self.named(DW_TAG_structure_type, name);
        self.set(entry, DW_AT_byte_size, AttributeValue::Udata(structure.size));
        for member in &structure.members {
            let size = member.kind.size(self.address_size);
            let end = size.and_then(|size| member.offset.checked_add(size));
            let (Some(name), Some(end)) = (identifier(member.name), end) else { continue };
            if end > structure.size {
                continue;
            }
            let kind = self.kind(member.kind.with_bytes());
            let entry = self.add(entry, DW_TAG_member);
            self.set_name(entry, &name);
            self.set(entry, DW_AT_type, AttributeValue::UnitRef(kind));
            self.set(entry, DW_AT_data_member_location, AttributeValue::Udata(member.offset));
        }
    }

    fn kind(&mut self, kind: Kind<'a>) -> UnitEntryId {
        if let Some(known) = self.known.get(&kind) {
            return *known;
        }
        let entry = match kind {
            Kind::Array(scalar, count) => {
                let element = self.kind(Kind::One(scalar));
                let entry = self.top(DW_TAG_array_type);
                self.set(entry, DW_AT_type, AttributeValue::UnitRef(element));
                let range = self.add(entry, DW_TAG_subrange_type);
                self.set(range, DW_AT_count, AttributeValue::Udata(count));
                entry
            }
            Kind::One(Scalar::Integer { size, is_signed, type_name }) => self.integer(size, is_signed, type_name),
            Kind::One(Scalar::Character { is_signed: true }) => self.base("char", 1, DW_ATE_signed_char),
            Kind::One(Scalar::Character { is_signed: false }) => self.base("char", 1, DW_ATE_unsigned_char),
            Kind::One(Scalar::Pointer) => {
                let entry = self.top(DW_TAG_pointer_type);
                let size = self.address_size as u64;
                self.set(entry, DW_AT_byte_size, AttributeValue::Udata(size));
                entry
            }
        };
        self.known.insert(kind, entry);
        entry
    }

    fn integer(&mut self, size: u8, is_signed: bool, type_name: Option<&'a str>) -> UnitEntryId {
        let usual = usual(size, is_signed, self.address_size);
        let encoding = match (size, is_signed) {
            (1, true) => DW_ATE_signed_char,
            (1, false) => DW_ATE_unsigned_char,
            (_, true) => DW_ATE_signed,
            (_, false) => DW_ATE_unsigned,
        };
        match type_name.map(|name| (name, declared(name, self.address_size))) {
            Some((_, Declared::OfC(name, means, sign))) if (means, sign) == (size, is_signed) => {
                self.base(name, size, encoding)
            }
            Some((_, Declared::Character)) if size == 1 => self.kind(Kind::One(Scalar::Character { is_signed })),
            Some((_, Declared::Truth)) if size == 1 => self.base("bool", 1, DW_ATE_boolean),
            // A typedef of this name would take gdb's own away.
            Some((name, Declared::Other)) if is_identifier(name) && name != "void" => {
                let base = self.base(usual, size, encoding);
                self.typedef(name, base)
            }
            // Fields of system calls are as wide as a register, whatever the type that was declared.
            _ => self.base(usual, size, encoding),
        }
    }

    fn typedef(&mut self, name: &'a str, base: UnitEntryId) -> UnitEntryId {
        if let Some((stands_for, entry)) = self.typedefs.get(name) {
            return if *stands_for == base { *entry } else { base };
        }
        let entry = self.named(DW_TAG_typedef, name);
        self.set(entry, DW_AT_type, AttributeValue::UnitRef(base));
        self.typedefs.insert(name, (base, entry));
        entry
    }

    fn base(&mut self, name: &'static str, size: u8, encoding: DwAte) -> UnitEntryId {
        if let Some(known) = self.base.get(name) {
            return *known;
        }
        let entry = self.named(DW_TAG_base_type, name);
        self.set(entry, DW_AT_byte_size, AttributeValue::Data1(size));
        self.set(entry, DW_AT_encoding, AttributeValue::Encoding(encoding));
        self.base.insert(name, entry);
        entry
    }

    fn named(&mut self, tag: DwTag, name: &str) -> UnitEntryId {
        let entry = self.top(tag);
        self.set_name(entry, name);
        entry
    }

    fn set_name(&mut self, entry: UnitEntryId, name: &str) {
        let name = self.string(name);
        self.set(entry, DW_AT_name, name);
    }

    fn string(&mut self, text: &str) -> AttributeValue {
        let id: StringId = self.dwarf.strings.add(text);
        AttributeValue::StringRef(id)
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
