//! The options that every command with a recording has, and the opening of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::expanding::Expanding;
use super::failure::Failure;
use crate::arch;
use crate::format::{self, OpenOptions};
use crate::image::Image;
use crate::report;
use crate::session::Replay;
use crate::source::{ByteOrder, Source};

/// A recording, and what the user says about it.
#[derive(Debug, Args)]
pub struct RecordingOptions {
    /// The recording: a GDB trace file (what gdb's tsave writes), or a Nios II .tr file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The program that was recorded: an ELF file. gdb gets it from here, with symbols, lines and read-only memory
    #[arg(long, value_name = "ELF")]
    exec: Option<PathBuf>,
    /// What to add to the program's addresses (0x… or decimal), where a position-independent program cannot be placed
    /// from the recording
    #[arg(long, value_name = "ADDR", requires = "exec", value_parser = report::parse_number)]
    load_bias: Option<u64>,
    /// The target description (gdb's XML), instead of the one in the recording
    #[arg(long, value_name = "XML")]
    tdesc: Option<PathBuf>,
    /// The machine, where neither recording nor program tells it: x86-64, i386, aarch64, arm, riscv32, riscv64, powerpc,
    /// powerpc64, mips, mips64, s390x, nios2, or gdb's own name
    #[arg(long, value_name = "NAME")]
    arch: Option<String>,
    /// The byte order, where neither recording nor program tells it
    #[arg(long, value_enum, value_name = "ORDER")]
    endian: Option<Endian>,
    /// Refuse a recording that is damaged anywhere, or that contradicts the program
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Endian {
    /// Least significant byte first
    Little,
    /// Most significant byte first
    Big,
}

impl RecordingOptions {
    /// The recording, as the user named it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The program that was recorded, as the user named it.
    pub fn program(&self) -> Option<&Path> {
        self.exec.as_deref()
    }

    /// Opens the recording and the program, and begins to index. With `--strict` the index is waited for.
    pub fn open(&self) -> Result<Arc<Replay>, Failure> {
        let image = self.exec.as_deref().map(Image::open).transpose()?;
        let description = self.tdesc.as_deref().map(read_description).transpose()?;
        let expanding = Expanding::new();
        let show = |bytes| expanding.show(bytes);
        let options = OpenOptions {
            expanding: Some(&show),
            image: image.as_ref(),
            description: description.as_deref(),
            architecture: self.arch.as_deref(),
            byte_order: self.endian.map(|endian| match endian {
                Endian::Little => ByteOrder::Little,
                Endian::Big => ByteOrder::Big,
            }),
        };
        let recording = format::open(Source::open(&self.file)?, &options)?;
        drop(expanding);
        let replay = Arc::new(Replay::new(recording, image.map(Arc::new), self.load_bias)?);
        if self.strict {
            refuse_damage(&replay)?;
        }
        Ok(replay)
    }
}

fn refuse_damage(replay: &Replay) -> Result<(), Failure> {
    replay.index().wait();
    let damaged = !replay.recording().damage().is_empty() || !replay.index().damage().is_empty();
    if damaged {
        return Err(Failure::Strict(report::damage(replay).trim_end().to_owned()));
    }
    match report::warnings(replay).into_iter().next() {
        Some(warning) => Err(Failure::Strict(warning)),
        None => Ok(()),
    }
}

/// A target description with the files that it includes, which are looked for beside it.
fn read_description(path: &Path) -> Result<String, Failure> {
    let failed = |what: String| Failure::Description { path: path.to_owned(), what };
    let text = |path: &Path| {
        String::from_utf8(Source::open(path)?.bytes().to_vec()).map_err(|_| failed("not UTF-8 text".to_owned()))
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut include = |name: &str| {
        // A plain name only: a description is no way to read other folders.
        let plain = Path::new(name).file_name().is_some_and(|found| found == name);
        if plain { text(&folder.join(name)).ok() } else { None }
    };
    arch::with_includes(&text(path)?, &mut include).map_err(|error| failed(error.to_string()))
}
