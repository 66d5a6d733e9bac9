//! What `tsave` writes of a served recording: served and saved again and again, it stays as it is.

mod support;

use std::path::{Path, PathBuf};

use support::made::{description, frame_section, frames};
use support::{Gdb, Server, data};

/// A recording, and what its first save has for lines of its description. A line is named by how it begins.
struct Recording {
    file: &'static str,
    program: &'static str,
    added: &'static [&'static str],
    lost: &'static [&'static str],
    /// Whether the frame section is the same to the last byte; otherwise its whole frames are.
    same_bytes: bool,
}

/// A recording that gdb saved itself, with all that gdb writes.
const fn by_gdb(file: &'static str, program: &'static str) -> Recording {
    Recording { file, program, added: &[], lost: &[], same_bytes: true }
}

const RECORDINGS: [Recording; 10] = [
    by_gdb("tfile/02-mem.tf", "bin/case"),
    by_gdb("tfile/04-step.tf", "bin/case"),
    by_gdb("tfile/06-mloc.tf", "bin/case"),
    by_gdb("tfile/09-notes.tf", "bin/case"),
    by_gdb("tfile/14-strings.tf", "bin/case"),
    by_gdb("tfile/15-i386.tf", "bin/case32"),
    // gdb writes a status, even if it knows none.
    Recording { added: &["status 0;tunknown:0"], ..by_gdb("tfile/34-nostatus.tf", "bin/case") },
    // Behind the end mark lie bytes that gdbserver left there.
    Recording { same_bytes: false, ..by_gdb("tfile/circular.tf", "bin/case") },
    // The last frame is cut off.
    Recording { same_bytes: false, ..by_gdb("tfile/30-truncframe.tf", "bin/case") },
    // A recording without a target description gets that of the server, and a status all that gdb knows of one.
    Recording {
        added: &["tdesc ", "status 0;tstop::0;"],
        lost: &["status 0;tstop::0;"],
        ..by_gdb("architectures/x86-64.tf", "architectures/x86-64.elf")
    },
];

/// Saves a recording from its server.
fn save(gdb: Gdb, recording: &Path, program: &str, saved: &Path) {
    let program = data(program);
    let server = Server::serve(&[recording.to_str().unwrap(), "--exec", program.to_str().unwrap()]);
    let shown = gdb.answers(&[format!("target remote :{}", server.port)], &[format!("tsave {}", saved.display())]);
    assert_eq!(shown, [[""; 0]], "{}", recording.display());
}

/// Saves so many times, each time what was saved before. All files, the recording first.
fn generations(gdb: Gdb, recording: &Recording, count: usize) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = vec![data(recording.file)];
    for number in 1..=count {
        let saved = folder.path().join(format!("{number}.tf"));
        save(gdb, paths.last().unwrap(), recording.program, &saved);
        paths.push(saved);
    }
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// The lines of a description, whatever their order.
fn lines(file: &[u8]) -> Vec<String> {
    let mut lines = description(file);
    lines.sort();
    lines
}

/// The lines of one that are not in the other.
fn without(some: &[String], others: &[String]) -> Vec<String> {
    some.iter().filter(|line| !others.contains(line)).cloned().collect()
}

