//! The description section: what a recording says before its frames.

use super::lines::{Line, Lines};
use super::tracepoint::{Outcome, Tracepoints};
use super::{status, text, variable};
use crate::arch::Layout;
use crate::trace::{Damage, DamageList, RunStatus, TraceStateVariable, Tracepoint};

/// What the lines of a description may take of memory, in bytes, besides what the file itself takes: a quarter of a
/// million lines. Real files have up to some thousands; a file of nothing but short lines would take fifty times its size.
const ROOM: usize = 128 << 20;

/// How many bytes are kept of a line that is no text, each of which may take three: frames, say, where the end of the
/// description was lost.
const KEPT_OF_NO_TEXT: usize = 100;

/// What keeping a line takes besides its words, in bytes, roughly.
const LINE_COST: usize = 512;

/// What the description section says; the same for reading and for writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The size in bytes of every register block (`R`); `None` where the file does not say.
    pub register_block_size: Option<usize>,
    /// The target description, as XML (`tdesc`).
    pub target_description: Option<String>,
    /// The run (`status`).
    pub status: RunStatus,
    /// The trace state variables (`tsv`), in the order of the file.
    pub variables: Vec<TraceStateVariable>,
    /// The tracepoints' locations (`tp`), in the order of the file.
    pub tracepoints: Vec<Tracepoint>,
    /// Lines that have no meaning known here.
    pub unknown_lines: Vec<String>,
}

/// The description section as it was read.
#[derive(Debug)]
pub(super) struct Section {
    pub description: Description,
    /// What of it could not be read.
    pub damage: Vec<Damage>,
    /// Offset of the first line of the target description.
    pub target_description_at: Option<u64>,
    /// Offset of the line that gives the size of register blocks.
    pub register_block_size_at: Option<u64>,
    /// Offset of the first frame; `None` where the section has no end.
    pub frames_at: Option<u64>,
}

impl Section {
    /// Reads the section that begins at offset `at`; `bytes` reach to the end of the file.
    pub fn read(bytes: &[u8], at: u64) -> Section {
        let mut reader = Reader::with_room(ROOM.saturating_add(bytes.len()));
        let mut lines = Lines::new(bytes, at);
        for line in lines.by_ref() {
            if let Err(what) = reader.line(line) {
                reader.damage.push(Damage { at: line.at, frame: None, what });
            }
        }
        let frames_at = match lines.end() {
            Ok(offset) => Some(offset),
            Err(cut) => {
                let what = "the description ends without an empty line, expected more lines and then frames \
                            (the file is cut here)";
                reader.damage.push(Damage { at: cut, frame: None, what: what.to_owned() });
                None
            }
        };
        reader.finish(frames_at)
    }
}

#[derive(Default)]
struct Reader {
    description: Description,
    tracepoints: Tracepoints,
    damage: DamageList,
    target_description_at: Option<u64>,
    register_block_size_at: Option<u64>,
    /// How many bytes are left for lines.
    room: usize,
    /// Offset of the first line that found no room, and how many found none.
    left_out: Option<(u64, u64)>,
}

impl Reader {
    fn with_room(room: usize) -> Reader {
        Reader { room, ..Reader::default() }
    }

