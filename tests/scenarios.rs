//! Every file of `tests/scenarios` played by every gdb it names: what a person types, and what gdb must show.
//!
//! A scenario begins with lines that say what it is about (`#`) and what it needs:
//!
//! ```text
//! # Frames of one tracepoint at several addresses.
//! recording tfile/04-step.tf      a file of tests/data
//! exec bin/case                   the program, likewise; gdb gets it from the server
//! program bin/case                the program, known to gdb only
//! serve --arch nios2              more arguments for the server
//! gdb debian newest               who plays it; these two where nothing is said, and `multiarch`
//! setup set print address off     a command before connecting
//! ```
//!
//! Then, behind an empty line, each command as `(gdb) COMMAND` with what must be seen below it. A line that begins
//! with `@debian ` or `@newest ` counts for that gdb only. `$ROOT` stands for the project's folder, `:$PORT` for where
//! the server listens. With `TRACEFRAME_ACCEPT=1` in the environment the files are written anew from what was seen,
//! and `TRACEFRAME_SCENARIO=TEXT` plays those only whose path contains the text.

mod support;

use std::fmt::Write;
use std::path::Path;

use support::{Gdb, Server, data};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

struct Scenario {
    head: String,
    recording: String,
    exec: Option<String>,
    program: Option<String>,
    serve: Vec<String>,
    gdbs: Vec<Gdb>,
    setup: Vec<String>,
    commands: Vec<(String, Vec<String>)>,
}

fn gdb(name: &str) -> Gdb {
    match name {
        "debian" => Gdb::Debian,
        "newest" => Gdb::Newest,
        "multiarch" => Gdb::Multiarch,
        _ => panic!("no such gdb: {name}"),
    }
}

fn name(gdb: Gdb) -> &'static str {
    match gdb {
        Gdb::Debian => "debian",
        Gdb::Newest => "newest",
        Gdb::Multiarch => "multiarch",
    }
}

fn read(path: &Path) -> Scenario {
    let text = std::fs::read_to_string(path).unwrap();
    let (head, body) = text.split_once("\n\n").unwrap_or_else(|| panic!("{} has no body", path.display()));
    let mut scenario = Scenario {
        head: head.to_owned(),
        recording: String::new(),
        exec: None,
        program: None,
        serve: Vec::new(),
        gdbs: vec![Gdb::Debian, Gdb::Newest],
        setup: Vec::new(),
        commands: Vec::new(),
    };
    for line in head.lines().filter(|line| !line.starts_with('#')) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "recording" => scenario.recording = value.to_owned(),
            "exec" => scenario.exec = Some(value.to_owned()),
            "program" => scenario.program = Some(value.to_owned()),
            "serve" => scenario.serve = value.split_whitespace().map(str::to_owned).collect(),
            "gdb" => scenario.gdbs = value.split_whitespace().map(gdb).collect(),
            "setup" => scenario.setup.push(value.to_owned()),
            _ => panic!("{}: {line}", path.display()),
        }
    }
    for line in body.lines() {
        match (line.strip_prefix("(gdb) "), scenario.commands.last_mut()) {
            (Some(command), _) => scenario.commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.trim_end().to_owned()),
            (None, None) => panic!("{}: {line}", path.display()),
        }
    }
    assert!(!scenario.commands.is_empty(), "{} asks nothing", path.display());
    scenario
}

/// What a gdb shows, a list of lines a command.
fn play(scenario: &Scenario, gdb: Gdb) -> Vec<Vec<String>> {
    let recording = data(&scenario.recording);
    let exec = scenario.exec.as_ref().map(|exec| data(exec));
    let mut arguments = vec![recording.to_str().unwrap().to_owned()];
    if let Some(exec) = &exec {
        arguments.extend(["--exec".to_owned(), exec.to_str().unwrap().to_owned()]);
    }
    arguments.extend(scenario.serve.iter().cloned());
    let server = Server::serve(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let mut setup = vec![format!("directory {ROOT}/tests/data/bin")];
    setup.extend(scenario.program.iter().map(|program| format!("file {}", data(program).display())));
    setup.extend(scenario.setup.iter().cloned());
    let port = format!(":{}", server.port);
    setup.push(format!("target remote {port}"));
    let commands: Vec<String> = scenario.commands.iter().map(|(command, _)| command.replace(":$PORT", &port)).collect();
    let shown = gdb.answers(&setup, &commands);
    let named = |line: &String| line.replace(ROOT, "$ROOT").replace(&port, ":$PORT");
    shown.into_iter().map(|lines| lines.iter().map(named).collect()).collect()
}

/// The lines that count for a gdb.
fn expected(lines: &[String], gdb: Gdb) -> Vec<String> {
    lines
        .iter()
        .filter_map(|line| match line.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((who, line)) => (who == name(gdb)).then(|| line.to_owned()),
            None => Some(line.clone()),
        })
        .collect()
}

fn accept(path: &Path, scenario: &Scenario, seen: &[(Gdb, Vec<Vec<String>>)]) {
    let mut text = format!("{}\n\n", scenario.head);
    for (at, (command, _)) in scenario.commands.iter().enumerate() {
        let _ = writeln!(text, "(gdb) {command}");
        let agree = seen.iter().all(|(_, shown)| shown[at] == seen[0].1[at]);
        for (gdb, shown) in seen.iter().take(if agree { 1 } else { seen.len() }) {
            for line in &shown[at] {
                let mark = if agree { String::new() } else { format!("@{} ", name(*gdb)) };
                let _ = writeln!(text, "{mark}{line}");
            }
        }
    }
    std::fs::write(path, text).unwrap();
}

/// Plays the scenarios of a folder; how many there were.
fn play_all(folder: &str) -> usize {
    let accepting = std::env::var_os("TRACEFRAME_ACCEPT").is_some();
    let only = std::env::var("TRACEFRAME_SCENARIO").ok();
    let mut paths: Vec<_> = std::fs::read_dir(Path::new(ROOT).join("tests/scenarios").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| only.as_ref().is_none_or(|only| path.to_str().unwrap().contains(only)))
        .collect();
    paths.sort();
    let mut wrong = String::new();
    for path in &paths {
        let scenario = read(path);
        let seen: Vec<_> = scenario.gdbs.iter().map(|gdb| (*gdb, play(&scenario, *gdb))).collect();
        if accepting {
            accept(path, &scenario, &seen);
            continue;
        }
        for (gdb, shown) in &seen {
            for ((command, lines), found) in scenario.commands.iter().zip(shown) {
                let wanted = expected(lines, *gdb);
                if wanted != *found {
                    let file = path.file_name().unwrap().to_str().unwrap();
                    let _ = writeln!(
                        wrong,
                        "{file} on {}: (gdb) {command}\n--- expected\n{}\n--- seen\n{}\n",
                        name(*gdb),
                        wanted.join("\n"),
                        found.join("\n")
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    paths.len()
}

#[test]
fn tracefiles() {
    assert!(play_all("tfile") >= 15);
}

#[test]
fn other_architectures() {
    assert!(play_all("architectures") >= 50);
}
