//! Numbers as people write them.

use super::DescriptionError;

/// A number, 0x… or decimal; `name` is what it is the value of.
pub(super) fn number(name: &str, text: &str) -> Result<u64, DescriptionError> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // The standard library takes a sign there.
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| DescriptionError::Number { name: name.to_owned(), found: text.to_owned() })
}

/// A number that fits in 8 bits and is at most `most`.
pub(super) fn small(name: &'static str, value: u64, most: u8) -> Result<u8, DescriptionError> {
    let small = u8::try_from(value).ok().filter(|small| *small <= most);
    small.ok_or(DescriptionError::TooLarge { name, found: value, most })
}
