//! The file of a device: a core with its memory, or a trace unit with its registers.

use std::sync::Arc;

use super::super::numbers::number;
use super::super::protocol::Named;
use super::super::remarks::Remarks;
use super::super::said::Said;
use super::super::{CaptureError, Core, DescriptionError, ImageAt, MemoryAt, Space, TraceSource};
use super::files::Files;
use super::ini::{Entry, Ini, Section, shown};
use crate::format::itrace::coresight::etm4::Configuration;

/// A device.
pub(super) enum Device {
    Core(Core),
    Unit(Unit),
}

/// A trace unit.
pub(super) struct Unit {
    /// The file and line of its type.
    place: String,
    kind: String,
    /// The registers that are looked at, with their values as text.
    registers: Vec<(&'static str, String)>,
}

/// What a device's file says, with its name; `None` for a device of a class that has to do with neither.
pub(super) fn read(
    files: &mut Files,
    ini: &Ini,
    remarks: &mut Remarks,
) -> Result<Option<(String, Device)>, CaptureError> {
    let Some(device) = ini.sections_named("device").next() else {
        remarks.push(ini.remark(1, "is left out: it has no section [device]".to_owned()));
        return Ok(None);
    };
    let name = device.need(ini, "name")?.value.clone();
    let class = device.need(ini, "class")?;
    let kind = device.get(ini, "type")?;
    let found = match class.value.to_ascii_lowercase().as_str() {
        "core" => {
            let images = memory(files, ini, remarks)?;
            if images.is_empty() {
                let said =
                    format!("no memory of the core {name:?} is there, without which its code must be given as a file");
                remarks.push(ini.remark(device.line, said));
            }
            Device::Core(Core { name: name.clone(), kind: kind.map(|kind| kind.value.clone()), images })
        }
        "trace_source" => {
            let kind = device.need(ini, "type")?;
            Device::Unit(Unit { place: ini.place(kind.line), kind: kind.value.clone(), registers: registers(ini) })
        }
        other => {
            remarks.push(ini.remark(class.line, format!("the device {name:?} of class {other:?} is left out")));
            return Ok(None);
        }
    };
    let is_core = matches!(found, Device::Core(_));
    for section in ini.sections() {
        let is_used = match section.name.as_str() {
            // Registers by their numbers, as those by their names.
            "device" | "regs" | "extendregs" | "global" => true,
            name => is_core && is_dump(name),
        };
        if !is_used {
            remarks.push(ini.remark(section.line, format!("the section [{}] is not used", shown(&section.name))));
        }
    }
    Ok(Some((name, found)))
}

fn registers(ini: &Ini) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for Entry { key, value, .. } in ini.sections_named("regs").flat_map(|section| &section.entries) {
        // Behind the name there may be its number, or size: TRCIDR0(0x78), PC(size:64).
        let name = key.split('(').next().unwrap_or_default().trim();
        let known = Configuration::REGISTERS.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        found.extend(known.map(|known| (known, value.clone())));
    }
    found
}

impl Unit {
    /// The source that it is.
    pub(super) fn source(&self, name: &str, core: Option<Arc<Core>>) -> Result<TraceSource, DescriptionError> {
        let mut said = Said::new(Named::new(&self.kind)?);
        said.name = Some(name.to_owned());
        said.core = core;
        for (register, value) in &self.registers {
            said.settings.push(((*register).to_owned(), number(register, value)?));
        }
        said.source()
    }

    pub(super) fn error(&self, cause: DescriptionError) -> CaptureError {
        CaptureError::Description { place: self.place.clone(), cause }
    }

    pub(super) fn remark(&self, said: String) -> String {
        format!("{}: {said}", self.place)
    }
}

fn is_dump(section: &str) -> bool {
    section.get(..4).is_some_and(|first| first.eq_ignore_ascii_case("dump"))
}

