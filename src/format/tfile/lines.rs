//! The description section, split into lines.

/// A line of the description section, without its line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Offset of its first byte in the file.
    pub at: u64,
    pub bytes: &'a [u8],
}

/// The lines of the description section, up to the empty line that ends it. Lines may be of any length.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    at: u64,
    ended: bool,
}

impl<'a> Lines<'a> {
    /// `bytes` begins with the first line, at offset `at` of the file.
    pub fn new(bytes: &'a [u8], at: u64) -> Lines<'a> {
        Lines { rest: bytes, at, ended: false }
    }

    /// Where the section stops: once no line is left, the offset behind the empty line, or, if there is no empty
    /// line, `Err` with the offset of the line that has no end.
    pub fn end(&self) -> Result<u64, u64> {
        if self.ended { Ok(self.at) } else { Err(self.at) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.ended {
            return None;
        }
        let length = memchr::memchr(b'\n', self.rest)?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        let line = Line { at: self.at, bytes };
        self.rest = rest.get(1..).unwrap_or(&[]);
        self.at = self.at.saturating_add(length as u64).saturating_add(1);
        self.ended = bytes.is_empty();
        (!self.ended).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_line_ends_the_section() {
        let long = "x".repeat(5000);
        let text = format!("R 8\n{long}\n\nbinary\n");
        let mut lines = Lines::new(text.as_bytes(), 8);
        assert_eq!(lines.next(), Some(Line { at: 8, bytes: b"R 8" }));
        assert_eq!(lines.next(), Some(Line { at: 12, bytes: long.as_bytes() }));
        assert_eq!(lines.next(), None);
        assert_eq!(lines.next(), None);
        assert_eq!(lines.end(), Ok(8 + 4 + 5001 + 1));
    }

    #[test]
    fn without_an_empty_line_the_place_of_the_cut_is_known() {
        let mut lines = Lines::new(b"R 8\nstat", 8);
        assert_eq!(lines.by_ref().count(), 1);
        assert_eq!(lines.end(), Err(12));
    }
}
