//! Words and numbers.

use std::fmt::Write;
use std::io;

/// Text from a file with everything escaped that could steer a terminal.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) {
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// JSON that a terminal may show: the same characters are escaped, and it means what it meant before. They are in its
/// strings only, but for the ends of lines between them.
pub fn printable_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if steers(character) && character != '\n' {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Passes JSON on as [`printable_json`] makes it. It is written in whole characters.
pub struct PrintableJson<W>(pub W);

impl<W: io::Write> io::Write for PrintableJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        self.0.write_all(printable_json(text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Control characters, and marks that reorder text or are not seen.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
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
        assert_eq!(printable("a\u{61c}b\u{fffa}c\u{e0041}"), "a\\u{61c}b\\u{fffa}c\\u{e0041}");
    }

    #[test]
    fn json_means_the_same() {
        let text = "\x1b[31m\u{9b}\u{202e}\u{61c}\u{e0041}\x7f\r\n\\ größe 大";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let shown = printable_json(&json);
        assert!(!shown.chars().any(|character| steers(character) && character != '\n'), "{shown:?}");
        assert!(shown.contains("größe 大"), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text]);
        let mut passed = Vec::new();
        serde_json::to_writer_pretty(PrintableJson(&mut passed), &[text]).unwrap();
        assert_eq!(String::from_utf8(passed).unwrap(), shown);
    }
}