/// What lay in memory, in the order of the file.
fn memory(files: &mut Files, ini: &Ini, remarks: &mut Remarks) -> Result<Vec<ImageAt>, CaptureError> {
    let mut dumps: Vec<Dump> = Vec::new();
    for section in ini.sections().iter().filter(|section| is_dump(&section.name)) {
        dumps.extend(Dump::read(files, ini, section, remarks)?);
    }
    for (first, second) in overlaps(&dumps) {
        let said = format!(
            "the memory at {:#x} overlaps that at {:#x} of line {}, which is believed",
            second.memory.address, first.memory.address, first.line
        );
        remarks.push(ini.remark(second.line, said));
    }
    Ok(dumps.into_iter().map(|dump| ImageAt::Memory(dump.memory)).collect())
}

/// A part of memory, of which there is at least one byte.
struct Dump {
    line: usize,
    last: u64,
    memory: MemoryAt,
}

impl Dump {
    /// `None` for what is not there.
    fn read(
        files: &mut Files,
        ini: &Ini,
        section: &Section,
        remarks: &mut Remarks,
    ) -> Result<Option<Dump>, CaptureError> {
        let value = |entry: &Entry| {
            number(&entry.key, &entry.value)
                .map_err(|cause| CaptureError::Description { place: ini.place(entry.line), cause })
        };
        let file = section.need(ini, "file")?;
        let address = value(section.need(ini, "address")?)?;
        let offset = section.get(ini, "offset")?.map_or(Ok(0), value)?;
        let length = section.get(ini, "length")?.map(value).transpose()?;
        let space = section.get(ini, "space")?;
        let space = space.map_or(Ok(Space::Any), |entry| {
            let wrong = |cause| CaptureError::Description { place: ini.place(entry.line), cause };
            entry.value.parse().map_err(wrong)
        })?;
        for other in section.others(&["file", "address", "offset", "length", "space"]) {
            remarks.push(ini.remark(other.line, format!("{:?} of a memory dump is not used", other.key)));
        }
        let path = files.inside(ini, file.line, &file.value)?;
        let there = match files.length(&path) {
            Ok(there) => there.saturating_sub(offset),
            Err(error) => {
                remarks.push(ini.remark(file.line, format!("the memory at {address:#x} is left out: {error}")));
                return Ok(None);
            }
        };
        let has = length.unwrap_or(there).min(there);
        if has == 0 || length.is_some_and(|length| has < length) {
            let expected = length.map_or("more".to_owned(), |length| format!("{length:#x}"));
            let said =
                format!("the memory at {address:#x} has {has:#x} bytes in {:?}, expected {expected}", file.value);
            remarks.push(ini.remark(section.line, said));
        }
        // What lies behind the highest address is nowhere.
        let Some(last) = has.checked_sub(1).map(|rest| address.saturating_add(rest)) else { return Ok(None) };
        Ok(Some(Dump { line: section.line, last, memory: MemoryAt { path, offset, address, length, space } }))
    }
}

/// Pairs of which one hides a part of the other, in the order of the file. Not all of them, where several lie one upon
/// another: one for each part that overlaps any before it.
fn overlaps(dumps: &[Dump]) -> Vec<(&Dump, &Dump)> {
    let mut sorted: Vec<&Dump> = dumps.iter().collect();
    sorted.sort_by_key(|dump| dump.memory.address);
    let mut found = Vec::new();
    // For each space, which of those before reaches furthest.
    let mut furthest: Vec<&Dump> = Vec::new();
    for dump in sorted {
        let hides = |other: &&&Dump| other.last >= dump.memory.address && other.memory.space.meets(dump.memory.space);
        if let Some(other) = furthest.iter().find(hides) {
            found.push(if other.line < dump.line { (*other, dump) } else { (dump, *other) });
        }
        match furthest.iter_mut().find(|other| other.memory.space == dump.memory.space) {
            Some(other) if other.last < dump.last => *other = dump,
            Some(_) => {}
            None => furthest.push(dump),
        }
    }
    found.sort_by_key(|(_, second)| second.line);
    found
}
