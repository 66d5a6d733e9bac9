//! The flow of the house: a room names only the rooms below it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest to the highest.
const ROOMS: [&str; 11] =
    ["source", "arch", "image", "trace", "format", "index", "session", "report", "rsp", "server", "cli"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The room of each source file, with the file's lines that are neither comments nor blank.
fn code() -> Vec<(PathBuf, String, Vec<String>)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for path in files(&source) {
        let inside = path.strip_prefix(&source).unwrap().to_owned();
        let room = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect();
        found.push((inside, room, lines));
    }
    found
}

fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|found| *found == room)
}

#[test]
fn every_file_is_in_a_known_room() {
    for (path, room, _) in code() {
        assert!(rank(&room).is_some() || room == "lib" || room == "main", "{} is in no room", path.display());
    }
}

#[test]
fn lower_rooms_never_name_higher_ones() {
    let mut named = 0;
    for (path, room, lines) in code() {
        let Some(own) = rank(&room) else { continue };
        for line in &lines {
            // `crate::room` wherever it stands, and every room in `crate::{a, b}`.
            for (at, _) in line.match_indices("crate::") {
                let rest = &line[at + "crate::".len()..];
                let names: Vec<&str> = match rest.strip_prefix('{') {
                    Some(list) => list.split(['{', '}', ',']).map(|name| name.trim()).collect(),
                    None => vec![rest],
                };
                for name in names {
                    let room = name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap();
                    let Some(other) = rank(room) else { continue };
                    named += 1;
                    assert!(other <= own, "{} names {room}: {line}", path.display());
                }
            }
        }
    }
    assert!(named > 50, "only {named} arrows were found: the test looks at nothing");
}

fn only_in(room: &str, words: &[&str]) {
    let mut seen = false;
    for (path, found, lines) in code() {
        for line in &lines {
            for word in words.iter().filter(|word| line.contains(**word)) {
                assert!(found == room, "{} names {word}: {line}", path.display());
                seen = true;
            }
        }
    }
    assert!(seen, "{words:?} is nowhere");
}

#[test]
fn only_rsp_names_gdbstub() {
    only_in("rsp", &["gdbstub::"]);
}

#[test]
fn only_server_names_tokio() {
    only_in("server", &["tokio::"]);
}

#[test]
fn only_source_has_unsafe() {
    only_in("source", &["unsafe {", "unsafe fn", "unsafe impl"]);
}
