//! The integer types of C, by name and by size.

/// The name that C has for an integer of this size and sign, on a machine with addresses of this size (Linux:
/// `long` is as wide as an address).
pub(super) fn usual(size: u8, is_signed: bool, address_size: usize) -> &'static str {
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
pub(super) enum Declared {
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
pub(super) fn declared(name: &str, address_size: usize) -> Declared {
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
