//! `traceframe info`.

use std::io::Write;

use clap::Args;

use super::failure::Failure;
use super::recording::RecordingOptions;
use crate::report::{Info, printable_json};

/// Show what is in a recording
///
/// The machine, the tracepoints with what they collected, variables, how the run ended, how many frames there are by
/// tracepoint, and what is damaged.
#[derive(Debug, Args)]
pub struct InfoCommand {
    #[command(flatten)]
    recording: RecordingOptions,
    /// Write JSON; its field `version` grows when a field changes its meaning
    #[arg(long)]
    json: bool,
}

impl InfoCommand {
    /// Writes to standard output.
    pub fn run(self) -> Result<(), Failure> {
        let replay = self.recording.open()?;
        replay.index().wait();
        let info = Info::new(&replay);
        let mut out = std::io::stdout().lock();
        if self.json {
            let info = serde_json::to_string_pretty(&info).map_err(std::io::Error::from)?;
            writeln!(out, "{}", printable_json(&info))?;
        } else {
            write!(out, "{info}")?;
        }
        out.flush()?;
        Failure::if_changed(&replay)?;
        Ok(())
    }
}
