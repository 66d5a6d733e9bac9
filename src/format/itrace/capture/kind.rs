//! Which files describe a capture.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::snapshot;

/// A file or directory that describes a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A TOML file with a table `[capture]`.
    Description,
    /// The directory of a debugger's snapshot, or the `snapshot.ini` in it.
    Snapshot,
}

impl Kind {
    /// What a path is, by content; `None` for all else, among it what cannot be read. Of a file no more is read than
    /// its first 64 KiB, and of one that is no text 512 bytes.
    pub fn of(path: &Path) -> Option<Kind> {
        // Looked at before it is opened: opening a named pipe would wait for its writer.
        let found = std::fs::metadata(path).ok()?;
        if found.is_dir() {
            return path.join(snapshot::FILE).is_file().then_some(Kind::Snapshot);
        }
        if !found.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let mut text = Vec::new();
        file.by_ref().take(FIRST_LOOK).read_to_end(&mut text).ok()?;
        if !is_text(&text) {
            return None;
        }
        file.take(MOST_LOOKED_AT - FIRST_LOOK).read_to_end(&mut text).ok()?;
        Kind::of_text(&text)
    }

    fn of_text(text: &[u8]) -> Option<Kind> {
        if !is_text(text) {
            return None;
        }
        text.split(|byte| *byte == b'\n').find_map(|line| {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
            let end = line.iter().position(|byte| *byte == b']')?;
            let name = line.get(..end)?.strip_prefix(b"[")?.trim_ascii();
            match name {
                b"capture" => Some(Kind::Description),
                b"snapshot" => Some(Kind::Snapshot),
                _ => None,
            }
        })
    }
}

const FIRST_LOOK: u64 = 512;
const MOST_LOOKED_AT: u64 = 64 << 10;

/// Whether bytes can be text: those of a trace or a program have others among the first.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1f | 0x7f))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Description => "a description of a trace",
            Kind::Snapshot => "a snapshot",
        })
    }
}
