//! What the README shows is what is seen.

mod support;

use support::{Gdb, Server};

/// The commands of the README's first screen, and what it shows for each.
fn shown() -> Vec<(String, Vec<String>)> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, block) = readme.split_once("```console\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("(gdb) ") {
            Some(command) => shown.push((command.to_owned(), Vec::new())),
            None => shown.last_mut().unwrap().1.push(line.to_owned()),
        }
    }
    shown
}

#[test]
fn the_demo_is_as_the_readme_shows_it() {
    let shown = shown();
    assert!(shown.len() > 5);
    let mut server = Server::command("demo", &[]);
    let setup = [
        format!("source {}/gdbinit", env!("CARGO_MANIFEST_DIR")),
        format!("target remote :{}", server.port),
        "tfind start".to_owned(),
    ];
    let commands: Vec<String> = shown.iter().map(|(command, _)| command.clone()).collect();
    let expected: Vec<String> =
        shown.iter().flat_map(|(command, lines)| [vec![format!("(gdb) {command}")], lines.clone()].concat()).collect();
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let seen = gdb.transcript(&setup, &commands);
        assert_eq!(seen.lines().collect::<Vec<_>>(), expected, "{gdb:?}\n{}", server.errors());
    }
    // Ended in order, it takes its sources with it.
    assert_eq!(server.end_by("TERM"), Some(0));
}
