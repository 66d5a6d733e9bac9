//! The program is the one file that a client sees, by its announced path, and it can only be read.
//!
//! `tests/packets/files.rs` has the plain cases; here are those that try to get around them.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::path;
use super::support::protocol::{hex, is_refusal};
use super::support::{Client, Server};

const NO_SUCH_FILE: &str = "F-1,02";
const READ_ONLY: &str = "F-1,1e";

/// Every flag that gdb knows, and some that it does not.
const FLAGS: [&str; 12] = ["0", "1", "2", "8", "200", "201", "400", "601", "800", "e0b", "1000", "ffffffff"];

/// A program in a folder with links of every kind.
struct Served {
    folder: tempfile::TempDir,
    server: Server,
    client: Client,
    program: String,
}

fn served() -> Served {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let at = |name: &str| real.join(name);
    std::fs::copy(path("bin/case"), at("program")).unwrap();
    std::fs::write(at("secret"), "root:secret").unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    symlink(at("program"), at("alias")).unwrap();
    symlink("program", at("relative")).unwrap();
    symlink("/etc/passwd", at("passwd")).unwrap();
    symlink("secret", at("other")).unwrap();
    symlink(".", at("here")).unwrap();
    symlink("/", at("root")).unwrap();
    symlink("loop", at("loop")).unwrap();
    let program = at("program").to_str().unwrap().to_owned();
    let server = Server::serve(&[&path("tfile/04-step.tf"), "--exec", at("alias").to_str().unwrap()]);
    let client = server.connect();
    Served { folder, server, client, program }
}

/// Names that lead to the program by another way, or to anything else.
fn names(served: &Served) -> Vec<Vec<u8>> {
    let folder = served.folder.path().canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let process = served.server.id();
    let mut names: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "/",
        "~",
        "program",
        "./program",
        "../program",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/passwd",
        "../../../../../../../../etc/passwd",
        "/proc/self/exe",
        "/proc/self/environ",
        "/proc/self/maps",
        "/proc/self/mem",
        "/proc/self/cwd/Cargo.toml",
        "/proc/self/root/etc/passwd",
        "/proc/thread-self/cmdline",
        "/dev/stdin",
        "/dev/fd/0",
        "file:///etc/passwd",
        "target:/etc/passwd",
        "-",
        "|id",
        "$(id)",
    ]
    .map(str::to_owned)
    .to_vec();
    for name in ["alias", "relative", "passwd", "other", "secret", "folder", "loop", "new"] {
        names.push(format!("{folder}/{name}"));
    }
    for way in
        ["here/program", "./program", "/program", "folder/../program", "program/", "program/.", "root/etc/passwd"]
    {
        names.push(format!("{folder}/{way}"));
    }
    names.push(format!("{folder}/root{}", served.program));
    names.push(format!("/proc/{process}/exe"));
    names.push(format!("/proc/{process}/root{}", served.program));
    for descriptor in 0..20 {
        names.push(format!("/proc/self/fd/{descriptor}"));
    }
    let mut names: Vec<Vec<u8>> = names.into_iter().map(String::into_bytes).collect();
    // Longer than any path may be, and such that the system would find the program under it.
    for length in [4095, 4096, 4097, 8000] {
        names.push(vec![b'a'; length]);
        let mut long = format!("{folder}/").into_bytes();
        while long.len() + "program".len() < length {
            long.extend(b"./");
        }
        names.push([&long, &b"program"[..]].concat());
    }
    for end in [&b"\0"[..], b"\0.elf", b"\n", b" ", b"\xff"] {
        names.push([served.program.as_bytes(), end].concat());
        names.push([end, served.program.as_bytes()].concat());
    }
    names
}

