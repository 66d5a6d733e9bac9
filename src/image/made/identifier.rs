//! Any text as a name that can be typed in an expression of C.

use std::borrow::Cow;

/// The words that gdb does not take for the name of a structure in an expression of C (gdb/c-exp.y, and found so with
/// gdb 13.1 and 18.1: it takes the other keywords).
const KEYWORDS: [&str; 24] = [
    "_Alignof",
    "_Atomic",
    "_Complex",
    "__complex__",
    "__restrict",
    "__restrict__",
    "__typeof",
    "__typeof__",
    "const",
    "double",
    "enum",
    "float",
    "if",
    "int",
    "long",
    "restrict",
    "short",
    "signed",
    "sizeof",
    "struct",
    "typeof",
    "union",
    "unsigned",
    "volatile",
];

/// The identifier of C that stands for a text; `None` for an empty one.
///
/// What is no ASCII letter, digit or underscore becomes an underscore, a first digit gets one in front, a keyword one
/// behind: `9p-open` is `_9p_open`, `int` is `int_`. An identifier stays as it is.
pub fn identifier(text: &str) -> Option<Cow<'_, str>> {
    let first = text.chars().next()?;
    if is_identifier(text) {
        return Some(Cow::Borrowed(text));
    }
    let mut name = String::with_capacity(text.len() + 1);
    if first.is_ascii_digit() {
        name.push('_');
    }
    name.extend(text.chars().map(|letter| if is_part(letter) { letter } else { '_' }));
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    Some(Cow::Owned(name))
}

/// Whether a text is an identifier of C as it is.
pub(super) fn is_identifier(text: &str) -> bool {
    let starts_well = text.starts_with(|first: char| is_part(first) && !first.is_ascii_digit());
    starts_well && text.chars().all(is_part) && !KEYWORDS.contains(&text)
}

/// Whether a letter can be part of an identifier.
pub(super) fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
