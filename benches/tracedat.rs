//! A large trace.dat file: `traceframe serve` beside `trace-cmd report`.
//!
//! `cargo bench --bench tracedat` makes files of 3 million scheduler events, uncompressed and in zstd chunks of ten pages,
//! by repeating the pages of a recording at later times, and prints what each program takes for them. `-- 1000000` takes
//! a number of events, `-- 3000000 64` a number of CPUs too, `-- 3000000 2 FOLDER` leaves the files there. trace-cmd has
//! to be there (Debian: `apt-get install trace-cmd`).

#[path = "support/server.rs"]
mod server;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use server::{Server, Watch};

const PAGE: usize = 4096;
/// How many pages trace-cmd puts into a chunk.
const CHUNK: usize = 10;
/// The recording is 26.6 ms long.
const LAP: u64 = 30_000_000;
/// How many events it has.
const EVENTS: u64 = 2981;
const OPTIONS: u16 = 0;
const BUFFER: u16 = 3;
const CPU_COUNT: u16 = 8;

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn fixture(compression: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/tracedat/sched-v7-{compression}.dat", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Where a section of version 7 begins and what is in it (trace-cmd.dat.v7(5)).
fn sections(file: &[u8]) -> Vec<(usize, u16, &[u8])> {
    let text_end = |at: usize| at + file[at..].iter().position(|byte| *byte == 0).unwrap() + 1;
    // Behind the version: byte order, size of long, page size, name and version of the compression, offset of options.
    let mut at = text_end(text_end(text_end(10) + 6)) + 8;
    let mut found = Vec::new();
    while at + 16 <= file.len() {
        let size = u64_at(file, at + 8) as usize;
        found.push((at, u16_at(file, at), &file[at + 16..at + 16 + size]));
        at += 16 + size;
    }
    found
}

/// Number, offset of the data, and data of each option.
fn options(section: &[u8]) -> Vec<(u16, usize, &[u8])> {
    let mut at = 0;
    let mut found = Vec::new();
    while at + 6 <= section.len() {
        let size = u32_at(section, at + 2) as usize;
        found.push((u16_at(section, at), at + 6, &section[at + 6..at + 6 + size]));
        at += 6 + size;
    }
    found
}

/// The pages of each CPU of the recording.
fn recorded() -> Vec<Vec<u8>> {
    let file = fixture("none");
    let sections = sections(&file);
    let last = sections.iter().rfind(|(_, id, _)| *id == OPTIONS).unwrap();
    let (.., buffer) = options(last.2).into_iter().find(|(id, ..)| *id == BUFFER).unwrap();
    // Offset of the section, names of buffer and clock, page size, number of CPUs; of each its number, offset, size.
    let cpus = 8 + 1 + b"local\0".len() + 4 + 4;
    let places = buffer[cpus..].chunks(20).map(|cpu| (u64_at(cpu, 4) as usize, u64_at(cpu, 12) as usize));
    places.map(|(at, size)| file[at..at + size].to_vec()).collect()
}

/// Writes a file, and returns how many events are in it.
fn make(path: &Path, compression: &str, least: u64, cpus: u32) -> u64 {
    let recorded = recorded();
    // Two CPUs more are as many events more in each lap.
    let pairs = cpus.div_ceil(2);
    let laps = least.div_ceil(EVENTS * u64::from(pairs));
    let cpus = pairs * 2;
    let mut head = fixture(compression);
    let sections = sections(&head);
    let (strings, ..) = *sections.last().unwrap();
    let strings = head[strings..].to_vec();
    let end = sections.iter().find(|(_, id, _)| *id == BUFFER).unwrap().0;
    let first = sections.iter().find(|(_, id, _)| *id == OPTIONS).unwrap();
    let place = |wanted: u16| {
        let (_, at, _) = options(first.2).into_iter().find(|(id, ..)| *id == wanted).unwrap();
        first.0 + 16 + at
    };
    let (next, count) = (place(OPTIONS), place(CPU_COUNT));
    head.truncate(end);
    head[count..count + 4].copy_from_slice(&cpus.to_le_bytes());

    let mut described = (end as u64).to_le_bytes().to_vec();
    described.extend(b"\0local\0");
    described.extend((PAGE as u32).to_le_bytes());
    described.extend(cpus.to_le_bytes());
    let mut data: Vec<u8> = Vec::new();
    let start = end + 16;
    for cpu in 0..cpus {
        data.resize((start + data.len()).next_multiple_of(PAGE) - start, 0);
        let at = data.len();
        let mut pages = recorded[cpu as usize % recorded.len()].repeat(laps as usize);
        let in_lap = pages.len() / PAGE / laps as usize;
        for (number, page) in pages.chunks_mut(PAGE).enumerate() {
            let time = u64_at(page, 0) + (number / in_lap) as u64 * LAP + u64::from(cpu / 2) * 100;
            page[..8].copy_from_slice(&time.to_le_bytes());
        }
        if compression == "none" {
            data.extend(pages);
        } else {
            let chunks = pages.chunks(CHUNK * PAGE);
            data.extend((chunks.len() as u32).to_le_bytes());
            for chunk in chunks {
                let stored = zstd::bulk::compress(chunk, 3).unwrap();
                data.extend((stored.len() as u32).to_le_bytes());
                data.extend((chunk.len() as u32).to_le_bytes());
                data.extend(stored);
            }
        }
        described.extend(cpu.to_le_bytes());
        described.extend(((start + at) as u64).to_le_bytes());
        described.extend(((data.len() - at) as u64).to_le_bytes());
    }
    let behind = (start + data.len()) as u64;
    head[next..next + 8].copy_from_slice(&behind.to_le_bytes());

    let mut file = BufWriter::new(File::create(path).unwrap());
    let section = |id: u16, flags: u16, bytes: &[u8]| {
        let mut header = [id.to_le_bytes(), flags.to_le_bytes()].concat();
        header.extend(0u32.to_le_bytes());
        header.extend((bytes.len() as u64).to_le_bytes());
        (header, bytes.to_vec())
    };
    let mut last = [BUFFER.to_le_bytes().as_slice(), &(described.len() as u32).to_le_bytes(), &described].concat();
    last.extend([0; 2]);
    last.extend(8u32.to_le_bytes());
    last.extend([0; 8]);
    let sections = [section(BUFFER, u16::from(compression != "none"), &data), section(OPTIONS, 0, &last)];
    file.write_all(&head).unwrap();
    for (header, bytes) in sections {
        file.write_all(&header).unwrap();
        file.write_all(&bytes).unwrap();
    }
    file.write_all(&strings).unwrap();
    file.flush().unwrap();
    laps * EVENTS * u64::from(pairs)
}

/// Seconds of CPU that a process took so far, itself only; also of one that has ended and was not waited for.
fn cpu_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    // A tick is 10 ms on every Linux that people run (USER_HZ).
    ticks / 100.0
}

