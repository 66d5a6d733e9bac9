//! The command line: what was typed, what it means, and the exit code.
//!
//! Owns: options and their help, one file a command, messages to people, exit codes.

mod completions;
mod convert;
mod demo;
mod failure;
mod frames;
mod info;
mod log;
mod man;
mod output;
mod progress;
mod recording;
mod run;
mod serve;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use failure::Failure;

use crate::report;

const EXIT_CODES: &str = "\
Exit codes: 0 all went well; 1 output could not be written; 2 the command line is wrong; 3 the recording or the program \
cannot be read (with --strict also: is damaged, or the program contradicts it); 4 the server could not listen. \
`run` has more: 1 also where the script or an assertion failed, 5 where its time was up.";

/// Serves a recorded trace to a stock gdb.
///
/// `traceframe serve app.tf --exec app` waits for a gdb that types `target remote :1234` and then walks through the
/// recording with tfind, tdump, print and backtrace, as if the machine that made it were still there.
#[derive(Debug, Parser)]
#[command(version = concat!(env!("CARGO_PKG_VERSION"), env!("TRACEFRAME_COMMIT")), after_help = EXIT_CODES, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: log::LogOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Run(run::Run),
    Info(info::InfoCommand),
    Frames(frames::FramesCommand),
    Convert(convert::Convert),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::ManualPage),
}

impl Command {
    /// Whether what it says goes to gdb's terminal, among what gdb says there.
    fn is_quiet(&self) -> bool {
        match self {
            Command::Serve(serve) => serve.is_over_stdio(),
            Command::Run(_) => true,
            _ => false,
        }
    }
}

/// Runs the program; its exit code.
pub fn main() -> ExitCode {
    let arguments = Arguments::try_parse_from(typed()).unwrap_or_else(|error| refuse(&error));
    let _written_at_the_end = log::start(&arguments.log, arguments.command.is_quiet());
    let result = match arguments.command {
        Command::Serve(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Info(command) => command.run(),
        Command::Frames(command) => command.run(),
        Command::Convert(convert) => convert.run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(Failure::Output(cause)) if cause.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            log::failure(&arguments.log, &failure);
            failure.exit_code()
        }
    }
}

/// What was typed, with `-ex` for gdb's sake, which a long option of one dash is there.
fn typed() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|argument| if argument == "-ex" { OsString::from("--ex") } else { argument })
}

/// Ends the program with what is wrong with its arguments. They are named in a form that steers no terminal, since
/// `info *` passes whatever names files have: the mistake is the same in that form.
fn refuse(error: &clap::Error) -> ! {
    let shown = typed().map(|argument| report::printable(&argument.to_string_lossy()));
    Arguments::try_parse_from(shown).err().as_ref().unwrap_or(error).exit()
}
