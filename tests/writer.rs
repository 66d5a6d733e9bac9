//! A stock gdb reads what the library writes: `target tfile` shows the same recording.

use std::path::Path;
use std::process::Command;

use traceframe::format::tfile::{Description, Writer};
use traceframe::source::ByteOrder;
use traceframe::trace::{
    Frame, Location, MemoryBlock, RegisterBlock, RunStatus, SourceStrings, StopReason, TraceStateVariable, Tracepoint,
    TracepointKind,
};

/// Size of gdb's own register block for `i386:x86-64` without vector registers.
const REGISTER_BLOCK: usize = 536;
/// Where `rip` lies in it.
const PC: usize = 128;

fn description() -> Description {
    Description {
        register_block_size: Some(REGISTER_BLOCK),
        status: RunStatus {
            known: true,
            stop_reason: StopReason::Error("out of luck".to_owned(), 3),
            frames: Some(2),
            created: Some(20),
            free: Some(0x1000),
            size: Some(0x2000),
            circular: Some(true),
            disconnected: Some(true),
            user: Some("someone".to_owned()),
            notes: Some("a note; with: signs".to_owned()),
            ..RunStatus::default()
        },
        variables: vec![TraceStateVariable {
            number: 2,
            name: "count".to_owned(),
            initial: -7,
            builtin: false,
            piece: String::new(),
        }],
        tracepoints: vec![Tracepoint {
            number: 3,
            address: 0x40_1131,
            enabled: true,
            kind: TracepointKind::Trap,
            step_count: 0,
            pass_count: 4,
            condition: None,
            actions: vec!["M-1,4040c0,4".to_owned()],
            step_actions: Vec::new(),
            source: SourceStrings {
                at: Some("*0x401131".to_owned()),
                condition: Some("$count > 5".to_owned()),
                commands: vec!["collect $count".to_owned()],
            },
            hits: Some(0x11),
            usage: Some(0x300),
            pieces: Vec::new(),
        }],
        ..Description::default()
    }
}

fn write(path: &Path) {
    let output = std::fs::File::create(path).unwrap();
    let mut writer = Writer::new(output, ByteOrder::Little, &description()).unwrap();
    let mut registers = vec![0; REGISTER_BLOCK];
    registers[PC..PC + 8].copy_from_slice(&0x40_1131u64.to_le_bytes());
    let mut frame = Frame::empty(Location(0), 3);
    frame.registers = Some(RegisterBlock { bytes: registers.into(), unavailable: Vec::new() });
    frame.variables = vec![(2, 5), (2, -9)];
    writer.frame(&frame).unwrap();
    let mut frame = Frame::empty(Location(0), 3);
    frame.memory = vec![MemoryBlock { address: 0x40_40c0, bytes: vec![0x2a, 0, 0, 0].into() }];
    writer.frame(&frame).unwrap();
    writer.finish().unwrap();
}

#[test]
fn gdb_shows_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("written.tf");
    write(&path);
    let target = format!("target tfile {}", path.display());
    let commands = [
        "set architecture i386:x86-64",
        &target,
        "tstatus",
        "info tracepoints",
        "info tvariables",
        "tfind 0",
        "output/x $rip",
        "echo \\n",
        "output $count",
        "echo \\n",
        "tfind 1",
        "output *(int *) 0x4040c0",
        "echo \\n",
        "output *(int *) 0x4040c4",
        "echo \\n",
        "tfind 2",
    ];
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]).args(commands.iter().flat_map(|command| ["-ex", command]));
    let output = gdb.output().expect("gdb can be run");
    let shown = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let mut rest = &shown[..];
    for expected in [
        "Created tracepoint 1 for target's tracepoint 3 at 0x401131.",
        "Trace stopped by an error (out of luck, tracepoint 3).",
        "Buffer contains 2 trace frames (of 20 created total).",
        "Trace buffer has 4096 bytes of 8192 bytes free (50% full).",
        "Trace will continue if GDB disconnects.",
        "Trace buffer is circular.",
        "Trace user is someone",
        "Trace notes: a note; with: signs",
        "tracepoint     keep y",
        "0x0000000000401131",
        "trace only if $count > 5",
        "tracepoint already hit 17 times",
        "trace buffer usage 768 bytes",
        "collect $count",
        "pass count 4",
        "$count",
        "-7",
        "Found trace frame 0, tracepoint 1",
        "0x401131",
        "-9",
        "Found trace frame 1, tracepoint 1",
        "42",
        "<unavailable>",
    ] {
        let found = rest.find(expected);
        let at = found.unwrap_or_else(|| panic!("no {expected:?} in\n{rest}\nof\n{shown}\ngdb said\n{said}"));
        rest = &rest[at + expected.len()..];
    }
    assert!(!said.contains("warning"), "gdb said\n{said}");
}