    /// Takes room for a line. Where it does not fit, none that follows does: half a tracepoint would mislead.
    fn has_room(&mut self, line: Line<'_>) -> bool {
        let left = self.room.checked_sub(LINE_COST.saturating_add(line.bytes.len()));
        self.room = left.unwrap_or(0);
        if left.is_none() {
            self.left_out.get_or_insert((line.at, 0)).1 += 1;
        }
        left.is_some()
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), String> {
        let Line { at, bytes } = line;
        let (keyword, rest) = match memchr::memchr(b' ', bytes).and_then(|length| bytes.split_at_checked(length)) {
            Some((keyword, rest)) => (keyword, rest.get(1..).unwrap_or(&[])),
            None => (bytes, &[][..]),
        };
        let named = |what: String| format!("{} line left out: {what}", keyword.escape_ascii());
        if !matches!(keyword, b"R" | b"tdesc" | b"status") && !self.has_room(line) {
            return Ok(());
        }
        match keyword {
            b"R" => {
                let size = block_size(rest).map_err(named)?;
                self.register_block_size_at = Some(at);
                if self.description.register_block_size.replace(size).is_some_and(|before| before != size) {
                    return Err(format!(
                        "R line says {size:#x} where one before it says otherwise, and the last counts"
                    ));
                }
            }
            b"tdesc" => {
                self.target_description_at.get_or_insert(at);
                let xml = self.description.target_description.get_or_insert_default();
                xml.push_str(&String::from_utf8_lossy(rest));
                xml.push('\n');
                return utf8(rest);
            }
            b"status" => {
                let mut report = |what| self.damage.push(Damage { at, frame: None, what });
                let status = status::parse(rest, &mut report).map_err(named)?;
                if std::mem::replace(&mut self.description.status, status).known {
                    return Err("a second status line, and the last counts".to_owned());
                }
            }
            b"tsv" => {
                let variable = variable::parse(rest).map_err(named)?;
                self.description.variables.push(variable);
            }
            b"tp" => {
                if self.tracepoints.add(at, rest, &mut self.damage).map_err(named)? == Outcome::Unknown {
                    return self.unknown(bytes);
                }
            }
            _ => return self.unknown(bytes),
        }
        Ok(())
    }

    fn unknown(&mut self, line: &[u8]) -> Result<(), String> {
        let is_text = utf8(line);
        let kept = if is_text.is_ok() { line } else { line.get(..KEPT_OF_NO_TEXT).unwrap_or(line) };
        self.description.unknown_lines.push(String::from_utf8_lossy(kept).into_owned());
        is_text
    }

    fn finish(mut self, frames_at: Option<u64>) -> Section {
        self.description.tracepoints = self.tracepoints.finish(&mut self.damage);
        if let Some((at, lines)) = self.left_out {
            let what = format!("{lines} lines of the description, from here on, are more than is kept of one");
            self.damage.push(Damage { at, frame: None, what });
        }
        let mut damage = self.damage.kept().to_vec();
        let more = self.damage.total().saturating_sub(damage.len() as u64);
        if let Some(at) = damage.last().map(|last| last.at).filter(|_| more > 0) {
            damage.push(Damage { at, frame: None, what: format!("{more} more of the description are not listed") });
        }
        if self.description.target_description.as_ref().is_some_and(|xml| xml.trim().is_empty()) {
            self.description.target_description = None;
        }
        let Reader { description, target_description_at, register_block_size_at, .. } = self;
        Section { description, damage, target_description_at, register_block_size_at, frames_at }
    }
}

/// The size of register blocks, which gdb reads with `strtol`: it may carry `0x`. A size that no machine has is no
/// size: replies to clients would be as long.
fn block_size(bytes: &[u8]) -> Result<usize, String> {
    let text = text::packet_text(bytes)?.trim();
    let size = text::unsigned(text.strip_prefix("0x").unwrap_or(text))?;
    let fitting = usize::try_from(size).ok().filter(|size| *size <= Layout::MAXIMUM_SIZE);
    fitting.ok_or_else(|| {
        format!(
            "found the size {size:#x}, expected {:#x} at most, beyond all registers of any machine",
            Layout::MAXIMUM_SIZE
        )
    })
}

