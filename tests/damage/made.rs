//! trace.dat files made for a test, after trace-cmd.dat.v6(5), trace-cmd.dat.v7(5) and the kernel's ring_buffer.h, and
//! not with the program's own reader.

use std::ops::Range;

use traceframe::source::ByteOrder;

/// What a file is to hold.
#[derive(Clone)]
pub struct Made {
    pub version: u8,
    pub order: ByteOrder,
    /// The bytes of the kernel's `long`.
    pub long: usize,
    /// "none", "zlib" or "zstd"; version 6 knows none.
    pub compression: &'static str,
    pub page_size: usize,
    /// System and text.
    pub formats: Vec<(String, String)>,
    pub kallsyms: Vec<u8>,
    pub command_lines: Vec<u8>,
    /// Whether version 7 describes the kernel's own type of the event `sched_switch`.
    pub has_btf: bool,
    /// Number and data.
    pub options: Vec<(u16, Vec<u8>)>,
    pub buffers: Vec<Buffer>,
}

/// A buffer: its name, and of each CPU its number and its pages.
#[derive(Clone, Default)]
pub struct Buffer {
    pub name: Vec<u8>,
    pub cpus: Vec<(u32, Vec<u8>)>,
}

/// A file, and the places of all its numbers.
pub struct Written {
    pub bytes: Vec<u8>,
    pub numbers: Vec<Range<usize>>,
}

/// The fields that every event has.
pub const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/// The text of an event's format: its own fields are declaration, offset, size and sign.
pub fn format(name: &str, id: u32, fields: &[(&str, usize, usize, bool)]) -> String {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}");
    for (declaration, offset, size, signed) in fields {
        let sign = u8::from(*signed);
        text += &format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{sign};\n");
    }
    text + "\nprint fmt: \"\"\n"
}

impl Made {
    /// A file without formats, symbols, options and buffers.
    pub fn new(version: u8, order: ByteOrder, long: usize) -> Made {
        Made {
            version,
            order,
            long,
            compression: "none",
            page_size: 4096,
            formats: Vec::new(),
            kallsyms: Vec::new(),
            command_lines: Vec::new(),
            has_btf: false,
            options: Vec::new(),
            buffers: Vec::new(),
        }
    }

    /// A small file with one of everything: plain fields and content, a probe, stacks, tasks, lost events.
    pub fn small(version: u8, order: ByteOrder, long: usize) -> Made {
        let mut made = Made::new(version, order, long);
        let switch = format(
            "sched_switch",
            300,
            &[
                ("char prev_comm[8]", 8, 8, false),
                ("pid_t prev_pid", 16, 4, true),
                ("__data_loc char[] text", 20, 4, false),
                ("u16 words[4]", 24, 8, false),
            ],
        );
        let long_field = "unsigned long __probe_ip";
        let probe = format(
            "probe",
            301,
            &[(long_field, 8, long, false), ("unsigned long sp", 16, long, false), ("u64 stk[2]", 24, 16, false)],
        );
        let stack =
            format("kernel_stack", 4, &[("int size", 8, 4, true), ("unsigned long caller[8]", 16, 8 * long, false)]);
        made.formats = vec![("ftrace".to_owned(), stack), ("sched".to_owned(), switch), ("uprobes".to_owned(), probe)];
        let text: u64 = if long == 8 { 0xffff_ffff_8100_0000 } else { 0xc010_0000 };
        for (offset, kind, name) in [
            (0, 'T', "_stext"),
            (0x100, 'T', "schedule"),
            (0x200, 'T', "__traceiter_sched_switch"),
            (0x300, 't', "entry"),
            (0x400, 'T', "_etext"),
            (0x1000, 'D', "jiffies"),
        ] {
            made.kallsyms.extend(format!("{:x} {kind} {name}\n", text + offset).bytes());
        }
        made.command_lines = b"7 worker\n8 other one\n".to_vec();
        made.has_btf = true;
        let uname = if long == 8 { &b"Linux vm 6.1.0 x86_64"[..] } else { b"Linux vm 6.1.0 armv7l" };
        made.options = vec![
            (1, b"0x10\0".to_vec()),
            (4, b"[local] global\0".to_vec()),
            (5, uname.to_vec()),
            (8, made.number(2, 4)),
            (9, b"3.2\0".to_vec()),
        ];
        let words = [made.number(1, 2), made.number(2, 2), made.number(3, 2), made.number(0xffff, 2)].concat();
        let switched = |pid: i32| {
            let prev = made.number(pid as u32 as u64, 4);
            let location = made.number((5 << 16) | 32, 4);
            made.record(300, pid, &[b"worker\0\0", &prev, &location, &words, b"text\0\0\0\0"])
        };
        let address = |offset: u64| made.number(text + offset, long);
        let stacked =
            made.record(4, 7, &[&made.number(3, 4), &[0; 4], &address(0x208), &address(0x108), &address(0x308)]);
        let mut probed = made.record(301, 7, &[&made.number(0x40_1136, long)]);
        probed.resize(16, 0);
        probed.extend(made.number(0x7fff_0000, long));
        probed.resize(24, 0);
        probed.extend([made.number(11, 8), made.number(12, 8)].concat());
        let first = made.page(1_000_000, 0, &[(0, switched(7)), (3, stacked), (500, probed.clone())]);
        let second = made.page(1_002_000, (1 << 31) | (1 << 30), &[(10, switched(8)), (20, probed)]);
        let other = made.page(1_000_100, 0, &[(0, switched(0)), (100, switched(8))]);
        made.buffers = vec![Buffer { name: Vec::new(), cpus: vec![(0, [first, second].concat()), (1, other)] }];
        made
    }

