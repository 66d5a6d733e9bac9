//! A tracefile of lcov (geninfo(1), "FILES").

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Coverage, Hit};
use crate::report::text::printable;

impl Coverage<'_> {
    /// Writes a tracefile, which lcov and genhtml read.
    ///
    /// A function is in the file that it begins in; those of which that is not known have no place in a tracefile. Of
    /// several functions of one name in a file, as of a static function of a header, the largest count is written.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_lcov(&self, out: &mut dyn Write) -> io::Result<()> {
        for (file, functions) in self.files.iter().zip(self.by_file()) {
            writeln!(out, "TN:")?;
            writeln!(out, "SF:{}", printable(&file.file.path))?;
            let mut by_name: BTreeMap<String, (u32, u64)> = BTreeMap::new();
            for function in functions {
                let line = function.place.map_or(0, |(_, line)| line);
                // A comma would end the name.
                let name = printable(&self.symbol(function)).replace(',', "\\u{2c}");
                let known = by_name.entry(name).or_insert((line, 0));
                *known = (known.0.min(line), known.1.max(function.count));
            }
            let mut by_line: Vec<_> = by_name.iter().collect();
            by_line.sort_by_key(|(_, (line, _))| *line);
            for (name, (line, _)) in &by_line {
                writeln!(out, "FN:{line},{name}")?;
            }
            for (name, (_, count)) in &by_line {
                writeln!(out, "FNDA:{count},{name}")?;
            }
            let Hit { found, hit } = Hit::of(by_name.values().map(|(_, count)| *count));
            writeln!(out, "FNF:{found}\nFNH:{hit}")?;
            for (line, count) in self.counts(file) {
                writeln!(out, "DA:{line},{count}")?;
            }
            writeln!(out, "LF:{}\nLH:{}\nend_of_record", file.lines.found, file.lines.hit)?;
        }
        Ok(())
    }
}