fn saves_are_stable(gdb: Gdb, recording: &Recording, count: usize) {
    let name = recording.file;
    let files = generations(gdb, recording, count);
    let (recorded, first) = (&files[0], &files[1]);

    let begin = |lines: &[String], beginnings: &[&str]| {
        lines.iter().all(|line| beginnings.iter().any(|beginning| line.starts_with(beginning)))
            && beginnings.iter().all(|beginning| lines.iter().any(|line| line.starts_with(beginning)))
    };
    let (before, after) = (lines(recorded), lines(first));
    let (added, lost) = (without(&after, &before), without(&before, &after));
    assert!(begin(&added, recording.added), "{name}, {gdb:?}: added {added:#?}");
    assert!(begin(&lost, recording.lost), "{name}, {gdb:?}: lost {lost:#?}");
    assert!(frames(recorded) == frames(first), "{name}, {gdb:?}: other frames");
    assert!(!frames(first).is_empty(), "{name}, {gdb:?}: no frames");
    assert_eq!(frame_section(recorded) == frame_section(first), recording.same_bytes, "{name}, {gdb:?}");

    // gdb writes definitions in the reverse of the order in which it was told of them, so that two saves give the same
    // file.
    for (number, pair) in files.windows(2).enumerate().skip(1) {
        assert_eq!(lines(&pair[0]), lines(&pair[1]), "{name}, {gdb:?}: save {}", number + 1);
    }
    for (number, three) in files.windows(3).enumerate().skip(1) {
        assert!(three[0] == three[2], "{name}, {gdb:?}: saves {number} and {} differ", number + 2);
    }
}

fn all_are_stable(gdb: Gdb) {
    saves_are_stable(gdb, &by_gdb("tfile/19-manyvars.tf", "bin/case"), 10);
    // The third save is the first to the last byte: so they all are.
    for recording in &RECORDINGS {
        saves_are_stable(gdb, recording, 3);
    }
}

#[test]
fn saves_of_saves() {
    all_are_stable(Gdb::Debian);
}

#[test]
fn saves_of_saves_newest() {
    all_are_stable(Gdb::Newest);
}

/// What is seen in a frame, whatever number its tracepoint has and in whatever order variables come.
fn seen(answers: &[Vec<String>]) -> Vec<Vec<String>> {
    let seen = answers.chunks(3).map(|frame| {
        let [found, dump, variables] = frame else { panic!("{frame:?}") };
        let mut variables = variables.clone();
        variables.sort();
        let (found, _) = found[0].split_once(", tracepoint ").unwrap_or_else(|| panic!("{found:?}"));
        assert!(dump[0].starts_with("Data collected at tracepoint "), "{dump:?}");
        [vec![found.to_owned()], dump[1..].to_vec(), variables].concat()
    });
    seen.collect()
}

/// The Common Trace Format, which gdb 13.1 to 17.2 write and, of those tested, 13.1 reads.
#[test]
fn a_saved_common_trace_is_as_the_served_recording() {
    let frame = |number: usize| [format!("tfind {number}"), "tdump".to_owned(), "info tvariables".to_owned()];
    let recordings: [(&str, &str, usize); 4] = [
        ("architectures/x86-64.tf", "architectures/x86-64.elf", 3),
        ("tfile/02-mem.tf", "bin/case", 10),
        ("tfile/03-tsv.tf", "bin/case", 10),
        ("tfile/05-cond.tf", "bin/case", 4),
    ];
    for (recording, program, count) in recordings {
        let folder = tempfile::tempdir().unwrap();
        let written = |gdb: Gdb| folder.path().join(format!("{gdb:?}"));
        let program = data(program).display().to_string();
        let server = Server::serve(&[data(recording).to_str().unwrap(), "--exec", &program]);
        let connect = [format!("file {program}"), format!("target remote :{}", server.port)];
        let walk: Vec<String> = (0..count).flat_map(frame).collect();
        let served = seen(&Gdb::Debian.answers(&connect, &walk));
        assert!(served.iter().all(|frame| frame.len() > 3), "{recording}: {served:#?}");
        for gdb in [Gdb::Debian, Gdb::Sixteen, Gdb::Seventeen] {
            let save = format!("tsave -ctf {}", written(gdb).display());
            assert_eq!(gdb.answers(&connect, &[save]), [[""; 0]], "{recording}, {gdb:?}");
            let open = [format!("file {program}"), format!("target ctf {}", written(gdb).display())];
            assert_eq!(seen(&Gdb::Debian.answers(&open, &walk)), served, "{recording}, {gdb:?}");
        }
    }
}
