//! What is read in recordings, against what others read in them.

use std::collections::HashMap;
use std::fmt::Write;

use super::super::{Clock, Content, EventFormat, FieldKind, Integer, LostEvents, Page, StackEntries};
use super::super::{TaskCollector, Tasks, TimeSample, TimeShift, Tsc2Nsec};
use super::file::{File, answer};
use crate::source::ByteOrder;

/// Recordings without options that change times.
const RECORDINGS: [&str; 8] = [
    "btfmod-v7-none",
    "clock-mono_raw",
    "clock-x86-tsc",
    "instances-v7-zlib",
    "lost-v7-zstd",
    "marker-v7-zstd",
    "sched-v7-zstd",
    "uprobe-v7-zstd",
];

const LITTLE: ByteOrder = ByteOrder::Little;

struct Event {
    instance: String,
    cpu: u32,
    time: u64,
    lost: LostEvents,
    format: EventFormat,
    record: Vec<u8>,
    pid: i32,
}

/// Every event of a recording, CPU by CPU.
fn events(file: &File) -> Vec<Event> {
    let mut events = Vec::new();
    for pages in &file.pages {
        for page in pages.bytes.chunks(pages.page_size) {
            let read = Page::read(page, &file.layout).unwrap();
            let mut lost = read.lost();
            for record in read.records() {
                let record = record.unwrap();
                let bytes = &page[record.offset..record.offset + record.bytes.len()];
                assert_eq!(bytes, record.bytes);
                let format = file.formats.of(bytes).unwrap();
                let lost = std::mem::replace(&mut lost, LostEvents::None);
                let (instance, cpu) = (pages.instance.clone(), pages.cpu);
                let pid = file.formats.pid(format, bytes).unwrap();
                events.push(Event {
                    instance,
                    cpu,
                    time: record.time,
                    lost,
                    format: format.clone(),
                    record: bytes.to_vec(),
                    pid,
                });
            }
        }
    }
    events
}

#[test]
fn every_record_is_what_another_decoder_found() {
    let mut lost_pages = Vec::new();
    for name in RECORDINGS {
        let file = File::open(name);
        let mut found =
            String::from("#instance\tcpu\tts_raw\tevent_id\tsystem\tevent\tlost_before\tcommon_pid\trecord_hex\n");
        for event in events(&file) {
            let lost = match event.lost {
                LostEvents::None => String::new(),
                LostEvents::Counted(count) => count.to_string(),
                LostEvents::Unknown => "?".to_owned(),
            };
            if !lost.is_empty() {
                lost_pages.push((name, lost.clone()));
            }
            let EventFormat { system, name, id, .. } = &event.format;
            let Event { instance, cpu, time, pid, record, .. } = &event;
            let record = hex::encode(record);
            writeln!(found, "{instance}\t{cpu}\t{time}\t{id}\t{system}\t{name}\t{lost}\t{pid}\t{record}").unwrap();
        }
        let expected = answer(&format!("{name}.events.tsv"));
        for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{name}, line {}", number + 1);
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
    }
    let counted = lost_pages.iter().filter(|(name, lost)| *name == "lost-v7-zstd" && lost != "?").count();
    assert_eq!(counted, 10);
    assert!(lost_pages.contains(&("sched-v7-zstd", "1989".to_owned())), "{lost_pages:?}");
}

/// The lines of a report, by CPU and time: the name of the event and what stands behind it.
fn report(name: &str) -> HashMap<(u32, u64), Vec<(String, String)>> {
    let mut lines: HashMap<(u32, u64), Vec<(String, String)>> = HashMap::new();
    for line in answer(name).lines() {
        let Some((before, rest)) = line.split_once('[') else { continue };
        let Some((cpu, rest)) = rest.split_once(']') else { continue };
        let (Ok(cpu), false) = (cpu.parse(), before.is_empty()) else { continue };
        let Some((time, rest)) = rest.split_once(": ") else { continue };
        let (event, rest) = rest.split_once(':').unwrap();
        // In front of the time stand flags, as "-0x0" or as five characters, or none; a space follows only some.
        let time = time.rsplit(' ').next().unwrap();
        let time = if time.starts_with(|letter: char| letter.is_ascii_digit()) { time } else { &time[5..] };
        let Ok(time) = time.replace('.', "").parse() else { continue };
        lines.entry((cpu, time)).or_default().push((event.to_owned(), rest.trim_start().to_owned()));
    }
    lines
}