/// What a program took for a file.
struct Taken {
    cpu: f64,
    own: u64,
    all: u64,
}

fn report(file: &Path, events: u64) -> Option<Taken> {
    let mut command = Command::new("trace-cmd");
    let mut child = command.arg("report").arg(file).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().ok()?;
    let watch = Watch::start(child.id());
    let mut output = child.stdout.take().unwrap();
    let mut buffer = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        match output.read(&mut buffer).unwrap() {
            0 => break,
            length => lines += memchr::memchr_iter(b'\n', &buffer[..length]).count() as u64,
        }
    }
    while !std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(1));
    }
    let cpu = cpu_seconds(child.id());
    let most = watch.stop();
    child.wait().unwrap();
    if lines < events {
        println!("  trace-cmd report printed {lines} lines: no comparison");
        return None;
    }
    Some(Taken { cpu, own: most.own, all: most.all })
}

/// A client of gdb's protocol.
struct Client {
    stream: TcpStream,
    /// What came behind the last packet.
    rest: Vec<u8>,
}

impl Client {
    fn connect(server: &Server) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client { stream, rest: Vec::new() };
        client.ask("qSupported:multiprocess+;swbreak+;hwbreak+");
        assert_eq!(client.ask("QStartNoAckMode"), "OK");
        client.stream.write_all(b"+").unwrap();
        client
    }

    /// Sends a request, and returns the reply; what the server says to a person while it works is left out.
    fn ask(&mut self, request: &str) -> String {
        let sum = request.bytes().fold(0u8, u8::wrapping_add);
        self.stream.write_all(format!("${request}#{sum:02x}").as_bytes()).unwrap();
        loop {
            let reply = self.packet();
            let is_said = reply.starts_with('O') && reply != "OK";
            if !is_said {
                return reply;
            }
        }
    }

    fn packet(&mut self) -> String {
        let mut buffer = [0; 4096];
        loop {
            let end = self.rest.iter().position(|byte| *byte == b'#');
            if let Some(end) = end.filter(|end| self.rest.len() >= end + 3) {
                let packet: Vec<u8> = self.rest.drain(..end + 3).collect();
                let text = String::from_utf8_lossy(&packet[..end]);
                return text.split_once('$').unwrap().1.to_owned();
            }
            let length = self.stream.read(&mut buffer).unwrap();
            assert!(length > 0, "the server closed the connection");
            self.rest.extend_from_slice(&buffer[..length]);
        }
    }

    /// Selects a frame and asks for what gdb asks then.
    fn find(&mut self, number: u64) {
        let reply = self.ask(&format!("QTFrame:{number:x}"));
        assert!(reply.starts_with(&format!("F{number:x}T")), "frame {number}: {reply}");
        assert!(!self.ask("g").starts_with('E'));
        // The first variable of every frame: its time.
        assert!(self.ask("qTV:1").starts_with('V'));
    }
}

