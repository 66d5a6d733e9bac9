//! `traceframe convert`: any recording as a gdb trace file, which gdb's own `target tfile` opens.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::made::{self, description, frame_section, frames};
use support::report::{self, Line};
use support::{Gdb, Server, data, run, traceframe};

/// gdbs that read what is written.
const READERS: [Gdb; 2] = [Gdb::Debian, Gdb::Newest];

/// Converts; what it said on standard error.
fn convert(arguments: &[&str], recording: &Path, out: &Path) -> String {
    let (code, output, said) = run(traceframe().arg("convert").args(arguments).args([recording, out]));
    assert_eq!((code, output.as_str()), (Some(0), ""), "{}: {said}", recording.display());
    said
}

/// What comes out of a file of `tests/data`, and what was said.
fn converted(arguments: &[&str], recording: &str) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.tf");
    let said = convert(arguments, &data(recording), &out);
    // Nothing lies beside it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    (std::fs::read(out).unwrap(), said)
}

/// The events of this name, as `trace-cmd report -R` shows them.
fn events(recording: &str, name: &str) -> Vec<Line> {
    let lines = report::lines(&format!("{recording}.report-R"));
    lines.into_iter().filter(|line| line.event == name).collect()
}

#[test]
fn a_gdb_trace_file_stays_what_it_is() {
    for name in [
        "tfile/01-regs.tf",
        "tfile/04-step.tf",
        "tfile/06-mloc.tf",
        "tfile/07-avx.tf",
        "tfile/09-notes.tf",
        "tfile/14-strings.tf",
        "tfile/18-longaction.tf",
        "tfile/34-nostatus.tf",
        "tfile/42-noR.tf",
        "tfile/60-be-ppc64.tf",
        "partial/values.tf",
        "stepped/x86-64-pc-sp.tf",
        "stepped/x86-64-sp.tf",
        "stepped/arm-pc.tf",
        "architectures/mips64.tf",
        "architectures/s390x-tdesc.tf",
        "architectures/riscv64-cut.tf",
    ] {
        let (bytes, said) = converted(&[], name);
        assert!(bytes == std::fs::read(data(name)).unwrap(), "{name} is another file");
        assert!(!said.contains("not in it"), "{name}: {said}");
    }
    // A line that gdb does not take is said.
    assert!(converted(&[], "tfile/18-longaction.tf").1.contains("1 line of its description have 1000 bytes"));
}

#[test]
fn of_a_damaged_file_what_is_whole_is_written() {
    let (bytes, said) = converted(&[], "tfile/31-noend.tf");
    assert!(bytes == [&std::fs::read(data("tfile/31-noend.tf")).unwrap()[..], &[0; 4]].concat());
    assert!(said.contains("1 place could not be read"), "{said}");
    // Of the cut frame at the end nothing is left; what a circular buffer wrote over is a frame that holds nothing.
    for (name, empty) in [("tfile/30-truncframe.tf", None), ("tfile/circular.tf", Some(6))] {
        let recorded = std::fs::read(data(name)).unwrap();
        let (bytes, _) = converted(&[], name);
        assert_eq!(description(&bytes), description(&recorded), "{name}");
        let mut whole = frames(&recorded);
        if let Some(empty) = empty {
            whole[empty].1 = b"";
        }
        assert!(whole.len() > 3 && frames(&bytes) == whole, "{name}");
        assert!(frame_section(&bytes).ends_with(&[0; 4]));
    }
}

