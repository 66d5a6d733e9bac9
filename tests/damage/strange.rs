//! trace.dat files that are strange and sound, and small ones that would become large.

use std::sync::Arc;
use std::time::Instant;

use traceframe::session::Replay;
use traceframe::source::ByteOrder::{self, Big, Little};

use super::case::Cases;
use super::made::{Buffer, Made, format};
use super::questions::damage;
use super::support::{Gdb, Server, made::save, run, traceframe};
use super::tracedat::{FACTOR, ROOM, ask, is_plain, open};

const LAYOUTS: [(u8, ByteOrder, usize); 6] =
    [(7, Little, 8), (7, Big, 8), (7, Little, 4), (7, Big, 4), (6, Little, 8), (6, Big, 4)];

/// Opens a file that is whole, and asks everything.
fn served(cases: &mut Cases, name: &str, made: &Made) -> Arc<Replay> {
    served_within(cases, name, made, FACTOR)
}

/// The same, with so many times the file's length.
fn served_within(cases: &mut Cases, name: &str, made: &Made, factor: usize) -> Arc<Replay> {
    let bytes = made.bytes();
    let length = bytes.len();
    cases.run(name.to_owned(), factor * length + ROOM, || {
        let replay = open(bytes).unwrap();
        assert!(damage(&replay).is_empty(), "{:?}", damage(&replay));
        ask(&replay, length);
        replay
    })
}

/// The value of a variable in a frame.
fn value(replay: &Replay, frame: u64, name: &str) -> Option<i64> {
    let variable = replay.recording().variables().iter().find(|variable| variable.name == name)?;
    replay.frame(frame)?.variable(variable.number)
}

/// A file of version 7 with one kind of event, `event` of number 300, and its records in pages of one CPU.
fn with_event(fields: &[(&str, usize, usize, bool)], records: &[(u32, Vec<u8>)]) -> Made {
    let mut made = Made::new(7, Little, 8);
    made.formats = vec![("system".to_owned(), format("event", 300, fields))];
    made.options = vec![(5, b"Linux vm 6.1.0 x86_64".to_vec())];
    let page = made.page(1000, 0, records);
    made.buffers = vec![Buffer { name: Vec::new(), cpus: vec![(0, page)] }];
    made
}

#[test]
fn every_byte_order_and_size_of_a_long() {
    let mut cases = Cases::of("trace.dat files of every layout");
    for (version, order, long) in LAYOUTS {
        let made = Made::small(version, order, long);
        let replay = served(&mut cases, &format!("version {version}, {order}, longs of {long} bytes"), &made);
        assert_eq!(replay.index().progress().frames, 7);
        let values = |name: &str| (0..7).map(|frame| value(&replay, frame, name)).collect::<Vec<_>>();
        let times = [1_000_000, 1_000_003, 1_000_100, 1_000_200, 1_000_503, 1_002_010, 1_002_030];
        assert_eq!(values("raw_timestamp"), times.map(Some));
        assert_eq!(values("timestamp"), times.map(|time| Some(time + 16_000)));
        assert_eq!(values("cpu"), [0, 0, 1, 1, 0, 0, 0].map(Some));
        assert_eq!(values("pid"), [7, 7, 0, 8, 7, 8, 7].map(Some));
        assert_eq!(values("prev_pid"), [Some(7), None, Some(0), Some(8), None, Some(8), None]);
        assert_eq!(values("lost_before"), [None, None, None, None, None, Some(0), None]);
        let frame = replay.frame(0).unwrap();
        let record = value(&replay, 0, "rec").unwrap();
        let text = value(&replay, 0, "text").unwrap().cast_unsigned();
        assert_eq!((text - record.cast_unsigned(), frame.read_memory(text, 4)), (32, b"text".to_vec()));
        let words = value(&replay, 0, "words").unwrap().cast_unsigned();
        assert_eq!(frame.read_memory(words, 4), [made.number(1, 2), made.number(2, 2)].concat());
        // The stack at the first event is the record behind it: where the probe's function was called from.
        let text_at: u64 = if long == 8 { 0xffff_ffff_8100_0000 } else { 0xc010_0000 };
        let stack = replay.frame(1).unwrap();
        assert_eq!(stack.pc.address(), Some(text_at + 0x208));
        assert_eq!(frame.pc.address(), Some(text_at + 0x200));
        // A probe's registers and its memory at the stack pointer.
        let probe = replay.frame(4).unwrap();
        assert_eq!(probe.pc.address(), Some(0x40_1136));
        assert_eq!(probe.read_memory(0x7fff_0000, 16), [made.number(11, 8), made.number(12, 8)].concat());
    }
}

