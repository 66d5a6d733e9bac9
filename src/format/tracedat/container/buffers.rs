//! Buffers, their CPUs, and where the pages of each lie.
//!
//! trace-cmd.dat.v7(5), "BUFFER" and "Buffer flyrecord section".

use std::collections::HashSet;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::chunks::{COUNT_SIZE, Chunks};
use super::compression::Algorithm;
use super::options::BufferCpu;
use crate::source::{ByteOrder, Cursor, Source};
use crate::trace::{Damage, DamageList};

/// The smallest and the largest page: no machine that Linux runs on has smaller ones, and the kernel counts the bytes of
/// a page in 20 bits (its kernel/trace/ring_buffer.c, `RB_WRITE_MASK`).
const PAGE_SIZES: Range<u32> = 4 << 10..(1 << 20) + 1;

/// How many bytes all compressed pages of a file may expand to: so many times the bytes of the file, and so many more.
/// Pages are handed out when they are full, so that zeros are in the last one of a CPU only.
const EXPANSION: (u64, u64) = (256, 64 << 20);

/// The ring buffer of one tracing instance.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The name of the instance; empty for the top one.
    pub name: String,
    /// The clock of its timestamps as the file has it. trace-cmd 3.1 to 3.4 write the top instance's clock for all.
    pub clock: Option<String>,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// Its CPUs, in the order of the file. Their numbers need not ascend, and CPUs without data may be left out.
    pub cpus: Vec<Cpu>,
    /// Whether the file does not say what this buffer is, because that part of it is lost: then the CPUs are counted in
    /// the order of the file instead of having their numbers, and the name and the page size are what is most likely.
    pub recovered: bool,
}

/// The data of one CPU.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// The number of the CPU.
    pub id: u32,
    /// Offset in the file of its data.
    pub at: u64,
    /// The bytes of its data in the file; of the compressed data where they are compressed.
    pub size: u64,
    /// How many pages there are. The last is short where the file ends inside of it.
    pub pages: u64,
    /// `None` where the pages lie in the file as they are.
    pub(super) chunks: Option<Chunks>,
}

/// The bytes of a page.
#[derive(Clone, Debug)]
pub enum Page<'a> {
    /// They lie in the file.
    InFile {
        /// Their offset in the file.
        at: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// They were expanded.
    Expanded {
        /// Offset in the file of the compressed chunk.
        at: u64,
        /// What the chunk expands to.
        chunk: Arc<Vec<u8>>,
        /// Which of these bytes are the page.
        range: Range<usize>,
    },
}

impl Page<'_> {
    /// Offset in the file of the page, or of the compressed chunk that holds it.
    pub fn at(&self) -> u64 {
        match self {
            Page::InFile { at, .. } | Page::Expanded { at, .. } => *at,
        }
    }
}

impl Deref for Page<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Page::InFile { bytes, .. } => bytes,
            Page::Expanded { chunk, range, .. } => chunk.get(range.clone()).unwrap_or(&[]),
        }
    }
}

/// A buffer as the file describes it, before its data are looked at.
pub(super) struct Described {
    pub name: String,
    pub clock: Option<String>,
    pub page_size: u32,
    pub cpus: Vec<BufferCpu>,
    pub compressed: bool,
    pub recovered: bool,
    /// Offset in the file of the description, for what is wrong with it.
    pub at: u64,
}

