//! Words and numbers.

use std::fmt::Write;

/// Text from a file with everything escaped that could steer a terminal.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        // Besides control characters: marks that reorder text or are not seen.
        let hidden = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if character.is_control() || hidden {
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `1 frame`, `2 frames`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A place in a function, as gdb writes it: `step` or `step+4`.
pub fn place((function, offset): (String, u64)) -> String {
    if offset == 0 { function } else { format!("{function}+{offset}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(printable("case.c:19"), "case.c:19");
        assert_eq!(printable("\x1b[31mred\r\n"), "\\u{1b}[31mred\\u{d}\\u{a}");
        assert_eq!(printable("a\u{202e}b\u{9b}c"), "a\\u{202e}b\\u{9b}c");
        assert_eq!(printable("größe 大"), "größe 大");
    }
}
