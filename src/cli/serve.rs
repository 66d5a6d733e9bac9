//! `traceframe serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use super::recording::RecordingOptions;
use crate::report::{self, Info};
use crate::rsp::PACKET_SIZE;
use crate::server::{self, Address, Limits, ServeOptions};
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
    /// Talk to one client over standard input and output; in gdb: target remote | traceframe serve --stdio FILE, and
    /// over ssh: target remote | ssh HOST traceframe serve --stdio FILE
    #[arg(long, conflicts_with_all = ["listen", "port_file", "once", "max_clients"])]
    stdio: bool,
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
    /// How many clients may be connected at a time; more are told so and turned away
    #[arg(long, value_name = "N", default_value_t = Limits::default().clients, value_parser = at_least_one)]
    max_clients: usize,
    /// End the connection of a client that is silent for so long; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    idle_timeout: u32,
    /// The longest packet that a client may send, and the longest reply with memory: 1024 to 1048576 bytes
    #[arg(long, value_name = "BYTES", default_value_t = PACKET_SIZE as u32,
          value_parser = clap::value_parser!(u32).range(1024..=1 << 20))]
    packet_size: u32,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a server without clients is none".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a number".to_owned()),
    }
}

impl Listening {
    /// What the server is to do.
    pub fn options(self, greeting: Option<Vec<String>>) -> ServeOptions {
        let limits = self.limits();
        let addresses = if self.listen.is_empty() { vec![Address::Loopback(DEFAULT_PORT)] } else { self.listen };
        let Listening { port_file, once, .. } = self;
        ServeOptions { addresses, port_file, once, greeting, limits, packet_log: None }
    }

    fn limits(&self) -> Limits {
        let idle = Some(self.idle_timeout).filter(|seconds| *seconds > 0);
        Limits {
            clients: self.max_clients,
            idle: idle.map(|seconds| Duration::from_secs(seconds.into())),
            packet_size: self.packet_size as usize,
        }
    }
}

impl Serve {
    /// Whether it talks over standard input and output.
    pub fn is_over_stdio(&self) -> bool {
        self.stdio
    }

    /// Serves until a signal comes, or with `--once` until the first client leaves.
    pub fn run(self) -> Result<(), Failure> {
        let replay = self.recording.open()?;
        let greeting = greeting(&replay);
        if self.stdio {
            for line in greeting {
                tracing::debug!("{line}");
            }
            return Ok(server::serve_stdio(replay, self.listening.limits())?);
        }
        Ok(server::serve(replay, &self.listening.options(Some(greeting)))?)
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
