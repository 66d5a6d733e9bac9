//! A capture from the directory of a debugger's snapshot, the input of OpenCSD's tools.
//!
//! The format is that of the "ARM Trace and Debug Snapshot file format", with what OpenCSD's `test_progs.md` adds to
//! it: `snapshot.ini` lists the devices' files and names a file about the trace; that says which buffers there are,
//! which sources are in each and which core each source watches; a device's file has a core's memory, or the registers
//! of a trace unit.
//!
//! What is not there or not known, and without which the rest can be read, is remarked. Registers of a core, which are
//! those when the snapshot was made, are not looked at.

mod device;
mod error;
mod files;
mod ini;
mod space;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

pub use error::SnapshotError;
pub(super) use space::SPACES;
pub use space::Space;

use super::remarks::Remarks;
use super::{Capture, CaptureError, Core, DescriptionError, NotRead, Sink, TraceSource};
use device::{Device, Unit};
use files::Files;
use ini::Ini;
use trace::Trace;

/// The file by which a snapshot is found in its directory.
pub(super) const FILE: &str = "snapshot.ini";

impl Capture {
    /// The capture that a snapshot has, by its directory or the `snapshot.ini` in it.
    ///
    /// # Errors
    ///
    /// A file of the snapshot cannot be read or makes no sense, a buffer is not there, a path leads out of the
    /// directory, or no source is one that can be read.
    pub fn from_snapshot(path: &Path) -> Result<Capture, CaptureError> {
        let main = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let mut files = Files::new(&main)?;
        let mut remarks = Remarks::default();
        let index = Index::read(&mut files, &main, &mut remarks)?;
        let mut devices = Devices::default();
        for (name, line) in &index.devices {
            devices.read(&mut files, &index.ini, name, *line, &mut remarks)?;
        }
        let (name, line) = &index.trace;
        let place = files.inside(&index.ini, *line, name)?;
        let trace = Trace::read(files.ini(&place)?, &mut remarks)?;
        let sinks = sinks(&mut files, &trace, &devices, &mut remarks)?;
        Ok(Capture { sinks, images: Vec::new(), remarks: remarks.into_list() })
    }
}

/// What `snapshot.ini` says.
struct Index {
    ini: Ini,
    devices: Vec<(String, usize)>,
    trace: (String, usize),
}

impl Index {
    fn read(files: &mut Files, path: &Path, remarks: &mut Remarks) -> Result<Index, CaptureError> {
        let ini = files.ini(path)?;
        if ini.sections_named("snapshot").next().is_none() {
            return Err(ini.error(None, SnapshotError::NotASnapshot));
        }
        let (mut devices, mut trace) = (Vec::new(), None);
        for section in ini.sections() {
            match section.name.as_str() {
                "snapshot" => {
                    let version = section.entries.iter().find(|entry| entry.key == "version");
                    if let Some(found) = version.filter(|entry| !matches!(entry.value.as_str(), "1" | "1.0")) {
                        let cause = SnapshotError::Version { found: found.value.clone() };
                        return Err(ini.error(Some(found.line), cause));
                    }
                }
                "device_list" => {
                    devices.extend(section.entries.iter().map(|entry| (entry.value.clone(), entry.line)));
                }
                "trace" => {
                    let metadata = section.entries.iter().find(|entry| entry.key == "metadata");
                    trace = trace.or(metadata.map(|entry| (entry.value.clone(), entry.line)));
                }
                other => {
                    remarks.push(ini.remark(section.line, format!("the section [{}] is not used", ini::shown(other))))
                }
            }
        }
        match trace {
            Some(trace) => Ok(Index { ini, devices, trace }),
            None => Err(ini.error(None, SnapshotError::NoTrace)),
        }
    }
}

/// The devices of a snapshot, by name.
#[derive(Default)]
struct Devices {
    cores: BTreeMap<String, Arc<Core>>,
    units: BTreeMap<String, Unit>,
    names: BTreeSet<String>,
}

impl Devices {
    fn read(
        &mut self,
        files: &mut Files,
        index: &Ini,
        name: &str,
        line: usize,
        remarks: &mut Remarks,
    ) -> Result<(), CaptureError> {
        let path = files.inside(index, line, name)?;
        if !path.exists() {
            remarks.push(index.remark(line, format!("the file {name:?} of a device is not there")));
            return Ok(());
        }
        let ini = files.ini(&path)?;
        let Some((name, device)) = device::read(files, &ini, remarks)? else { return Ok(()) };
        if !self.names.insert(name.clone()) {
            return Err(index.error(Some(line), SnapshotError::DeviceTwice { name }));
        }
        match device {
            Device::Core(core) => drop(self.cores.insert(name, Arc::new(core))),
            Device::Unit(unit) => drop(self.units.insert(name, unit)),
        }
        Ok(())
    }
}

fn sinks(
    files: &mut Files,
    trace: &Trace,
    devices: &Devices,
    remarks: &mut Remarks,
) -> Result<Vec<Sink>, CaptureError> {
    let mut sinks = Vec::new();
    let mut not_read: Vec<NotRead> = Vec::new();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    for buffer in &trace.buffers {
        let mut sources: Vec<TraceSource> = Vec::new();
        let mut is_named = false;
        for (source, line) in trace.sources_of(&buffer.name) {
            is_named = true;
            let Some(unit) = devices.units.get(source) else {
                remarks.push(trace.ini.remark(line, format!("the source {source:?} is no device of the snapshot")));
                continue;
            };
            placed.insert(source);
            let core = trace.core_of(source).and_then(|(core, line)| {
                let found = devices.cores.get(core).cloned();
                if found.is_none() {
                    remarks.push(trace.ini.remark(line, format!("the core {core:?} is no device of the snapshot")));
                }
                found
            });
            match unit.source(source, core) {
                Ok(source) => sources.push(source),
                Err(DescriptionError::NotRead(protocol)) => {
                    if !not_read.contains(&protocol) {
                        not_read.push(protocol);
                    }
                    let why = if protocol.is_instruction_trace() { "is not read yet" } else { "tells no instructions" };
                    remarks.push(unit.remark(format!("the source {source:?} is left out: {protocol} {why}")));
                }
                Err(cause) => return Err(unit.error(cause)),
            }
        }
        if sources.is_empty() {
            if !is_named {
                let said = format!("the buffer {:?} is left out: [source_buffers] names no source of it", buffer.name);
                remarks.push(trace.ini.remark(buffer.line, said));
            }
            continue;
        }
        let path = files.inside(&trace.ini, buffer.file_line, &buffer.file)?;
        files.length(&path)?;
        let sink = Sink::new(path, Some(buffer.framing), sources)
            .map_err(|cause| CaptureError::Description { place: trace.ini.place(buffer.line), cause })?;
        sinks.push(sink);
    }
    for (name, unit) in devices.units.iter().filter(|(name, _)| !placed.contains(name.as_str())) {
        remarks.push(unit.remark(format!("the source {name:?} is left out: [source_buffers] names no buffer for it")));
    }
    if sinks.is_empty() {
        return Err(trace.ini.error(None, SnapshotError::nothing_to_read(&not_read)));
    }
    Ok(sinks)
}
