//! Files that are cut and files with changed bytes: nothing panics, hangs or grows, and nothing is lost in silence.

use super::*;

/// Looks at everything there is, and at some pages of each CPU; how many bytes that were.
fn looked_at(container: &Container) -> usize {
    let texts = [container.header_page(), container.header_event(), container.btf(), container.modules_text()];
    let mut bytes: usize = texts.iter().flatten().map(|text| text.bytes.len()).sum();
    bytes += container.ftrace_formats().map(|text| text.bytes.len()).sum::<usize>();
    bytes +=
        container.event_formats().map(|format| format.system.bytes.len() + format.format.bytes.len()).sum::<usize>();
    bytes += container.kallsyms().map_or(0, |kallsyms| kallsyms.symbols().map(|symbol| symbol.name.len()).sum());
    bytes += container.command_lines().len() + container.printk_formats().len() + container.modules().count();
    bytes += container.texts().map(|text| text.text.bytes.len()).sum::<usize>();
    bytes += container.options().iter().map(|option| container.option_data(option).len()).sum::<usize>();
    for (index, buffer) in container.buffers().iter().enumerate() {
        for (cpu, found) in buffer.cpus.iter().enumerate() {
            for number in [0, found.pages / 2, found.pages.saturating_sub(1), found.pages] {
                match container.page(index, cpu, number) {
                    Some(Ok(page)) => {
                        assert!(number < found.pages && page.len() <= buffer.page_size as usize && !page.is_empty());
                        bytes += page.len();
                    }
                    Some(Err(damage)) => assert!(number < found.pages && damage.at < container.source().length()),
                    None => assert_eq!(number, found.pages),
                }
            }
        }
    }
    bytes
}

/// Opens a damaged file and looks at all of it.
fn survived(bytes: Vec<u8>) -> Option<Container> {
    let length = bytes.len();
    let container = Container::open(Source::from_vec("damaged.dat", bytes)).ok()?;
    let pages: u64 = container.buffers().iter().flat_map(|buffer| &buffer.cpus).map(|cpu| cpu.pages).sum();
    assert!(pages as usize <= length * 33, "{pages} pages in {length} bytes");
    assert!(looked_at(&container) < length * 40 + (4 << 20));
    Some(container)
}

/// How far the bytes of a file are apart that are tried, so that no file is tried more often than this.
const TRIED: usize = 300;

fn steps(length: usize) -> usize {
    // An odd number finds bytes of all kinds in fields of even length.
    (length / TRIED) | 1
}

#[test]
fn a_file_cut_anywhere_is_served_and_the_cut_is_named() {
    for name in WHOLE {
        let whole = bytes(&format!("{name}.dat"));
        let mut last = 0;
        for length in (0..whole.len()).step_by(steps(whole.len())) {
            let cut = survived(whole[..length].to_vec());
            let Some(container) = cut else {
                assert!(length < 40, "{name} is not opened though {length} bytes are there");
                continue;
            };
            assert!(!container.damage().is_empty(), "{name} cut to {length} bytes, and nobody says so");
            let found = container.event_formats().count() + container.ftrace_formats().count();
            assert!(found >= last, "{name}: more bytes, and {found} formats instead of {last}");
            last = found;
        }
    }
}

#[test]
fn a_file_with_a_changed_byte_is_served() {
    for name in WHOLE {
        let whole = bytes(&format!("{name}.dat"));
        let mut refused = 0;
        for at in (0..whole.len()).step_by(steps(whole.len())) {
            let mut changed = whole.clone();
            changed[at] ^= [0xff, 0x01, 0x80][at % 3];
            if survived(changed).is_none() {
                assert!(at < 12, "{name} is not opened for a change at byte {at}");
                refused += 1;
            }
        }
        assert!(refused > 0, "{name}: the magic number is among what is changed");
    }
}

#[test]
fn what_is_changed_in_one_place_is_lost_there_alone() {
    // Of the file that is not compressed: a byte of each of the first section's parts and of where CPU 1 has its data.
    let whole = bytes("sched-v7-none.dat");
    let formats = |container: &Container| container.event_formats().count();
    let cpus = |container: &Container| pages(container, 0, 0).len() + pages(container, 0, 1).len();
    for (at, byte, expected) in [
        // The first options section is not found by its offset, and found by the chain.
        (25, 1, (21, 139_264)),
        // The option BUFFER says 3 CPUs.
        (176_128 + 16 + 6 + 8 + 1 + 6 + 4, 3, (21, 139_264)),
        // The size of CPU 0's data reaches far into those of CPU 1.
        (176_128 + 16 + 6 + 8 + 1 + 6 + 8 + 4 + 8 + 2, 2, (21, 139_264)),
        // The size of the section of kallsyms: the chain breaks, and the options do not need it.
        (26564 + 9, 0xff, (21, 139_264)),
    ] {
        let mut changed = whole.clone();
        assert_ne!(changed[at], byte);
        changed[at] = byte;
        let container = opened(changed);
        assert_eq!((formats(&container), cpus(&container)), expected, "byte {at}: {:?}", damage(&container));
        assert!(!container.damage().is_empty());
    }
}

#[test]
fn a_changed_chunk_costs_its_own_pages_alone() {
    // trace-cmd writes zstd frames without a checksum: there only the frame's header is sure to be missed.
    for (name, inside) in [("sched-v7-zlib", 100), ("sched-v7-zstd", 0)] {
        let mut changed = bytes(&format!("{name}.dat"));
        let plain = recorded(name);
        let first = plain.page(0, 0, 0).unwrap().unwrap().at();
        changed[first as usize + inside] ^= 0xff;
        let container = opened(changed);
        assert!(container.damage().is_empty(), "a chunk is looked into when a page of it is wanted");
        for number in 0..17 {
            let page = container.page(0, 0, number).unwrap();
            match page {
                Ok(page) => assert!(number >= 10 && *page == *plain.page(0, 0, number).unwrap().unwrap()),
                Err(damage) => {
                    assert!(number < 10 && damage.at == first, "{damage}");
                    assert!(damage.what.contains("a chunk of CPU 0 of the top buffer cannot be expanded"), "{damage}");
                    assert!(damage.what.ends_with("; its 10 pages are lost"), "{damage}");
                }
            }
        }
    }
}
