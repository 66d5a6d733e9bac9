//! The types of a program, with a layout that is given, not computed.

use std::borrow::Cow;
use std::collections::HashMap;

/// Types, each with a number.
///
/// A type names others by their numbers, which it can only do once they are there: none contains itself. What points
/// to a type that is not there names it by a [declaration](Type::Declared).
#[derive(Clone, Debug)]
pub struct Types<'a> {
    pub(super) address_size: usize,
    numbers: HashMap<Type<'a>, TypeId>,
    /// For each type its size in bytes, where it has one.
    sizes: Vec<Option<u64>>,
    /// Which of the integers that C knows is which.
    pub(super) integers: HashMap<&'static str, TypeId>,
    /// What each typedef of an integer stands for, and the typedef.
    pub(super) typedefs: HashMap<&'a str, (TypeId, TypeId)>,
}

/// The number of a type, among those with which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(usize);

/// A type.
///
/// Its name, and those of its members and values, are made [identifiers](super::identifier()); the name of a number may
/// be several, with spaces between.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type<'a> {
    /// `void`.
    Void,
    /// A number.
    Base {
        /// Its name.
        name: Cow<'a, str>,
        /// Its size in bytes. An integer of one byte is a character.
        size: u64,
        /// How its bits are to be taken.
        encoding: Encoding,
    },
    /// The address of something.
    Pointer(TypeId),
    /// So many of something in a row.
    Array(TypeId, u64),
    /// Another name of a type.
    Typedef(Cow<'a, str>, TypeId),
    /// A type with a qualifier.
    Qualified(Qualifier, TypeId),
    /// A structure or union.
    Compound(Compound<'a>),
    /// An enumeration.
    Enumeration {
        /// Its name; empty for one without.
        name: Cow<'a, str>,
        /// Its size in bytes.
        size: u64,
        /// Whether its values have a sign.
        is_signed: bool,
        /// The names of values, and their bits, with the sign in all of them.
        values: Vec<(Cow<'a, str>, u64)>,
    },
    /// A type of which only the name is known.
    Declared(Keyword, Cow<'a, str>),
    /// A function.
    Function {
        /// What it returns.
        result: TypeId,
        /// What it takes.
        parameters: Vec<TypeId>,
        /// Whether it takes more than that.
        is_variadic: bool,
    },
}

/// A structure or union.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compound<'a> {
    /// Whether it is a union.
    pub is_union: bool,
    /// Its name; empty for one without.
    pub name: Cow<'a, str>,
    /// Its size in bytes.
    pub size: u64,
    /// Its members, in the order in which a debugger shows them.
    pub members: Vec<Member<'a>>,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member<'a> {
    /// Its name; empty for a structure or union whose members are taken as those of the outer one. Another member
    /// without a name is left out.
    pub name: Cow<'a, str>,
    /// Where it is. A member that reaches beyond the end of what it is in is left out, as is one that is larger than
    /// its type, or whose type has no size: a debugger would read past what it has.
    pub place: Place,
    /// Its type.
    pub member_type: TypeId,
}

/// Where a member is, from the start of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// At an offset in bytes; any alignment.
    Byte(u64),
    /// A bit-field.
    Bits {
        /// Offset in bits, counted in each byte from the bit that the machine has first: the lowest where bytes are
        /// little-endian, else the highest (DWARF's `DW_AT_data_bit_offset`).
        offset: u64,
        /// How many bits it has.
        width: u64,
    },
}

/// How the bits of a number are to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// A truth value.
    Boolean,
    /// A floating-point number.
    Float,
}

/// A qualifier of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// `const`.
    Const,
    /// `volatile`.
    Volatile,
    /// `restrict`.
    Restrict,
}

/// What a type is that is only named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keyword {
    /// `struct`.
    Struct,
    /// `union`.
    Union,
    /// `enum`.
    Enum,
}

impl<'a> Types<'a> {
    /// No types yet, for a machine with addresses of so many bytes.
    pub fn new(address_size: usize) -> Types<'a> {
        Types {
            address_size,
            numbers: HashMap::new(),
            sizes: Vec::new(),
            integers: HashMap::new(),
            typedefs: HashMap::new(),
        }
    }

    /// Adds a type. One that is there already keeps its number.
    pub fn add(&mut self, added: Type<'a>) -> TypeId {
        let size = match &added {
            Type::Void | Type::Declared(..) | Type::Function { .. } => None,
            Type::Base { size, .. } | Type::Enumeration { size, .. } => Some(*size),
            Type::Pointer(_) => Some(self.address_size as u64),
            Type::Array(element, count) => self.size(*element).and_then(|size| size.checked_mul(*count)),
            Type::Typedef(_, other) | Type::Qualified(_, other) => self.size(*other),
            Type::Compound(compound) => Some(compound.size),
        };
        let next = TypeId(self.sizes.len());
        let number = *self.numbers.entry(added).or_insert(next);
        if number == next {
            self.sizes.push(size);
        }
        number
    }

    /// The size of a type in bytes; `None` for one without, or beyond 64 bits.
    pub fn size(&self, number: TypeId) -> Option<u64> {
        self.sizes.get(number.0).copied().flatten()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// All types, in the order of their numbers.
    pub(super) fn in_order(&self) -> Vec<(TypeId, &Type<'a>)> {
        let mut types: Vec<_> = self.numbers.iter().map(|(found, number)| (*number, found)).collect();
        types.sort_unstable_by_key(|(number, _)| *number);
        types
    }
}

impl Place {
    /// Where a member of a type of this size ends, in bytes from the start, a last byte that it has in part included;
    /// `None` beyond 64 bits, and for more bits than the type has.
    pub(super) fn end(self, size: u64) -> Option<u64> {
        match self {
            Place::Byte(offset) => offset.checked_add(size),
            Place::Bits { width, .. } if width > size.saturating_mul(8) => None,
            Place::Bits { offset, width } => Some(offset.checked_add(width)?.div_ceil(8)),
        }
    }
}
