//! `traceframe serve`.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::recording::RecordingOptions;
use crate::report::{self, Info};
use crate::server::{self, Address, ServeOptions};
use crate::session::Replay;

/// gdb's usual port for remote debugging.
const DEFAULT_PORT: u16 = 1234;

/// Serve a recording to gdb
///
/// Listens on both loopback addresses at port 1234. Then, in gdb: target remote :1234
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    recording: RecordingOptions,
    #[command(flatten)]
    listening: Listening,
}

/// Where and how long to listen.
#[derive(Debug, Args)]
pub struct Listening {
    /// Where to listen: ADDR:PORT, :PORT for both loopback addresses, port 0 for any free one, unix:PATH; may be
    /// given several times [default: :1234]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Vec<Address>,
    /// Write the TCP port to this file once the server listens
    #[arg(long, value_name = "PATH")]
    port_file: Option<PathBuf>,
    /// End when the first client leaves
    #[arg(long)]
    once: bool,
}

impl Listening {
    /// What the server is to do.
    pub fn options(self, greeting: Vec<String>) -> ServeOptions {
        let addresses = if self.listen.is_empty() { vec![Address::Loopback(DEFAULT_PORT)] } else { self.listen };
        ServeOptions { addresses, port_file: self.port_file, once: self.once, greeting }
    }
}

impl Serve {
    /// Serves until a signal comes, or with `--once` until the first client leaves.
    pub fn run(self) -> Result<(), Failure> {
        let replay = self.recording.open()?;
        let greeting = greeting(&replay);
        Ok(server::serve(replay, &self.listening.options(greeting))?)
    }
}

/// What is served, in the few lines before the ready line.
pub fn greeting(replay: &Replay) -> Vec<String> {
    for remark in replay.recording().remarks() {
        tracing::info!("{}", report::printable(remark));
    }
    // How many frames there are is known only when they are indexed, and said then.
    let summary = Info::new(replay).summary();
    let mut lines: Vec<_> = summary.lines().filter(|line| !line.starts_with("frames:")).map(str::to_owned).collect();
    lines.extend(report::without_program(replay));
    lines.extend(report::told_otherwise(replay));
    lines
}