#[test]
fn gdb_shows_the_events_of_a_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sched.tf");
    let said = convert(&[], &data("tracedat/sched-v7-zstd.dat"), &out);
    assert!(said.contains("2981 frames; not in it: the times of 2981 frames, the threads of 2981 frames"), "{said}");
    assert_eq!(said.matches("not in it").count(), 1, "{said}");
    let lines = report::lines("sched-v7-zstd.report-t");
    assert_eq!(lines.len(), 2981);
    for gdb in READERS {
        let numbers = [0, 1, 500, 1355, 2007, 2900];
        let mut commands = vec!["tstatus".to_owned()];
        for number in numbers {
            commands.push(format!("tfind {number}"));
            let show = r#"printf "%d [%03d] %lu\n", $pid, $cpu, (unsigned long) $timestamp"#;
            commands.push(show.to_owned());
        }
        let shown = gdb.answers(&[format!("target tfile {}", out.display())], &commands);
        assert!(shown[0].iter().any(|line| line.contains("2981 trace frames")), "{:?}", shown[0]);
        for (number, shown) in numbers.iter().zip(shown[1..].chunks(2)) {
            let Line { pid, cpu, nanoseconds, .. } = &lines[*number];
            assert_eq!(shown[1], [format!("{pid} [{cpu:03}] {nanoseconds}")], "{gdb:?}: frame {number}");
        }
    }
}

#[test]
fn gdb_shows_texts_and_places_and_invents_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("uprobe.tf");
    let said = convert(&[], &data("tracedat/uprobe-v7-zstd.dat"), &out);
    // Probes and stacks have registers, not the same ones; user's stacks and sched_switch have their tracepoint's place.
    assert!(
        said.contains("the registers of 108 frames (not the same in each), the program counters of 60 frames"),
        "{said}"
    );
    let switch = &events("uprobe-v7-zstd", "sched_switch")[0];
    for gdb in READERS {
        let commands = [
            "tfind 0",
            r#"printf "%s %s %d\n", (char *) $prev_comm, (char *) $next_comm, $next_pid"#,
            "p/x $pc",
            "tdump",
            "tfind tracepoint 4",
            "p/x $pc",
            "p $rax",
            "tfind tracepoint 1",
            "p/x $pc",
        ]
        .map(str::to_owned);
        let shown = gdb.answers(&[format!("target tfile {}", out.display())], &commands);
        let expected = ["prev_comm", "next_comm", "next_pid"].map(|name| switch.field(name).unwrap()).join(" ");
        assert_eq!(shown[1], [expected], "{gdb:?}");
        // The function that calls the event's users, as the recording's table of symbols has it.
        assert!(shown[2][0].ends_with("= 0xffffffff81399a30"), "{:?}", shown[2]);
        assert!(shown[3].iter().any(|line| line.starts_with("(char *) $prev_comm = 0x")), "{:?}", shown[3]);
        assert!(shown[5][0].ends_with("= 0x401136"), "{:?}", shown[5]);
        assert!(shown[6][0].ends_with("= <unavailable>"), "{:?}", shown[6]);
        assert!(shown[8][0].ends_with("= <unavailable>"), "{:?}", shown[8]);
    }
}

#[test]
fn registers_that_all_frames_have_are_written_where_gdb_shows_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("probe.tf");
    let said = convert(&["--event", "place_order"], &data("tracedat/uprobe-v7-zstd.dat"), &out);
    assert!(!said.contains("registers"), "{said}");
    let calls = events("uprobe-v7-zstd", "place_order");
    assert_eq!(calls.len(), 6);
    let names = ["rip", "rsp", "rbp", "rax", "rdi", "rsi", "r15"];
    let show: String = names.iter().map(|name| format!(", (long) ${name}")).collect();
    let show = format!("printf \"{}\\n\"{show}", names.map(|name| format!("{name}=%#lx")).join(" "));
    for gdb in READERS {
        let commands: Vec<String> = (0..6).flat_map(|number| [format!("tfind {number}"), show.clone()]).collect();
        let shown = gdb.answers(&[format!("target tfile {}", out.display())], &commands);
        for (call, shown) in calls.iter().zip(shown.chunks(2)) {
            let expected = names.map(|name| format!("{name}={}", call.field(name).unwrap())).join(" ");
            assert_eq!(shown[1], [expected], "{gdb:?}");
        }
    }
}

