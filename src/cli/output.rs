//! What commands write: files, which are there whole or not at all, and what is said beside them.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::failure::Failure;
use crate::report::{count, printable};
use crate::session::Replay;

/// What writes the contents of a file.
pub type Contents<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes what is made of a recording to a file, or to standard output for `-`. A file is there once it is whole; if
/// what it is made of changed meanwhile, it is not.
pub fn write(out: &Path, replay: &Replay, contents: Contents<'_>) -> Result<(), Failure> {
    if is_standard_output(out) {
        let mut output = BufWriter::new(io::stdout().lock());
        contents(&mut output).and_then(|()| output.flush()).map_err(Failure::Output)?;
        return Failure::if_changed(replay);
    }
    let failed = |cause| Failure::File { path: out.to_owned(), cause };
    if fs::metadata(out).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut output = BufWriter::new(File::create(out).map_err(failed)?);
        contents(&mut output).and_then(|()| output.flush()).map_err(failed)?;
        return Failure::if_changed(replay);
    }
    whole_file(out, replay, contents)
}

/// Whether that means standard output.
pub fn is_standard_output(out: &Path) -> bool {
    out == Path::new("-")
}

/// Says how much of a recording is not in what was written, since it could not be read.
pub fn warn_of_damage(replay: &Replay) {
    let damaged = replay.damaged();
    if damaged > 0 {
        tracing::warn!("{} could not be read; traceframe info names them", count(damaged, "place"));
    }
}

/// What it is called in messages.
pub fn name(out: &Path) -> String {
    match is_standard_output(out) {
        true => "standard output".to_owned(),
        false => printable(&out.display().to_string()),
    }
}

/// Writes a file under a name of its own, which becomes the right one when the file is whole.
fn whole_file(out: &Path, replay: &Replay, contents: Contents<'_>) -> Result<(), Failure> {
    let failed = |cause| Failure::File { path: out.to_owned(), cause };
    // A link stays one.
    let path = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any new file has them, less what the user's umask takes away.
    let permissions = fs::metadata(&path).map_or(Permissions::from_mode(0o666), |found| found.permissions());
    let mut builder = tempfile::Builder::new();
    let temporary = builder.prefix(".traceframe-").permissions(permissions).tempfile_in(folder);
    let mut output = BufWriter::new(temporary.map_err(failed)?);
    contents(&mut output).map_err(failed)?;
    let temporary = output.into_inner().map_err(|error| failed(error.into_error()))?;
    Failure::if_changed(replay)?;
    temporary.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}
