//! A field of an event.

/// A field, as the event's format declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type, as the format writes it, with the brackets of an array: `__data_loc char[]`, `unsigned long[6]`.
    pub declared: String,
    /// Offset in bytes from the beginning of the record. No alignment is promised.
    pub offset: usize,
    /// Size in bytes of what lies there; 0 for what reaches to the end of the record.
    pub size: usize,
    /// Whether the field, or each of its elements, has a sign.
    pub signed: bool,
    /// What lies there.
    pub kind: FieldKind,
}

/// What lies at a field's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer,
    /// A pointer, an integer without a sign.
    Pointer,
    /// As many bytes as the field's size.
    Array(Content),
    /// What is from there to the end of the record.
    Tail(Content),
    /// From there as many elements as another field of the record says, whatever the declared size: the entries of
    /// `kernel_stack`.
    Counted {
        /// What the elements are.
        content: Content,
        /// Offset of the field with the number of elements, a signed integer.
        at: usize,
        /// Its size in bytes.
        size: usize,
    },
    /// A 4-byte integer that says where the content is: offset from the beginning of the record in its low 16 bits,
    /// length in bytes in the high 16 (`__data_loc`, the kernel's `include/trace/stages`).
    DataLoc(Content),
    /// The same, with the offset from the end of the field itself (`__rel_loc`).
    RelLoc(Content),
}

impl FieldKind {
    /// What there are several of; `None` for a plain integer or pointer.
    pub fn content(self) -> Option<Content> {
        match self {
            FieldKind::Integer | FieldKind::Pointer => None,
            FieldKind::Array(content)
            | FieldKind::Tail(content)
            | FieldKind::Counted { content, .. }
            | FieldKind::DataLoc(content)
            | FieldKind::RelLoc(content) => Some(content),
        }
    }
}

/// What a stretch of bytes is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Characters, ended by a zero byte if that comes before the end.
    Text,
    /// Integers of one size.
    Integers(Element),
    /// A mask of bits, in words of the kernel's `long`: a set of CPUs, mostly.
    Mask(Element),
    /// Bytes that the format says no more of: a struct, an array of a type that is not known.
    Bytes,
}

/// One integer of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its size: 1, 2, 4 or 8 bytes.
    pub size: usize,
    /// Whether it has a sign.
    pub signed: bool,
}
