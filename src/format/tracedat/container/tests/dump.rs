//! A container in the words of `trace-cmd dump --all` (3.4), to be compared with what that says of the same file.

use std::fmt::Write;

use super::*;
use crate::format::tracedat::container::options::{BufferOption, TimeShift, Value};

/// What trace-cmd prints of a text: up to its first NUL, and a line feed.
fn line(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap();
    format!("{}\n", String::from_utf8_lossy(text))
}

struct Dump<'a> {
    container: &'a Container,
    out: String,
}

/// The whole dump of the file of that name.
pub(super) fn dump(container: &Container, name: &str) -> String {
    let mut dump = Dump { container, out: format!("\n Tracing meta data in file {name}.dat:\n") };
    dump.header();
    match container.header().version {
        Version::Six => dump.version6(),
        Version::Seven => dump.version7(),
    }
    dump.out
}

macro_rules! say {
    ($dump:expr, $($word:tt)*) => { write!($dump.out, $($word)*).unwrap() };
}

impl Dump<'_> {
    fn header(&mut self) {
        let header = self.container.header();
        let version = if header.version == Version::Six { 6 } else { 7 };
        let order = if header.byte_order == ByteOrder::Little { "0\t[Little" } else { "1\t[Big" };
        say!(self, "\t[Initial format]\n\t\t{version}\t[Version]\n\t\t{order} endian]\n");
        say!(self, "\t\t{}\t[Bytes in a long]\n", header.long_size);
        say!(self, "\t\t{}\t[Page size, bytes]\n", header.page_size);
        if let Some(CompressionHeader { name, version }) = &header.compression {
            say!(self, "\t\t{name}\t[Compression algorithm]\n\t\t{version}\t[Compression version]\n");
        }
    }

    fn version6(&mut self) {
        for id in 16..=21 {
            self.content(id);
        }
        let top = &self.container.buffers()[0];
        say!(self, "\t{} [CPUs with tracing data]\n", top.cpus.len());
        for option in self.container.options() {
            self.option(option);
        }
        say!(self, "\t[{} options]\n\t[Flyrecord tracing data]\n", self.container.options().len());
        for cpu in &top.cpus {
            say!(self, "\t {:10} {:10}\t[offset, size of cpu {}]\n", cpu.at, cpu.size, cpu.id);
        }
        say!(self, "\t[Tracing clock]\n\t\t[{}]\n", top.clock.as_deref().unwrap());
    }

    fn version7(&mut self) {
        let container = self.container;
        for (number, (at, string)) in container.strings().enumerate() {
            if number == 0 {
                say!(self, "\t[String @ offset]\n");
            }
            say!(self, "\t\t\"{string}\" @ {at}\n");
        }
        for section in container.sections() {
            let Section { at, id, flags, size, .. } = section;
            let description = container.description(section).unwrap_or("Unknown");
            say!(self, "\t[Section {id:2} @ {at:<16}\t\"{description}\", flags 0x{flags:X}, ");
            if !section.is_compressed() {
                say!(self, "{size} bytes]\n");
            } else if matches!(id, 3 | 22) {
                say!(self, "{size} compressed bytes]\n");
            } else {
                let stored = size - 8;
                let expanded = u32::from_le_bytes(container.source().slice(at + 20, 4).try_into().unwrap());
                say!(self, "{stored} compressed, {expanded} uncompressed]\n");
            }
        }
        self.options7();
        for option in container.options().iter().rev() {
            // 3.4 does not know the option of the BTF here, though it writes it.
            if let (Value::Section(at), true) = (&option.value, option.id != 23) {
                self.section_at(*at);
                self.content(option.id);
            }
        }
        say!(self, "\t[{} sections]\n", container.sections().len());
    }

    fn options7(&mut self) {
        let container = self.container;
        self.section_at(container.header().options_at.unwrap());
        for option in container.options() {
            self.option(option);
            let Value::Done(next) = option.value else { continue };
            say!(self, "{next}\n");
            if next != 0 {
                say!(self, "\n\n");
                self.section_at(next);
            }
        }
        say!(self, "\t[{} options]\n", container.options().len());
    }

    fn section_at(&mut self, at: u64) {
        let Some(section) = self.container.sections().iter().find(|section| section.at == at) else { return };
        let Section { id, flags, size, .. } = section;
        let description = self.container.description(section).unwrap_or("Unknown");
        say!(self, "\t[Section {id} @ {at}: \"{description}\", flags 0x{flags:X}, {size} bytes]\n");
    }

    fn option(&mut self, option: &TraceOption) {
        let size = option.size;
        let named = |name: &str, rest: &str| format!("\t\t[Option {name}, {size} bytes]{rest}");
        let text = |name: &str, text: &str| named(name, &format!("\n{text}\n"));
        let said = match &option.value {
            Value::Done(_) => named("DONE", "\n"),
            Value::Date(microseconds) => text("DATE", &format!("{microseconds:#x}")),
            Value::CpuStatistics(found) => text("CPUSTAT", &found.text),
            Value::Buffer(found) | Value::BufferText(found) => return self.buffer(found, size),
            Value::TraceClock(found) => text("TRACECLOCK", &found.text),
            Value::Uname(found) => text("UNAME", found),
            Value::Hook(found) => text("HOOK", &found.text),
            Value::Offset(nanoseconds) => text("OFFSET", &nanoseconds.to_string()),
            Value::CpuCount(count) => text("CPUCOUNT", &count.to_string()),
            Value::Version(found) => text("VERSION", found),
            Value::ProcessMaps(maps) => {
                let mut lines = String::new();
                for map in maps {
                    writeln!(lines, "{:x} {:x} {}", map.pid, map.libraries.len(), map.command).unwrap();
                    for library in &map.libraries {
                        writeln!(lines, "{:x} {:x} {}", library.start, library.end, library.path).unwrap();
                    }
                }
                text("PROCMAPS", &lines)
            }
            Value::TraceId(found) => text("TRACEID", &format!("0x{found:X}")),
            Value::TimeShift(found) => named("TimeShift", &format!("\n{}", time_shift(found))),
            Value::Guest(guest) => {
                let mut lines = format!("\n{} [Guest name]\n0x{:X} [trace id]\n", guest.name, guest.trace_id);
                writeln!(lines, "{} [Guest CPUs]", guest.cpus.len()).unwrap();
                for cpu in &guest.cpus {
                    writeln!(lines, "  {} {} [guest cpu, host pid]", cpu.id, cpu.pid).unwrap();
                }
                named("GUEST", &lines)
            }
            Value::TscToNanoseconds(found) => {
                let numbers = format!("{} {} {}", found.multiplier, found.shift, found.offset);
                format!("\n{}", named("TSC2NSEC", &format!("\n{numbers} [multiplier, shift, offset]\n")))
            }
            Value::Section(_) if option.id == 23 => format!(" 23 {size}\t[Unknown option, size - skipping]\n"),
            Value::Section(at) => {
                let name = match option.id {
                    16 => "HEADERS",
                    17 => "FTRACE EVENTS",
                    18 => "EVENT FORMATS",
                    19 => "KALLSYMS",
                    20 => "PRINTK",
                    21 => "CMDLINES",
                    _ => "MODULES_FILE",
                };
                named(name, &format!(" @ {at}\n"))
            }
            Value::LastBoot(found) => {
                let mut lines = format!("{}:{:x}\t[kernel]\n", found.instance, found.kernel.unwrap());
                for (address, name) in &found.modules {
                    writeln!(lines, "{address:x}\t{name}").unwrap();
                }
                text("LAST_BOOT_INFO", &lines)
            }
            Value::Unknown | Value::Damaged => panic!("{option:?}"),
        };
        self.out += &said;
    }

    fn buffer(&mut self, buffer: &BufferOption, size: u32) {
        let BufferOption { at, name, clock, page_size, cpus } = buffer;
        let clock = clock.as_deref().unwrap();
        self.section_at(*at);
        say!(self, "\t\t[Option BUFFER, {size} bytes]\n{at} [offset]\n\"{name}\" [name]\n\"{clock}\" [clock]\n");
        say!(self, "\t[buffer \"{name}\", \"{clock}\" clock, ");
        let Some(page_size) = page_size else {
            say!(self, "latency data]\n");
            return;
        };
        // trace-cmd says the pages and CPUs first.
        self.out.truncate(self.out.rfind("\t[buffer").unwrap());
        say!(self, "{page_size} [Page size, bytes]\n{} [CPUs]:\n", cpus.len());
        for cpu in cpus {
            say!(self, "   {} {}\t{}\t[id, data offset and size]\n", cpu.id, cpu.at, cpu.size);
        }
        let total: u64 = cpus.iter().map(|cpu| cpu.size).sum();
        say!(self, "\t[buffer \"{name}\", \"{clock}\" clock, {page_size} page size, {} cpus, ", cpus.len());
        say!(self, "{total} bytes flyrecord data]\n");
    }

    /// What is in the section of that number.
    fn content(&mut self, id: u16) {
        let container = self.container;
        match id {
            16 => {
                for (name, text) in [("page", container.header_page()), ("event", container.header_event())] {
                    let bytes = text.unwrap().bytes;
                    say!(self, "\t[Header {name}, {} bytes]\n{}", bytes.len(), line(bytes));
                }
            }
            17 => {
                say!(self, "\t[Ftrace format, {} events]\n", container.ftrace_formats().count());
                container.ftrace_formats().for_each(|format| say!(self, "{}", line(format.bytes)));
            }
            18 => {
                let formats: Vec<_> = container.event_formats().collect();
                let systems: Vec<_> = formats.chunk_by(|left, right| left.system == right.system).collect();
                say!(self, "\t[Events format, {} systems]\n", systems.len());
                for system in systems {
                    say!(self, "\t\t{} {} [system, events]\n", system[0].system.text(), system.len());
                    system.iter().for_each(|format| say!(self, "{}", line(format.format.bytes)));
                }
            }
            // 3.4 prints nothing of modules that are not compressed.
            25 => say!(self, "\t[Saved modules]\n\n[0 bytes]\n"),
            _ => {
                let parts = &container.parts;
                let (name, extent) = match id {
                    19 => ("Kallsyms", &parts.kallsyms),
                    20 => ("Trace printk", &parts.printk),
                    _ => ("Saved command lines", &parts.command_lines),
                };
                let bytes = extent.as_ref().unwrap().bytes(container.source());
                say!(self, "\t[{name}, {} bytes]\n{}", bytes.len(), line(bytes));
            }
        }
    }
}

fn time_shift(shift: &TimeShift) -> String {
    let mut lines = format!("0x{:X} [peer's trace id]\n", shift.peer);
    writeln!(lines, "0x{:X} [peer's protocol flags]\n0x{:X} [peer's CPU count]", shift.flags, shift.cpus.len())
        .unwrap();
    for (number, corrections) in shift.cpus.iter().enumerate() {
        writeln!(lines, "{} [samples count for CPU {number}]", corrections.len()).unwrap();
    }
    for correction in shift.cpus.iter().flatten() {
        let options::Correction { time, offset, scaling, fraction } = correction;
        writeln!(lines, "\t{offset} {scaling} {fraction} {time}[offset * scaling >> fraction @ time]").unwrap();
    }
    lines
}
