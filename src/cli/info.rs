//! `traceframe info`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::failure::Failure;
use super::output;
use super::recording::RecordingOptions;
use crate::report::{Coverage, Info, count, printable, printable_json};
use crate::session::Replay;
use crate::trace::Thread;

/// How many threads are named where another is asked for.
const THREADS: usize = 20;

/// Show what is in a recording
///
/// The machine, the tracepoints with what they collected, variables, how the run ended, how many frames there are by
/// tracepoint, and what is damaged. Or what of the program was executed: which lines and functions, and how often.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("counted").args(["coverage", "lcov"]).multiple(true))]
pub struct InfoCommand {
    #[command(flatten)]
    recording: RecordingOptions,
    /// Write JSON; its field `version` grows when a field changes its meaning
    #[arg(long)]
    json: bool,
    /// Show which lines and functions of the programs were executed, and how often: in an instruction trace how often an
    /// instruction of the line was, in other recordings how many frames were made there
    #[arg(long)]
    coverage: bool,
    /// Write the same to a file as lcov and genhtml read it, - for standard output. It is there once it is whole
    #[arg(long, value_name = "OUT")]
    lcov: Option<PathBuf>,
    /// Count only what one thread executed: its number, or its name, as a source of an instruction trace has one
    #[arg(long, value_name = "THREAD", requires = "counted")]
    thread: Option<String>,
    /// How many files and how many functions are shown, 0 for all; the functions first that were called most often
    #[arg(long, value_name = "N", default_value_t = 50, requires = "coverage")]
    limit: usize,
}

impl InfoCommand {
    /// Writes to standard output, or a file.
    pub fn run(self) -> Result<(), Failure> {
        let is_for_lcov = self.lcov.is_some();
        let shows = self.coverage || self.json || !is_for_lcov;
        if let Some(out) = &self.lcov {
            if shows && output::is_standard_output(out) {
                return Err(Failure::TwoOutputs);
            }
            if self.recording.reads(out) {
                return Err(Failure::OverInput(out.clone()));
            }
        }
        let replay = self.recording.open()?;
        replay.index().wait();
        if self.coverage || is_for_lcov {
            return self.coverage(&replay, shows);
        }
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

    /// Writes what was executed.
    fn coverage(&self, replay: &Replay, shows: bool) -> Result<(), Failure> {
        let thread = self.thread.as_deref().map(|asked| thread(replay, asked)).transpose()?;
        let coverage = Coverage::new(replay, thread.as_ref());
        if let Some(out) = &self.lcov {
            if !coverage.has_lines() {
                Failure::if_changed(replay)?;
                return Err(Failure::NoLines(replay.recording().name().to_owned()));
            }
            output::write(out, replay, &mut |output| coverage.write_lcov(output))?;
            self.tell(replay, &coverage);
        }
        if shows {
            let mut out = BufWriter::new(std::io::stdout().lock());
            match self.json {
                true => coverage.write_json(&mut out)?,
                false => coverage.write_text(&mut out, if self.limit == 0 { usize::MAX } else { self.limit })?,
            }
            out.flush()?;
        }
        Failure::if_changed(replay)
    }

    /// Says what a tracefile of lcov has no place for.
    fn tell(&self, replay: &Replay, coverage: &Coverage<'_>) {
        if coverage.gaps() > 0 {
            let gaps = count(coverage.gaps(), "gap");
            tracing::warn!("{gaps} in the trace: lines that show no count may have been executed there");
        }
        output::warn_of_damage(replay);
    }
}

/// The thread of a number or a name.
fn thread(replay: &Replay, asked: &str) -> Result<Thread, Failure> {
    let threads = replay.recording().threads();
    let by_name = || threads.iter().find(|thread| thread.name == asked);
    let by_number = asked.parse().ok().and_then(|id: u32| threads.iter().find(|thread| thread.id == id));
    if let Some(found) = by_number.or_else(by_name) {
        return Ok(found.clone());
    }
    let shown = |thread: &Thread| format!("{} ({})", thread.id, printable(&thread.name));
    let mut there: Vec<String> = threads.iter().take(THREADS).map(shown).collect();
    if threads.len() > THREADS {
        there.push(format!("… {} more", threads.len() - THREADS));
    }
    let there = if there.is_empty() { "it names none".to_owned() } else { format!("there are {}", there.join(", ")) };
    Err(Failure::NoThread { asked: asked.to_owned(), there })
}
