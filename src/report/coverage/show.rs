//! Coverage as text and as JSON.

use std::cmp::Reverse;
use std::fmt;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::functions::Found;
use super::{Coverage, File, Hit};
use crate::report::JSON_VERSION;
use crate::report::text::{PrintableJson, count, printable};

impl Coverage<'_> {
    /// As text: what was counted, the files, and the functions, those first that were called most often; `most` of
    /// each.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, most: usize) -> io::Result<()> {
        self.write_summary(out)?;
        for warning in self.warnings() {
            writeln!(out, "warning: {}", printable(&warning))?;
        }
        if !self.files.is_empty() {
            writeln!(out, "\n        lines hit  percent  file")?;
        }
        for file in self.files.iter().take(most) {
            writeln!(out, "{:>17}  {:>7}  {}", file.lines.to_string(), percent(file.lines), file.shown())?;
        }
        let rest = self.files.get(most.min(self.files.len())..).unwrap_or(&[]);
        if !rest.is_empty() {
            let unhit = rest.iter().filter(|file| file.lines.hit == 0).count() as u64;
            writeln!(out, "{}", more(rest.len() as u64, "file", unhit, "without a line hit"))?;
        }
        self.write_functions(out, most)
    }

    fn write_summary(&self, out: &mut dyn Write) -> io::Result<()> {
        let recording = self.replay.recording();
        let name = printable(&recording.name().display().to_string());
        let what = if recording.is_instruction_trace() { " executed" } else { "" };
        write!(out, "{name}: {}{what}", count(self.executed, self.noun()))?;
        match self.thread {
            Some(thread) if thread.name.is_empty() => writeln!(out, " on thread {}", thread.id)?,
            Some(thread) => writeln!(out, " on thread {} ({})", thread.id, printable(&thread.name))?,
            None => writeln!(out)?,
        }
        for (what, hit) in [("lines", self.lines()), ("functions", self.called())] {
            writeln!(out, "{what}: {hit} hit ({})", percent(hit))?;
        }
        if self.images.is_empty() {
            writeln!(out, "program: none (--exec gives one), so nothing is known of lines and functions")?;
        } else if self.files.is_empty() {
            writeln!(out, "no program has a line table (were they compiled with -g?)")?;
        }
        if self.outside > 0 {
            writeln!(out, "outside any program: {}", count(self.outside, self.noun()))?;
        }
        if self.unknown > 0 {
            writeln!(out, "without a known pc: {}", count(self.unknown, self.noun()))?;
        }
        if !recording.is_instruction_trace() {
            writeln!(out, "counted are frames: what lies between them was executed as well, and shows no count")?;
        }
        if self.gaps > 0 {
            let gaps = count(self.gaps, "gap");
            writeln!(out, "{gaps} in the trace: what shows no count may have been executed there (nobody knows)")?;
        }
        if self.replay.damaged() > 0 {
            let places = count(self.replay.damaged(), "place");
            writeln!(out, "damage: {places} could not be read (traceframe info names them)")?;
        }
        Ok(())
    }

    fn write_functions(&self, out: &mut dyn Write, most: usize) -> io::Result<()> {
        let mut functions: Vec<&Found> = self.functions.iter().collect();
        functions.sort_by_key(|function| Reverse(function.count));
        if !functions.is_empty() {
            writeln!(out, "\n     count        lines hit  function")?;
        }
        for function in functions.iter().take(most) {
            let lines = if function.lines.found > 0 { function.lines.to_string() } else { "-".to_owned() };
            write!(out, "{:>10}  {lines:>15}  {}", function.count, printable(&self.name(function)))?;
            if let Some((file, line)) = self.place(function) {
                write!(out, " {}:{line}", file.shown())?;
            }
            writeln!(out)?;
        }
        let rest = functions.get(most.min(functions.len())..).unwrap_or(&[]);
        if !rest.is_empty() {
            let uncalled = rest.iter().filter(|function| function.count == 0).count() as u64;
            writeln!(out, "{}", more(rest.len() as u64, "function", uncalled, "never called"))?;
        }
        Ok(())
    }

    fn place(&self, function: &Found) -> Option<(&File, u32)> {
        let (file, line) = function.place?;
        Some((self.files.get(file as usize)?, line))
    }

    /// As JSON: one object, all lines and functions. It is written as it is made.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = PrintableJson(out);
        serde_json::to_writer_pretty(&mut out, self)?;
        writeln!(out)
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.hit, self.found)
    }
}

