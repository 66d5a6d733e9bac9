//! Files that are made up: what no recording here has.

use super::*;
use crate::format::tracedat::container::options::Value;

/// A file of version 7 that grows.
struct Made {
    order: ByteOrder,
    bytes: Vec<u8>,
}

impl Made {
    fn new(order: ByteOrder, compression: &[u8]) -> Made {
        let mut made = Made { order, bytes: MAGIC.to_vec() };
        made.bytes.extend(b"7\0");
        made.bytes.extend([u8::from(order == ByteOrder::Big), 8]);
        made.number(4096, 4);
        made.bytes.extend(compression);
        made.number(0, 8);
        made
    }

    fn number(&mut self, value: u64, width: usize) {
        let mut bytes = vec![0; width];
        self.order.store(value, &mut bytes);
        self.bytes.extend(bytes);
    }

    fn numbers(&self, values: &[(u64, usize)]) -> Vec<u8> {
        let mut made = Made { order: self.order, bytes: Vec::new() };
        values.iter().for_each(|(value, width)| made.number(*value, *width));
        made.bytes
    }

    /// Adds a section; its offset.
    fn section(&mut self, id: u16, flags: u16, data: &[u8]) -> u64 {
        let at = self.bytes.len() as u64;
        for (value, width) in [(u64::from(id), 2), (u64::from(flags), 2), (0, 4), (data.len() as u64, 8)] {
            self.number(value, width);
        }
        self.bytes.extend(data);
        at
    }

    fn option(&self, id: u16, data: &[u8]) -> Vec<u8> {
        [self.numbers(&[(u64::from(id), 2), (data.len() as u64, 4)]), data.to_vec()].concat()
    }

    /// Adds a section of options, and the option that says where the next is.
    fn options(&mut self, options: &[Vec<u8>], next: u64) -> u64 {
        let done = self.option(0, &self.numbers(&[(next, 8)]));
        self.section(0, 0, &[options.concat(), done].concat())
    }

    fn buffer(&self, section: u64, name: &str, page_size: u64, cpus: &[(u64, u64, u64)]) -> Vec<u8> {
        let mut data = self.numbers(&[(section, 8)]);
        data.extend(format!("{name}\0local\0").bytes());
        data.extend(self.numbers(&[(page_size, 4), (cpus.len() as u64, 4)]));
        for (id, at, size) in cpus {
            data.extend(self.numbers(&[(*id, 4), (*at, 8), (*size, 8)]));
        }
        self.option(3, &data)
    }

    /// Says where the first options are, and opens the file.
    fn opened(mut self, options: u64) -> Container {
        let at = MAGIC.len() + 8 + self.bytes[MAGIC.len() + 8..].iter().position(|byte| *byte == 0).unwrap() + 1;
        let at = at + self.bytes[at..].iter().position(|byte| *byte == 0).unwrap() + 1;
        let order = self.order;
        order.store(options, &mut self.bytes[at..at + 8]);
        opened(self.bytes)
    }
}

#[test]
fn sparse_and_unordered_cpus_of_larger_pages_in_both_byte_orders() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut made = Made::new(order, b"none\0\0");
        let data: Vec<u8> = (0..3u8).flat_map(|page| vec![page; 16384]).collect();
        let at = made.section(3, 0, &data);
        let first = at + 16;
        let cpus = [(7, first, 32768), (2, first + 32768, 16384), (7, first, 4096), (9, 0, 0)];
        let buffer = made.buffer(at, "late", 16384, &cpus);
        let options = made.options(&[buffer], 0);
        let container = made.opened(options);
        let [buffer] = container.buffers() else { panic!() };
        let found: Vec<_> = buffer.cpus.iter().map(|cpu| (cpu.id, cpu.pages)).collect();
        assert_eq!((buffer.name.as_str(), buffer.page_size, found), ("late", 16384, vec![(7, 2), (2, 1), (9, 0)]));
        assert_eq!(pages(&container, 0, 0), data[..32768]);
        assert_eq!(pages(&container, 0, 1), data[32768..]);
        let said = damage(&container);
        assert!(said.len() == 1 && said[0].contains("CPU 7 of the buffer \"late\" is there twice"), "{said:?}");
    }
}

