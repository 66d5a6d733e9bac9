//! One type: what kind it is, and what it says.

use super::Btf;
use super::fault::Fault;
use crate::image::made::{Keyword, Qualifier};
use crate::source::Cursor;

/// The numbers of kinds (`BTF_KIND_…`).
mod number {
    pub const INTEGER: u32 = 1;
    pub const POINTER: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const ENUM: u32 = 6;
    pub const FORWARD: u32 = 7;
    pub const TYPEDEF: u32 = 8;
    pub const VOLATILE: u32 = 9;
    pub const CONST: u32 = 10;
    pub const RESTRICT: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const FUNCTION_PROTOTYPE: u32 = 13;
    pub const VARIABLE: u32 = 14;
    pub const DATA_SECTION: u32 = 15;
    pub const FLOAT: u32 = 16;
    pub const DECLARATION_TAG: u32 = 17;
    pub const TYPE_TAG: u32 = 18;
    pub const ENUM64: u32 = 19;
}

/// A type.
#[derive(Clone, Debug)]
pub struct Type<'a> {
    /// Offset from the first byte of the BTF.
    pub at: u64,
    /// Its name; empty where it has none.
    pub name: &'a str,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a type is. Other types are named by their numbers.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// `void`.
    Void,
    /// An integer.
    Integer {
        /// Its size in bytes.
        size: u32,
        /// Whether it has a sign.
        is_signed: bool,
        /// Whether it is a truth value.
        is_boolean: bool,
        /// Which of its bits it is, by the first and their count: all of them, but for bit-fields of old compilers.
        bits: (u32, u32),
    },
    /// A floating-point number of so many bytes.
    Float(u32),
    /// The address of something.
    Pointer(u32),
    /// So many of something in a row.
    Array(u32, u32),
    /// A structure or union.
    Compound {
        /// Whether it is a union.
        is_union: bool,
        /// Its size in bytes.
        size: u32,
        /// Its members: [`List::members`].
        members: List<'a>,
    },
    /// An enumeration.
    Enumeration {
        /// Its size in bytes.
        size: u32,
        /// Whether its values have a sign.
        is_signed: bool,
        /// The names of values: [`List::values`].
        values: List<'a>,
    },
    /// A structure, union or enumeration of which only the name is known.
    Forward(Keyword),
    /// Another name of a type.
    Typedef(u32),
    /// A type with a qualifier.
    Qualified(Qualifier, u32),
    /// A type with a remark for the kernel's own tools.
    Tagged(u32),
    /// A function: what it returns, and what it takes: [`List::parameters`].
    Function(u32, List<'a>),
    /// No type, though it has a number: a function with its name, a variable, a section, a remark on a declaration.
    Other,
}

/// What follows a type, not read yet.
#[derive(Clone, Debug)]
pub struct List<'a> {
    /// How many there are.
    pub count: u32,
    flag: bool,
    is_wide: bool,
    cursor: Cursor<'a>,
}

/// A member of a structure or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// Offset from the first byte of the BTF.
    pub at: u64,
    /// Its name; empty where it has none.
    pub name: &'a str,
    /// The number of its type.
    pub member_type: u32,
    /// Where it is, in bits from the start of the structure.
    pub offset: u32,
    /// How many bits it has, of a bit-field; else 0.
    pub width: u32,
}

/// What each type begins with (`struct btf_type`).
struct Head {
    at: u64,
    name: u32,
    kind: u32,
    /// How many members, values or parameters it has.
    count: u32,
    flag: bool,
    /// Its size, or the number of another type.
    size_or_type: u32,
}

impl Head {
    fn read(cursor: &mut Cursor<'_>) -> Result<Head, Fault> {
        let at = cursor.position();
        let (name, info, size_or_type) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        let (kind, count, flag) = (info >> 24 & 0x1f, info & 0xffff, info >> 31 == 1);
        Ok(Head { at, name, kind, count, flag, size_or_type })
    }

    /// How many bytes follow.
    fn behind(&self) -> Result<u32, Fault> {
        use number::*;
        Ok(match self.kind {
            INTEGER | VARIABLE | DECLARATION_TAG => 4,
            ARRAY => 12,
            STRUCT | UNION | ENUM64 | DATA_SECTION => 12 * self.count,
            ENUM | FUNCTION_PROTOTYPE => 8 * self.count,
            POINTER | FORWARD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNCTION | FLOAT | TYPE_TAG => 0,
            kind => return Err(Fault { at: self.at, what: format!("a type is of the unknown kind {kind}") }),
        })
    }
}