#[test]
fn files_that_lack_things() {
    let mut cases = Cases::of("trace.dat files that lack things");
    for (version, order, long) in LAYOUTS {
        let name = |what: &str| format!("version {version}, {order}, longs of {long} bytes, {what}");
        let small = Made::small(version, order, long);
        let nothing = Made { buffers: vec![Buffer::default()], ..Made::new(version, order, long) };
        assert_eq!(served(&mut cases, &name("nothing"), &nothing).index().progress().frames, 0);
        let options = small.options.iter().filter(|(id, _)| *id != 8).cloned().collect();
        let no_cpus = Made { buffers: nothing.buffers.clone(), options, ..small.clone() };
        assert_eq!(served(&mut cases, &name("no CPUs"), &no_cpus).index().progress().frames, 0);
        let no_formats = Made { formats: Vec::new(), ..small.clone() };
        let replay = served(&mut cases, &name("no formats"), &no_formats);
        // What an event is called is not known, and it is an event all the same.
        assert_eq!(replay.index().progress().frames, 7);
        assert_eq!(value(&replay, 0, "event_id"), Some(300));
        assert_eq!(value(&replay, 0, "pid"), None);
        let no_symbols = Made { kallsyms: Vec::new(), ..small.clone() };
        assert_eq!(served(&mut cases, &name("no symbols"), &no_symbols).index().progress().frames, 7);
        let hidden =
            b"0000000000000000 T _stext\n0000000000000000 T schedule\n0000000000000000 t x [module]\n".to_vec();
        let hidden = Made { kallsyms: hidden, ..small.clone() };
        let replay = served(&mut cases, &name("hidden symbols"), &hidden);
        assert!(replay.recording().remarks().iter().any(|remark| remark.contains("kptr_restrict")));
        let no_options = Made { options: Vec::new(), ..small };
        assert_eq!(served(&mut cases, &name("no options"), &no_options).index().progress().frames, 7);
    }
}

#[test]
fn thousands_of_cpus_and_of_instances() {
    let mut cases = Cases::of("trace.dat files with thousands of CPUs");
    let one = with_event(&[("int x", 8, 4, true)], &[]);
    let page = |number: u32| {
        let record = one.record(300, 5, &[&number.to_le_bytes()]);
        one.page(u64::from(10_000 - number), 0, &[(0, record)])
    };
    let cpus = (0..3000).map(|cpu| (cpu, if cpu % 2 == 0 { page(cpu) } else { Vec::new() })).collect();
    let many_cpus = Made { buffers: vec![Buffer { name: Vec::new(), cpus }], ..one.clone() };
    let instances = (0..3000)
        .map(|number| Buffer { name: format!("instance{number}").into_bytes(), cpus: vec![(0, page(number))] });
    let many_instances = Made { buffers: instances.collect(), ..one.clone() };
    for (name, made, count) in [("CPUs", many_cpus, 1500), ("instances", many_instances, 3000)] {
        let replay = served(&mut cases, &format!("3000 {name}"), &made);
        assert_eq!(replay.index().progress().frames, count);
        // The last one has the first time.
        assert_eq!(value(&replay, 0, "x"), Some(3000 - 3000 / count.cast_signed()));
        assert_eq!(value(&replay, count - 1, "x"), Some(0));
    }
}

