//! The same gdb, the same file, the same commands: once over `traceframe serve`, once with gdb's own `target tfile`.
//!
//! `cargo bench --bench peer` makes files of 10 thousand, 100 thousand and 1 million frames of about 350 bytes (i386
//! registers) and prints, for each command, both times and their ratio. `-- 10000` takes only that size.

#[path = "support/server.rs"]
mod server;
#[path = "support/mod.rs"]
mod support;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use server::{Server, Watch};
use support::tracepoint;
use traceframe::arch;
use traceframe::format::tfile::{Description, Writer};
use traceframe::source::ByteOrder;
use traceframe::trace::{Frame, Location, RegisterBlock, RunStatus};

/// Tracepoints, each at an address of its own, 16 bytes apart; frame after frame hits the next.
const TRACEPOINTS: u64 = 40;
const FIRST_ADDRESS: u64 = 0x0804_9000;
/// Where the last frame lies, and no other.
const LAST_ADDRESS: u64 = 0x0804_a000;

fn make(path: &Path, frames: u64) {
    let machine = arch::built_in().find(|built_in| built_in.architecture == "i386").expect("i386 is built in");
    let address = |at: u64| FIRST_ADDRESS + 16 * (at % TRACEPOINTS);
    let description = Description {
        register_block_size: Some(machine.layout.size()),
        target_description: Some(machine.xml.clone()),
        status: RunStatus { known: true, frames: Some(frames), created: Some(frames), ..RunStatus::default() },
        tracepoints: (0..TRACEPOINTS)
            .map(|at| tracepoint(1 + i32::try_from(at).unwrap(), address(at)))
            .chain([tracepoint(99, LAST_ADDRESS)])
            .collect(),
        ..Description::default()
    };
    let output = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut writer = Writer::new(output, ByteOrder::Little, &description).unwrap();
    let pc = machine.layout.pc();
    let mut registers = vec![0x11; machine.layout.size()];
    for number in 0..frames {
        let last = number + 1 == frames;
        let (tracepoint, address) =
            if last { (99, LAST_ADDRESS) } else { (1 + (number % TRACEPOINTS) as i32, address(number)) };
        ByteOrder::Little.store(address, &mut registers[pc.offset..pc.offset + pc.size]);
        let mut frame = Frame::empty(Location(0), tracepoint);
        frame.registers = Some(RegisterBlock { bytes: Cow::Borrowed(&registers), unavailable: Vec::new() });
        writer.frame(&frame).unwrap();
    }
    writer.finish().unwrap();
}

/// What gdb is to do: a name, a command before, and the command that is timed with the frame it must end in.
struct Task {
    name: &'static str,
    before: String,
    timed: String,
    ends_in: i64,
}

/// How many frames the walk takes from the middle on. `target tfile` reads the file anew for each of them, so that
/// over all frames it would take minutes.
const WALK: u64 = 200;

fn tasks(frames: u64) -> Vec<Task> {
    let task = |name, before: &str, timed: String, ends_in: u64| Task {
        name,
        before: before.to_owned(),
        timed,
        ends_in: ends_in.try_into().unwrap(),
    };
    let (last, middle) = (frames - 1, frames / 2);
    let range = format!("tfind range {:#x},{:#x}", LAST_ADDRESS - 8, LAST_ADDRESS + 8);
    vec![
        task("tfind to the last frame", "tfind none", format!("tfind {last}"), last),
        task("tfind (next) from the middle", &format!("tfind {middle}"), "tfind".to_owned(), middle + 1),
        task("tfind pc of the last frame", "tfind start", format!("tfind pc {LAST_ADDRESS:#x}"), last),
        task("tfind range of the last frame", "tfind start", range, last),
        task(
            "walk over 200 frames",
            &format!("tfind {}", middle - WALK),
            format!("python for i in range({WALK}): gdb.execute('tfind', to_string=True)"),
            middle,
        ),
    ]
}