    /// A number in so many bytes.
    pub fn number(&self, value: u64, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; width];
        self.order.store(value, &mut bytes);
        bytes
    }

    /// A record of an event with this number, of a process, and the bytes of its own fields.
    pub fn record(&self, id: u16, pid: i32, own: &[&[u8]]) -> Vec<u8> {
        [self.number(id.into(), 2), vec![0, 0], self.number(pid as u32 as u64, 4), own.concat()].concat()
    }

    /// A page of this time, with flags of the commit word, and records: the time since the one before, and the bytes.
    pub fn page(&self, time: u64, flags: u64, records: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut data = Vec::new();
        for (delta, record) in records {
            let words = record.len().div_ceil(4) as u32;
            let kind = if (1..=28).contains(&words) { words } else { 0 };
            let header = match self.order {
                ByteOrder::Little => kind | (delta << 5),
                ByteOrder::Big => (kind << 27) | delta,
            };
            data.extend(self.number(header.into(), 4));
            if kind == 0 {
                data.extend(self.number(record.len() as u64 + 4, 4));
            }
            data.extend(record);
            data.resize(data.len().next_multiple_of(4), 0);
        }
        let mut page = [self.number(time, 8), self.number(flags | data.len() as u64, self.long), data].concat();
        assert!(page.len() <= self.page_size, "{} bytes in a page", page.len());
        page.resize(self.page_size, 0);
        page
    }

    /// How many bytes of records a page holds.
    pub fn room(&self) -> usize {
        self.page_size - 8 - self.long
    }

    /// The file.
    pub fn write(&self) -> Written {
        let mut file = Writer { made: self, bytes: b"\x17\x08\x44tracing".to_vec(), numbers: Vec::new() };
        file.bytes.extend([b'0' + self.version, 0, u8::from(self.order == ByteOrder::Big), self.long as u8]);
        file.number(self.page_size as u64, 4);
        if self.version == 6 {
            file.six()
        } else {
            file.seven()
        }
        Written { bytes: file.bytes, numbers: file.numbers }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        self.write().bytes
    }

    fn compressed(&self, bytes: &[u8]) -> Vec<u8> {
        use std::io::Write;
        match self.compression {
            "zlib" => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            _ => zstd::encode_all(bytes, 3).unwrap(),
        }
    }
}

struct Writer<'a> {
    made: &'a Made,
    bytes: Vec<u8>,
    numbers: Vec<Range<usize>>,
}

