//! The `.ini` files of a snapshot: sections with names and values.
//!
//! Read here and not by a crate: those that are kept up take `:` for `=`, which stands in the names of registers
//! (`ETMCR(id:0x0)=0x400`), put one section or name in the place of another with the same name, and do not tell in
//! which line a value stands, without which nobody finds what to mend.

use std::path::{Path, PathBuf};

use super::super::CaptureError;
use super::SnapshotError;

/// No line is longer.
pub(super) const MOST_IN_LINE: usize = 4096;

/// A file.
#[derive(Debug)]
pub(super) struct Ini {
    path: PathBuf,
    sections: Vec<Section>,
}

/// A section. There may be several with one name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: Vec<Entry>,
}

/// A name with its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Without the quotes around it.
    pub(super) value: String,
    pub(super) line: usize,
}

impl Ini {
    /// Comments begin with `;` or `#`, wherever they stand, as in OpenCSD.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Ini, CaptureError> {
        let mut ini = Ini { path: path.to_owned(), sections: Vec::new() };
        for (number, whole) in (1..).zip(text.split('\n')) {
            if whole.len() > MOST_IN_LINE {
                return Err(ini.error(Some(number), SnapshotError::LongLine { found: whole.len() }));
            }
            let line = whole.split([';', '#']).next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let found = || line.to_owned();
            if let Some(rest) = line.strip_prefix('[') {
                let Some((name, _)) = rest.split_once(']') else {
                    return Err(ini.error(Some(number), SnapshotError::Line { found: found() }));
                };
                ini.sections.push(Section { name: name.trim().to_owned(), line: number, entries: Vec::new() });
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(ini.error(Some(number), SnapshotError::Line { found: found() }));
            };
            let Some(section) = ini.sections.last_mut() else {
                return Err(ini.error(Some(number), SnapshotError::NoSection { found: found() }));
            };
            let value = value.trim().trim_matches(['"', '\'']);
            section.entries.push(Entry { key: key.trim().to_owned(), value: value.to_owned(), line: number });
        }
        Ok(ini)
    }

    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    pub(super) fn sections_named<'i>(&'i self, name: &'i str) -> impl Iterator<Item = &'i Section> {
        self.sections.iter().filter(move |section| section.name == name)
    }

    pub(super) fn error(&self, line: Option<usize>, cause: SnapshotError) -> CaptureError {
        CaptureError::Snapshot { path: self.path.clone(), line, cause }
    }

    /// `snap/trace.ini:12`.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    pub(super) fn remark(&self, line: usize, said: String) -> String {
        format!("{}: {said}", self.place(line))
    }
}

impl Section {
    /// The entry with a name.
    pub(super) fn get(&self, ini: &Ini, key: &str) -> Result<Option<&Entry>, CaptureError> {
        let mut found = self.entries.iter().filter(|entry| entry.key.eq_ignore_ascii_case(key));
        let first = found.next();
        match found.next() {
            Some(second) => {
                let cause = SnapshotError::Twice { section: self.name.clone(), key: key.to_owned() };
                Err(ini.error(Some(second.line), cause))
            }
            None => Ok(first),
        }
    }

    /// The entry with a name, which must be there.
    pub(super) fn need(&self, ini: &Ini, key: &'static str) -> Result<&Entry, CaptureError> {
        let missing = || SnapshotError::Missing { section: self.name.clone(), key };
        self.get(ini, key)?.ok_or_else(|| ini.error(Some(self.line), missing()))
    }

    /// The entries that have none of these names.
    pub(super) fn others<'s>(&'s self, known: &'s [&str]) -> impl Iterator<Item = &'s Entry> {
        let is_known = |entry: &&Entry| known.iter().any(|key| entry.key.eq_ignore_ascii_case(key));
        self.entries.iter().filter(move |entry| !is_known(entry))
    }
}

/// A name from a file, without what a terminal would take for more than letters.
pub(super) fn shown(name: &str) -> String {
    name.escape_debug().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Ini, CaptureError> {
        Ini::parse(Path::new("x.ini"), text)
    }

    #[test]
    fn sections_have_names_and_values() {
        let text =
            "; DS-5\r\n[regs]\r\nETMCR(id:0x0)=0x400 ; comment\r\nPC(size:64) = a=b\n\n[ regs ] # again\nfile='x y'";
        let ini = parse(text).unwrap();
        let entry = |key: &str, value: &str, line| Entry { key: key.to_owned(), value: value.to_owned(), line };
        let first = Section {
            name: "regs".to_owned(),
            line: 2,
            entries: vec![entry("ETMCR(id:0x0)", "0x400", 3), entry("PC(size:64)", "a=b", 4)],
        };
        let second = Section { name: "regs".to_owned(), line: 6, entries: vec![entry("file", "x y", 7)] };
        assert_eq!(ini.sections, [first, second]);
    }

    #[test]
    fn what_is_no_line_is_told_of() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("[a]\nb"), "x.ini:2: \"b\" is neither NAME=VALUE nor [SECTION]");
        assert_eq!(error("[a"), "x.ini:1: \"[a\" is neither NAME=VALUE nor [SECTION]");
        assert_eq!(error("\na=\u{1b}[2J"), "x.ini:2: \"a=\\u{1b}[2J\" stands before the first [SECTION]");
        let long = "x".repeat(5000);
        assert_eq!(error(&long), "x.ini:1: a line of 5000 bytes, expected at most 4096");
        let twice = parse("[a]\nb=1\nB=2").unwrap();
        let error = twice.sections()[0].get(&twice, "b").unwrap_err().to_string();
        assert_eq!(error, "x.ini:3: [a] has b= twice");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]=;#\"'a \\r\\n\\PC]{0,200}") {
            if let Ok(ini) = parse(&text) {
                let lines = text.split('\n').count();
                prop_assert!(ini.sections().iter().all(|section| section.line <= lines));
            }
        }
    }
}
