//! Why a program image could not be opened.

use crate::source::SourceError;
use std::io;
use std::path::PathBuf;

/// Why an image could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file could not be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The file's absolute path could not be found.
    #[error("{}: {cause}", path.display())]
    Path {
        /// The file as the user named it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file does not begin as an ELF file does.
    #[error(
        "{}: not an ELF file: found {found}, expected 7f 45 4c 46 (give the linked program that was recorded)",
        path.display()
    )]
    NotElf {
        /// The file as the user named it.
        path: PathBuf,
        /// Its first bytes, and what they mean.
        found: String,
    },
    /// The ELF header makes no sense, so nothing behind it can be found.
    #[error("{}: damaged ELF header: {cause} (copy the file again)", path.display())]
    Header {
        /// The file as the user named it.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// An ELF file of a type that has no place in memory, or is not a program's.
    #[error("{}: is {found}, expected an executable or a shared object ({hint})", path.display())]
    Type {
        /// The file as the user named it.
        path: PathBuf,
        /// What it is.
        found: String,
        /// What to give instead.
        hint: &'static str,
    },
}

/// Files that are mistaken for programs, by their first bytes.
const MISTAKEN: &[(&[u8], &str)] = &[
    (b"\x7fTRACE0", "a trace file"),
    (b"TRACE0", "a trace file"),
    (b"\x17\x08\x44tracing", "a trace-cmd file"),
    (b"!<arch>", "an archive"),
    (b"MZ", "a Windows or EFI program, or a boot image"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"#!", "a script"),
    (b":", "perhaps an Intel HEX file"),
    (b"S0", "perhaps a Motorola S-record file"),
];

/// Says what a file that is no ELF file begins with.
pub(super) fn describe(bytes: &[u8]) -> String {
    let first = bytes.get(..bytes.len().min(4)).unwrap_or(&[]);
    if first.is_empty() {
        return "an empty file".to_owned();
    }
    let digits: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
    match MISTAKEN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, meaning)) => format!("{} ({meaning})", digits.join(" ")),
        None => digits.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_are_shown_and_named() {
        assert_eq!(describe(b""), "an empty file");
        assert_eq!(describe(b"#!/bin/sh"), "23 21 2f 62 (a script)");
        assert_eq!(describe(b"\x7fTRACE0\n"), "7f 54 52 41 (a trace file)");
        assert_eq!(describe(b"xy"), "78 79");
    }
}
