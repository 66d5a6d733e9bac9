//! The files of a snapshot's directory. No other file is looked at: a snapshot may come from anybody.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::super::{CaptureError, text};
use super::SnapshotError;
use super::ini::Ini;
use crate::source::{Source, SourceError};

/// So much text there is at most in all `.ini` files, which may be listed many times.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// The directory.
pub(super) struct Files {
    root: PathBuf,
    /// As the system names it, all links resolved.
    real_root: PathBuf,
    /// How much text may still be read.
    left: usize,
    lengths: HashMap<PathBuf, u64>,
}

impl Files {
    /// The directory that has a `snapshot.ini`.
    pub(super) fn new(main: &Path) -> Result<Files, CaptureError> {
        let root = match main.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let real_root = root.canonicalize().map_err(|cause| SourceError::Io { path: root.clone(), cause })?;
        Ok(Files { root, real_root, left: MOST_BYTES, lengths: HashMap::new() })
    }

    /// Reads an `.ini` file.
    pub(super) fn ini(&mut self, path: &Path) -> Result<Ini, CaptureError> {
        let text = text::read(path)?;
        let too_much = || CaptureError::Snapshot { path: path.to_owned(), line: None, cause: SnapshotError::TooMuch };
        self.left = self.left.checked_sub(text.len()).ok_or_else(too_much)?;
        Ini::parse(path, &text)
    }

    /// The path of a file that a line of an `.ini` file names. It need not be there; if it is, it lies in the
    /// directory.
    pub(super) fn inside(&self, ini: &Ini, line: usize, name: &str) -> Result<PathBuf, CaptureError> {
        self.resolve(name).map_err(|why| ini.error(Some(line), SnapshotError::Outside { found: name.to_owned(), why }))
    }

    fn resolve(&self, name: &str) -> Result<PathBuf, &'static str> {
        if name.is_empty() {
            return Err("is empty");
        }
        // It is shown to people, on terminals.
        if name.chars().any(char::is_control) {
            return Err("has control characters");
        }
        let relative = Path::new(name);
        for component in relative.components() {
            match component {
                Component::Normal(_) | Component::CurDir => {}
                Component::ParentDir => return Err("has \"..\""),
                Component::RootDir | Component::Prefix(_) => return Err("is absolute"),
            }
        }
        let path = self.root.join(relative);
        match path.canonicalize() {
            Ok(real) if !real.starts_with(&self.real_root) => Err("leads out of the directory by a symbolic link"),
            // A link to nowhere is a file that is not there.
            _ => Ok(path),
        }
    }

    /// How many bytes a file has, which can be read.
    pub(super) fn length(&mut self, path: &Path) -> Result<u64, SourceError> {
        // Many parts of memory may be in one file.
        if let Some(length) = self.lengths.get(path) {
            return Ok(*length);
        }
        let length = Source::open(path)?.length();
        self.lengths.insert(path.to_owned(), length);
        Ok(length)
    }
}