impl Writer<'_> {
    fn number(&mut self, value: u64, width: usize) {
        self.numbers.push(self.bytes.len()..self.bytes.len() + width);
        self.bytes.extend(self.made.number(value, width));
    }

    fn sized(&mut self, bytes: &[u8], width: usize) {
        self.number(bytes.len() as u64, width);
        self.bytes.extend(bytes);
    }

    fn header_info(&mut self) {
        let long = self.made.long;
        let page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
            8 + long,
            self.made.room()
        );
        for (word, text) in [("header_page\0", page.as_str()), ("header_event\0", "# compressed entry header\n")] {
            self.bytes.extend(word.bytes());
            self.sized(text.as_bytes(), 8);
        }
    }

    fn ftrace(&mut self) {
        self.texts("ftrace");
    }

    fn texts(&mut self, system: &str) {
        let texts: Vec<&str> =
            self.made.formats.iter().filter(|(of, _)| of == system).map(|(_, text)| text.as_str()).collect();
        self.number(texts.len() as u64, 4);
        texts.into_iter().for_each(|text| self.sized(text.as_bytes(), 8));
    }

    fn events(&mut self) {
        let mut systems: Vec<&str> = self.made.formats.iter().map(|(system, _)| system.as_str()).collect();
        systems.retain(|system| *system != "ftrace");
        systems.dedup();
        self.number(systems.len() as u64, 4);
        for system in systems {
            self.bytes.extend(system.bytes().chain([0]));
            self.texts(system);
        }
    }

    fn options(&mut self) {
        for (id, data) in &self.made.options {
            self.number((*id).into(), 2);
            self.sized(data, 4);
        }
    }

    /// Pages begin at a multiple of their size.
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(self.made.page_size), 0);
    }

    /// Puts a number where room was left for it.
    fn put(&mut self, at: usize, value: usize, width: usize) {
        self.made.order.store(value as u64, &mut self.bytes[at..at + width]);
    }

    /// The pages with the numbers at their fronts and the headers of the records, as far as these are plain.
    fn pages(&mut self, pages: &[u8]) {
        let made = self.made;
        for page in pages.chunks(made.page_size) {
            let at = self.bytes.len();
            self.bytes.extend(page);
            self.numbers.extend([at..at + 8, at + 8..at + 8 + made.long]);
            let word = |at: usize| made.order.unsigned(&page[at..at + 4]).unwrap() as u32;
            let mut inside = 8 + made.long;
            while inside + 4 <= page.len() && word(inside) != 0 {
                self.numbers.push(at + inside..at + inside + 4);
                let kind = if made.order == ByteOrder::Little { word(inside) & 31 } else { word(inside) >> 27 };
                inside += 4 + if kind == 0 { word(inside + 4) as usize } else { 4 * kind as usize };
            }
        }
    }

    fn six(&mut self) {
        let made = self.made;
        self.header_info();
        self.ftrace();
        self.events();
        self.sized(&made.kallsyms, 4);
        self.sized(&[], 4);
        self.sized(&made.command_lines, 8);
        let [buffer] = &made.buffers[..] else { panic!("one buffer") };
        self.number(buffer.cpus.len() as u64, 4);
        self.bytes.extend(b"options  \0");
        self.options();
        self.number(0, 2);
        self.bytes.extend(b"flyrecord\0");
        let places = self.bytes.len();
        for (_, pages) in &buffer.cpus {
            self.number(0, 8);
            self.number(pages.len() as u64, 8);
        }
        if made.options.iter().any(|(id, _)| *id == 4) {
            self.sized(b"[local]", 8);
        }
        for (place, (_, pages)) in buffer.cpus.iter().enumerate() {
            self.align();
            self.put(places + 16 * place, self.bytes.len(), 8);
            self.pages(pages);
        }
    }

    /// Writes a section, compressed where the file is; its offset.
    fn section(&mut self, id: u16, content: impl FnOnce(&mut Self)) -> usize {
        let at = self.bytes.len();
        let is_compressed = self.made.compression != "none" && id != 15 && id != 0;
        self.number(id.into(), 2);
        self.number(u64::from(is_compressed), 2);
        self.number(0, 4);
        self.number(0, 8);
        let (start, numbers) = (self.bytes.len(), self.numbers.len());
        content(self);
        if is_compressed {
            let plain = self.bytes.split_off(start);
            self.numbers.truncate(numbers);
            let stored = self.made.compressed(&plain);
            self.number(stored.len() as u64, 4);
            self.number(plain.len() as u64, 4);
            self.bytes.extend(stored);
        }
        self.put(at + 8, self.bytes.len() - start, 8);
        at
    }

    fn seven(&mut self) {
        let made = self.made;
        self.bytes.extend(made.compression.bytes().chain(*b"\x001\0"));
        let options_at = self.bytes.len();
        self.number(0, 8);
        let mut sections = vec![
            (16, self.section(16, Self::header_info)),
            (17, self.section(17, Self::ftrace)),
            (18, self.section(18, Self::events)),
            (21, self.section(21, |file| file.sized(&made.command_lines, 8))),
        ];
        if !made.kallsyms.is_empty() {
            sections.push((19, self.section(19, |file| file.sized(&made.kallsyms, 4))));
        }
        if made.has_btf {
            sections.push((23, self.section(23, Self::btf)));
        }
        let buffers: Vec<_> = made.buffers.iter().map(|buffer| self.buffer(buffer)).collect();
        let strings = self.section(15, |file| file.bytes.extend(b"\0a section\0"));
        assert!(strings > 0);
        let options = self.section(0, |file| {
            for (id, at) in sections {
                file.number(id, 2);
                file.number(8, 4);
                file.number(at as u64, 8);
            }
            file.options();
            for (buffer, (at, cpus)) in made.buffers.iter().zip(buffers) {
                file.number(3, 2);
                file.number((8 + buffer.name.len() + 7 + 8 + 20 * cpus.len()) as u64, 4);
                file.number(at as u64, 8);
                file.bytes.extend(&buffer.name);
                file.bytes.extend(b"\0local\0");
                file.number(made.page_size as u64, 4);
                file.number(cpus.len() as u64, 4);
                for (id, at, size) in cpus {
                    file.number(id.into(), 4);
                    file.number(at as u64, 8);
                    file.number(size as u64, 8);
                }
            }
            file.number(0, 2);
            file.number(8, 4);
            file.number(0, 8);
        });
        self.put(options_at, options, 8);
    }

    /// The kernel's types, after its btf.rst.
    fn btf(&mut self) {
        let [integer, array, structure, typedef] = [1, 3, 4, 8].map(|kind: u64| kind << 24);
        let mut strings = vec![0];
        let mut name = |name: &str| {
            let at = strings.len() as u64;
            strings.extend(name.bytes().chain([0]));
            at
        };
        let ent = [name("type"), 2, 0, name("flags"), 3, 16, name("preempt_count"), 3, 24, name("pid"), 1, 32];
        let own = [
            [name("ent"), 8, 0],
            [name("prev_comm"), 5, 64],
            [name("prev_pid"), 4, 128],
            [name("__data_loc_text"), 10, 160],
            [name("words"), 6, 192],
            [name("__data"), 7, 256],
        ];
        let types = [
            &[name("int"), integer, 4, 1 << 24 | 32][..],
            &[name("short unsigned int"), integer, 2, 16],
            &[name("unsigned char"), integer, 1, 8],
            &[name("pid_t"), typedef, 1],
            &[0, array, 0, 9, 1, 8],
            &[0, array, 0, 2, 1, 4],
            &[0, array, 0, 9, 1, 0],
            &[&[name("trace_entry"), structure | 4, 8], &ent[..]].concat(),
            &[name("char"), integer, 1, 8],
            &[name("unsigned int"), integer, 4, 32],
            &[&[name("trace_event_raw_sched_switch"), structure | 6, 32], own.as_flattened()].concat(),
        ]
        .concat();
        self.number(0xeb9f, 2);
        self.bytes.extend([1, 0]);
        let (length, behind) = (4 * types.len() as u64, strings.len() as u64);
        [24, 0, length, length, behind].into_iter().chain(types).for_each(|word| self.number(word, 4));
        self.bytes.extend(strings);
    }

    /// Writes a buffer's section; its offset, and of each CPU number, offset and size of its data.
    fn buffer(&mut self, buffer: &Buffer) -> (usize, Vec<(u32, usize, usize)>) {
        let made = self.made;
        let at = self.bytes.len();
        let is_compressed = made.compression != "none";
        for (value, width) in [(3, 2), (u64::from(is_compressed), 2), (0, 4), (0, 8)] {
            self.number(value, width);
        }
        let mut cpus = Vec::new();
        for (id, pages) in &buffer.cpus {
            self.align();
            let data = self.bytes.len();
            if is_compressed {
                let chunks: Vec<&[u8]> = pages.chunks(10 * made.page_size).collect();
                self.number(chunks.len() as u64, 4);
                for chunk in chunks {
                    let stored = made.compressed(chunk);
                    self.number(stored.len() as u64, 4);
                    self.number(chunk.len() as u64, 4);
                    self.bytes.extend(stored);
                }
            } else {
                self.pages(pages);
            }
            cpus.push((*id, data, self.bytes.len() - data));
        }
        self.put(at + 8, self.bytes.len() - at - 16, 8);
        (at, cpus)
    }
}