#[test]
fn some_registers_are_left_out_unless_somebody_wants_them_for_traceframe() {
    let folder = tempfile::tempdir().unwrap();
    let recording = data("tracedat/uprobe-v7-zstd.dat");
    let (plain, partial) = (folder.path().join("plain.tf"), folder.path().join("partial.tf"));
    let said = convert(&["--event", "place_order_ret"], &recording, &plain);
    assert!(said.contains("the registers of 6 frames (see --partial-registers)"), "{said}");
    let said = convert(&["--event", "place_order_ret", "--partial-registers"], &recording, &partial);
    assert!(said.contains("gdb's own target tfile shows") && !said.contains("see --partial-registers"), "{said}");
    let returned = &events("uprobe-v7-zstd", "place_order_ret")[0];
    let expected = ["rax", "rsp", "rip"].map(|name| returned.field(name).unwrap());
    let commands = ["tfind 0", "p/x $rax", "p/x $rsp", "p/x $rip", "p $rbx"].map(str::to_owned);
    for gdb in READERS {
        // gdb's own reader goes no further than the first register that is not there, which follows rax; none is a zero.
        for file in [&plain, &partial] {
            let shown = gdb.answers(&[format!("target tfile {}", file.display())], &commands);
            let rax = if file == &partial { expected[0] } else { "<unavailable>" };
            assert!(shown[1][0].ends_with(&format!("= {rax}")), "{gdb:?}: {:?}", shown[1]);
            for shown in &shown[2..] {
                assert!(shown[0].ends_with("= <unavailable>"), "{gdb:?}: {shown:?}");
            }
        }
        let server = Server::serve(&[partial.to_str().unwrap()]);
        let shown = gdb.answers(&[format!("target remote :{}", server.port)], &commands);
        for (shown, expected) in shown[1..].iter().zip(expected) {
            assert!(shown[0].ends_with(&format!("= {expected}")), "{gdb:?}: {shown:?}, not {expected}");
        }
        assert!(shown[4][0].ends_with("= <unavailable>"), "{:?}", shown[4]);
    }
}

/// What `frames --json` says that both formats have: the frame's number, variables and memory.
fn held(file: &Path) -> Vec<Value> {
    let (code, output, said) = run(traceframe().args(["frames", "--json"]).arg(file));
    assert_eq!(code, Some(0), "{said}");
    let rows = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| serde_json::json!([row["frame"], row["variables"], row["memory"]])).collect()
}

#[test]
fn what_gdb_saves_of_a_served_recording_of_the_kernel_is_served_again() {
    for name in ["tracedat/uprobe-v7-zstd.dat", "tracedat/sched-v7-zlib.dat"] {
        let folder = tempfile::tempdir().unwrap();
        for gdb in READERS {
            let saved = [1, 2].map(|number| folder.path().join(format!("{number}.tf")));
            let mut recording = data(name);
            for saved in &saved {
                let server = Server::serve(&[recording.to_str().unwrap()]);
                let command = format!("tsave {}", saved.display());
                let shown = gdb.answers(&[format!("target remote :{}", server.port)], &[command]);
                assert_eq!(shown, [[""; 0]], "{name}");
                recording = saved.clone();
            }
            let recorded = held(&data(name));
            assert!(recorded.len() > 100);
            assert!(held(&saved[0]) == recorded, "{gdb:?}: {name}");
            let [first, second] = saved.map(|saved| std::fs::read(saved).unwrap());
            assert!(frame_section(&first) == frame_section(&second), "{gdb:?}: {name}");
            // The same as convert writes.
            assert!(frame_section(&first) == frame_section(&converted(&[], name).0), "{gdb:?}: {name}");
        }
    }
}