#[test]
fn compressed_options_are_read_and_unknown_ones_listed() {
    let mut made = Made::new(ByteOrder::Big, b"zstd\x001.5.5\0");
    let number = made.option(8, &made.numbers(&[(6, 4)]));
    let unknown = made.option(32, b"saved tgids");
    let plain = [number, unknown, made.option(1, b"0x10"), made.option(0, &made.numbers(&[(0, 8)]))].concat();
    let stored = zstd::encode_all(&plain[..], 3).unwrap();
    let sizes = made.numbers(&[(stored.len() as u64, 4), (plain.len() as u64, 4)]);
    let unknown_section = made.section(99, 0, b"new");
    let options = made.section(0, 1, &[sizes, stored].concat());
    let container = made.opened(options);
    assert_eq!(damage(&container), Vec::<String>::new());
    let values: Vec<_> = container.options().iter().map(|option| (option.id, option.value.clone())).collect();
    let expected = [(8, Value::CpuCount(6)), (32, Value::Unknown), (1, Value::Date(16)), (0, Value::Done(0))];
    assert_eq!(values, expected);
    assert_eq!(container.option_data(&container.options()[1]), b"saved tgids");
    let first = container.sections()[0];
    assert_eq!((first.at, first.id, section::name(first.id)), (unknown_section, 99, None));
}

#[test]
fn options_that_lead_back_are_read_once() {
    let mut made = Made::new(ByteOrder::Little, b"none\0\0");
    let count = made.option(8, &made.numbers(&[(2, 4)]));
    let first = made.bytes.len() as u64;
    made.options(std::slice::from_ref(&count), first + 16 + 10 + 14);
    let second = made.options(&[count], first);
    let container = made.opened(first);
    assert_eq!(container.options().len(), 4);
    let said = damage(&container);
    assert!(said.len() == 1 && said[0].contains("lead back"), "{said:?}");
    // Backward is as good as forward.
    let mut made = Made::new(ByteOrder::Little, b"none\0\0");
    let first = made.options(&[], 0);
    assert_ne!(first, second);
    let last = made.options(&[], first);
    let container = made.opened(last);
    assert_eq!((container.options().len(), container.damage().is_empty()), (2, true));
}

#[test]
fn an_unknown_compression_costs_what_is_compressed_alone() {
    let mut made = Made::new(ByteOrder::Little, b"lz5\x009\0");
    let compressed = made.section(19, 1, &[0; 40]);
    let text = [made.numbers(&[(8, 8)]), b"1 init\n\0".to_vec()].concat();
    let plain = made.section(21, 0, &text);
    let data = made.section(3, 1, &[0; 64]);
    let options = [
        made.option(19, &made.numbers(&[(compressed, 8)])),
        made.option(21, &made.numbers(&[(plain, 8)])),
        made.buffer(data, "", 4096, &[(0, data + 16, 64)]),
    ];
    let options = made.options(&options, 0);
    let container = made.opened(options);
    assert!(container.kallsyms().is_none());
    assert_eq!(container.command_lines().get(&1).map(|name| &**name), Some("init"));
    assert_eq!(container.buffers()[0].cpus[0].pages, 0);
    let said = damage(&container);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|line| line.contains("\"lz5\"")), "{said:?}");
}