#[test]
fn an_event_with_ten_thousand_fields() {
    let mut cases = Cases::of("an event with ten thousand fields");
    let names: Vec<String> = (0..10_000).map(|number| format!("u16 f{number}")).collect();
    let fields: Vec<_> = names.iter().zip(0..).map(|(name, at)| (name.as_str(), 8 + 2 * at, 2, false)).collect();
    let mut made = with_event(&fields, &[]);
    made.page_size = 64 << 10;
    let own: Vec<u8> = (0..10_000u16).flat_map(u16::to_le_bytes).collect();
    let records: Vec<_> = (0..3).map(|_| (1, made.record(300, 5, &[&own]))).collect();
    made.buffers[0].cpus[0].1 = made.page(1000, 0, &records);
    let began = Instant::now();
    // The line of a field has 40 bytes. It becomes a variable, a member of a type, and four words for gdb.
    let replay = served_within(&mut cases, "ten thousand fields", &made, 20);
    assert_eq!(value(&replay, 2, "f9999"), Some(9999));
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

/// What steers a terminal: a colour, a title, a C1 control character, a line that is overwritten.
const STEERING: &str = "a\x1b[31mb\x1b]0;t\x07c\u{9b}5md\re\x08";

/// A file with that in every name it has.
fn steering() -> Made {
    let mut made = Made::small(7, Little, 8);
    let name = STEERING.replace('\r', "");
    made.formats.push((format!("sys{STEERING}"), format(&name, 310, &[(&format!("int {name}"), 8, 4, true)])));
    made.formats.push(("more".to_owned(), format("plain", 311, &[(&format!("int x; int {name}"), 8, 4, true)])));
    made.kallsyms.extend(format!("ffffffff81000180 T f{name}\nffffffff81000190 t g [{name}]\n").bytes());
    made.command_lines.extend(format!("9 {name}\n").bytes());
    made.options.extend([
        (5, format!("Linux {STEERING} x86_64").into_bytes()),
        (9, STEERING.as_bytes().to_vec()),
        (77, STEERING.as_bytes().to_vec()),
        (6, STEERING.as_bytes().to_vec()),
    ]);
    let record = |id: u16| made.record(id, 9, &[&[1, 0, 0, 0]]);
    let page = made.page(5_000_000, 1 << 31, &[(0, record(310)), (1, record(311)), (2, record(312))]);
    made.buffers.push(Buffer { name: STEERING.as_bytes().to_vec(), cpus: vec![(0, page)] });
    made
}

#[test]
fn no_name_steers_a_terminal() {
    let mut cases = Cases::of("names that steer a terminal");
    let bytes = steering().bytes();
    let length = bytes.len();
    cases.run("everywhere".to_owned(), FACTOR * length + ROOM, || {
        let replay = open(bytes.clone()).unwrap();
        assert_eq!(replay.index().progress().frames, 10);
        ask(&replay, length);
    });
    drop(cases);
    let (_folder, path) = save("steering.dat", &bytes);
    for arguments in
        [&["info", &path][..], &["info", "--json", &path], &["frames", &path], &["frames", "--json", &path]]
    {
        let (code, out, err) = run(traceframe().args(arguments));
        assert_eq!(code, Some(0), "{arguments:?}: {err}");
        assert!(is_plain(&out) && is_plain(&err), "{arguments:?}: {out:?}");
    }
    let server = Server::serve(&[&path]);
    let setup = [format!("target remote {}", server.target())];
    let mut commands: Vec<String> =
        ["tstatus", "info threads", "info tracepoints", "tfind 9", "tdump", "info threads"].map(str::to_owned).to_vec();
    commands.extend((0..10).flat_map(|frame| {
        [format!("tfind {frame}"), "info symbol $pc".to_owned(), "backtrace".to_owned(), "monitor status".to_owned()]
    }));
    for more in ["info functions", "info types", "info tvariables", "monitor frames", "monitor damage", "x/40s $rec"] {
        commands.push(more.to_owned());
    }
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let shown = gdb.transcript(&setup, &commands);
        assert!(shown.contains("sched_switch"), "{shown}");
        let steering: Vec<_> = shown.lines().filter(|line| !is_plain(&line.replace('\t', ""))).collect();
        assert!(steering.is_empty(), "{gdb:?}: {steering:#?}");
    }
}

