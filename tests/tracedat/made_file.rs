//! A recording of another machine, written here in version 6 of the format: a task is switched, with the stack of the
//! kernel behind it, and again on another CPU, without.

/// A machine, as a recording tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// What uname(2) says.
    pub uname: &'static str,
    /// The size of the kernel's long, and of an address.
    pub long: usize,
    pub is_big: bool,
    /// Where the kernel's code lies.
    pub base: u64,
}

/// The kernel's functions, by their distance from its base, each 0x1000 long. The recorded stack goes through all but the
/// first and the last, a few bytes behind where they begin.
pub const FUNCTIONS: [&str; 8] = [
    "_stext",
    "trace_event_raw_event_sched_switch",
    "__traceiter_sched_switch",
    "__schedule",
    "schedule",
    "do_wait",
    "system_call",
    "_etext",
];

/// The first time, in nanoseconds.
pub const TIME: u64 = 5_000_000_123;

const PAGE: usize = 4096;

/// The fields that all events have, in their format.
pub const COMMON: &str = "format:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

impl Made {
    /// The number of an entry of the stack.
    pub fn entry(&self, number: usize) -> u64 {
        self.base + 0x1000 * number as u64 + 0x10
    }

    /// A number of so many bytes.
    pub fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = value.to_le_bytes()[..size].to_vec();
        if self.is_big {
            bytes.reverse();
        }
        bytes
    }

    fn sized(&self, text: &str, size: usize) -> Vec<u8> {
        [self.number(text.len() as u64, size), text.as_bytes().to_vec()].concat()
    }

    fn header_page(&self) -> String {
        let (long, data) = (self.long, 8 + self.long);
        format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:1;\n",
            PAGE - data
        )
    }

    fn kernel_stack(&self) -> String {
        let (long, at) = (self.long, 8 + self.long);
        format!(
            "name: kernel_stack\nID: 4\n{COMMON}\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
             \tfield:unsigned long caller[8];\toffset:{at};\tsize:{};\tsigned:0;\n\n\
             print fmt: \"\\t=> %ps\\n\", (void *)REC->caller[0]\n",
            8 * long
        )
    }

    fn sched_switch(&self) -> String {
        let (long, next) = (self.long, 32 + self.long);
        format!(
            "name: sched_switch\nID: 300\n{COMMON}\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
             \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
             \tfield:long prev_state;\toffset:32;\tsize:{long};\tsigned:1;\n\
             \tfield:char next_comm[16];\toffset:{next};\tsize:16;\tsigned:0;\n\
             \tfield:pid_t next_pid;\toffset:{};\tsize:4;\tsigned:1;\n\
             \tfield:int next_prio;\toffset:{};\tsize:4;\tsigned:1;\n\n\
             print fmt: \"prev_comm=%s next_comm=%s\", REC->prev_comm, REC->next_comm\n",
            next + 16,
            next + 20
        )
    }

    /// The fields that all events have.
    pub fn common(&self, id: u64, pid: u64) -> Vec<u8> {
        [self.number(id, 2), vec![1, 2], self.number(pid, 4)].concat()
    }

    fn switch(&self, pid: u64, next: u64) -> Vec<u8> {
        let name = |pid: u64| format!("{:\0<16}", format!("task{pid}")).into_bytes();
        [
            self.common(300, pid),
            name(pid),
            self.number(pid, 4),
            self.number(120, 4),
            self.number((-2i64).cast_unsigned(), self.long),
            name(next),
            self.number(next, 4),
            self.number(98, 4),
        ]
        .concat()
    }

    /// The stack of a kernel that lay so much lower.
    fn stack(&self, pid: u64, lower: u64) -> Vec<u8> {
        let entries = 1..FUNCTIONS.len() - 1;
        let mut record = self.common(4, pid);
        record.extend(self.number(entries.len() as u64, 4));
        record.resize(8 + self.long, 0);
        record.extend(entries.flat_map(|number| self.number(self.entry(number) - lower, self.long)));
        record
    }

    /// A page whose records come 1000 nanoseconds after each other.
    pub fn page(&self, time: u64, records: &[Vec<u8>]) -> Vec<u8> {
        let mut data = Vec::new();
        for (place, record) in records.iter().enumerate() {
            let (words, delta) = (record.len() as u64 / 4, if place == 0 { 0 } else { 1000 });
            let header = if self.is_big { words << 27 | delta } else { words | delta << 5 };
            data.extend(self.number(header, 4));
            data.extend(record);
        }
        let mut page = [self.number(time, 8), self.number(data.len() as u64, self.long), data].concat();
        page.resize(PAGE, 0);
        page
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let pages =
            [self.page(TIME, &[self.switch(10, 11), self.stack(10, 0)]), self.page(TIME + 500, &[self.switch(11, 0)])];
        self.file(&[("sched", self.sched_switch())], &[], &pages, &[])
    }

    /// The file with an instance that an earlier boot wrote, whose kernel lay so much lower, and what is said of that: a
    /// task is switched, with the stack behind it.
    pub fn of_earlier_boot(&self, lower: u64, said: &str) -> Vec<u8> {
        let info = format!("before:{said}\n");
        let old = [self.page(TIME + 2000, &[self.switch(20, 21), self.stack(20, lower)]), self.page(TIME, &[])];
        let pages =
            [self.page(TIME, &[self.switch(10, 11), self.stack(10, 0)]), self.page(TIME + 500, &[self.switch(11, 0)])];
        self.file(&[("sched", self.sched_switch())], &[(24, info.into_bytes())], &pages, &[("before", &old)])
    }

    /// A file with these events beside those of ftrace itself, options, pages of each CPU, and other instances with theirs.
    pub fn file(
        &self,
        events: &[(&str, String)],
        options: &[(u64, Vec<u8>)],
        pages: &[Vec<u8>],
        instances: &[(&str, &[Vec<u8>])],
    ) -> Vec<u8> {
        let mut file = b"\x17\x08\x44tracing6\0".to_vec();
        file.extend([u8::from(self.is_big), self.long as u8]);
        file.extend(self.number(PAGE as u64, 4));
        file.extend(b"header_page\0");
        file.extend(self.sized(&self.header_page(), 8));
        file.extend(b"header_event\0");
        file.extend(self.sized("# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n", 8));
        file.extend(self.number(1, 4));
        file.extend(self.sized(&self.kernel_stack(), 8));
        file.extend(self.number(events.len() as u64, 4));
        for (system, format) in events {
            file.extend([system.as_bytes(), b"\0"].concat());
            file.extend(self.number(1, 4));
            file.extend(self.sized(format, 8));
        }
        let address = |number: usize| self.base + 0x1000 * number as u64;
        let line = |address: u64, name: &str| format!("{address:0width$x} T {name}\n", width = 2 * self.long);
        let functions = FUNCTIONS.iter().enumerate().map(|(number, name)| line(address(number), name));
        let symbols: String = std::iter::once(line(self.base, "_text")).chain(functions).collect();
        file.extend(self.sized(&symbols, 4));
        file.extend(self.number(0, 4));
        file.extend(self.sized("10 task10\n11 task11\n", 8));
        file.extend(self.number(pages.len() as u64, 4));
        file.extend(b"options  \0");
        file.extend(self.number(5, 2));
        file.extend(self.sized(&format!("Linux host 6.1.0 {}\0", self.uname), 4));
        for (number, data) in options {
            file.extend(self.number(*number, 2));
            file.extend(self.number(data.len() as u64, 4));
            file.extend(data);
        }
        let mut described = Vec::new();
        for (name, _) in instances {
            file.extend(self.number(3, 2));
            file.extend(self.number(8 + name.len() as u64 + 1, 4));
            described.push(file.len());
            file.extend([&[0; 8], name.as_bytes(), b"\0"].concat());
        }
        file.extend(self.number(0, 2));
        let buffers = std::iter::once(pages).chain(instances.iter().map(|(_, pages)| *pages));
        let mut at = file.len().next_multiple_of(PAGE) + PAGE;
        let start = at;
        let mut places = described.into_iter();
        for (number, buffer) in buffers.clone().enumerate() {
            if number > 0 {
                let offset = self.number(file.len() as u64, 8);
                let place = places.next().unwrap();
                file[place..place + 8].copy_from_slice(&offset);
            }
            file.extend(b"flyrecord\0");
            for page in buffer {
                file.extend(self.number(at as u64, 8));
                file.extend(self.number(page.len() as u64, 8));
                at += page.len();
            }
        }
        file.resize(start, 0);
        file.extend(buffers.flatten().flatten());
        file
    }
}
