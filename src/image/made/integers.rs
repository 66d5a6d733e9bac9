//! The integer types of C, by name and by size.

use std::borrow::Cow;

use super::identifier::is_identifier;
use super::types::{Encoding, Type, TypeId, Types};

impl<'a> Types<'a> {
    /// An integer of 1, 2, 4 or 8 bytes. One of another size is so many bytes.
    ///
    /// `declared` is the name of its type where it was declared, such as `pid_t` or `unsigned long`. A name of C is
    /// taken if it means this size on the machine; another one becomes a typedef if it is an identifier, and the first
    /// to have it says what it means.
    pub fn integer(&mut self, size: u8, is_signed: bool, declared: Option<&'a str>) -> TypeId {
        if !matches!(size, 1 | 2 | 4 | 8) {
            let byte = self.integer(1, false, None);
            return self.add(Type::Array(byte, u64::from(size)));
        }
        let encoding = if is_signed { Encoding::Signed } else { Encoding::Unsigned };
        let usual = usual(size, is_signed, self.address_size);
        match declared.map(|name| (name, meaning(name, self.address_size))) {
            Some((_, Declared::OfC(name, means, sign))) if (means, sign) == (size, is_signed) => {
                self.of_c(name, size, encoding)
            }
            Some((_, Declared::Character)) if size == 1 => self.character(is_signed),
            Some((_, Declared::Truth)) if size == 1 => self.of_c("bool", 1, Encoding::Boolean),
            // A typedef of this name would take gdb's own away.
            Some((name, Declared::Other)) if is_identifier(name) && name != "void" => {
                let integer = self.of_c(usual, size, encoding);
                self.integer_typedef(name, integer)
            }
            // Fields of system calls are as wide as a register, whatever the type that was declared.
            _ => self.of_c(usual, size, encoding),
        }
    }

    /// A character, so that an array of them is shown as text.
    pub fn character(&mut self, is_signed: bool) -> TypeId {
        self.of_c("char", 1, if is_signed { Encoding::Signed } else { Encoding::Unsigned })
    }

    /// An address of something unknown, `void *`.
    pub fn pointer(&mut self) -> TypeId {
        let void = self.add(Type::Void);
        self.add(Type::Pointer(void))
    }

    /// A type of C. Two sizes never have one name.
    fn of_c(&mut self, name: &'static str, size: u8, encoding: Encoding) -> TypeId {
        if let Some(known) = self.integers.get(name) {
            return *known;
        }
        let number = self.add(Type::Base { name: Cow::Borrowed(name), size: u64::from(size), encoding });
        self.integers.insert(name, number);
        number
    }

    fn integer_typedef(&mut self, name: &'a str, integer: TypeId) -> TypeId {
        if let Some((stands_for, typedef)) = self.typedefs.get(name) {
            return if *stands_for == integer { *typedef } else { integer };
        }
        let typedef = self.add(Type::Typedef(Cow::Borrowed(name), integer));
        self.typedefs.insert(name, (integer, typedef));
        typedef
    }
}

/// The name that C has for an integer of this size and sign, on a machine with addresses of this size (Linux:
/// `long` is as wide as an address).
fn usual(size: u8, is_signed: bool, address_size: usize) -> &'static str {
    match (size, is_signed) {
        (1, true) => "signed char",
        (1, false) => "unsigned char",
        (2, true) => "short",
        (2, false) => "unsigned short",
        (4, true) => "int",
        (4, false) => "unsigned int",
        (_, true) if address_size == 8 => "long",
        (_, false) if address_size == 8 => "unsigned long",
        (_, true) => "long long",
        (_, false) => "unsigned long long",
    }
}

/// What a declared name says of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    /// It is a type of C, with this name, size and sign.
    OfC(&'static str, u8, bool),
    /// It is C's character, whose sign C leaves to the machine.
    Character,
    /// It is C's truth value.
    Truth,
    /// It is another name.
    Other,
}

/// Reads a declared name, in any of the orders of words that C allows.
fn meaning(name: &str, address_size: usize) -> Declared {
    let (mut longs, mut shorts, mut characters, mut signed, mut unsigned) = (0, 0, 0, 0, 0);
    let mut words = 0;
    for word in name.split_whitespace() {
        words += 1;
        match word {
            "long" => longs += 1,
            "short" => shorts += 1,
            "char" => characters += 1,
            "signed" => signed += 1,
            "unsigned" => unsigned += 1,
            "int" => {}
            "bool" | "_Bool" if name.trim() == word => return Declared::Truth,
            "const" | "volatile" => words -= 1,
            _ => return Declared::Other,
        }
    }
    if words == 0 {
        return Declared::Other;
    }
    let long = if address_size == 8 { 8 } else { 4 };
    let (name, size, is_signed) = match (longs, shorts, characters, signed, unsigned) {
        (0, 0, 1, 0, 0) => return Declared::Character,
        (0, 0, 1, 1, 0) => ("signed char", 1, true),
        (0, 0, 1, 0, 1) => ("unsigned char", 1, false),
        (0, 1, 0, _, 0) => ("short", 2, true),
        (0, 1, 0, 0, 1) => ("unsigned short", 2, false),
        (0, 0, 0, _, 0) => ("int", 4, true),
        (0, 0, 0, 0, 1) => ("unsigned int", 4, false),
        (1, 0, 0, _, 0) => ("long", long, true),
        (1, 0, 0, 0, 1) => ("unsigned long", long, false),
        (2, 0, 0, _, 0) => ("long long", 8, true),
        (2, 0, 0, 0, 1) => ("unsigned long long", 8, false),
        _ => return Declared::Other,
    };
    Declared::OfC(name, size, is_signed)
}
