//! What is wrong with what a snapshot says.

use super::NotRead;

/// What is wrong with what a snapshot says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// A line that is no section, no name with a value, and no comment.
    #[error("{found:?} is neither NAME=VALUE nor [SECTION]")]
    Line {
        /// The line.
        found: String,
    },
    /// A name with a value before the first section.
    #[error("{found:?} stands before the first [SECTION]")]
    NoSection {
        /// The line.
        found: String,
    },
    /// A very long line.
    #[error("a line of {found} bytes, expected at most {}", super::ini::MOST_IN_LINE)]
    LongLine {
        /// How many bytes it has.
        found: usize,
    },
    /// More text than any snapshot has.
    #[error("the .ini files of the snapshot have more than {} MiB together", super::files::MOST_BYTES >> 20)]
    TooMuch,
    /// A `snapshot.ini` of something else.
    #[error("has no section [snapshot], so it is no snapshot (name the directory that the debugger or OpenCSD wrote)")]
    NotASnapshot,
    /// A version that nobody knows.
    #[error("the version of the snapshot is {found:?}, expected 1.0")]
    Version {
        /// What was found.
        found: String,
    },
    /// A snapshot without trace.
    #[error("has no section [trace] with metadata=FILE, so the snapshot has no trace")]
    NoTrace,
    /// A path that leads out of the directory.
    #[error("the path {found:?} {why}; what a snapshot names must lie in its own directory (copy the file there)")]
    Outside {
        /// The path.
        found: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something that must be there.
    #[error("[{section}] has no {key}=")]
    Missing {
        /// The section.
        section: String,
        /// What is missing.
        key: &'static str,
    },
    /// Something that is there twice.
    #[error("[{section}] has {key}= twice")]
    Twice {
        /// The section.
        section: String,
        /// What is there twice.
        key: String,
    },
    /// Two devices with one name.
    #[error("the device {name:?} is listed twice")]
    DeviceTwice {
        /// The name.
        name: String,
    },
    /// Two buffers with one name.
    #[error("the buffer {name:?} is described twice")]
    BufferTwice {
        /// The name.
        name: String,
    },
    /// A format that nobody knows.
    #[error("the format of the buffer is {found:?}, expected coresight, dstream_coresight or source_data")]
    Format {
        /// What was found.
        found: String,
    },
    /// A buffer in several files.
    #[error(
        "the buffer is in several files, {found:?}; one is read (join them with cat, in their order, and name that)"
    )]
    SeveralFiles {
        /// What was found.
        found: String,
    },
    /// Two cores of one source.
    #[error("the source {source_name:?} watches two cores, {first:?} and {second:?}")]
    TwoCores {
        /// The source.
        source_name: String,
        /// A core.
        first: String,
        /// The other.
        second: String,
    },
    /// Nothing that can be read.
    #[error("{found}; read are ETMv4 (type=ETM4) and ETE (type=ETE)")]
    NothingToRead {
        /// What there is.
        found: String,
    },
}

impl SnapshotError {
    /// No buffer has a source that is read, but these.
    pub(super) fn nothing_to_read(not_read: &[NotRead]) -> SnapshotError {
        let names: Vec<String> = not_read.iter().map(NotRead::to_string).collect();
        let found = match (names.is_empty(), not_read.iter().any(|protocol| protocol.is_instruction_trace())) {
            (true, _) => "no buffer has a source".to_owned(),
            (_, true) => format!("of what is in the snapshot nothing is read yet: {}", names.join(", ")),
            (_, false) => format!("what is in the snapshot tells no instructions: {}", names.join(", ")),
        };
        SnapshotError::NothingToRead { found }
    }
}
