//! Moves and searches over whole recordings, as gdb sees them; and what a loop in gdb takes for the same.
//!
//! `cargo bench --bench moves` makes a file of 1 million frames (x86-64 registers and eight bytes of memory, that change
//! nine times) and one of 100 thousand, and prints how long gdb waits. `-- 100000` takes a number of frames for the first.

#[path = "support/mod.rs"]
mod support;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use support::tracepoint;
use traceframe::arch;
use traceframe::format::tfile::{Description, Writer};
use traceframe::source::ByteOrder;
use traceframe::trace::{Frame, Location, MemoryBlock, RegisterBlock, RunStatus};

/// The first frame's program counter, all others', and the last one's.
const PCS: [u64; 3] = [0x40_1000, 0x40_1010, 0x40_1020];
const COUNTER: u64 = 0x60_0000;

fn make(path: &Path, frames: u64) {
    let machine = arch::built_in().find(|built_in| built_in.architecture == "x86-64").expect("x86-64 is built in");
    let description = Description {
        register_block_size: Some(machine.layout.size()),
        target_description: Some(machine.xml.clone()),
        status: RunStatus { known: true, frames: Some(frames), created: Some(frames), ..RunStatus::default() },
        tracepoints: PCS.iter().zip(1..).map(|(address, number)| tracepoint(number, *address)).collect(),
        ..Description::default()
    };
    let mut writer = Writer::new(BufWriter::new(File::create(path).unwrap()), ByteOrder::Little, &description).unwrap();
    let (pc, rax) = (machine.layout.pc(), machine.layout.by_name("rax").unwrap());
    let mut registers = vec![0; machine.layout.size()];
    for number in 0..frames {
        let kind = if number == 0 { 0 } else { 1 + usize::from(number + 1 == frames) };
        ByteOrder::Little.store(PCS[kind], &mut registers[pc.offset..pc.end()]);
        ByteOrder::Little.store(number, &mut registers[rax.offset..rax.end()]);
        let mut frame = Frame::empty(Location(0), kind as i32 + 1);
        frame.registers = Some(RegisterBlock { bytes: Cow::Borrowed(&registers), unavailable: Vec::new() });
        let bytes = Cow::Owned((number * 10 / frames).to_le_bytes().to_vec());
        frame.memory = vec![MemoryBlock { address: COUNTER, bytes }];
        writer.frame(&frame).unwrap();
    }
    writer.finish().unwrap();
}

/// What gdb is to do: a name, commands before, the one that is timed, and a value that must be seen behind it.
type Task = (&'static str, &'static [&'static str], String, &'static str, String);

/// Runs tasks in one gdb, and prints how long each took.
fn measure(file: &Path, tasks: &[Task], folder: &Path) {
    let mut script = String::from(
        "import time\n\
         def run(line):\n\
         \x20   began = time.perf_counter()\n\
         \x20   gdb.execute(line, to_string=True)\n\
         \x20   return time.perf_counter() - began\n",
    );
    for (name, before, timed, value, expected) in tasks {
        for line in *before {
            script.push_str(&format!("run({line:?})\n"));
        }
        script.push_str(&format!(
            "seconds = run({timed:?})\n\
             seen = str(gdb.parse_and_eval({value:?}))\n\
             print('  %-58s %10.4f s' % ({name:?}, seconds) if seen == {expected:?} else 'WRONG: {name}: ' + seen)\n"
        ));
    }
    let path = folder.join("tasks.py");
    std::fs::write(&path, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceframe"));
    command.arg("run").arg(file).args(["--timeout", "1h", "-x"]).arg(&path).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| line.starts_with("  ") || line.starts_with("WRONG")).for_each(|line| println!("{line}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let _ = std::io::stdout().flush();
}

fn main() {
    let chosen = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let frames: u64 = chosen.unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moves.tf");
    make(&file, frames);
    println!("\n{frames} frames, {} MB", file.metadata().unwrap().len() / 1_000_000);
    let last = (frames - 1).to_string();
    let go = |command: &str| command.to_owned();
    measure(
        &file,
        &[
            ("continue to a breakpoint in the last frame", &["break *0x401020"], go("continue"), "$rax", last.clone()),
            (
                "reverse-continue to one in the first",
                &["delete", "break *0x401000"],
                go("reverse-continue"),
                "$rax",
                go("0"),
            ),
        ],
        folder.path(),
    );
    let near_end = (frames - 2).to_string();
    let condition = Box::leak(format!("break *0x401010 if $rax == {near_end}").into_boxed_str());
    let before: &'static [&'static str] = Box::leak(vec!["tfind 0", "tfind none", &*condition].into_boxed_slice());
    measure(
        &file,
        &[
            ("continue to where a condition holds, in the last but one", before, go("continue"), "$rax", near_end),
            (
                "watch: continue to the first of nine changes, looked for anew",
                &["delete", "tfind 0", "tfind none", "watch *(long *) 0x600000"],
                go("continue"),
                "*(long *) 0x600000",
                go("1"),
            ),
            ("the next seven changes", &[], go("continue 7"), "*(long *) 0x600000", go("8")),
            ("back over the same eight", &[], go("reverse-continue 8"), "*(long *) 0x600000", go("0")),
            ("tgrep that holds once", &["delete"], format!("tgrep $rax == {last}"), "1", go("1")),
            ("twatch of a value that changes nine times", &[], go("twatch *(long *) 0x600000"), "1", go("1")),
        ],
        folder.path(),
    );
    let frames = 100_000.min(frames);
    let file = folder.path().join("loop.tf");
    make(&file, frames);
    println!("\n{frames} frames");
    let lines = [
        "found = 0",
        &format!("for number in range({frames}):"),
        " gdb.execute('tfind %d' % number, to_string=True)",
        " found += bool(gdb.parse_and_eval('*(long *) 0x600000 == 3 && $rax % 2 == 0'))",
        "gdb.set_convenience_variable('found', found)",
    ];
    let looped = format!("python exec({:?})", lines.join("\n"));
    measure(
        &file,
        &[
            ("tgrep", &[], go("tgrep *(long *) 0x600000 == 3 && $rax % 2 == 0"), "1", go("1")),
            ("the same as a loop of tfind in Python", &[], looped, "$found", (frames / 20).to_string()),
        ],
        folder.path(),
    );
}
