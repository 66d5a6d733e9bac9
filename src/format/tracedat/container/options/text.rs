//! Options that are text.

use super::Wrong;

/// A text up to its NUL, or to the end of the option. Bytes that are no UTF-8 become U+FFFD.
pub(super) fn text(data: &[u8]) -> String {
    let end = memchr::memchr(0, data).unwrap_or(data.len());
    String::from_utf8_lossy(data.get(..end).unwrap_or(data)).into_owned()
}

/// A number in the C language's notation (`0x1f`, `017`, `-15`), as strtoll(3) with base 0 reads it. trace-cmd writes
/// DATE so with "0x", and OFFSET in decimal.
pub(super) fn number(data: &[u8]) -> Result<i64, Wrong> {
    let text = text(data);
    let trimmed = text.trim();
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let magnitude = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let signed = magnitude.ok().filter(|_| !digits.contains(['+', '-'])).and_then(|magnitude| {
        if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
    });
    signed.ok_or_else(|| Wrong::Said(format!("{:?} is no number of 64 bits", shortened(trimmed))))
}

/// The beginning of a text, for messages.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The kernel's trace_clock file, whole (`[local] global counter …`) or only the clock in use (`[local]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceClock {
    /// The clock in use: the word in brackets.
    pub selected: Option<String>,
    /// The whole text.
    pub text: String,
}

impl TraceClock {
    pub(in crate::format::tracedat::container) fn read(data: &[u8]) -> TraceClock {
        let text = text(data);
        let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let selected = inside.map(|(clock, _)| clock.to_owned()).filter(|clock| !clock.is_empty());
        TraceClock { selected, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_strtoll() {
        for (text, expected) in [
            ("0x10\0", Some(16)),
            ("1000000", Some(1_000_000)),
            ("-15\0junk", Some(-15)),
            ("-0x10", Some(-16)),
            ("017", Some(15)),
            ("0", Some(0)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("--1", None),
            ("0x+1", None),
            ("", None),
            ("12 apples", None),
        ] {
            assert_eq!(number(text.as_bytes()).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_clock_in_use_is_in_brackets() {
        for (text, clock) in [
            (&b"[local] global counter uptime\n\0"[..], Some("local")),
            (b"local global [x86-tsc]", Some("x86-tsc")),
            (b"local", None),
            (b"[]", None),
            (b"[lo", None),
        ] {
            assert_eq!(TraceClock::read(text).selected.as_deref(), clock);
        }
    }
}
