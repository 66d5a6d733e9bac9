//! What is said on standard error while the program runs.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;

/// How much is said, and how.
#[derive(Debug, Args)]
pub struct LogOptions {
    /// Say more on standard error: -v shows every packet
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

/// Starts logging.
pub fn start(options: &LogOptions) {
    let level = match (options.quiet, options.verbose) {
        (true, _) => LevelFilter::WARN,
        (false, 0) => LevelFilter::INFO,
        (false, 1) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    match options.log_format {
        LogFormat::Text => {
            builder.with_ansi(std::io::stderr().is_terminal()).without_time().with_target(false).init();
        }
        LogFormat::Json => builder.json().init(),
    }
}