#[test]
fn sizes_in_the_file_allocate_nothing() {
    // 64 chunks of 1 byte each that say they have 64 MiB, and a section that says it has 4 GiB.
    for compression in [&b"zstd\x001\0"[..], b"zlib\x001\0"] {
        let mut made = Made::new(ByteOrder::Little, compression);
        let chunk = [made.numbers(&[(1, 4), (64 << 20, 4)]), vec![0]].concat();
        let chunks = [made.numbers(&[(64, 4)]), chunk.repeat(64)].concat();
        let data = made.section(3, 1, &chunks);
        let kallsyms = made.section(19, 1, &made.numbers(&[(8, 4), (u64::from(u32::MAX), 4), (0, 8)]));
        let size = chunks.len() as u64;
        let options = [
            made.buffer(data, "", 4096, &[(0, data + 16, size), (1, data + 16, size), (2, u64::MAX, u64::MAX)]),
            made.option(19, &made.numbers(&[(kallsyms, 8)])),
        ];
        let options = made.options(&options, 0);
        let container = made.opened(options);
        assert!(container.buffers()[0].cpus.iter().all(|cpu| cpu.pages == 0));
        assert!(container.kallsyms().is_none());
        assert!(container.damage().total() >= 66);
    }
}

#[test]
fn btf_and_modules_may_have_their_size_in_front() {
    let mut made = Made::new(ByteOrder::Big, b"none\0\0");
    let btf = b"\xeb\x9f\x01\0rest";
    made.section(23, 0, &[made.numbers(&[(btf.len() as u64, 8)]), btf.to_vec()].concat());
    let modules = b"ext4 100 0 - Live 0x0\n";
    made.section(25, 0, &[made.numbers(&[(modules.len() as u64, 8)]), modules.to_vec()].concat());
    let options = made.options(&[], 0);
    let container = made.opened(options);
    assert_eq!(container.btf().map(|text| text.bytes), Some(&btf[..]));
    assert_eq!(container.modules_text().map(|text| text.bytes), Some(&modules[..]));
    assert_eq!(damage(&container), Vec::<String>::new());
}

#[test]
fn a_text_that_many_options_name_is_read_once() {
    let mut made = Made::new(ByteOrder::Little, b"none\0\0");
    let text = made.section(22, 0, b"# tracer: nop\n");
    let option = made.option(22, &[made.numbers(&[(text, 8)]), b"\0local\0".to_vec()].concat());
    let options = made.options(&vec![option; 100], 0);
    let container = made.opened(options);
    assert_eq!(container.texts().map(|text| text.text.bytes).collect::<Vec<_>>(), [b"# tracer: nop\n"]);
    assert_eq!(container.damage().total(), 99);
}

/// The parts of version 6 up to the number of CPUs, without formats.
fn version6(cpus: u32) -> Vec<u8> {
    let mut bytes = [MAGIC, b"6\0\0\x08", &4096u32.to_le_bytes()].concat();
    for word in ["header_page", "header_event"] {
        bytes.extend(word.bytes().chain([0]));
        bytes.extend([0; 8]);
    }
    // No formats, no systems, no kallsyms, no printk formats, no command lines.
    bytes.extend([0; 4 + 4 + 4 + 4 + 8]);
    bytes.extend(cpus.to_le_bytes());
    bytes
}