/// Looks at the data of all buffers. No byte of the file is the data of two CPUs: where a size leads into the data of
/// another, that is where the data end.
pub(super) fn find(
    described: Vec<Described>,
    source: &Source,
    order: ByteOrder,
    algorithm: &Algorithm,
    damage: &mut DamageList,
) -> Vec<Buffer> {
    let starts = starts(&described);
    let mut left = source.length().saturating_mul(EXPANSION.0).saturating_add(EXPANSION.1);
    let mut taken = HashSet::new();
    let mut buffers = Vec::new();
    for Described { name, clock, page_size, cpus, compressed, recovered, at } in described {
        let mut buffer = Buffer { name, clock, page_size, cpus: Vec::new(), recovered };
        if !is_page_size(page_size) {
            let what = format!(
                "{} has pages of {page_size} bytes, expected a power of two from {} to {}; its data are lost",
                called(&buffer.name),
                PAGE_SIZES.start,
                PAGE_SIZES.end - 1
            );
            damage.push(Damage { at, frame: None, what });
            buffers.push(buffer);
            continue;
        }
        let unreadable = compressed && matches!(algorithm, Algorithm::None | Algorithm::Unknown(_));
        if unreadable {
            let what = format!(
                "{} is compressed and the file's compression is {algorithm:?}, expected zlib or zstd; its data are lost",
                called(&buffer.name),
                algorithm = algorithm.to_string()
            );
            damage.push(Damage { at, frame: None, what });
        }
        let mut ids = HashSet::new();
        for cpu in cpus {
            let BufferCpu { id, at: data_at, size } = cpu;
            let words = format!("CPU {id} of {}", called(&buffer.name));
            let mut damaged = |at, what: String| damage.push(Damage { at, frame: None, what });
            if !ids.insert(id) {
                damaged(at, format!("{words} is there twice; the second, with {size} bytes at {data_at:#x}, is lost"));
                continue;
            }
            if size > 0 && !taken.insert(data_at) {
                damaged(at, format!("{words} has its data at {data_at:#x}, where another CPU has them; they are lost"));
                continue;
            }
            let size = bounded(cpu, &starts, source.length(), at, &words, &mut damaged);
            let mut found = Cpu { id, at: data_at, size, pages: 0, chunks: None };
            if unreadable {
                // Named above, once for all CPUs.
            } else if compressed && size > 0 {
                // To trace-cmd 3.1 the number of chunks is no part of the size, to 3.4 it is.
                let reach = size.saturating_add(COUNT_SIZE).min(next(&starts, data_at) - data_at);
                let bytes = source.slice(data_at, usize::try_from(reach).unwrap_or(usize::MAX));
                let cursor = Cursor::new(bytes, data_at, order);
                let mut damaged = |at, what: String| damaged(at, format!("{words}: {what}"));
                let chunks = Chunks::find(cursor, page_size, algorithm, &mut damaged);
                let expanded = chunks.pages.saturating_mul(page_size.into());
                if let Some(rest) = left.checked_sub(expanded) {
                    left = rest;
                    found.pages = chunks.pages;
                    found.chunks = Some(chunks);
                } else {
                    let what = format!("{size} bytes expand to {expanded}, more than a recorder writes; they are lost");
                    damaged(data_at, what);
                }
            } else {
                found.pages = size.div_ceil(u64::from(page_size));
                let short = size % u64::from(page_size);
                if short > 0 {
                    let at = data_at.saturating_add(size - short);
                    damaged(at, format!("the last page of {words} has {short} of its {page_size} bytes"));
                }
            }
            buffer.cpus.push(found);
        }
        buffers.push(buffer);
    }
    buffers
}

/// How many bytes the chunks take that somebody goes through who merges all CPUs.
pub(super) fn at_once(buffers: &[Buffer]) -> u64 {
    let chunk = |buffer: &Buffer, cpu: &Cpu| {
        cpu.chunks.as_ref().map_or(0, |chunks| u64::from(chunks.most_pages()) * u64::from(buffer.page_size))
    };
    let chunks = buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|cpu| chunk(buffer, cpu)));
    chunks.fold(0, u64::saturating_add)
}

/// Where the data of CPUs begin, ascending.
fn starts(described: &[Described]) -> Vec<u64> {
    let cpus = described.iter().flat_map(|buffer| &buffer.cpus);
    let mut starts: Vec<u64> = cpus.filter(|cpu| cpu.size > 0).map(|cpu| cpu.at).collect();
    starts.sort_unstable();
    starts
}

/// Where the next data behind an offset begin.
fn next(starts: &[u64], at: u64) -> u64 {
    starts.get(starts.partition_point(|start| *start <= at)).copied().unwrap_or(u64::MAX)
}

/// How many bytes the data of a CPU have in the file, before those of another begin.
fn bounded(
    cpu: BufferCpu,
    starts: &[u64],
    length: u64,
    described_at: u64,
    words: &str,
    damaged: &mut dyn FnMut(u64, String),
) -> u64 {
    let BufferCpu { at, size, .. } = cpu;
    if size == 0 {
        return 0;
    }
    let next = next(starts, at);
    let end = at.saturating_add(size);
    let left = length.min(next).saturating_sub(at);
    if end > next && next < length {
        let what = format!("{words} has {size} bytes at {at:#x}, of which those from {next:#x} on are another CPU's");
        damaged(described_at, what);
    } else if end > length {
        let what = format!(
            "{words} has {size} bytes at {at:#x}, but the file ends at {length:#x}; {} bytes are lost",
            size.saturating_sub(left)
        );
        damaged(length, what);
    }
    size.min(left)
}

/// Whether a ring buffer can have pages of that many bytes.
pub(super) fn is_page_size(page_size: u32) -> bool {
    page_size.is_power_of_two() && PAGE_SIZES.contains(&page_size)
}

/// A buffer in words.
pub(super) fn called(name: &str) -> String {
    if name.is_empty() { "the top buffer".to_owned() } else { format!("the buffer {name:?}") }
}
