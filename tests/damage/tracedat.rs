//! trace.dat files that are cut, and trace.dat files with changed bytes.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use traceframe::format::tracedat::container::Container;
use traceframe::format::{self, OpenOptions};
use traceframe::report::{self, FrameFilter, Info};
use traceframe::session::{Find, Programs, Replay, Selected, Session};
use traceframe::source::{ByteOrder, Source};
use traceframe::trace::Frame;

use super::case::{Cases, is_soak, sample, turn};
use super::conversation;
use super::heap;
use super::made::Made;
use super::questions::{NAME, damage};
use super::support::data;

/// What a file may take besides a multiple of its length: tables with an entry for each of the 65536 numbers that an
/// event can have (2.5 MB where the largest is in use), the built-in target description (0.3 MB), and what a client is
/// told before a turn ends.
pub const ROOM: usize = 3 << 20;

/// How many times its length, with all that is compressed expanded, a file may take. Measured are 2 to 6: symbols and
/// formats become tables, the tables a program for gdb; an event has 8 bytes of place and some ten of index.
pub const FACTOR: usize = 8;

/// A file, whole and as it is served.
struct Whole {
    name: String,
    bytes: Vec<u8>,
    /// The length of the file with all that is compressed expanded.
    expanded: usize,
    /// Places of numbers that say where others lie or how many there are.
    numbers: Vec<Range<usize>>,
    /// The pages that lie in the file as they are.
    pages: Vec<Page>,
}

/// A page: its place in the file, and how often it has each record, by raw time and bytes.
struct Page {
    range: Range<usize>,
    records: Vec<(u64, Vec<u8>)>,
}

/// The real recordings, but for one that is larger than others and has nothing that they have not.
const RECORDED: [&str; 13] = [
    "latency-v7-zstd",
    "marker-v7-zstd",
    "clock-mono_raw",
    "options-v7-zlib",
    "clock-x86-tsc",
    "lost-v7-zstd",
    "sched-v7-zlib",
    "btfmod-v7-none",
    "instances-v7-zlib",
    "bad-truncated-v7-none",
    "uprobe-v7-zstd",
    "sched-v6",
    "sched-v7-none",
];

/// Small files with one of everything, in all layouts.
pub fn made() -> Vec<(String, Made)> {
    let mut made = Vec::new();
    for (version, order, long, compression) in [
        (7, ByteOrder::Little, 8, "none"),
        (6, ByteOrder::Big, 4, "none"),
        (7, ByteOrder::Big, 8, "zstd"),
        (7, ByteOrder::Little, 4, "zlib"),
        (6, ByteOrder::Little, 8, "none"),
    ] {
        let name = format!("a small {order} file of version {version}, longs of {long} bytes, {compression}");
        made.push((name, Made { compression, ..Made::small(version, order, long) }));
    }
    made
}