#[test]
fn version_6_with_instances_and_a_count_of_cpus_of_their_own() {
    let place = |at: u64, size: u64| [at.to_le_bytes(), size.to_le_bytes()].concat();
    let option = |id: u16, data: &[u8]| [&id.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat();
    let clock = |name: &str| [&(name.len() as u64).to_le_bytes()[..], name.as_bytes()].concat();
    let mut bytes = version6(1);
    bytes.extend(b"options  \0");
    bytes.extend(option(4, b"[local] global"));
    let instance_at = 1024u64;
    bytes.extend(option(3, &[&instance_at.to_le_bytes()[..], b"foo\0"].concat()));
    bytes.extend(option(8, &2u32.to_le_bytes()));
    bytes.extend([0, 0]);
    bytes.extend([&b"flyrecord\0"[..], &place(4096, 4096), &clock("[local]")].concat());
    bytes.resize(1024, 0);
    bytes.extend([&b"flyrecord\0"[..], &place(8192, 0), &place(8192, 4096), &clock("[mono]")].concat());
    bytes.resize(4096, 0);
    bytes.extend([[1; 4096], [2; 4096]].concat());
    let container = opened(bytes);
    assert_eq!(damage(&container), Vec::<String>::new());
    let found: Vec<_> = container
        .buffers()
        .iter()
        .map(|buffer| {
            let cpus: Vec<_> = buffer.cpus.iter().map(|cpu| (cpu.id, cpu.pages)).collect();
            (buffer.name.as_str(), buffer.clock.as_deref(), cpus)
        })
        .collect();
    assert_eq!(found, [("", Some("local"), vec![(0, 1)]), ("foo", Some("mono"), vec![(0, 0), (1, 1)])]);
    assert_eq!(pages(&container, 1, 1), [2; 4096]);
}

#[test]
fn version_6_with_places_of_cpus_that_overlap_keeps_no_more_than_the_file_can_hold() {
    let mut bytes = version6(u32::MAX);
    bytes.extend(b"options  \0");
    for number in 0..2000u64 {
        bytes.extend([&3u16.to_le_bytes()[..], &12u32.to_le_bytes()].concat());
        bytes.extend([&(50_000 + 10 * number).to_le_bytes()[..], b"foo\0"].concat());
    }
    bytes.extend([0, 0]);
    bytes.resize(50_000, 0);
    bytes.extend(b"flyrecord\0".repeat(2000));
    let places = bytes.len() / 16;
    let container = opened(bytes);
    let cpus: usize = container.buffers().iter().map(|buffer| buffer.cpus.len()).sum();
    assert!(cpus <= places, "{cpus}");
}

#[test]
fn version_6_without_options_and_with_text() {
    let mut bytes = version6(1);
    let latency = [&bytes[..], b"latency  \0# tracer: nop\n"].concat();
    bytes.extend([&b"flyrecord\0"[..], &4096u64.to_le_bytes(), &4096u64.to_le_bytes()].concat());
    bytes.resize(8192, 5);
    let container = opened(bytes);
    assert_eq!(damage(&container), Vec::<String>::new());
    assert_eq!((container.buffers()[0].clock.as_deref(), pages(&container, 0, 0)), (None, vec![5; 4096]));
    let container = opened(latency);
    assert_eq!(damage(&container), Vec::<String>::new());
    assert_eq!(container.texts().map(|text| text.text.bytes).collect::<Vec<_>>(), [b"# tracer: nop\n"]);
}

#[test]
fn only_another_magic_another_version_and_a_cut_header_are_refused() {
    let refused = |bytes: &[u8]| match Container::open(Source::from_vec("some.dat", bytes.to_vec())) {
        Ok(_) => panic!("{} was opened", bytes.escape_ascii()),
        Err(error) => error.to_string(),
    };
    for (bytes, expected) in [
        (&b""[..], "some.dat: begins with \"\", not with the bytes 17 08 44"),
        (b"\x17\x08\x44tracinG6\0", "some.dat: begins with \"\\x17\\x08DtracinG\""),
        (b"\x17\x08\x44tra", "cut at byte 0x6, before the end of the magic number"),
        (b"\x17\x08\x44tracing8\0", "of version \"8\", expected \"6\" or \"7\""),
        (b"\x17\x08\x44tracing77\0", "of version \"77\""),
        (b"\x17\x08\x44tracing7", "cut at byte 0xb, before the end of the version"),
        (b"\x17\x08\x44tracing6\0\0\x08\0\x10", "before the end of the page size"),
        (b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none", "before the end of the name of the compression"),
        (b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0\0", "before the end of the offset of the options"),
    ] {
        let message = refused(bytes);
        assert!(message.contains(expected), "{message}");
    }
    let container = opened(b"\x17\x08\x44tracing7\0\x07\x05\0\0\x10\0none\0\0\0\0\0\0\0\0\0\0".to_vec());
    assert_eq!((container.byte_order(), container.header().page_size), (ByteOrder::Big, 4096));
    assert_eq!(container.damage().total(), 2);
}