#[test]
fn names_that_mean_something_else() {
    let mut cases = Cases::of("names that mean something else");
    let mut made = with_event(&[], &[]);
    let keywords =
        ["int", "struct", "sizeof", "_Bool", "while", "pc", "trace_frame", "timestamp", "9p", "a b", "_", "$x"];
    made.formats.clear();
    let mut records = Vec::new();
    for (id, keyword) in (300..).zip(keywords) {
        for (system, id) in [("one", id), ("other", id + 100)] {
            let field = format!("int {keyword}");
            made.formats.push((system.to_owned(), format(keyword, id.into(), &[(&field, 8, 4, true)])));
            records.push((1, made.record(id, 5, &[&u32::from(id).to_le_bytes()])));
        }
    }
    made.formats.sort();
    made.buffers[0].cpus[0].1 = made.page(1000, 0, &records);
    let bytes = made.bytes();
    cases.run("keywords, and two events of each name".to_owned(), FACTOR * bytes.len() + ROOM, || {
        let replay = open(bytes.clone()).unwrap();
        ask(&replay, bytes.len());
        assert_eq!(replay.recording().tracepoints().len(), 2 * keywords.len());
        let frames = replay.index().progress().frames;
        assert_eq!(frames, 2 * keywords.len() as u64);
        // Both events of a name have its variable.
        assert_eq!((value(&replay, 2, "struct"), value(&replay, 3, "struct")), (Some(301), Some(401)));
        assert_eq!((value(&replay, 10, "field_pc"), value(&replay, 12, "field_trace_frame")), (Some(305), Some(306)));
    });
}

#[test]
fn records_as_large_as_they_can_be() {
    let mut cases = Cases::of("records as large as they can be");
    for page_size in [4 << 10, 64 << 10, 1 << 20] {
        let mut made = with_event(&[("u8 bytes[]", 8, 0, false)], &[]);
        made.page_size = page_size;
        let own: Vec<u8> = (0..made.room() - 16).map(|at| at as u8).collect();
        let record = made.record(300, 5, &[&own]);
        made.buffers[0].cpus[0].1 = made.page(1000, 0, &[(0, record.clone())]);
        let replay = served(&mut cases, &format!("pages of {page_size} bytes"), &made);
        assert_eq!(&replay.frame(0).unwrap().memory[0].bytes[..], record);
        assert_eq!(value(&replay, 0, "rec_size"), Some(record.len() as i64));
    }
    // Larger pages than the kernel has are no pages.
    let mut made = with_event(&[], &[]);
    made.page_size = 2 << 20;
    made.buffers[0].cpus[0].1 = made.page(1000, 0, &[]);
    let replay = open(made.bytes()).unwrap();
    assert!(
        damage(&replay)[0].what.contains("has pages of 2097152 bytes, expected a power of two from 4096 to 1048576")
    );
}

#[test]
fn processes_with_numbers_that_are_none() {
    let mut cases = Cases::of("processes with numbers that are none");
    let mut made = with_event(&[], &[]);
    let pids = [i32::MIN, -1, 0, 1, 4 << 20, (4 << 20) + 1, i32::MAX];
    let records: Vec<_> = pids.iter().map(|pid| (1, made.record(300, *pid, &[]))).collect();
    made.buffers[0].cpus[0].1 = made.page(1000, 0, &records);
    let replay = served(&mut cases, "processes", &made);
    for (number, pid) in (0..).zip(pids) {
        assert_eq!(value(&replay, number, "pid"), Some(pid.into()));
        let thread = replay.frame(number).unwrap().thread;
        assert!(replay.recording().threads().iter().any(|known| known.id == thread), "{pid}");
    }
    // So many that gdb is told of none.
    let pages = (0..20).flat_map(|page| {
        let pids = 200 * page + 1..200 * page + 201;
        made.page(1000 * page as u64, 0, &pids.map(|pid| (1, made.record(300, pid, &[]))).collect::<Vec<_>>())
    });
    let pages = pages.collect();
    made.buffers[0].cpus[0].1 = pages;
    let replay = served(&mut cases, "4000 processes", &made);
    assert!(replay.recording().threads().is_empty());
}

#[test]
fn more_events_lost_than_can_be_counted() {
    let mut cases = Cases::of("more events lost than can be counted");
    let mut made = with_event(&[], &[]);
    let record = made.record(300, 5, &[]);
    // The number of lost events follows the records.
    let mut page = made.page(1000, (1 << 31) | (1 << 30), &[(0, record.clone())]);
    let behind = 8 + made.long + 4 + record.len();
    page[behind..behind + 8].fill(0xff);
    made.buffers[0].cpus = (0..3).map(|cpu| (cpu, page.clone())).collect();
    let replay = served(&mut cases, "on each of three CPUs", &made);
    assert_eq!(value(&replay, 0, "lost_before"), Some(-1));
    assert_eq!(replay.recording().status().created, Some(u64::MAX));
}