/// A field's value as `trace-cmd report -R` shows it; several ways, since it chooses one by how the event is printed.
fn shown(format: &EventFormat, place: usize, record: &[u8]) -> Vec<String> {
    let field = &format.fields[place];
    match field.kind {
        FieldKind::Integer | FieldKind::Pointer => {
            let integer = field.integer(record, LITTLE).unwrap();
            let bits = integer.bits() & (u64::MAX >> (64 - 8 * field.size));
            let decimal = match integer {
                Integer::Signed(value) => value.to_string(),
                Integer::Unsigned(value) => value.to_string(),
            };
            let padded = format!("{bits:03}");
            vec![
                decimal,
                padded,
                format!("{bits:x}"),
                format!("0x{bits:x}"),
                format!("0x{bits:08x}"),
                format!(" (0x{bits:x})"),
            ]
        }
        _ if field.kind.content() == Some(Content::Text) => {
            vec![String::from_utf8_lossy(field.text(record, LITTLE).unwrap()).into_owned()]
        }
        _ => {
            let bytes = field.bytes(record, LITTLE).unwrap();
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            vec![format!("ARRAY[{}]", bytes.join(", "))]
        }
    }
}

#[test]
fn every_field_is_what_trace_cmd_shows() {
    let (mut compared, mut kinds) = (0, HashMap::new());
    for name in RECORDINGS {
        let report = report(&format!("{name}.report-R.txt"));
        for event in events(&File::open(name)) {
            let Event { format, record, .. } = &event;
            let Some(lines) = report.get(&(event.cpu, event.time)) else { continue };
            let Some((_, line)) = lines.iter().find(|(name, _)| *name == format.name) else { continue };
            let mut expected = line.as_str();
            for place in format.common..format.fields.len() {
                let field = &format.fields[place];
                let behind = expected.strip_prefix(&format!("{}=", field.name)).unwrap_or_else(|| panic!("{line}"));
                let next = format.fields.get(place + 1).map(|field| format!(" {}=", field.name));
                let (value, rest) = behind.split_at(next.and_then(|next| behind.find(&next)).unwrap_or(behind.len()));
                expected = rest.trim_start();
                *kinds.entry(std::mem::discriminant(&field.kind)).or_insert(0) += 1;
                // trace-cmd shows the eight entries that are declared: bytes behind the record, or not all entries.
                let own = shown(format, place, record);
                let same = match field.kind {
                    FieldKind::Counted { .. } => {
                        let own = own[0].trim_end_matches(']');
                        own.starts_with(value.trim_end_matches(']')) || value.starts_with(own)
                    }
                    // It stops at the first byte that is no text.
                    FieldKind::Tail(_) if format.name == "raw_data" => own[0].starts_with(value),
                    _ => own.iter().any(|own| own.trim_end() == value.trim_end()),
                };
                assert!(same, "{name}: {}:{} at {}: {value:?}, here {own:?}", format.name, field.name, event.time);
                compared += 1;
            }
        }
    }
    assert!(compared > 15_000, "{compared} fields were compared");
    assert_eq!(kinds.len(), 6, "every kind but __rel_loc: {kinds:?}");
}

