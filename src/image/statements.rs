//! Where statements begin, and the files that they are of.

use std::collections::HashMap;

/// How many bytes the names of files may take. Those of large programs take a tenth of it; many files can share a
/// damaged name.
const MOST_NAMES: usize = 1 << 27;

/// Where a statement begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The address of its first instruction.
    pub address: u64,
    /// Its file, by its place among [`SourceFiles::list`].
    pub file: u32,
    /// Its line, from 1 on.
    pub line: u32,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the compiler was told of it, and as gdb shows it: see [`Image::line`](super::Image::line).
    pub name: String,
    /// The same behind the directory that the compiler ran in, without `.` and `..`; absolute where that is known.
    pub path: String,
}

/// The source files of a program.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// Each path once.
    pub list: Vec<SourceFile>,
    /// How many statements were left out: of files without a name, or for whose names there was no room.
    pub left_out: u64,
    by_path: HashMap<String, u32>,
    kept: usize,
}

impl SourceFiles {
    /// The place of a file in the list; `None` if there is no room for it.
    pub(super) fn place(&mut self, name: String, path: String) -> Option<u32> {
        if let Some(found) = self.by_path.get(&path) {
            return Some(*found);
        }
        let kept = self.kept + name.len() + 2 * path.len();
        let place = u32::try_from(self.list.len()).ok().filter(|_| kept <= MOST_NAMES)?;
        self.kept = kept;
        self.by_path.insert(path.clone(), place);
        self.list.push(SourceFile { name, path });
        Some(place)
    }
}

/// A path without `.`, and without `..` as far as it leads back over a name: as the coverage tools of gcc write paths.
pub(super) fn resolved(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|before| *before != "..") => _ = parts.pop(),
            // There is nothing above the root.
            ".." if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_their_names() {
        assert_eq!(resolved("/usr/src/./case//lib/../case.c"), "/usr/src/case/case.c");
        assert_eq!(resolved("/../../case.c"), "/case.c");
        assert_eq!(resolved("./case.c"), "case.c");
        assert_eq!(resolved("../lib/../../case.c"), "../../case.c");
        assert_eq!(resolved("C:\\work\\..\\case.c"), "C:\\work\\..\\case.c");
    }

    #[test]
    fn a_file_has_one_place() {
        let mut files = SourceFiles::default();
        let place = |files: &mut SourceFiles, name: &str, path: &str| files.place(name.to_owned(), path.to_owned());
        assert_eq!(place(&mut files, "case.c", "/src/case.c"), Some(0));
        assert_eq!(place(&mut files, "case.c", "/lib/case.c"), Some(1));
        assert_eq!(place(&mut files, "src/case.c", "/src/case.c"), Some(0));
        assert_eq!(place(&mut files, "x", &"x".repeat(MOST_NAMES)), None);
        assert_eq!(files.list.len(), 2);
    }
}
