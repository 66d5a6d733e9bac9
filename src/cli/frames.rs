//! `traceframe frames`.

use std::io::{BufWriter, Write};

use clap::Args;

use super::failure::Failure;
use super::output;
use super::recording::RecordingOptions;
use crate::report::{
    self, FrameFilter, FrameRow, FrameRows, parse_pc, parse_pid, parse_range, parse_times, parse_tracepoint,
    printable_json,
};

/// Show the frames of a recording as a table
#[derive(Debug, Args)]
pub struct FramesCommand {
    #[command(flatten)]
    recording: RecordingOptions,
    /// Write JSON, one object a line; its field `version` grows when a field changes its meaning
    #[arg(long)]
    json: bool,
    /// Only frames of this tracepoint, as the recording machine counted
    #[arg(long, value_name = "N", value_parser = parse_tracepoint, allow_negative_numbers = true)]
    tracepoint: Option<i32>,
    /// Only frames whose program counter is A, or from A to B, both included (0x… or decimal)
    #[arg(long, value_name = "A[,B]", value_parser = parse_pc)]
    pc: Option<(u64, u64)>,
    /// Only frames M to N, both included
    #[arg(long, value_name = "M..N", value_parser = parse_range)]
    range: Option<(u64, u64)>,
    /// Only frames of the task of this number, in recordings of trace-cmd
    #[arg(long, value_name = "N", value_parser = parse_pid, allow_negative_numbers = true)]
    pid: Option<i32>,
    /// Only frames recorded from A to B, both included, in seconds as `trace-cmd report -t` writes times; one that is
    /// missing means the first or the last frame
    #[arg(long, value_name = "A..B", value_parser = parse_times)]
    time: Option<(u64, u64)>,
}

impl FramesCommand {
    /// Writes to standard output.
    pub fn run(self) -> Result<(), Failure> {
        let replay = self.recording.open()?;
        let frames = replay.index().wait().frames;
        let FramesCommand { tracepoint, pc, range, pid, time, .. } = self;
        let filter = FrameFilter { tracepoint, pc, range, pid, time };
        let mut out = BufWriter::new(std::io::stdout().lock());
        if !self.json {
            writeln!(out, "{}", FrameRow::heading(replay.recording()))?;
        }
        for row in FrameRows::new(&replay, &filter) {
            if self.json {
                let row = serde_json::to_string(&row).map_err(std::io::Error::from)?;
                writeln!(out, "{}", printable_json(&row))?;
            } else {
                for line in row.lines() {
                    writeln!(out, "{line}")?;
                }
            }
        }
        if !self.json {
            for line in report::lines_without_frames(&replay) {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()?;
        if let Some((first, _)) = range
            && first >= frames
        {
            let last = frames.checked_sub(1).map_or("none".to_owned(), |last| last.to_string());
            tracing::warn!("there is no frame {first} (--range): the last is {last}");
        }
        Failure::if_changed(&replay)?;
        for warning in report::warnings(&replay) {
            tracing::warn!("{warning}");
        }
        output::warn_of_damage(&replay);
        Ok(())
    }
}
