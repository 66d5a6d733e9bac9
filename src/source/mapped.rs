//! A file that is mapped into memory, and what becomes of it when somebody writes to the file.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::SystemTime;

use super::fault::Guard;

/// What happened to a file after it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was cut, or the disk could not read it.
    Cut,
    /// It was written to.
    Written,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Change::Cut => "was cut after it was opened, or cannot be read any more",
            Change::Written => "was written to after it was opened",
        })
    }
}

/// A mapped file. Once it has changed there are no bytes of it any more: some would be new ones, and which is unknown.
pub(super) struct MappedFile {
    // Dropped in this order.
    guard: Guard,
    map: memmap2::Mmap,
    file: File,
    written: Option<SystemTime>,
    /// 0, or a [`Change`] and one.
    changed: AtomicU8,
}

impl MappedFile {
    /// Maps a file that is not empty.
    pub(super) fn new(file: File) -> io::Result<MappedFile> {
        let written = file.metadata()?.modified().ok();
        // SAFETY: the map is read-only and private to this value. What Rust cannot rule out is another process that
        // writes to the file or cuts it: writing shows other bytes, and no reader relies on two reads of a place being
        // equal; for what was cut off there is the guard.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&file)? };
        let guard = Guard::new(&map)?;
        Ok(MappedFile { guard, map, file, written, changed: AtomicU8::new(0) })
    }

    /// The bytes of the file as it was opened; none once it is known to have changed.
    pub(super) fn bytes(&self) -> &[u8] {
        if self.change_seen().is_some() { &[] } else { &self.map }
    }

    /// What is known of a change. No system call.
    pub(super) fn change_seen(&self) -> Option<Change> {
        match self.changed.load(Ordering::Acquire) {
            1 => Some(Change::Cut),
            2 => Some(Change::Written),
            _ => self.guard.is_torn().then_some(Change::Cut),
        }
    }

    /// Whether the file has changed, as the system knows.
    pub(super) fn change(&self) -> Option<Change> {
        if let Some(change) = self.change_seen() {
            return Some(change);
        }
        let now = self.file.metadata().ok()?;
        let length = self.map.len() as u64;
        let change = match now.len() {
            shorter if shorter < length => Change::Cut,
            same if same == length && now.modified().ok() == self.written => return None,
            _ => Change::Written,
        };
        self.changed.store(change as u8 + 1, Ordering::Release);
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn made(bytes: &[u8]) -> (tempfile::NamedTempFile, MappedFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mapped = MappedFile::new(file.reopen().unwrap()).unwrap();
        (file, mapped)
    }

    #[test]
    fn what_was_cut_off_is_survived_and_never_shown_as_whole() {
        let (file, mapped) = made(&[7; 100_000]);
        let held = mapped.bytes();
        assert_eq!(held[99_999], 7);
        file.as_file().set_len(5000).unwrap();
        assert_eq!(mapped.change_seen(), None, "nothing was read yet");
        // A second thread has another signal stack and the same handler.
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(held[50_000], 0));
        });
        // Else the compiler may take what was read before the cut.
        let held = std::hint::black_box(held);
        assert_eq!((held[99_999], held[10]), (0, 7));
        assert_eq!(mapped.change_seen(), Some(Change::Cut));
        assert_eq!(mapped.change(), Some(Change::Cut));
        assert!(mapped.bytes().is_empty());
    }

    #[test]
    fn each_of_many_files_is_guarded_and_guards_are_used_again() {
        let all: Vec<_> = (0..20).map(|_| made(&[7; 10_000])).collect();
        for (file, mapped) in all.iter().skip(1).step_by(2) {
            file.as_file().set_len(0).unwrap();
            assert_eq!(mapped.map[9_999], 0);
        }
        for (number, (_, mapped)) in all.iter().enumerate() {
            assert_eq!(mapped.change_seen().is_some(), number % 2 == 1, "{number}");
        }
        drop(all);
        let (_file, mapped) = made(&[7; 10_000]);
        assert_eq!(mapped.change_seen(), None, "of the guard's earlier file nothing is left");
    }

    #[test]
    fn a_file_that_is_written_to_or_grows_is_seen() {
        for grow in [false, true] {
            let (mut file, mapped) = made(b"as it was");
            assert_eq!(mapped.change(), None);
            // The system's clock for files is coarse.
            std::thread::sleep(std::time::Duration::from_millis(20));
            if grow {
                file.write_all(b" and more").unwrap();
            } else {
                std::fs::write(file.path(), b"as it is.").unwrap();
            }
            assert_eq!(mapped.change(), Some(Change::Written), "grown: {grow}");
            assert!(mapped.bytes().is_empty());
        }
    }

    #[test]
    fn a_file_that_is_deleted_or_replaced_stays_as_it_was() {
        let (file, mapped) = made(b"as it was");
        let path = file.path().to_owned();
        drop(file);
        std::fs::write(&path, b"another file").unwrap();
        assert_eq!(mapped.change(), None);
        assert_eq!(mapped.bytes(), b"as it was");
        std::fs::remove_file(path).unwrap();
    }
}