fn utf8(line: &[u8]) -> Result<(), String> {
    match std::str::from_utf8(line) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "the line {} is not UTF-8, and what is not is shown as U+FFFD, of its first {KEPT_OF_NO_TEXT} bytes at most",
            text::quote(line)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Section, Vec<String>) {
        let section = Section::read(text, 8);
        let damage = section.damage.iter().map(ToString::to_string).collect();
        (section, damage)
    }

    #[test]
    fn every_line_finds_its_place() {
        let text = b"R c4\ntdesc <target>\ntdesc \ntdesc </target>\nstatus 0;tnotrun:0\ntsv 1:0:0:61\ntp T1:8:E:0:0\n\
              future line\ntp Q1\nbare\n\n\x01\x00";
        let (section, damage) = read(text);
        assert_eq!(damage, [""; 0]);
        assert_eq!(section.frames_at, Some(8 + text.len() as u64 - 2));
        let description = section.description;
        assert_eq!(description.register_block_size, Some(0xc4));
        assert_eq!(description.target_description.as_deref(), Some("<target>\n\n</target>\n"));
        assert!(description.status.known);
        assert_eq!((description.variables.len(), description.tracepoints.len()), (1, 1));
        assert_eq!(description.unknown_lines, ["future line", "tp Q1", "bare"]);
    }

    #[test]
    fn bad_lines_are_named_and_the_rest_is_read() {
        let (section, damage) = read(b"R zz\nstatus 7\ntsv 1\ntp T1\nR\nw\xff\ntsv 1:0:0:61\n\n");
        assert_eq!(damage.len(), 6, "{damage:?}");
        assert_eq!(damage[0], "at byte 0x8: R line left out: found `zz`, expected a hexadecimal number");
        assert!(damage[5].starts_with("at byte 0x24: the line `w\\xff` is not UTF-8"), "{damage:?}");
        assert_eq!(section.description.variables.len(), 1);
        assert_eq!(section.description.unknown_lines, ["w\u{fffd}"]);
    }

    #[test]
    fn a_long_line_of_no_text_is_not_kept_whole() {
        let (section, damage) = read(&[&[0xff; 5000][..], b"\n\n"].concat());
        assert_eq!(section.description.unknown_lines, ["\u{fffd}".repeat(KEPT_OF_NO_TEXT)]);
        assert!(damage[0].contains("is not UTF-8"), "{damage:?}");
        let long = "x".repeat(5000);
        let (section, damage) = read(format!("{long}\n\n").as_bytes());
        assert_eq!((section.description.unknown_lines, damage.len()), (vec![long], 0));
    }

    #[test]
    fn a_cut_description_keeps_what_is_whole() {
        let (section, damage) = read(b"R 8\ntsv 1:0:0:61\ntsv 2:0:0");
        assert_eq!((section.frames_at, section.description.variables.len()), (None, 1));
        assert!(damage[0].starts_with("at byte 0x19: the description ends without an empty line"), "{damage:?}");
    }

    #[test]
    fn of_repeated_lines_the_last_counts() {
        let (section, damage) = read(b"R 8\nR 8\nR 9\nstatus 1\nstatus 0;tfull:0\n\n");
        assert_eq!((section.description.register_block_size, section.register_block_size_at), (Some(9), Some(16)));
        assert!(!section.description.status.running);
        assert_eq!(damage.len(), 2, "{damage:?}");
    }

    #[test]
    fn lines_beyond_all_measure_are_counted_and_not_kept() {
        let mut reader = Reader::with_room(3 * LINE_COST);
        for (at, bytes) in
            [&b"R 8"[..], b"x", b"tp T1:8:E:0:0", b"y is too long", b"tsv 1:0:0:61", b"z"].iter().enumerate()
        {
            reader.line(Line { at: at as u64, bytes }).unwrap();
        }
        let section = reader.finish(Some(9));
        let damage: Vec<_> = section.damage.iter().map(ToString::to_string).collect();
        assert_eq!(damage, ["at byte 0x3: 3 lines of the description, from here on, are more than is kept of one"]);
        let description = section.description;
        assert_eq!((description.unknown_lines, description.tracepoints.len()), (vec!["x".to_owned()], 1));
        assert_eq!(description.register_block_size, Some(8));
    }

    #[test]
    fn a_register_block_beyond_all_machines_is_left_out() {
        for (size, expected) in [("100000", Some(0x10_0000)), ("100001", None), ("ffffffffffffffff", None)] {
            let (section, damage) = read(format!("R {size}\n\n").as_bytes());
            assert_eq!(section.description.register_block_size, expected);
            assert_eq!(damage.is_empty(), expected.is_some(), "{damage:?}");
            assert!(damage.iter().all(|damage| damage.starts_with("at byte 0x8: R line left out: found the size 0x")));
        }
    }

    #[test]
    fn a_flood_of_damage_is_counted_and_not_kept() {
        let text = "tsv 1\n".repeat(DamageList::KEPT + 5);
        let (section, damage) = read(text.as_bytes());
        assert_eq!(section.damage.len(), DamageList::KEPT + 1);
        assert!(damage[DamageList::KEPT].contains("6 more"), "{}", damage[DamageList::KEPT]);
    }
}