impl Whole {
    fn all() -> &'static [Whole] {
        static ALL: OnceLock<Vec<Whole>> = OnceLock::new();
        ALL.get_or_init(|| {
            let mut all = Vec::new();
            for (name, made) in made() {
                let written = made.write();
                all.push(Whole::new(name, written.bytes, written.numbers));
            }
            for name in RECORDED {
                let bytes = std::fs::read(data(&format!("tracedat/{name}.dat"))).unwrap();
                let numbers = numbers(&bytes);
                all.push(Whole::new(name.to_owned(), bytes, numbers));
            }
            if let Ok(part) = std::env::var("TRACEFRAME_DAMAGE") {
                all.retain(|whole: &Whole| whole.name.contains(&part));
            }
            all
        })
    }

    fn new(name: String, bytes: Vec<u8>, numbers: Vec<Range<usize>>) -> Whole {
        let container = Container::open(Source::from_vec(NAME, bytes.clone())).unwrap();
        let mut expanded = bytes.len();
        let texts = [container.header_page(), container.header_event(), container.btf(), container.modules_text()];
        expanded += texts.iter().flatten().map(|text| text.bytes.len()).sum::<usize>();
        expanded += container.kallsyms().map_or(0, |kallsyms| kallsyms.text.len());
        expanded += container.event_formats().map(|format| format.format.bytes.len()).sum::<usize>();
        let mut pages = Vec::new();
        for buffer in container.buffers() {
            for cpu in &buffer.cpus {
                let whole = cpu.pages as usize * buffer.page_size as usize;
                if *container.algorithm() == format::tracedat::container::Algorithm::None {
                    let data = cpu.at as usize..(cpu.at + cpu.size) as usize;
                    for (number, page) in bytes[data.clone()].chunks(buffer.page_size as usize).enumerate() {
                        let at = data.start + number * buffer.page_size as usize;
                        let long = if name.contains("longs of 4") { 4 } else { 8 };
                        let records = records(page, container.byte_order(), long);
                        pages.push(Page { range: at..at + page.len(), records });
                    }
                } else {
                    expanded += whole;
                }
            }
        }
        let replay = open(bytes.clone()).unwrap();
        let frames = replay.index().progress().frames;
        let whole = Whole { name, bytes, expanded, numbers, pages };
        if !whole.pages.is_empty() {
            let recorded: u64 = whole.pages.iter().map(|page| page.records.len() as u64).sum();
            assert_eq!(recorded, frames, "{}", whole.name);
            assert_eq!(missing(&replay, whole.pages.iter()), 0, "{}", whole.name);
        }
        whole
    }

    fn room(&self) -> usize {
        FACTOR * self.expanded + ROOM
    }

    /// Whether nothing of it is left out.
    fn is_made(&self) -> bool {
        self.name.starts_with("a small")
    }

    /// Asks everything of other bytes, that are this file up to offset `until`, and from `behind` on.
    fn ask(&self, cases: &mut Cases, what: &str, bytes: Vec<u8>, until: usize, behind: usize) {
        let length = bytes.len();
        cases.run(format!("{} {what}", self.name), self.room(), || match open(bytes) {
            Ok(replay) => {
                ask(&replay, length);
                // Pages that are whole, and of which all is whole that tells what they are, are served unchanged. Of a
                // cut file of version 7 what tells it is lost, and found out.
                let untouched = |page: &&Page| page.range.end <= until || page.range.start >= behind;
                let (start, end) = self.pages_range();
                if until >= start && (behind <= end || behind == usize::MAX) {
                    let pages: Vec<&Page> = self.pages.iter().filter(untouched).collect();
                    if self.is_made() {
                        assert_eq!(missing(&replay, pages.into_iter()), 0, "records are lost");
                    } else {
                        let expected: usize = pages.iter().map(|page| page.records.len()).sum();
                        assert!(replay.index().progress().frames >= expected as u64, "records are lost");
                    }
                }
            }
            Err(refused) => {
                assert!(refused.starts_with(NAME), "{refused}");
                assert!(until < 64, "refused for what lies behind the header: {refused}");
            }
        });
    }

    /// Where the first page begins, and the last one ends.
    fn pages_range(&self) -> (usize, usize) {
        let start = self.pages.iter().map(|page| page.range.start).min().unwrap_or(usize::MAX);
        (start, self.pages.iter().map(|page| page.range.end).max().unwrap_or(0))
    }

    /// Where all is empty that the pages' own numbers leave out.
    fn is_filling(&self, at: usize) -> bool {
        let page = self.pages.iter().find(|page| page.range.contains(&at));
        page.is_some_and(|page| self.bytes[at..page.range.end].iter().all(|byte| *byte == 0))
    }
}

/// Opens bytes as the program opens a file, with the program that the file itself gives.
pub fn open(bytes: Vec<u8>) -> Result<Arc<Replay>, String> {
    let source = Source::from_vec(NAME, bytes);
    let recording = format::open(source, &OpenOptions::default()).map_err(|error| error.to_string())?;
    let replay = Arc::new(Replay::new(recording, Programs::default()).unwrap());
    assert_eq!(replay.image().is_some(), replay.recording().program().is_some(), "the program that was made is one");
    assert!(replay.index().wait().complete);
    Ok(replay)
}

