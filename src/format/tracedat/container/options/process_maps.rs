//! The option PROCMAPS (10).

use super::{Wrong, text};

/// Which files were mapped in a traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMap {
    /// The process.
    pub pid: u32,
    /// Its command.
    pub command: String,
    /// The mapped files, in the order of the option.
    pub libraries: Vec<Library>,
}

/// A mapped file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The address of its first byte.
    pub start: u64,
    /// The address behind its last byte.
    pub end: u64,
    /// Its full path.
    pub path: String,
}

/// Lines `pid count command`, each followed by `count` lines `start end path`, all numbers in hexadecimal (trace-cmd's
/// trace-record.c, `add_pid_maps`). trace-cmd writes one process into an option, trace-cmd.dat.v7(5) allows for several.
pub(super) fn read(data: &[u8]) -> Result<Vec<ProcessMap>, Wrong> {
    let text = text::text(data);
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let mut maps = Vec::new();
    while let Some(line) = lines.next() {
        let (pid, count, command) = three(line)?;
        let pid = u32::try_from(pid).map_err(|_| unlike(line))?;
        let mut libraries = Vec::new();
        for _ in 0..count {
            let line = lines.next().ok_or_else(|| {
                Wrong::Said(format!("{count} mapped files are announced for process {pid}, found {}", libraries.len()))
            })?;
            let (start, end, path) = three(line)?;
            libraries.push(Library { start, end, path: path.to_owned() });
        }
        maps.push(ProcessMap { pid, command: command.to_owned(), libraries });
    }
    Ok(maps)
}

fn three(line: &str) -> Result<(u64, u64, &str), Wrong> {
    let mut parts = line.splitn(3, ' ');
    let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
    let found = number().zip(number());
    found.zip(parts.next()).map(|((first, second), rest)| (first, second, rest)).ok_or_else(|| unlike(line))
}

fn unlike(line: &str) -> Wrong {
    Wrong::Said(format!("the line {:?} is not two hexadecimal numbers and a name", text::shortened(line)))
}