/// Goes behind the next type.
pub(super) fn skip(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let behind = Head::read(cursor)?.behind()?;
    cursor.take(behind as usize)?;
    Ok(())
}

/// Where the name of the next type is among the strings, if that is a structure.
pub(super) fn structure_name(cursor: &mut Cursor<'_>) -> Option<u32> {
    Head::read(cursor).ok().filter(|head| head.kind == number::STRUCT).map(|head| head.name)
}

impl<'a> Type<'a> {
    /// Reads the next type.
    pub(super) fn read(mut cursor: Cursor<'a>, btf: &Btf<'a>) -> Result<Type<'a>, Fault> {
        use number::*;
        let head = Head::read(&mut cursor)?;
        let of = head.size_or_type;
        let behind = cursor.clone();
        let list = || List { count: head.count, flag: head.flag, is_wide: head.kind == ENUM64, cursor: behind };
        let kind = match head.kind {
            INTEGER => {
                let word = cursor.u32()?;
                let (is_signed, is_boolean) = (word >> 24 & 1 == 1, word >> 24 & 4 == 4);
                Kind::Integer { size: of, is_signed, is_boolean, bits: (word >> 16 & 0xff, word & 0xff) }
            }
            POINTER => Kind::Pointer(of),
            ARRAY => {
                let element = cursor.u32()?;
                // The type of its index.
                cursor.u32()?;
                Kind::Array(element, cursor.u32()?)
            }
            STRUCT | UNION => Kind::Compound { is_union: head.kind == UNION, size: of, members: list() },
            ENUM | ENUM64 if head.count == 0 => Kind::Forward(Keyword::Enum),
            ENUM | ENUM64 => Kind::Enumeration { size: of, is_signed: head.flag, values: list() },
            FORWARD => Kind::Forward(if head.flag { Keyword::Union } else { Keyword::Struct }),
            TYPEDEF => Kind::Typedef(of),
            VOLATILE => Kind::Qualified(Qualifier::Volatile, of),
            CONST => Kind::Qualified(Qualifier::Const, of),
            RESTRICT => Kind::Qualified(Qualifier::Restrict, of),
            FUNCTION_PROTOTYPE => Kind::Function(of, list()),
            FLOAT => Kind::Float(of),
            TYPE_TAG => Kind::Tagged(of),
            _ => Kind::Other,
        };
        Ok(Type { at: head.at, name: btf.string(head.name)?, kind })
    }
}

impl<'a> List<'a> {
    /// The members of a structure or union.
    pub fn members(&self, btf: &Btf<'a>) -> Result<Vec<Member<'a>>, Fault> {
        self.all(|cursor| {
            let at = cursor.position();
            let (name, member_type, word) = (btf.string(cursor.u32()?)?, cursor.u32()?, cursor.u32()?);
            let (offset, width) = if self.flag { (word & 0xff_ffff, word >> 24) } else { (word, 0) };
            Ok(Member { at, name, member_type, offset, width })
        })
    }

    /// The names of an enumeration's values, and their bits, with the sign in all of them.
    pub fn values(&self, btf: &Btf<'a>) -> Result<Vec<(&'a str, u64)>, Fault> {
        self.all(|cursor| {
            let (name, low) = (btf.string(cursor.u32()?)?, cursor.u32()?);
            let bits = match (self.is_wide, self.flag) {
                (true, _) => u64::from(low) | u64::from(cursor.u32()?) << 32,
                (false, true) => i64::from(low.cast_signed()).cast_unsigned(),
                (false, false) => u64::from(low),
            };
            Ok((name, bits))
        })
    }

    /// The types of what a function takes, and whether it takes more.
    pub fn parameters(&self) -> Result<(Vec<u32>, bool), Fault> {
        let mut parameters = self.all(|cursor| Ok((cursor.u32()?, cursor.u32()?)))?;
        // The end of a list that goes on has neither name nor type.
        let is_variadic = parameters.pop_if(|last| *last == (0, 0)).is_some();
        Ok((parameters.into_iter().map(|(_, taken)| taken).collect(), is_variadic))
    }

    fn all<T>(&self, mut one: impl FnMut(&mut Cursor<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut cursor = self.cursor.clone();
        (0..self.count).map(|_| one(&mut cursor)).collect()
    }
}