/// The records of a page, by the kernel's ring_buffer.h.
fn records(page: &[u8], order: ByteOrder, long: usize) -> Vec<(u64, Vec<u8>)> {
    let number = |at: usize, width: usize| page.get(at..at + width).and_then(|bytes| order.unsigned(bytes));
    let mut found = Vec::new();
    let (Some(mut time), Some(commit)) = (number(0, 8), number(8, long)) else { return found };
    let end = 8 + long + (commit & 0x7ff_ffff) as usize;
    let mut at = 8 + long;
    while at + 4 <= end.min(page.len()) {
        let header = number(at, 4).unwrap();
        let (kind, delta) = match order {
            ByteOrder::Little => (header & 31, header >> 5),
            ByteOrder::Big => (header >> 27, header & 0x7ff_ffff),
        };
        let second = number(at + 4, 4);
        let (data, length) = match (kind, second) {
            (1..=28, _) => (at + 4, 4 * kind as usize),
            (29, _) if delta == 0 => break,
            (0, Some(length)) => (at + 8, (length as usize - 4).next_multiple_of(4)),
            (30, Some(second)) => {
                time += (second << 27) | delta;
                at += 8;
                continue;
            }
            (29, Some(second)) => {
                time += delta;
                at += 4 + second as usize;
                continue;
            }
            _ => break,
        };
        let Some(bytes) = page.get(data..data + length) else { break };
        time += delta;
        found.push((time, bytes.to_vec()));
        at = data + length;
    }
    found
}

/// How many records of these pages are in no frame.
fn missing<'a>(replay: &Replay, pages: impl Iterator<Item = &'a Page>) -> usize {
    let mut served: HashMap<(u64, Vec<u8>), usize> = HashMap::new();
    for number in 0..replay.index().progress().frames {
        let frame = replay.frame(number).unwrap();
        *served.entry((raw_time(&frame), frame.memory[0].bytes.to_vec())).or_default() += 1;
    }
    let mut missing = 0;
    for record in pages.flat_map(|page| &page.records) {
        match served.get_mut(record).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => missing += 1,
        }
    }
    missing
}

/// The variable `raw_timestamp`, which is the second in every file.
fn raw_time(frame: &Frame<'_>) -> u64 {
    frame.variable(2).unwrap().cast_unsigned()
}

/// Of a recorded file the numbers of its sections and options (trace-cmd.dat.v7(5)), and of version 6 what looks like
/// one: it has no headers.
fn numbers(bytes: &[u8]) -> Vec<Range<usize>> {
    let u64_at = |at: usize| bytes.get(at..at + 8).map(|found| u64::from_le_bytes(found.try_into().unwrap()));
    let mut found = Vec::new();
    if bytes[10] == b'6' {
        let small = |at: &usize| u64_at(*at).is_some_and(|value| value > 0 && value < bytes.len() as u64);
        found.extend((12..bytes.len().min(30_000)).filter(small).step_by(7).map(|at| at..at + 8));
        return found;
    }
    let string = |at: usize| at + bytes[at..].iter().position(|byte| *byte == 0).unwrap() + 1;
    let options_at = string(string(18));
    found.push(options_at..options_at + 8);
    let mut at = options_at + 8;
    while let Some(size) = u64_at(at + 8) {
        found.extend([at..at + 2, at + 2..at + 4, at + 4..at + 8, at + 8..at + 16]);
        let (start, end) = (at + 16, (at + 16 + size as usize).min(bytes.len()));
        // What sections begin with: counts, sizes of texts and of compressed data.
        found.extend((start..end.min(start + 64)).step_by(4).filter(|at| at + 8 <= end).map(|at| at..at + 4));
        if bytes[at..at + 2] == [0, 0] {
            let mut option = start;
            while option + 6 <= end {
                let size = u32::from_le_bytes(bytes[option + 2..option + 6].try_into().unwrap()) as usize;
                found.extend([option..option + 2, option + 2..option + 6]);
                let data = option + 6..(option + 6 + size).min(end);
                found.extend(data.clone().step_by(4).filter(|at| at + 4 <= data.end).take(30).map(|at| at..at + 4));
                option += 6 + size;
            }
        }
        at = end;
    }
    found
}