/// The part that was hit. It is all only if nothing was missed.
fn percent(Hit { found, hit }: Hit) -> String {
    match (u128::from(hit) * 1000).checked_div(u128::from(found)) {
        Some(thousandths) => format!("{}.{} %", thousandths / 10, thousandths % 10),
        None => "-".to_owned(),
    }
}

fn more(rest: u64, noun: &str, without: u64, what: &str) -> String {
    let without = if without > 0 { format!(", {without} of them {what}") } else { String::new() };
    format!("… and {}{without} (--limit 0 shows all)", count(rest, &format!("more {noun}")))
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hit = serializer.serialize_struct("Hit", 2)?;
        hit.serialize_field("found", &self.found)?;
        hit.serialize_field("hit", &self.hit)?;
        hit.end()
    }
}

/// An object with `version`; `thread`, `null` for all; what is counted, `instruction` or `frame`, and how much of it:
/// in all, `outside` any program, and with an `unknown_pc`; `gaps` and `damaged` places; `warnings`; and then what
/// was found and hit.
impl Serialize for Coverage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let recording = self.replay.recording();
        let mut object = serializer.serialize_struct("Coverage", 15)?;
        object.serialize_field("version", &JSON_VERSION)?;
        object.serialize_field("file", &recording.name().display().to_string())?;
        object.serialize_field("format", recording.format())?;
        object.serialize_field("thread", &self.thread.map(|thread| thread.id))?;
        object.serialize_field("thread_name", &self.thread.map(|thread| &thread.name))?;
        object.serialize_field("counted", self.noun())?;
        object.serialize_field("executed", &self.executed)?;
        object.serialize_field("outside", &self.outside)?;
        object.serialize_field("unknown_pc", &self.unknown)?;
        object.serialize_field("gaps", &self.gaps)?;
        object.serialize_field("damaged", &self.replay.damaged())?;
        object.serialize_field("warnings", &self.warnings())?;
        object.serialize_field("lines", &self.lines())?;
        object.serialize_field("functions", &self.called())?;
        object.serialize_field("by_file", &Files(self))?;
        object.serialize_field("by_function", &ByFunction(self))?;
        object.end()
    }
}

struct Files<'a>(&'a Coverage<'a>);

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Files(coverage) = self;
        serializer.collect_seq(coverage.files.iter().map(|file| OfFile { coverage, file }))
    }
}

/// A file: `name`, as `frames` shows it, and `path`; `lines` found and hit; and `counts`, pairs of a line and its count.
struct OfFile<'a> {
    coverage: &'a Coverage<'a>,
    file: &'a File,
}

impl Serialize for OfFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OfFile { coverage, file } = self;
        let mut object = serializer.serialize_struct("File", 4)?;
        object.serialize_field("name", &file.file.name)?;
        object.serialize_field("path", &file.file.path)?;
        object.serialize_field("lines", &file.lines)?;
        object.serialize_field("counts", &Counts(coverage, file))?;
        object.end()
    }
}

struct Counts<'a>(&'a Coverage<'a>, &'a File);

impl Serialize for Counts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts(coverage, file) = self;
        serializer.collect_seq(coverage.counts(file))
    }
}

struct ByFunction<'a>(&'a Coverage<'a>);

impl Serialize for ByFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ByFunction(coverage) = self;
        let mut list = serializer.serialize_seq(None)?;
        for function in coverage.functions.iter() {
            list.serialize_element(&OfFunction { coverage, function })?;
        }
        list.end()
    }
}

/// A function: its `name`, its `address` as `0x…`, the `file` and `line` on which it begins, its `count`, and the
/// `lines` that have statements in it.
struct OfFunction<'a> {
    coverage: &'a Coverage<'a>,
    function: &'a Found,
}

impl Serialize for OfFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OfFunction { coverage, function } = self;
        let place = coverage.place(function);
        let mut object = serializer.serialize_struct("Function", 6)?;
        object.serialize_field("name", &coverage.name(function))?;
        object.serialize_field("address", &format!("{:#x}", function.first))?;
        object.serialize_field("file", &place.map(|(file, _)| &file.file.path))?;
        object.serialize_field("line", &place.map(|(_, line)| line))?;
        object.serialize_field("count", &function.count)?;
        object.serialize_field("lines", &function.lines)?;
        object.end()
    }
}
