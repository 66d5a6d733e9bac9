//! Data whose description is lost. In version 7 the option that describes a buffer follows the buffer's data, so each
//! file that is cut inside of the data, by a copy or by a recorder that was killed, lacks it.
//!
//! What trace-cmd's writer does tells where the data lie (trace-output.c, `tcmd_out_write_cpu_data`): CPU after CPU by
//! ascending number, each from the next page on. What is not told is which numbers the CPUs have.

use super::options::BufferCpu;
use super::section::Section;
use crate::source::{ByteOrder, Cursor, Source};

/// Where the data of each CPU of a section lie; the CPUs are counted.
pub(super) fn cpus(source: &Source, order: ByteOrder, section: &Section, page_size: u32) -> Vec<BufferCpu> {
    let page_size = u64::from(page_size);
    let end = section.end().min(source.length());
    let mut cpus = Vec::new();
    let Some(mut at) = section.data_at().checked_next_multiple_of(page_size) else { return cpus };
    while at < end {
        let size = if section.is_compressed() {
            chunks(source, order, at, end)
        } else {
            run(source, order, at, end, page_size)
        };
        if size == 0 {
            break;
        }
        cpus.push(BufferCpu { id: cpus.len() as u32, at, size });
        let Some(next) = at.checked_add(size).and_then(|next| next.checked_next_multiple_of(page_size)) else { break };
        at = next;
    }
    cpus
}

/// The bytes of the pages from `at` on that can be of one CPU: the times at the front of its pages ascend (8 bytes, as
/// the kernel's ring_buffer.c, `struct buffer_data_page`, has them on every machine).
fn run(source: &Source, order: ByteOrder, at: u64, end: u64, page_size: u64) -> u64 {
    let mut last = 0;
    let mut next = at;
    while next < end {
        let time = Cursor::new(source.slice(next, 8), next, order).u64().unwrap_or(u64::MAX);
        if time < last {
            break;
        }
        last = time;
        next = next.saturating_add(page_size);
    }
    next.min(end).saturating_sub(at)
}

/// The bytes of a chain of chunks, up to `end` where that is inside of it.
fn chunks(source: &Source, order: ByteOrder, at: u64, end: u64) -> u64 {
    let length = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
    let mut cursor = Cursor::new(source.slice(at, length), 0, order);
    let mut pass = || {
        for _ in 0..cursor.u32()? {
            let stored = cursor.u32()?;
            cursor.u32()?;
            cursor.take(stored as usize)?;
        }
        Ok::<_, crate::source::OutOfBytes>(cursor.position())
    };
    // A count of 0 is none: the writer puts it there first, and the true one when all chunks are written.
    match pass() {
        Ok(passed) if passed > 4 => passed,
        Ok(_) => 0,
        Err(_) => length as u64,
    }
}
