//! `traceframe convert`.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use super::progress::Progress;
use super::recording::RecordingOptions;
use crate::format::tfile::{Conversion, Survey, WriteError, Writer};
use crate::report::{count, printable};
use crate::session::Replay;

/// Write a recording as a GDB trace file, which gdb itself opens: target tfile OUT
///
/// What the format has no place for is left out, and said on standard error: times, threads, registers that not all
/// frames collected alike.
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    recording: RecordingOptions,
    /// The file to write, - for standard output. It is there once it is whole
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Write the registers also where frames have only some of the machine's, all frames the same. Such a file is for
    /// traceframe: gdb's own target tfile shows few registers of it or none, and no place
    #[arg(long)]
    partial_registers: bool,
}

/// Lines of a description that are as long are refused by gdb (tracefile-tfile.c, `tfile_target_open`).
const TOO_LONG: usize = 1000;

impl Convert {
    /// Writes it.
    pub fn run(self) -> Result<(), Failure> {
        if self.recording.reads(&self.out) {
            return Err(Failure::OverInput(self.out));
        }
        let replay = self.recording.open()?;
        let progress = Progress::new();
        let index = replay.index();
        while !index.progress().complete {
            progress.show(|| format!("reading: {} frames", index.progress().frames));
            std::thread::sleep(Duration::from_millis(2));
        }
        let frames = index.progress().frames;
        let mut survey = Survey::new(replay.recording());
        for (number, frame) in (0..frames).map_while(|number| Some((number, replay.frame(number)?))) {
            progress.show(|| format!("looking at frame {number} of {frames}"));
            survey.add(&frame);
        }
        let conversion = Conversion::new(replay.recording(), &survey, self.partial_registers);
        let mut written = 0;
        let mut write = |output: &mut dyn Write| {
            let mut writer = Writer::new(output, replay.recording().target().byte_order, &conversion.description)?;
            for (number, frame) in (0..frames).map_while(|number| Some((number, replay.frame(number)?))) {
                progress.show(|| format!("writing frame {number} of {frames}"));
                match writer.frame(&conversion.frame(frame)) {
                    Ok(()) => written += 1,
                    Err(WriteError::Io(cause)) => return Err(WriteError::Io(cause)),
                    // The format has no room for it: counted below.
                    Err(_) => {}
                }
            }
            writer.finish().map(|_| ())
        };
        let is_standard_output = self.out == Path::new("-");
        let is_special = || fs::metadata(&self.out).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_standard_output {
            let mut output = BufWriter::new(io::stdout().lock());
            write(&mut output).map_err(|error| Failure::Output(io_error(error)))?;
            Failure::if_changed(&replay)?;
        } else {
            let failed = |cause| Failure::File { path: self.out.clone(), cause };
            if is_special() {
                let mut output = BufWriter::new(File::create(&self.out).map_err(failed)?);
                write(&mut output).map_err(|error| failed(io_error(error)))?;
                Failure::if_changed(&replay)?;
            } else {
                whole_file(&self.out, &replay, &mut write)?;
            }
        }
        drop(progress);
        self.tell(&replay, &conversion, frames, written);
        Ok(())
    }

    /// Says what is in the file, and what is not.
    fn tell(&self, replay: &Replay, conversion: &Conversion, frames: u64, written: u64) {
        let out = match self.out == Path::new("-") {
            true => "standard output".to_owned(),
            false => printable(&self.out.display().to_string()),
        };
        let mut lost = conversion.lost.clone();
        if written < frames {
            lost.push(format!("{} that the format has no room for", count(frames - written, "frame")));
        }
        if lost.is_empty() {
            tracing::info!("{out}: {}", count(written, "frame"));
        } else {
            tracing::warn!("{out}: {}; not in it: {}", count(written, "frame"), lost.join(", "));
        }
        if conversion.description.target_description.is_none() {
            tracing::warn!("{out} does not tell the machine (with --arch it would): tell gdb, with set architecture");
        }
        if conversion.is_partial {
            tracing::warn!(
                "gdb's own target tfile shows few registers of {out} or none, and no place; traceframe shows them"
            );
        }
        let description = Writer::new(Vec::new(), replay.recording().target().byte_order, &conversion.description);
        let description = description.and_then(Writer::finish).unwrap_or_default();
        let long = description.split(|byte| *byte == b'\n').filter(|line| line.len() >= TOO_LONG).count();
        if long > 0 {
            let lines = count(long as u64, "line");
            tracing::warn!(
                "gdb's own target tfile refuses {out}: {lines} of its description have {TOO_LONG} bytes or more"
            );
        }
        let damaged = replay.recording().damage().len() as u64 + replay.index().damage().total();
        if damaged > 0 {
            tracing::warn!("{} could not be read; traceframe info names them", count(damaged, "place"));
        }
    }
}

/// Writes a file under a name of its own, which becomes the right one when the file is whole.
fn whole_file(
    out: &Path,
    replay: &Replay,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<(), WriteError>,
) -> Result<(), Failure> {
    let failed = |cause| Failure::File { path: out.to_owned(), cause };
    // A link stays one.
    let path = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any new file has them, less what the user's umask takes away.
    let permissions = fs::metadata(&path).map_or(Permissions::from_mode(0o666), |found| found.permissions());
    let mut builder = tempfile::Builder::new();
    let temporary = builder.prefix(".traceframe-").suffix(".tf").permissions(permissions).tempfile_in(folder);
    let mut output = BufWriter::new(temporary.map_err(failed)?);
    write(&mut output).map_err(|error| failed(io_error(error)))?;
    let temporary = output.into_inner().map_err(|error| failed(error.into_error()))?;
    Failure::if_changed(replay)?;
    temporary.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(cause) => cause,
        other => io::Error::other(other),
    }
}
