//! `traceframe completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::failure::Failure;

/// Write a shell's completions to standard output
///
/// For bash: traceframe completions bash >~/.local/share/bash-completion/completions/traceframe
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Writes them.
    pub fn run(self) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut super::Arguments::command(), "traceframe", &mut text);
        Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &text)?)
    }
}