#[test]
fn a_machine_that_nobody_tells_is_told_to_gdb() {
    // Neither uname nor a function that one kind of kernel has.
    let mut recorded = std::fs::read(data("tracedat/btfmod-v7-none.dat")).unwrap();
    let places: Vec<usize> = (0..recorded.len()).filter(|at| recorded[*at..].starts_with(b"entry_SYSCALL")).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| recorded[at] = b'x');
    let (folder, unnamed) = made::save("unnamed.dat", recorded);
    let out = folder.path().join("out.tf");
    let said = convert(&[], unnamed.as_ref(), &out);
    assert!(said.contains("does not tell the machine (with --arch it would)"), "{said}");
    assert!(!description(&std::fs::read(&out).unwrap()).iter().any(|line| line.starts_with("tdesc ")));
    let out = folder.path().join("marker.tf");
    let said = convert(&["--arch", "x86-64"], &data("tracedat/marker-v7-zstd.dat"), &out);
    assert!(!said.contains("does not tell the machine"), "{said}");
    let fork = &events("marker-v7-zstd", "sched_process_fork")[0];
    let [child, pid] = ["child_comm", "child_pid"].map(|name| fork.field(name).unwrap());
    for gdb in READERS {
        let show = r#"printf "%s %d\n", (char *) $child_comm, $child_pid"#;
        let commands = ["tfind 0", show].map(str::to_owned);
        let shown = gdb.answers(&[format!("target tfile {}", out.display())], &commands);
        assert_eq!(shown[1], [format!("{child} {pid}")], "{gdb:?}");
    }
}

#[test]
fn standard_output_is_a_file_too() {
    let recording = data("tfile/01-regs.tf");
    let output = traceframe().arg("convert").args([&recording]).arg("-").output().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == std::fs::read(recording).unwrap());
    assert!(String::from_utf8(output.stderr).unwrap().contains("standard output: 10 frames"));
}

fn refused(command: &mut Command) -> (i32, String) {
    let (code, output, said) = run(command);
    assert_eq!(output, "");
    assert!(said.starts_with("traceframe: "), "{said}");
    (code.unwrap(), said)
}

#[test]
fn nothing_is_written_over_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("a.tf");
    std::fs::copy(data("tfile/01-regs.tf"), &recording).unwrap();
    let link = folder.path().join("link.tf");
    std::os::unix::fs::symlink(&recording, &link).unwrap();
    for out in [&recording, &link] {
        let (code, said) = refused(traceframe().arg("convert").args([&recording, out]));
        assert_eq!(code, 2);
        assert!(said.contains("is what is to be read: it is not written over"), "{said}");
    }
    let program = folder.path().join("case");
    std::fs::copy(data("bin/case"), &program).unwrap();
    let (code, _) = refused(traceframe().arg("convert").args([&recording, &program]).arg("--exec").arg(&program));
    assert_eq!(code, 2);
    assert!(std::fs::read(&recording).unwrap() == std::fs::read(data("tfile/01-regs.tf")).unwrap());
}

#[test]
fn a_file_is_there_once_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.tf");
    std::fs::write(&out, "before").unwrap();
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o640)).unwrap();
    // What cannot be read leaves what was there.
    let (code, _) = refused(traceframe().args(["convert", "/dev/null"]).arg(&out));
    assert_eq!((code, std::fs::read(&out).unwrap()), (3, b"before".to_vec()));
    let link = folder.path().join("link.tf");
    std::os::unix::fs::symlink(&out, &link).unwrap();
    convert(&[], &data("tfile/01-regs.tf"), &link);
    assert!(std::fs::read(&out).unwrap() == std::fs::read(data("tfile/01-regs.tf")).unwrap());
    assert!(link.is_symlink());
    assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let (code, said) = refused(traceframe().arg("convert").arg(data("tfile/01-regs.tf")).arg("/nonexistent/out.tf"));
    assert_eq!(code, 1);
    assert!(said.contains("/nonexistent/out.tf cannot be written: "), "{said}");
    let (code, said) = refused(traceframe().arg("convert").arg(data("tfile/01-regs.tf")).arg("/dev/full"));
    assert_eq!(code, 1);
    assert!(said.contains("/dev/full cannot be written: "), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