fn compare(compression: &str, events: u64, cpus: u32, folder: &Path) {
    let file = folder.join(format!("{compression}-{cpus}.dat"));
    let events = make(&file, compression, events, cpus);
    // Both find the file in the page cache.
    let size = std::fs::read(&file).unwrap().len();
    println!("\n{events} events, {cpus} CPUs, compression {compression}, {} MB", size / 1_000_000);

    let theirs = report(&file, events);

    let began = Instant::now();
    let server = Server::start(&[], &file, folder);
    let watch = Watch::start(server.id());
    let opened = began.elapsed();
    let mut client = Client::connect(&server);
    client.find(0);
    let first = began.elapsed();
    client.find(events - 1);
    let complete = began.elapsed();
    // The index is whole a moment later.
    std::thread::sleep(Duration::from_millis(200));
    let cpu = cpu_seconds(server.id());
    let mut random = 1u64;
    let mut times: Vec<f64> = (0..200)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (random >> 33) % events;
            let began = Instant::now();
            client.find(number);
            began.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let most = watch.stop();
    let ours = Taken { cpu, own: most.own, all: most.all };

    let rate = |taken: &Taken| events as f64 / taken.cpu;
    if let Some(theirs) = theirs {
        row("trace-cmd report", &theirs, rate(&theirs));
        row("traceframe, indexed", &ours, rate(&ours));
        println!("  {:<22} {:>10.1} times the events per second of CPU", "ratio", rate(&ours) / rate(&theirs));
    } else {
        row("traceframe, indexed", &ours, rate(&ours));
    }
    println!(
        "  {:<22} {:>10.3} s to listen, {:.3} s to the first tfind",
        "",
        opened.as_secs_f64(),
        first.as_secs_f64()
    );
    println!("  {:<22} {:>10.3} s until the last frame is found", "", complete.as_secs_f64());
    println!("  {:<22} {:>10.3} ms median, {:.3} ms at most (200)", "random tfind", times[100], times[199]);
    println!("  {:<22} {:>10.1} bytes an event", "memory of its own", ours.own as f64 / events as f64);
}

fn row(name: &str, taken: &Taken, rate: f64) {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let Taken { cpu, own, all } = *taken;
    let millions = rate / 1e6;
    println!(
        "  {name:<22} {cpu:>10.2} s of CPU, {millions:.2} M events/s, memory {:.1} MB, {:.1} MB with the file's",
        mb(own),
        mb(all)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let number = |at: usize| arguments.get(at).and_then(|argument| argument.parse().ok());
    let (events, cpus) = (number(0).unwrap_or(3_000_000), number(1).unwrap_or(2) as u32);
    let temporary = tempfile::tempdir().unwrap();
    let folder = arguments.get(2).map_or(temporary.path(), Path::new);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine: {}", load.split(' ').next().unwrap_or(""));
    for compression in ["none", "zstd"] {
        compare(compression, events, cpus, folder);
    }
}
