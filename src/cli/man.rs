//! `traceframe man`.

use clap::{Args, CommandFactory};

use super::failure::Failure;

/// Write the manual page to standard output
///
/// To read it: traceframe man | man -l -
#[derive(Debug, Args)]
pub struct ManualPage {
    /// The page of this command: serve, run, info, frames, convert, demo; without it, the program's
    command: Option<String>,
}

impl ManualPage {
    /// Writes it.
    pub fn run(self) -> Result<(), Failure> {
        let mut program = super::Arguments::command();
        program.build();
        let page = match &self.command {
            None => program,
            Some(name) => {
                let found = program.find_subcommand(name).cloned();
                found.ok_or_else(|| Failure::NoPage(name.clone()))?.display_name(format!("traceframe-{name}"))
            }
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text)?;
        Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &text)?)
    }
}