/// Asks everything.
pub fn ask(replay: &Arc<Replay>, length: usize) {
    for damage in &damage(replay) {
        assert!(damage.at <= length as u64, "behind the end of {length} bytes: {damage}");
        assert!(damage.what.len() < 2000, "{} letters", damage.what.len());
    }
    let count = replay.index().progress().frames;
    assert_eq!(replay.recording().end().0, count, "as many frames as were announced");
    frames(replay, count);
    texts(replay);
    program(replay);
    conversation::hold(replay, count);
}

/// Looks at frames from the beginning, the middle and the end.
fn frames(replay: &Arc<Replay>, count: u64) {
    let mut session = Session::new(replay.clone());
    assert_eq!(session.find(Find::Number(count)).found(), None);
    let mut numbers: Vec<u64> = (0..count).step_by((count as usize / 8).max(1)).collect();
    numbers.extend(count.checked_sub(1));
    for number in numbers {
        let found = session.find(Find::Number(number)).found().unwrap();
        let frame = session.frame().unwrap();
        assert_eq!(found, Selected { frame: number, tracepoint: frame.tracepoint });
        assert!(replay.recording().tracepoints().iter().any(|known| known.number == frame.tracepoint));
        session.registers(frame.thread);
        for block in &frame.memory {
            let length = block.bytes.len().min(16);
            assert_eq!(
                session.memory(session.thread(), block.address, length),
                frame.read_memory(block.address, length)
            );
        }
        for (variable, _) in frame.variables.iter().take(12) {
            assert_eq!(session.variable(*variable).found(), frame.variable(*variable));
        }
        replay.recording().label(&frame);
        session.memory(session.thread(), frame.pc.address().unwrap_or(0), 16);
    }
    // What is seen on a walk is what is found by its place.
    let mut walked = 0;
    replay.recording().walk(&mut |item| {
        if let traceframe::trace::Item::Frame(frame) = item {
            let again = replay.recording().frame(frame.location);
            assert_eq!((again.tracepoint, again.thread, again.time), (frame.tracepoint, frame.thread, frame.time));
            walked += 1;
        }
        if walked < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}

/// What a terminal is shown may not steer it.
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(|letter| letter.is_control() && letter != '\n')
}

/// What `info`, `frames` and the monitor commands show.
fn texts(replay: &Arc<Replay>) {
    let info = Info::new(replay);
    assert!(is_plain(&info.to_string()));
    assert!(serde_json::to_string(&info).unwrap().starts_with('{'));
    drop(info);
    for text in [
        report::frames_table(replay, &FrameFilter::default(), 20),
        report::damage(replay),
        report::status(&Session::new(replay.clone())),
    ] {
        assert!(is_plain(&text), "{text:?}");
    }
    report::warnings(replay);
}

/// Asks the program that the file gives.
fn program(replay: &Arc<Replay>) {
    let Some(image) = replay.image() else { return };
    assert!(image.image.damage().is_empty(), "{:?}", image.image.damage());
    let addresses = replay.recording().tracepoints().iter().map(|tracepoint| tracepoint.address);
    for address in addresses.chain([0, 0xffff_ffff_8100_0104, u64::MAX]) {
        if let Some((name, _)) = image.function(address) {
            assert!(is_plain(&name), "{name:?}");
        }
        assert!(image.line(address).is_none());
        assert!(image.read_only(address).is_empty(), "nothing of it was recorded");
    }
}

/// Of each recorded file so many places are taken where not all are.
const SAMPLE: usize = 2;

/// And of each made one.
const SAMPLE_OF_MADE: usize = 25;

/// The same in a soak: a recorded file has hundreds of thousands of bytes, one of them much like another.
const SOAKED: usize = 1000;

impl Whole {
    fn sample(&self, end: usize) -> impl Iterator<Item = usize> {
        let stride = if is_soak() && !self.is_made() { (end / SOAKED) | 1 } else { 1 };
        sample(end, if self.is_made() { SAMPLE_OF_MADE } else { SAMPLE }).step_by(stride)
    }
}

#[test]
fn whole_files_take_no_more_than_they_may() {
    let mut cases = Cases::of("whole trace.dat files");
    for whole in Whole::all() {
        whole.ask(&mut cases, "as it is", whole.bytes.clone(), whole.bytes.len(), 0);
    }
}

#[test]
fn cut_at_every_byte() {
    let mut cases = Cases::of("trace.dat files cut at every byte");
    for whole in Whole::all() {
        for length in whole.sample(whole.bytes.len()) {
            let cut = whole.bytes[..length].to_vec();
            whole.ask(&mut cases, &format!("cut to {length} bytes"), cut, length, usize::MAX);
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut cases = Cases::of("trace.dat files with every byte changed");
    for whole in Whole::all() {
        let bytes = &whole.bytes;
        for (number, at) in whole.sample(bytes.len()).enumerate() {
            let mut changes = vec![!bytes[at], bytes[at] ^ (1 << (at % 8)), 0, 0xff];
            // What fills a page up is not read, and most of a file is one record like another.
            if whole.is_filling(at) || !whole.is_made() {
                changes = vec![changes[number % changes.len()]];
            }
            for value in turn(changes, number, false) {
                let mut changed = bytes.clone();
                changed[at] = value;
                whole.ask(&mut cases, &format!("with {value:#x} at byte {at:#x}"), changed, at, at + 1);
            }
        }
    }
}

#[test]
fn every_number_at_its_extremes() {
    let mut cases = Cases::of("trace.dat files with every number at its extremes");
    for whole in Whole::all() {
        let bytes = &whole.bytes;
        let order = if bytes[12] == 1 { ByteOrder::Big } else { ByteOrder::Little };
        for (number, place) in whole.sample(whole.numbers.len()).enumerate() {
            let range = whole.numbers[place].clone();
            let behind = (bytes.len() - range.end) as u64;
            let most = u64::MAX >> (64 - 8 * range.len());
            let values = vec![0, 1, most, most >> 1, (most >> 1) + 1, behind, behind + 1, bytes.len() as u64];
            let all = whole.is_made() && is_soak();
            for value in turn(values, number, all) {
                let mut changed = bytes.clone();
                order.store(value, &mut changed[range.clone()]);
                let what = format!("with {value:#x} at bytes {range:x?}");
                whole.ask(&mut cases, &what, changed, range.start, range.end);
            }
        }
    }
}

#[test]
fn what_zstd_data_are_said_to_expand_to_takes_no_memory() {
    let mut cases = Cases::of("trace.dat files with the sizes of zstd data made large");
    for whole in Whole::all() {
        let magics = memchr::memmem::find_iter(&whole.bytes, b"\x28\xb5\x2f\xfd");
        // Before it are the compressed size and the other.
        for at in magics.map(|magic| magic - 4).take(20) {
            for value in [9 << 20, 0xff_0f08, 40 << 20] {
                let mut changed = whole.bytes.clone();
                let order = if changed[12] == 1 { ByteOrder::Big } else { ByteOrder::Little };
                order.store(value, &mut changed[at..at + 4]);
                whole.ask(&mut cases, &format!("with size {value} at byte {at:#x}"), changed, at, at + 4);
            }
        }
    }
}

#[test]
fn what_is_counted_is_what_is_held() {
    // The bound of all cases means nothing if the heap is not counted.
    let _alone = super::case::alone();
    let (replay, grown) = heap::growth(|| open(Made::small(7, ByteOrder::Little, 8).bytes()).unwrap());
    assert!(grown > 1 << 16, "{grown}");
    assert_eq!(replay.index().progress().frames, 7);
}
