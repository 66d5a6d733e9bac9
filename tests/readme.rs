//! What the README shows is what is seen.

mod support;

use support::{Gdb, Server};

/// The blocks of the README of one kind.
fn blocks(kind: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let mark = format!("```{kind}\n");
    readme.split(&mark).skip(1).map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

/// The commands of the README's sessions, and what it shows for each.
fn shown() -> Vec<(String, Vec<String>)> {
    let block = blocks("console").concat();
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
    assert!(shown.len() > 12);
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

#[test]
fn the_job_ends_as_the_readme_says() {
    let [job] = &blocks("sh")[..] else { panic!("one job") };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_traceframe")).parent().unwrap();
    // It writes files where it is.
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("src"), folder.path().join("src")).unwrap();
    let mut shell = std::process::Command::new("sh");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    shell.args(["-ec", job]).env("PATH", path).current_dir(folder.path());
    let (code, shown, errors) = support::run(&mut shell);
    assert_eq!(code, Some(1), "{shown}{errors}");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, said) = readme.split_once("ends with code 1 and `").unwrap();
    let (said, _) = said.split_once('`').unwrap();
    assert!(errors.contains(said), "{errors}");
    assert!(shown.contains("holds in 50 trace frames"), "{shown}");
    let packets = std::fs::read_to_string(folder.path().join("packets.log")).unwrap();
    assert!(packets.lines().count() > 20, "{packets}");
}
