//! The file of a snapshot about its trace: buffers, and what is in them.

use std::collections::BTreeMap;

use super::super::CaptureError;
use super::super::framing::Framing;
use super::super::remarks::Remarks;
use super::SnapshotError;
use super::ini::{Entry, Ini, Section, shown};
use crate::format::itrace::coresight::formatter;

/// What the file says.
pub(super) struct Trace {
    pub(super) ini: Ini,
    pub(super) buffers: Vec<Buffer>,
    /// For each buffer by its name, the sources with the lines that name them.
    sources: BTreeMap<String, Vec<(String, usize)>>,
    /// For each source, its core.
    cores: BTreeMap<String, (String, usize)>,
}

/// A trace buffer.
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) file: String,
    pub(super) file_line: usize,
    pub(super) framing: Framing,
}

impl Trace {
    pub(super) fn read(ini: Ini, remarks: &mut Remarks) -> Result<Trace, CaptureError> {
        let mut trace = Trace { ini, buffers: Vec::new(), sources: BTreeMap::new(), cores: BTreeMap::new() };
        let ini = &trace.ini;
        let Some(list) = ini.sections_named("trace_buffers").next() else {
            let cause = SnapshotError::Missing { section: "trace_buffers".to_owned(), key: "buffers" };
            return Err(ini.error(None, cause));
        };
        let list = list.need(ini, "buffers")?;
        let listed: Vec<&str> = names(&list.value).collect();
        let mut found: BTreeMap<&str, Buffer> = BTreeMap::new();
        for section in ini.sections() {
            match section.name.as_str() {
                "trace_buffers" => {}
                "source_buffers" => {
                    for entry in &section.entries {
                        for buffer in names(&entry.value) {
                            let sources = trace.sources.entry(buffer.to_owned()).or_default();
                            if !sources.iter().any(|(source, _)| *source == entry.key) {
                                sources.push((entry.key.clone(), entry.line));
                            }
                        }
                    }
                }
                "core_trace_sources" => watch(&mut trace.cores, ini, section)?,
                name if listed.contains(&name) => {
                    let buffer = Buffer::read(ini, section, remarks)?;
                    if found.insert(name, buffer).is_some() {
                        let cause = SnapshotError::BufferTwice { name: name.to_owned() };
                        return Err(ini.error(Some(section.line), cause));
                    }
                }
                other => remarks.push(ini.remark(section.line, format!("the section [{}] is not used", shown(other)))),
            }
        }
        // In the order of the list, which is that in which they were filled.
        for name in listed {
            match found.remove(name) {
                Some(buffer) if trace.buffers.iter().any(|other| other.name == buffer.name) => {
                    return Err(ini.error(Some(buffer.line), SnapshotError::BufferTwice { name: buffer.name }));
                }
                Some(buffer) => trace.buffers.push(buffer),
                None => {
                    remarks
                        .push(ini.remark(list.line, format!("the buffer {name:?} has no section [{}]", shown(name))));
                }
            }
        }
        Ok(trace)
    }

    /// The sources in a buffer, with the lines that say so.
    pub(super) fn sources_of(&self, buffer: &str) -> impl Iterator<Item = (&str, usize)> {
        self.sources.get(buffer).into_iter().flatten().map(|(source, line)| (source.as_str(), *line))
    }

    /// The core that a source watches, with the line that says so.
    pub(super) fn core_of(&self, source: &str) -> Option<(&str, usize)> {
        self.cores.get(source).map(|(core, line)| (core.as_str(), *line))
    }
}

/// The names in a list. There may be a comma behind the last.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Which core each source watches.
fn watch(cores: &mut BTreeMap<String, (String, usize)>, ini: &Ini, section: &Section) -> Result<(), CaptureError> {
    for Entry { key: core, value, line } in &section.entries {
        for source in names(value) {
            match cores.insert(source.to_owned(), (core.clone(), *line)) {
                Some((first, _)) if first != *core => {
                    let (source_name, second) = (source.to_owned(), core.clone());
                    return Err(ini.error(Some(*line), SnapshotError::TwoCores { source_name, first, second }));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

impl Buffer {
    fn read(ini: &Ini, section: &Section, remarks: &mut Remarks) -> Result<Buffer, CaptureError> {
        let name = section.need(ini, "name")?;
        let file = section.need(ini, "file")?;
        let format = section.need(ini, "format")?;
        let framing = match format.value.to_ascii_lowercase().as_str() {
            "coresight" => formatter::Framing::Aligned,
            // What a DSTREAM probe takes from the trace port.
            "dstream_coresight" => formatter::Framing::Synchronized,
            "source_data" => formatter::Framing::Unformatted,
            _ => {
                return Err(ini.error(Some(format.line), SnapshotError::Format { found: format.value.clone() }));
            }
        };
        if names(&file.value).count() > 1 {
            return Err(ini.error(Some(file.line), SnapshotError::SeveralFiles { found: file.value.clone() }));
        }
        for other in section.others(&["name", "file", "format"]) {
            remarks.push(ini.remark(other.line, format!("{:?} of a buffer is not used", other.key)));
        }
        Ok(Buffer {
            name: name.value.clone(),
            line: section.line,
            file: file.value.clone(),
            file_line: file.line,
            framing: Framing::CoreSight(framing),
        })
    }
}
