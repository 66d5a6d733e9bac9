//! What is said on standard error while the program runs.

use std::io::{IsTerminal, Write};

use clap::{Args, ValueEnum};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

use super::failure::Failure;
use crate::report;

/// How much is said, and how.
#[derive(Debug, Args)]
pub struct LogOptions {
    /// Say more on standard error; a server shows every packet
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Say less: only warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// How messages on standard error are written
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// One line of text a message
    Text,
    /// One JSON object a message, with its time
    Json,
}

/// How many lines wait for a reader of standard error before further ones are lost.
const LINES_WAITING: usize = 10_000;

/// Starts logging; `is_quiet` is a command that says nothing but warnings if it is not asked to. Lines that wait are
/// written when the value is dropped.
///
/// A thread of its own writes: where standard error is a pipe that nobody reads, or a terminal that was stopped with
/// ^S, clients are served all the same.
pub fn start(options: &LogOptions, is_quiet: bool) -> WorkerGuard {
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES_WAITING).finish(std::io::stderr());
    let level = match (options.quiet, options.verbose) {
        (true, _) => LevelFilter::WARN,
        (false, 0) if is_quiet => LevelFilter::WARN,
        (false, 0) => LevelFilter::INFO,
        (false, 1) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    // gdbstub speaks of every packet that it does not know, which each gdb sends some of.
    let of_gdbstub = if level > LevelFilter::INFO { level } else { LevelFilter::ERROR };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(format!("{level},gdbstub={of_gdbstub}")))
        .with_writer(writer)
        // Where nobody reads standard error any more, the program goes on in silence.
        .log_internal_errors(false);
    match options.log_format {
        LogFormat::Text => {
            builder.with_ansi(std::io::stderr().is_terminal()).without_time().with_target(false).init();
        }
        LogFormat::Json => builder.json().init(),
    }
    guard
}

/// Says why a command failed. The message may hold the name of a file, and that anything.
pub fn failure(options: &LogOptions, failure: &Failure) {
    let message = failure.to_string().lines().map(report::printable).collect::<Vec<_>>().join("\n");
    match options.log_format {
        LogFormat::Text => {
            let _ = writeln!(std::io::stderr(), "traceframe: {message}");
        }
        LogFormat::Json => tracing::error!("{message}"),
    }
}
