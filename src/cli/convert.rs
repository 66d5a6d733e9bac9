//! `traceframe convert`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use super::output;
use super::progress::Progress;
use super::recording::RecordingOptions;
use crate::format::tfile::{Conversion, Survey, WriteError, Writer};
use crate::report::count;
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
        let recording = replay.recording();
        let recorded = |number| Some((number, recording.without_made(replay.frame(number)?)));
        let mut survey = Survey::new(recording);
        for (number, frame) in (0..frames).map_while(recorded) {
            progress.show(|| format!("looking at frame {number} of {frames}"));
            survey.add(&frame);
        }
        // Of an instruction the program counter is all there is.
        let has_partial = self.partial_registers || recording.is_instruction_trace();
        let conversion = Conversion::new(recording, &survey, has_partial);
        let mut written = 0;
        let mut write = |output: &mut dyn Write| {
            let mut writer = Writer::new(output, replay.recording().target().byte_order, &conversion.description)?;
            for (number, frame) in (0..frames).map_while(recorded) {
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
        output::write(&self.out, &replay, &mut |output| write(output).map_err(io_error))?;
        drop(progress);
        self.tell(&replay, &conversion, frames, written);
        Ok(())
    }

    /// Says what is in the file, and what is not.
    fn tell(&self, replay: &Replay, conversion: &Conversion, frames: u64, written: u64) {
        let out = output::name(&self.out);
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
        output::warn_of_damage(replay);
    }
}

fn io_error(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(cause) => cause,
        other => io::Error::other(other),
    }
}