/// The median time of each task, in seconds; `None` where it ended in another frame than it must, shown as `-`.
type Times = HashMap<String, Option<f64>>;

/// Runs the tasks in one gdb behind `connect`; connecting itself is `open`.
fn measure(connect: &str, tasks: &[&Task], repeat: usize, folder: &Path) -> Times {
    let mut script = format!(
        "import time\n\
         def run(line):\n\
         \x20   began = time.perf_counter()\n\
         \x20   try: gdb.execute(line, to_string=True)\n\
         \x20   except gdb.error as error: print('ERROR', line, error)\n\
         \x20   return time.perf_counter() - began\n\
         print('TIME', run({connect:?}), 'open')\n"
    );
    for Task { name, before, timed, ends_in } in tasks {
        script.push_str(&format!(
            "seconds = []\n\
             for i in range({repeat}):\n\
             \x20   run({before:?})\n\
             \x20   seconds.append(run({timed:?}))\n\
             right = int(gdb.parse_and_eval('$trace_frame')) == {ends_in}\n\
             print('TIME', sorted(seconds)[len(seconds) // 2] if right else 'wrong', {name:?})\n"
        ));
    }
    let file = folder.join("tasks.py");
    std::fs::write(&file, script).unwrap();
    let output = Command::new("gdb")
        .args(["-nx", "-nh", "-q", "-batch", "-ex", "set pagination off", "-x"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .expect("gdb is needed (scripts/test installs it)");
    let text = String::from_utf8_lossy(&output.stdout);
    let times = text.lines().filter_map(|line| {
        let (seconds, name) = line.strip_prefix("TIME ")?.split_once(' ')?;
        Some((name.to_owned(), seconds.parse().ok()))
    });
    times.collect()
}

fn compare(frames: u64, folder: &Path) {
    let file = folder.join(format!("{frames}.tf"));
    make(&file, frames);
    let size = std::fs::metadata(&file).unwrap().len();
    println!("\n{frames} frames, {} MB", size / 1_000_000);
    // Both find the file in the page cache.
    std::fs::read(&file).unwrap();
    let began = Instant::now();
    let server = Server::start(&[], &file, folder);
    let ready = began.elapsed();
    let tasks = tasks(frames);
    let watch = Watch::start(server.id());
    let ours = measure(&format!("target remote :{}", server.port()), &tasks.iter().collect::<Vec<_>>(), 5, folder);
    let most = watch.stop().own;
    // The peer reads the file anew for each step: over a large file its walk would take an hour.
    let fair: Vec<&Task> = tasks.iter().filter(|task| frames <= 10_000 || !task.name.starts_with("walk")).collect();
    let theirs = measure(&format!("target tfile {}", file.display()), &fair, 3, folder);
    println!("  {:<32} {:>12} {:>12} {:>10}", "", "traceframe", "target tfile", "ratio");
    let opened = ours["open"].map(|connected| ready.as_secs_f64() + connected);
    row("open (start and connect)", opened, theirs["open"]);
    for task in &tasks {
        row(task.name, ours[task.name], theirs.get(task.name).copied().flatten());
    }
    let bytes = most as f64;
    println!(
        "  memory of its own, at most: {:.1} MB ({:.1} bytes a frame; allowed are {:.1} MB)",
        bytes / 1e6,
        bytes / frames as f64,
        20.0 + 16.0 * frames as f64 / 1e6
    );
    let _ = std::io::stdout().flush();
}

fn row(name: &str, our: Option<f64>, their: Option<f64>) {
    let seconds = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.4} s"));
    let ratio = our.zip(their).map_or(String::new(), |(our, their)| format!("{:.1}x", their / our));
    println!("  {name:<32} {:>12} {:>12} {ratio:>10}", seconds(our), seconds(their));
}

fn main() {
    let chosen: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let folder = tempfile::tempdir().unwrap();
    for frames in [10_000, 100_000, 1_000_000] {
        if chosen.is_empty() || chosen.contains(&frames) {
            compare(frames, folder.path());
        }
    }
}
