//! What the README shows is what is seen.

mod support;

use support::page::{self, Page};
use support::{Gdb, Server};

#[test]
fn the_demo_is_as_the_readme_shows_it() {
    let typed = Page::read("README.md").typed("(gdb) ");
    assert!(typed.len() > 12);
    let mut server = Server::command("demo", &[]);
    let setup = [
        format!("source {}/gdbinit", env!("CARGO_MANIFEST_DIR")),
        format!("target remote :{}", server.port),
        "tfind start".to_owned(),
    ];
    let commands = page::commands(&typed);
    let expected = page::transcript(&typed, "(gdb) ");
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let seen = gdb.transcript(&setup, &commands);
        assert_eq!(seen, expected, "{gdb:?}\n{}", server.errors());
    }
    // Ended in order, it takes its sources with it.
    assert_eq!(server.end_by("TERM"), Some(0));
}

#[test]
fn the_job_ends_as_the_readme_says() {
    let readme = Page::read("README.md");
    let job = readme.block("sh");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_traceframe")).parent().unwrap();
    // It writes files where it is.
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("src"), folder.path().join("src")).unwrap();
    let mut shell = std::process::Command::new("sh");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    shell.args(["-ec", &job]).env("PATH", path).current_dir(folder.path());
    let (code, shown, errors) = support::run(&mut shell);
    assert_eq!(code, Some(1), "{shown}{errors}");
    let (_, said) = readme.text().split_once("ends with code 1 and `").unwrap();
    let (said, _) = said.split_once('`').unwrap();
    assert!(errors.contains(said), "{errors}");
    assert!(shown.contains("holds in 50 trace frames"), "{shown}");
    let packets = std::fs::read_to_string(folder.path().join("packets.log")).unwrap();
    assert!(packets.lines().count() > 20, "{packets}");
}

/// The page of recordings of the kernel: a gdb that knows nothing but the file, and one with the program of a probe.
#[test]
fn a_kernel_is_as_its_page_shows_it() {
    let page = Page::read("src/format/tracedat/page.md");
    let folder = support::data("tracedat");
    let (recording, program) = (folder.join("uprobe-v7-zstd.dat"), folder.join("demo"));
    let (recording, program) = (recording.to_str().unwrap(), program.to_str().unwrap());
    for (prompt, arguments) in [("(gdb) ", &[recording][..]), ("(demo) ", &[recording, "--exec", program])] {
        let server = Server::serve(arguments);
        let typed = page.typed(prompt);
        let setup = [
            format!("source {}/gdbinit", env!("CARGO_MANIFEST_DIR")),
            format!("directory {}", folder.display()),
            format!("target remote :{}", server.port),
            "tfind 0".to_owned(),
        ];
        for gdb in [Gdb::Debian, Gdb::Newest] {
            let seen = gdb.transcript(&setup, &page::commands(&typed)).replace("(gdb) ", prompt);
            assert_eq!(seen, page::transcript(&typed, prompt), "{gdb:?}\n{}", server.errors());
        }
    }
}

/// The page of instruction traces: one that is whole, and one of which a part is missing.
#[test]
fn an_instruction_trace_is_as_its_page_shows_it() {
    let page = Page::read("src/format/itrace/page.md");
    let folder = support::data("itrace");
    for (prompt, recording) in [("(gdb) ", "gen-etm4-one"), ("(lost) ", "lost.toml")] {
        let (recording, program) = (folder.join(recording), folder.join("prog.a64.200"));
        let server = Server::serve(&[recording.to_str().unwrap(), "--exec", program.to_str().unwrap()]);
        let typed = page.typed(prompt);
        let setup = [
            format!("source {}/gdbinit", env!("CARGO_MANIFEST_DIR")),
            format!("directory {}", folder.display()),
            format!("target remote :{}", server.port),
        ];
        for gdb in [Gdb::Multiarch, Gdb::Newest] {
            let seen = gdb.transcript(&setup, &page::commands(&typed)).replace("(gdb) ", prompt);
            assert_eq!(seen, page::transcript(&typed, prompt), "{gdb:?}\n{}", server.errors());
        }
    }
}