#[test]
fn times_that_go_back() {
    let mut cases = Cases::of("times that go back");
    let mut made = with_event(&[("int x", 8, 4, true)], &[]);
    let record = |x: u32| made.record(300, 5, &[&x.to_le_bytes()]);
    let pages = [
        made.page(5000, 0, &[(0, record(1)), (10, record(2))]),
        made.page(1000, 0, &[(0, record(3))]),
        made.page(u64::MAX - 5, 0, &[(0, record(4)), (20, record(5))]),
        made.page(0, 0, &[(0, record(6))]),
    ];
    let other = made.page(2000, 0, &[(0, record(7))]);
    made.buffers[0].cpus = vec![(0, pages.concat()), (1, other)];
    let replay = served(&mut cases, "one CPU's clock goes back, and over its end", &made);
    // What one CPU made stays in its order.
    let order: Vec<_> = (0..7).map(|frame| value(&replay, frame, "x").unwrap()).collect();
    let of_first: Vec<_> = order.iter().filter(|x| **x != 7).collect();
    assert_eq!(of_first, [&1, &2, &3, &4, &5, &6], "{order:?}");
}

/// What a small file may become at most, where its compressed pages are full of the smallest events: so many bytes for
/// each byte of the pages, an eighth of which are events with 8 bytes of place, twice that while their table grows, and
/// some ten of index, twice that while a part of it is made.
const OF_EVENTS: usize = 5;

#[test]
fn small_files_do_not_become_large() {
    let mut cases = Cases::of("small files that would become large");
    // Pages full of the smallest records there are.
    let mut made = with_event(&[], &[]);
    made.compression = "zstd";
    let records: Vec<_> = (0..made.room() / 8).map(|_| (0, made.number(300, 2))).collect();
    let page = made.page(1000, 0, &records);
    for (pages, expected) in [(1000, 1000 * records.len() as u64), (24_000, 0)] {
        made.buffers[0].cpus[0].1 = page.repeat(pages);
        let bytes = made.bytes();
        let length = bytes.len();
        assert!(length < 1 << 19, "{length}");
        let room = ROOM + FACTOR * length + OF_EVENTS * expected as usize * 8;
        cases.run(format!("{pages} pages in {length} bytes"), room, || {
            let replay = open(bytes).unwrap();
            assert_eq!(replay.index().progress().frames, expected);
            let lost = damage(&replay).iter().any(|damage| damage.what.contains("more than a recorder writes"));
            assert_eq!(lost, expected == 0);
        });
    }
    // A name that is long, and much that is damaged and named with it.
    let long = "x".repeat(1 << 20);
    let fields = "\tfield:?;\toffset:8;\tsize:4;\tsigned:0;\n".repeat(10_000);
    let mut formats = with_event(&[], &[]);
    formats.formats.push(("more".to_owned(), format!("name: {long}\nID: 310\nformat:\n{fields}")));
    let short = &long[..200];
    formats.formats.push(("more".to_owned(), format!("name: {short}\nID: 311\nformat:\n{fields}")));
    let mut cpus = with_event(&[], &[]);
    let name = long.into_bytes();
    cpus.buffers.push(Buffer { name, cpus: (0..20_000).map(|cpu| (cpu, Vec::new())).collect() });
    for cpu in cpus.buffers[1].cpus.iter_mut().take(200) {
        cpu.1 = made_lost();
    }
    for (what, made) in [("formats", formats), ("CPUs", cpus)] {
        let bytes = made.bytes();
        let length = bytes.len();
        cases.run(format!("long names and many {what}"), FACTOR * length + ROOM, || {
            let replay = open(bytes).unwrap();
            ask(&replay, length);
            assert!(!damage(&replay).is_empty());
        });
    }
}

/// A page before which events were lost.
fn made_lost() -> Vec<u8> {
    Made::new(7, Little, 8).page(1, 1 << 31, &[])
}
