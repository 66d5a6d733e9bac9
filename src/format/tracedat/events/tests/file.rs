//! As much of a trace.dat file, version 7, as is needed to come to its pages and formats. The files are whole.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::{Formats, LongSize, PageLayout};
use crate::source::{ByteOrder, Cursor};
use crate::trace::DamageList;

const LITTLE: ByteOrder = ByteOrder::Little;

/// The pages of one CPU.
pub(super) struct Pages {
    pub(super) instance: String,
    pub(super) cpu: u32,
    pub(super) page_size: usize,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct File {
    pub(super) layout: PageLayout,
    pub(super) formats: Formats,
    pub(super) names: String,
    pub(super) pages: Vec<Pages>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tracedat")
}

/// What another program read in a recording.
pub(super) fn answer(name: &str) -> String {
    let stored = std::fs::read(folder().join("expect").join(format!("{name}.gz"))).unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&stored[..]).read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

fn string(cursor: &mut Cursor<'_>) -> String {
    let length = cursor.rest().iter().position(|byte| *byte == 0).unwrap();
    String::from_utf8(cursor.take(length + 1).unwrap()[..length].to_vec()).unwrap()
}

fn expand(algorithm: &str, bytes: &[u8]) -> Vec<u8> {
    let mut expanded = Vec::new();
    match algorithm {
        "zlib" => flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut expanded).map(drop).unwrap(),
        "zstd" => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut expanded).map(drop).unwrap(),
        other => panic!("{other}"),
    }
    expanded
}

struct Reader<'a> {
    bytes: &'a [u8],
    algorithm: String,
}

impl Reader<'_> {
    fn at(&self, offset: u64) -> Cursor<'_> {
        Cursor::new(&self.bytes[offset as usize..], offset, LITTLE)
    }

    fn section(&self, offset: u64) -> Vec<u8> {
        let mut cursor = self.at(offset + 2);
        let compressed = cursor.u16().unwrap() & 1 != 0;
        cursor.u32().unwrap();
        let size = cursor.u64().unwrap() as usize;
        if !compressed {
            return cursor.take(size).unwrap().to_vec();
        }
        let size = cursor.u64().unwrap() as u32;
        expand(&self.algorithm, cursor.take(size as usize).unwrap())
    }

    fn chunks(&self, offset: u64) -> Vec<u8> {
        let mut cursor = self.at(offset);
        let mut pages = Vec::new();
        for _ in 0..cursor.u32().unwrap() {
            let size = cursor.u64().unwrap() as u32;
            pages.extend(expand(&self.algorithm, cursor.take(size as usize).unwrap()));
        }
        pages
    }

    fn buffer(&self, option: &[u8]) -> Vec<Pages> {
        let mut cursor = Cursor::new(option, 0, LITTLE);
        let at = cursor.u64().unwrap();
        let instance = string(&mut cursor);
        string(&mut cursor);
        let page_size = cursor.u32().unwrap() as usize;
        let compressed = self.at(at + 2).u16().unwrap() & 1 != 0;
        let count = cursor.u32().unwrap();
        let cpu = |_| {
            let (cpu, at, size) = (cursor.u32().unwrap(), cursor.u64().unwrap(), cursor.u64().unwrap() as usize);
            let bytes = if compressed { self.chunks(at) } else { self.at(at).take(size).unwrap().to_vec() };
            Pages { instance: instance.clone(), cpu, page_size, bytes }
        };
        (0..count).map(cpu).collect()
    }
}

impl File {
    pub(super) fn open(name: &str) -> File {
        let bytes = std::fs::read(folder().join(format!("{name}.dat"))).unwrap();
        let mut cursor = Cursor::new(&bytes, 0, LITTLE);
        cursor.take(b"\x17\x08\x44tracing7\0".len() + 6).unwrap();
        let algorithm = string(&mut cursor);
        string(&mut cursor);
        let mut options_at = cursor.u64().unwrap();
        let reader = Reader { bytes: &bytes, algorithm };

        let mut layout = None;
        let mut formats = Formats::new(LITTLE, LongSize::Eight);
        let mut damage = DamageList::default();
        let (mut names, mut pages) = (String::new(), Vec::new());
        while options_at != 0 {
            let options = reader.section(options_at);
            let mut options = Cursor::new(&options, 0, LITTLE);
            options_at = 0;
            while !options.is_at_end() {
                let id = options.u16().unwrap();
                let size = options.u32().unwrap() as usize;
                let option = options.take(size).unwrap();
                let section = || reader.section(Cursor::new(option, 0, LITTLE).u64().unwrap());
                match id {
                    0 => options_at = Cursor::new(option, 0, LITTLE).u64().unwrap(),
                    3 => pages.extend(reader.buffer(option)),
                    16 => {
                        let section = section();
                        let text = &section["header_page\0".len() + 8..];
                        let (read, wrong) = PageLayout::read(text, LITTLE, LongSize::Four);
                        assert_eq!(wrong, None);
                        layout = Some(read);
                    }
                    17 => add_formats("ftrace", &mut Cursor::new(&section(), 0, LITTLE), &mut formats, &mut damage),
                    18 => {
                        let section = section();
                        let mut cursor = Cursor::new(&section, 0, LITTLE);
                        for _ in 0..cursor.u32().unwrap() {
                            let system = string(&mut cursor);
                            add_formats(&system, &mut cursor, &mut formats, &mut damage);
                        }
                    }
                    21 => names = String::from_utf8(section()[8..].to_vec()).unwrap(),
                    _ => {}
                }
            }
        }
        assert_eq!(damage.kept(), []);
        File { layout: layout.unwrap(), formats, names, pages }
    }
}

fn add_formats(system: &str, cursor: &mut Cursor<'_>, formats: &mut Formats, damage: &mut DamageList) {
    for _ in 0..cursor.u32().unwrap() {
        let size = cursor.u64().unwrap() as usize;
        formats.add(system, cursor.take(size).unwrap(), 0, damage);
    }
}
