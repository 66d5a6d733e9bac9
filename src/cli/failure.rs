//! Why a command failed, and the exit code for it.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::format::FormatError;
use crate::format::itrace::capture::CaptureError;
use crate::format::itrace::recording::OpenError;
use crate::image::ImageError;
use crate::server::ServeError;
use crate::session::Replay;
use crate::source::{Change, SourceError};

/// Why a command failed. The messages are for people; the exit codes are an interface.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The recording cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// What is said of the dump of an instruction trace is not enough, or wrong.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// An instruction trace cannot be read.
    #[error(transparent)]
    Trace(#[from] OpenError),
    /// Options for an instruction trace without one.
    #[error("{}: nothing says which trace sources are in it (--source ID=PROTOCOL,… does, or a TOML file that describes it)", path.display())]
    NoTrace {
        /// The file.
        path: PathBuf,
    },
    /// The program cannot be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A target description cannot be read.
    #[error("{}: {what}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// The recording or the program changed while it was read.
    #[error("{} {change} (wait until whatever writes it is done, and try again)", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        change: Change,
    },
    /// With `--strict`: something is damaged, or the program contradicts the recording.
    #[error("{0} (refused under --strict)")]
    Strict(String),
    /// The server could not listen.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// There is no folder for a server's socket.
    #[error("no folder can be made for the server's socket: {0} (TMPDIR names where)")]
    Folder(io::Error),
    /// The log of packets cannot be written.
    #[error("the packet log {} cannot be written: {cause}", path.display())]
    PacketLog {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// What is to be written is what is read.
    #[error("{} is what is to be read: it is not written over", .0.display())]
    OverInput(PathBuf),
    /// Lines are asked for where none are known.
    #[error("{}: nothing tells the source lines of what was recorded (--exec gives the program, compiled with -g)", .0.display())]
    NoLines(PathBuf),
    /// There is no thread of this name or number.
    #[error("there is no thread {asked:?} in it: {there}")]
    NoThread {
        /// What was asked for.
        asked: String,
        /// Those that there are, in words.
        there: String,
    },
    /// Two outputs for standard output.
    #[error(
        "both would go to standard output: --lcov FILE writes to a file what --coverage and --json leave no room for"
    )]
    TwoOutputs,
    /// There is no command of this name.
    #[error("there is no command {0:?} (traceframe help shows all)")]
    NoPage(String),
    /// gdb failed, or what it was to do, or it could not be run.
    #[error("{what}")]
    Gdb {
        /// What happened.
        what: String,
    },
    /// The time was up before gdb had ended.
    #[error("no end after {0:?}: gdb was ended (allow more with --timeout)")]
    Deadline(std::time::Duration),
    /// Standard output cannot be written, or a temporary file.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Fails where a file changed while a command read it: what was shown may not be what is in it.
    pub fn if_changed(replay: &Replay) -> Result<(), Failure> {
        match replay.changes().first() {
            Some((path, change)) => Err(Failure::Changed { path: path.to_path_buf(), change: *change }),
            None => Ok(()),
        }
    }

    /// 3: unreadable; 4: not listening; 5: too late; 1: gdb's failure, and anything that should not happen.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Source(_)
            | Failure::Format(_)
            | Failure::Capture(_)
            | Failure::Trace(_)
            | Failure::Image(_)
            | Failure::Description { .. }
            | Failure::Changed { .. }
            | Failure::NoLines(_)
            | Failure::Strict(_) => 3,
            Failure::Serve(_) | Failure::Folder(_) => 4,
            Failure::NoPage(_)
            | Failure::OverInput(_)
            | Failure::NoThread { .. }
            | Failure::TwoOutputs
            | Failure::NoTrace { .. } => 2,
            Failure::Deadline(_) => 5,
            Failure::Gdb { .. } | Failure::PacketLog { .. } | Failure::File { .. } | Failure::Output(_) => 1,
        })
    }
}
