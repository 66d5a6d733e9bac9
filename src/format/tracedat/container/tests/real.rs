//! Recorded files against what trace-cmd and the kernel say of them.

use super::dump::dump;
use super::*;
use crate::format::tracedat::container::options::Value;

#[test]
fn every_part_of_every_file_is_what_trace_cmd_dumps() {
    for name in WHOLE {
        let container = recorded(name);
        let (found, expected) = (dump(&container, name), expected(&format!("{name}.dump.txt")));
        for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{name}, line {}", number + 1);
        }
        assert_eq!(found, expected, "{name}");
        assert_eq!(damage(&container), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn all_variants_of_a_recording_have_the_same_pages() {
    // Where trace-cmd's dump says that the pages lie in the file that is not compressed.
    let plain = bytes("sched-v7-none.dat");
    for name in ["sched-v6", "sched-v7-none", "sched-v7-zlib", "sched-v7-zstd"] {
        let container = recorded(name);
        let [buffer] = container.buffers() else { panic!("{name}: {:?}", container.buffers()) };
        assert_eq!((buffer.name.as_str(), buffer.clock.as_deref(), buffer.page_size), ("", Some("local"), 4096));
        assert_eq!(buffer.cpus.iter().map(|cpu| (cpu.id, cpu.pages)).collect::<Vec<_>>(), [(0, 17), (1, 17)]);
        for (cpu, start) in [(0, 36864), (1, 106_496)] {
            assert!(pages(&container, 0, cpu) == plain[start..start + 69632], "{name}, CPU {cpu}");
            assert!(container.page(0, cpu, 17).is_none());
        }
        assert!(container.page(0, 2, 0).is_none() && container.page(1, 0, 0).is_none());
        let page = container.page(0, 1, 16).unwrap().unwrap();
        assert_eq!(matches!(page, Page::InFile { .. }), *container.algorithm() == Algorithm::None, "{name}");
    }
}

/// Bytes from their hexadecimal form.
fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

#[test]
fn the_pages_of_each_cpu_hold_its_records_in_order() {
    for name in ["uprobe-v7-zstd", "instances-v7-zlib", "lost-v7-zstd", "options-v7-zlib", "btfmod-v7-none"] {
        let container = recorded(name);
        let table = expected(&format!("{name}.events.tsv"));
        let mut records = 0;
        for (index, buffer) in container.buffers().iter().enumerate() {
            for (cpu, found) in buffer.cpus.iter().enumerate() {
                let pages = pages(&container, index, cpu);
                assert_eq!(pages.len() as u64, found.pages * 4096);
                let mut rest = &pages[..];
                for line in table.lines() {
                    let columns: Vec<_> = line.split('\t').collect();
                    if columns[0] != buffer.name || columns[1] != found.id.to_string() {
                        continue;
                    }
                    let record = unhex(columns[8]);
                    let at = memchr::memmem::find(rest, &record).unwrap_or_else(|| panic!("{name}: {line}"));
                    rest = &rest[at + record.len()..];
                    records += 1;
                }
            }
        }
        assert_eq!(records, table.lines().count() - 1, "{name}: one line is a heading");
    }
}

#[test]
fn buffers_are_the_instances_of_the_recording() {
    let container = recorded("instances-v7-zlib");
    let found: Vec<_> =
        container.buffers().iter().map(|buffer| (buffer.name.as_str(), buffer.clock.as_deref())).collect();
    assert_eq!(found, [("", Some("local")), ("foo", Some("mono")), ("bar", Some("boot"))]);
}

#[test]
fn the_kernels_own_text_is_had_whole() {
    let container = recorded("latency-v7-zstd");
    assert!(container.buffers().is_empty());
    let [text] = &container.texts().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((text.name, text.clock), ("", Some("local")));
    let found = text.text.text();
    assert!(found.starts_with("# tracer: "), "{found}");
    // trace-cmd report prints the text behind a line about the CPUs.
    let expected = expected("latency-v7-zstd.report-t.txt");
    assert!(expected.contains(&*found), "{found}\n{expected}");
}

#[test]
fn btf_and_modules_are_had_as_trace_cmd_writes_them() {
    let container = recorded("btfmod-v7-none");
    let file = bytes("btfmod-v7-none.dat");
    // The sections are at 37085 and 37969 with 868 and 161 bytes, and have no size in front.
    assert_eq!(container.btf(), Some(Text { at: 37101, bytes: &file[37101..37969] }));
    assert_eq!(container.modules_text(), Some(Text { at: 37985, bytes: &file[37985..38146] }));
    let module = |name, size, address| Module { name, size, address };
    let expected = [
        module("virtio_net", 98304, 0xffff_ffff_c035_0000),
        module("net_failover", 24576, 0xffff_ffff_c034_0000),
        module("failover", 12288, 0xffff_ffff_c033_0000),
    ];
    assert_eq!(container.modules().collect::<Vec<_>>(), expected);
}

#[test]
fn names_symbols_and_texts_are_those_of_the_kernel() {
    let container = recorded("uprobe-v7-zstd");
    let kallsyms = container.kallsyms().unwrap();
    assert_eq!(kallsyms.symbols().count(), kallsyms.text.iter().filter(|byte| **byte == b'\n').count());
    assert!(!kallsyms.are_addresses_hidden());
    let found = kallsyms.symbols().find(|symbol| symbol.name == "_text").unwrap();
    assert_eq!((found.kind, found.module), ('T', None));
    let container = recorded("sched-v7-zlib");
    let names = container.command_lines();
    for (pid, name) in [(1447, "memfd:sealed-91"), (30397, "gdb worker"), (41, "kworker/1:1"), (654, "opt cgu.15")] {
        assert_eq!(names.get(&pid).map(|name| &**name), Some(name));
    }
    let formats = container.printk_formats();
    assert_eq!(formats.get(&0xffff_ffff_8281_942f).map(String::as_str), Some("thaw_processes"));
}

#[test]
fn options_have_meanings() {
    let container = recorded("options-v7-zlib");
    let find = |id| container.options().iter().find(|option| option.id == id).map(|option| option.value.clone());
    let Some(Value::Hook(hook)) = find(6) else { panic!() };
    assert_eq!(
        (hook.start.system.as_deref(), &*hook.start.event, &*hook.start.field),
        (Some("sched"), "sched_waking", "pid")
    );
    assert_eq!(
        (hook.end.system.as_deref(), &*hook.end.event, &*hook.end.field),
        (Some("sched"), "sched_switch", "next_pid")
    );
    assert_eq!((hook.pid, hook.flags), (None, None));
    let Some(Value::CpuStatistics(statistics)) = find(2) else { panic!() };
    assert_eq!(statistics.get("read events"), Some("13"));
    assert_eq!(statistics.get("overrun"), Some("0"));
    assert_eq!(statistics.get("events"), None);
    let container = recorded("sched-v6");
    let clock = container.options().iter().find_map(|option| match &option.value {
        Value::TraceClock(clock) => clock.selected.clone(),
        _ => None,
    });
    assert_eq!(clock.as_deref(), Some("local"));
    let option = &container.options()[1];
    assert_eq!(container.option_data(option), b"Linux vm 6.18.44 x86_64\0");
}

#[test]
fn a_file_that_is_cut_is_served_up_to_the_cut_which_is_named() {
    let name = "bad-truncated-v7-none";
    let container = recorded(name);
    // trace-cmd says the same up to the options that are lost, and gives up there.
    let expected = expected(&format!("{name}.dump.txt"));
    let expected = expected.split("\n\n\n").next().unwrap();
    assert!(dump(&container, name).starts_with(expected));
    assert_eq!(
        damage(&container),
        [
            "at byte 0x896a: section 3 (BUFFER FLYRECORD) has 140934 bytes, of which 24806 are in the file; what follows \
             them is lost",
            "at byte 0x1f3: there is no string 8, the description of this section; others may lack theirs",
            "at byte 0xea60: section 0 (OPTIONS) is at byte 0x2b000, but the file ends at byte 0xea60",
            "at byte 0x896a: no option says which CPUs' data are in section 3 (BUFFER FLYRECORD); they are taken for the \
             top buffer, of which 1 CPUs are counted from 0",
            "at byte 0xe000: the last page of CPU 0 of the top buffer has 2656 of its 4096 bytes",
        ]
    );
    assert_eq!(container.event_formats().count(), 21);
    // What is served is CPU 0 of the whole recording, which trace-cmd's dump says is at byte 36864.
    let [buffer] = container.buffers() else { panic!() };
    assert!(buffer.recovered && buffer.cpus.len() == 1 && buffer.cpus[0].pages == 6);
    assert!(pages(&container, 0, 0) == bytes("sched-v7-none.dat")[36864..60000]);
}

#[test]
fn the_pages_of_a_file_that_lost_what_follows_them_are_those_of_the_whole_file() {
    for (name, behind) in [("sched-v7-none", 176_128), ("sched-v7-zlib", 30258), ("sched-v7-zstd", 34668)] {
        // The last options section is at `behind`.
        let whole = recorded(name);
        let container = opened(bytes(&format!("{name}.dat"))[..behind].to_vec());
        let [buffer] = container.buffers() else { panic!("{name}: {:?}", container.buffers()) };
        let found: Vec<_> = buffer.cpus.iter().map(|cpu| (cpu.id, cpu.pages)).collect();
        assert_eq!((buffer.recovered, found), (true, vec![(0, 17), (1, 17)]), "{name}: {:?}", damage(&container));
        for cpu in 0..2 {
            assert!(pages(&container, 0, cpu) == pages(&whole, 0, cpu), "{name}");
        }
    }
}
