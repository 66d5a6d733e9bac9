//! Structure types, as a recording describes them.

/// A structure type with a layout that is given, not computed.
#[derive(Clone, Debug)]
pub struct Structure<'a> {
    /// Its name, made an [`identifier`](super::identifier()). A structure without a name is left out.
    pub name: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// Its members, in the order in which a debugger shows them.
    pub members: Vec<Member<'a>>,
}

/// A member of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name, made an [`identifier`](super::identifier()). A member without a name is left out.
    pub name: &'a str,
    /// Where it begins, in bytes from the start of the structure; any alignment. A member that reaches beyond the
    /// structure's end is left out: a debugger would read past what it has.
    pub offset: u64,
    /// What it is.
    pub kind: Kind<'a>,
}

/// The type of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind<'a> {
    /// One value.
    One(Scalar<'a>),
    /// Several values in a row.
    Array(Scalar<'a>, u64),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar<'a> {
    /// An integer of 1, 2, 4 or 8 bytes. One of another size is shown as bytes.
    Integer {
        /// Size in bytes.
        size: u8,
        /// Whether it is signed.
        is_signed: bool,
        /// The name of the type where it was declared, such as `pid_t` or `unsigned long`. A name of C is taken if it
        /// means this size on the machine; another one becomes a typedef if it is an identifier, and the first to
        /// have it says what it means.
        type_name: Option<&'a str>,
    },
    /// A character, so that an array of them is shown as text.
    Character {
        /// Whether it is signed.
        is_signed: bool,
    },
    /// An address of the machine's size (`void *`).
    Pointer,
}

impl Scalar<'_> {
    /// A byte of which nothing more is known.
    pub const BYTE: Self = Scalar::Integer { size: 1, is_signed: false, type_name: None };

    /// Its size in bytes, on a machine with addresses of this size.
    fn size(&self, address_size: usize) -> u64 {
        match self {
            Scalar::Integer { size, .. } => u64::from(*size),
            Scalar::Character { .. } => 1,
            Scalar::Pointer => address_size as u64,
        }
    }
}

impl Kind<'_> {
    /// Its size in bytes, on a machine with addresses of this size; `None` if that is beyond 64 bits.
    pub(super) fn size(&self, address_size: usize) -> Option<u64> {
        match self {
            Kind::One(scalar) => Some(scalar.size(address_size)),
            Kind::Array(scalar, count) => scalar.size(address_size).checked_mul(*count),
        }
    }

    /// The same, with bytes for an integer of a size that no type has.
    pub(super) fn with_bytes(self) -> Self {
        let (Kind::One(Scalar::Integer { size, .. }) | Kind::Array(Scalar::Integer { size, .. }, _)) = self else {
            return self;
        };
        let count = if let Kind::Array(_, count) = self { count } else { 1 };
        match size {
            1 | 2 | 4 | 8 => self,
            _ => Kind::Array(Scalar::BYTE, count.saturating_mul(u64::from(size))),
        }
    }
}