#[test]
fn times_are_what_trace_cmd_shows() {
    // The options of this recording, as `trace-cmd dump` shows them.
    let mut with_options = Clock::default();
    let sample = |time, offset| TimeSample { time, offset, scaling: 1, fraction: 0 };
    with_options.set_time_shift(TimeShift {
        flags: 1,
        cpus: vec![
            vec![sample(1000, -500), sample(1_000_000_001_000, -490), sample(2_000_000_001_000, -480)],
            vec![sample(5000, -500), sample(1_000_000_005_000, -490)],
        ],
    });
    with_options.set_tsc2nsec(Tsc2Nsec { multiplier: 6_462_359, shift: 24 });
    with_options.add_offset(1_000_000);
    let plain = RECORDINGS.map(|name| (name, Clock::default()));
    for (name, clock) in plain.into_iter().chain([("options-v7-zlib", with_options)]) {
        let report = report(&format!("{name}.report-t.txt"));
        let events = events(&File::open(name));
        for event in &events {
            let time = clock.time(event.time, event.cpu);
            let lines = report.get(&(event.cpu, time)).unwrap_or_else(|| panic!("{name}: nothing at {time}"));
            assert!(
                lines.iter().any(|(event_name, _)| *event_name == event.format.name),
                "{name} at {time}: {lines:?}"
            );
        }
        assert!(events.len() > 30, "{name}");
    }
}

#[test]
fn stacks_have_the_entries_that_trace_cmd_shows() {
    let answer = answer("uprobe-v7-zstd.report-t.txt");
    // In the lines below an event `kernel_stack`, `=> SYMBOL (ADDRESS)`; from the line of a `user_stack` on,
    // `=> 0xADDRESS`, eight of them, zeros at the end.
    let mut expected: Vec<Vec<String>> = Vec::new();
    for line in answer.lines() {
        if line.contains(']') {
            expected.push(Vec::new());
        }
        let Some((_, entry)) = line.split_once("=> ") else { continue };
        let entry = entry.rsplit(['(', ' ']).next().unwrap().trim_end_matches(')').trim_start_matches("0x");
        if !entry.is_empty() && !line.contains("==>") {
            expected.last_mut().unwrap().push(entry.to_owned());
        }
    }
    expected.retain(|stack| !stack.is_empty());
    for stack in &mut expected {
        stack.retain(|entry| entry != "0");
    }
    let mut events = events(&File::open("uprobe-v7-zstd"));
    events.sort_by_key(|event| event.time);
    let stacks = events.iter().filter_map(|event| StackEntries::of(&event.format, &event.record, LITTLE));
    let found: Vec<Vec<String>> = stacks.map(|stack| stack.map(|entry| format!("{entry:x}")).collect()).collect();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 108);
}

#[test]
fn names_are_those_of_the_table_and_those_that_events_tell() {
    let file = File::open("sched-v7-zstd");
    let mut tasks = TaskCollector::new(&file.formats);
    let events = events(&file);
    for event in &events {
        if tasks.tells(event.format.id) {
            tasks.see(&event.format, &event.record, event.time);
        }
    }
    let told = tasks.clone().finish();
    let table: HashMap<i32, &str> = file
        .names
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(pid, name)| (pid.parse().unwrap(), name))
        .collect();
    table.iter().for_each(|(pid, name)| tasks.add(*pid, name));
    let tasks = tasks.finish();
    assert!(table.iter().all(|(pid, name)| tasks.last_name(*pid) == Some(*name)));
    // 676 becomes `ls` in this recording without an event that tells it.
    let both: Vec<_> = table.iter().filter_map(|(pid, name)| Some((*pid, *name, told.last_name(*pid)?))).collect();
    let differ: Vec<_> = both.iter().filter(|(_, name, told)| told != name).collect();
    assert_eq!(differ, [&(676, "ls", "bash")]);
    assert!(both.len() > 15, "{both:?}");
    // `sched_process_exec` of 673 at 882277040878, rustc: cargo before.
    assert_eq!(tasks.name_at(673, 882_277_040_877), Some("cargo"));
    assert_eq!(tasks.name_at(673, 882_277_040_878), Some("rustc"));
    assert_eq!(tasks.name_at(0, 882_277_040_878), Some(Tasks::IDLE));
    assert_eq!(tasks.name_at(-7, 0), None);
}
