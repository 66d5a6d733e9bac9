//! `traceframe demo`: a recording and its program that are part of this one.
//!
//! `queue.c` is the source, `queue` the program, `queue.tf` the recording; `record.gdb` made it, and
//! `scripts/rebuild-demo` makes all of it again.

use std::io;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use tempfile::TempDir;

use super::failure::Failure;
use super::serve::Listening;
use crate::format::{self, OpenOptions};
use crate::image::Image;
use crate::report;
use crate::server;
use crate::session::{Programs, Replay};
use crate::source::Source;

const SOURCE: &str = include_str!("queue.c");
const PROGRAM: &[u8] = include_bytes!("queue");
const RECORDING: &[u8] = include_bytes!("queue.tf");

/// The path under which gdb gets the program; it names no file.
const PROGRAM_NAME: &str = "/traceframe-demo/queue";

/// What the program's debug information says in place of the folder of its source.
const FOLDER_MARK: &[u8] = b"/traceframe-demo-sources-";

/// Serve a recording that comes with this program
///
/// gdb needs no file for it: gdb -ex 'target remote :1234' shows a program, its source and 51 trace frames.
#[derive(Debug, Args)]
pub struct Demo {
    #[command(flatten)]
    listening: Listening,
}

impl Demo {
    /// Serves until a signal comes, or with `--once` until the first client leaves.
    pub fn run(self) -> Result<(), Failure> {
        // gdb reads source files itself, so for as long as the demo runs there is one.
        let written = write_source();
        if let Err(cause) = &written {
            let cause = report::printable(&cause.to_string());
            tracing::warn!("the demo goes on without its source file: {cause} (TMPDIR names a folder to write to)");
        }
        let program = written.as_ref().map_or_else(|_| PROGRAM.to_vec(), |(_, program)| program.clone());
        let image = Image::from_source(Source::from_vec(PROGRAM_NAME, program))?;
        let options = OpenOptions { image: Some(&image), ..OpenOptions::default() };
        let recording = format::open(Source::from_static("queue.tf (demo)", RECORDING), &options)?;
        let replay =
            Arc::new(Replay::new(recording, Programs { program: Some(Arc::new(image)), ..Programs::default() })?);
        let greeting = super::serve::greeting(&replay);
        Ok(server::serve(replay, &self.listening.options(Some(greeting)))?)
    }
}

/// A folder with the source file, and the program that names it.
fn write_source() -> io::Result<(TempDir, Vec<u8>)> {
    let folder = tempfile::Builder::new().prefix("traceframe-demo-").tempdir()?;
    std::fs::write(folder.path().join("queue.c"), SOURCE)?;
    let program = with_sources_in(folder.path())?;
    Ok((folder, program))
}

/// The program with the folder of its source in place of each mark, which is longer.
fn with_sources_in(folder: &Path) -> io::Result<Vec<u8>> {
    let mut program = PROGRAM.to_vec();
    let folder = folder.as_os_str().as_encoded_bytes();
    let marks: Vec<usize> = memchr::memmem::find_iter(PROGRAM, FOLDER_MARK).collect();
    for mark in marks {
        let length = PROGRAM[mark..].iter().position(|byte| *byte == 0).unwrap_or(0);
        if folder.len() >= length {
            return Err(io::Error::other("the path of the temporary folder is too long"));
        }
        program[mark..mark + length].fill(0);
        program[mark..mark + folder.len()].copy_from_slice(folder);
    }
    Ok(program)
}
