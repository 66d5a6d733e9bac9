//! The recordings and programs of `tests/data`.

use std::path::Path;
use std::sync::Arc;

use traceframe::format::OpenOptions;
use traceframe::image::Image;
use traceframe::source::ByteOrder;

use super::case::is_soak;
use super::support::data;

/// A recording, with what its user says about it.
#[derive(Default)]
pub struct Fixture {
    pub name: String,
    pub bytes: Vec<u8>,
    pub program: Option<Arc<Image>>,
    architecture: Option<&'static str>,
    description: Option<&'static str>,
}

/// A description of the registers of [`small`] recordings.
const DESCRIPTION: &str = "<target><feature name=\"f\"><reg name=\"pc\" bitsize=\"32\"/></feature></target>";

impl Fixture {
    /// How it is opened.
    pub fn options(&self) -> OpenOptions<'_> {
        let (image, architecture, description) = (self.program.as_deref(), self.architecture, self.description);
        OpenOptions { image, architecture, description, ..OpenOptions::default() }
    }
}

/// Every recording, smallest first, with its program where there is one. In a soak also without it, when all that is
/// built in is looked through for what might fit, which takes long.
pub fn recordings() -> Vec<Fixture> {
    let mut found = Vec::new();
    for folder in ["tfile", "nios2", "architectures"] {
        for name in files(folder).into_iter().filter(|name| name.ends_with(".tf") || name.ends_with(".tr")) {
            let bytes = std::fs::read(data(&name)).unwrap();
            let architecture = name.starts_with("nios2").then_some("nios2");
            let program = program(&name);
            if let Some(program) = &program {
                let (name, bytes) = (format!("{name} with {program}"), bytes.clone());
                let program = Some(Arc::new(Image::open(&data(program)).unwrap()));
                found.push(Fixture { name, bytes, program, ..Fixture::default() });
            }
            if program.is_none() || is_soak() {
                found.push(Fixture { name, bytes, architecture, ..Fixture::default() });
            }
        }
    }
    assert!(found.len() > 40, "{} recordings", found.len());
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let (name, bytes) = (format!("a small {order} recording"), small(order));
        found.push(Fixture { name, bytes, description: Some(DESCRIPTION), ..Fixture::default() });
    }
    found.sort_by_key(|fixture| fixture.bytes.len());
    // For a look at some of them, whose names have this in them.
    if let Ok(part) = std::env::var("TRACEFRAME_DAMAGE") {
        found.retain(|fixture| fixture.name.contains(&part));
    }
    found
}

/// A recording with one of everything.
pub fn small(order: ByteOrder) -> Vec<u8> {
    let mut bytes = b"\x7fTRACE0\nR 4\nstatus 0;tstop::0;tframes:3;circular:0\ntsv 1:0:0:61\ntp T1:40:E:0:0:X1,27\n\
        tp A1:40:R01\ntp Z1:40:cmd:0:2:61\ntp Z1:40:cmd:1:2:62\ntp V1:40:3:1\n\n"
        .to_vec();
    let number = |value: u64, width: usize| {
        let mut bytes = vec![0; width];
        order.store(value, &mut bytes);
        bytes
    };
    let registers = b"Rabcd".to_vec();
    let memory = [vec![b'M'], number(0x1000, 8), number(3, 2), b"efg".to_vec()].concat();
    let variable = [vec![b'V'], number(1, 4), number(7, 8)].concat();
    let data = [vec![b'S'], number(2, 2), b"hi".to_vec()].concat();
    for blocks in [&[&registers, &memory][..], &[], &[&variable, &data, &memory]] {
        let size = blocks.iter().map(|block| block.len() as u64).sum();
        bytes.extend([number(1, 2), number(size, 4)].concat());
        blocks.iter().for_each(|block| bytes.extend_from_slice(block));
    }
    bytes.extend([0; 4]);
    bytes
}

/// The program of a recording, for one recording of each kind.
fn program(recording: &str) -> Option<String> {
    let program = match recording {
        "tfile/04-step.tf" => "bin/case",
        "tfile/15-i386.tf" => "bin/case32",
        "tfile/17-pie.tf" => "bin/casepie",
        "tfile/60-be-ppc64.tf" => "bin/be-ppc64",
        "nios2/seq.tr" => "bin/seq.elf",
        _ => {
            let program = recording.strip_suffix(".tf").filter(|name| name.starts_with("architectures/"))?;
            let program = format!("{program}.elf");
            return data(&program).exists().then_some(program);
        }
    };
    Some(program.to_owned())
}

/// Every program.
pub fn programs() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in [files("bin"), files("architectures")].concat() {
        let bytes = std::fs::read(data(&name)).unwrap();
        if bytes.starts_with(b"\x7fELF") {
            found.push((name, bytes));
        }
    }
    assert!(found.len() > 15, "{} programs", found.len());
    found
}

fn files(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(data(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()).to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}