/// Everything in a folder, with what it holds.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[test]
fn no_other_name_opens_anything_however_it_is_opened() {
    let mut served = served();
    let before = contents(served.folder.path());
    let names = names(&served);
    let client = &mut served.client;
    for view in ["0", "1", "2a"] {
        assert_eq!(client.ask_alone(format!("vFile:setfs:{view}")), "F0");
        for name in &names {
            let digits = hex(name);
            for flags in FLAGS {
                for mode in ["0", "1ff"] {
                    let reply = client.ask_alone(format!("vFile:open:{digits},{flags},{mode}"));
                    assert!(is_refusal(&reply), "{} with {flags}: {reply}", name.escape_ascii());
                }
            }
            assert_eq!(client.ask_alone(format!("vFile:open:{digits},0,0")), NO_SUCH_FILE, "{}", name.escape_ascii());
            for operation in ["readlink", "unlink", "stat", "lstat"] {
                let reply = client.ask_alone(format!("vFile:{operation}:{digits}"));
                assert!(reply.is_empty() || reply == NO_SUCH_FILE, "{operation} {}: {reply}", name.escape_ascii());
            }
        }
    }
    // Not one of these was opened, and nothing was made, cut or removed.
    for descriptor in 0..100 {
        assert_eq!(client.ask_alone(format!("vFile:pread:{descriptor:x},10,0")), "F-1,09");
    }
    assert_eq!(contents(served.folder.path()), before);
}

#[test]
fn the_program_itself_is_only_read() {
    let mut served = served();
    let before = contents(served.folder.path());
    let Served { client, program, .. } = &mut served;
    let digits = hex(&*program);
    for flags in FLAGS.iter().skip(1) {
        let reply = client.ask_alone(format!("vFile:open:{digits},{flags},1b6"));
        assert!(reply == READ_ONLY || reply.starts_with('E'), "{flags}: {reply}");
    }
    for packet in [
        format!("vFile:unlink:{digits}"),
        format!("vFile:pwrite:0,0,{program}"),
        format!("vFile:rename:{digits},{digits}"),
        format!("vFile:mkdir:{digits},1ff"),
        "vFile:fchmod:0,1ff".to_owned(),
        format!("vRun;{digits}"),
        "vAttach;1".to_owned(),
        format!("qXfer:exec-file:write::0:{digits}"),
    ] {
        assert!(is_refusal(&client.ask_alone(&packet)), "{packet}");
    }
    // Upper case digits name the same path.
    assert_eq!(client.ask_alone(format!("vFile:open:{},0,0", digits.to_uppercase())), "F00");
    assert_eq!(client.ask_alone("vFile:pread:0,4,0"), "F04;\x7fELF");
    assert_eq!(contents(served.folder.path()), before);
}

#[test]
fn a_link_that_is_turned_elsewhere_leads_nowhere() {
    let mut served = served();
    let alias = served.folder.path().join("alias");
    std::fs::remove_file(&alias).unwrap();
    symlink("secret", &alias).unwrap();
    let client = &mut served.client;
    // Announced is where it led, and what is read is what was opened then.
    assert_eq!(client.text_object("exec-file", ""), served.program);
    assert_eq!(client.ask_alone(format!("vFile:open:{},0,0", hex(&served.program))), "F00");
    std::fs::rename(served.folder.path().join("secret"), &served.program).unwrap();
    let reply = client.ask("vFile:pread:0,20,0");
    assert!(!reply.contains("secret"), "{reply}");
}

#[test]
fn odd_annexes_of_objects_name_no_file() {
    let mut served = served();
    let client = &mut served.client;
    let long = "a".repeat(5000);
    let program = served.program.as_str();
    for object in [
        "features",
        "auxv",
        "exec-file",
        "traceframe-info",
        "statictrace",
        "libraries",
        "libraries-svr4",
        "memory-map",
        "osdata",
        "sdata",
        "siginfo:read",
        "spu",
        "threads",
        "btrace",
        "uib",
        "../features",
    ] {
        for annex in [
            "/etc/passwd",
            "../target.xml",
            "../../../../../../etc/passwd",
            "./target.xml",
            "/target.xml",
            "target.xml/",
            "TARGET.XML",
            "target.xml\0",
            "%2e%2e/target.xml",
            "..",
            "/",
            "~",
            "\x1b[31m",
            "-1",
            "1.1",
            program,
            long.as_str(),
        ] {
            let reply = client.ask_alone(format!("qXfer:{object}:read:{annex}:0,1000"));
            assert!(is_refusal(&reply), "{object} {annex:?}: {reply}");
        }
    }
    // The session knows its own objects still.
    assert!(client.text_object("features", "target.xml").contains("<target"));
}
