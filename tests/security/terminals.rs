//! Nothing that a file or a client holds reaches a terminal as it is: it could colour, clear, retitle, overwrite, ring,
//! or make text read in another order.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;

use super::path;
use super::support::made::{self, Made};
use super::support::protocol::{hex, packet};
use super::support::started::eventually;
use super::support::{Server, run, traceframe};

/// Escape sequences in both writings, a bell, a carriage return, and marks that turn text around or are not seen.
const STEER: &str = "\x1b[31m\u{9b}2J\u{202e}\u{2066}\u{61c}\x07\r\x7f\x1b]0;title\x07";

/// A recording whose every text tries to steer, under a name that does so too.
fn recording() -> (tempfile::TempDir, String) {
    let digits = hex(STEER);
    let mut made = Made::new(&["R 0"]);
    made.line(format!("status 0;{STEER}"));
    for line in [
        &format!("status 0;tstop:{digits}:0;tframes:1;tcreated:1;username:{digits};notes:{digits}"),
        &format!("tsv 1:0:0:{digits}"),
        "tp T1:401131:E:0:0",
        "tp A1:401131:X2,2700",
        &format!("tp Z1:401131:at:0:{:x}:{digits}", STEER.len()),
        &format!("tp Z1:401131:cond:0:{:x}:{digits}", STEER.len()),
        &format!("tp Z1:401131:cmd:0:{:x}:{digits}", STEER.len()),
    ] {
        made.line(line);
    }
    made.line(format!("{STEER}unknown line"));
    made.line(format!("tp {STEER}"));
    made.line(format!("tsv {STEER}"));
    made.frame(1, &[made::variable(1, 2), b"\x1bunknown block".to_vec()]);
    made.save(&format!("{STEER}.tf"))
}

/// A program whose functions and source files have such names, under such a name, in place of an honest one.
fn program() -> (tempfile::TempDir, String) {
    let mut bytes = std::fs::read(path("bin/case")).unwrap();
    for (honest, steering) in [("\0step\0", "\0\x1b[1m\0"), ("\0case.c\0", "\0\u{9b}2J\x07\r\0")] {
        assert_eq!(honest.len(), steering.len());
        let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(honest.as_bytes())).collect();
        assert!(!places.is_empty(), "{honest:?} is not in the program");
        for at in places {
            bytes[at..at + steering.len()].copy_from_slice(steering.as_bytes());
        }
    }
    made::save(&format!("{STEER}.elf"), bytes)
}

/// Whether a text holds anything that steers.
fn steers(text: &str) -> bool {
    let hidden = |character| "\u{202e}\u{2066}\u{61c}".contains(character);
    text.chars().any(|character| (character.is_control() && character != '\n') || hidden(character))
}

/// What a command says, in which nothing steers and something was escaped.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let (code, output, errors) = run(traceframe().args(arguments));
    let said = output + &errors;
    assert!(!steers(&said), "{arguments:?}: {said:?}");
    assert!(said.contains("\\u{1b}") || said.contains("\\u001b"), "{arguments:?}: nothing was escaped: {said}");
    (code, said)
}

#[test]
fn what_commands_show_and_refuse() {
    let (_recording, file) = recording();
    let (_program, elf) = program();
    let sound = path("tfile/04-step.tf");
    for arguments in [
        &["info", &file, "--arch", "x86-64"][..],
        &["frames", &file, "--arch", "x86-64"],
        &["info", &file, "--arch", "x86-64", "--strict"],
        &["info", &sound, "--exec", &elf],
        &["frames", &sound, "--exec", &elf],
        &["info", &format!("{file}.missing")],
        &["info", &file, "--exec", &file],
        &["info", &file, "--tdesc", &file],
        &["info", &elf],
        &["info", &sound, "--arch", STEER],
        &["info", &sound, "--exec", &format!("{file}.missing")],
        &["serve", &sound, "--listen", &format!("unix:{file}/socket")],
        &["serve", &sound, "--listen", ":0", "--port-file", &format!("{file}/port")],
    ] {
        said(arguments);
        said(&[arguments, &["--log-format", "json"]].concat());
    }
}

#[test]
fn json_on_standard_output() {
    let (_recording, file) = recording();
    let (_program, elf) = program();
    let sound = path("tfile/04-step.tf");
    let (_, errors) = said(&["info", &file, "--arch", "x86-64", "--json"]);
    let (object, _) = errors.split_once("\n}\n").unwrap();
    let object: serde_json::Value = serde_json::from_str(&format!("{object}\n}}")).unwrap();
    // Escaped, it still means what the file holds.
    assert_eq!(object["run"]["user"].as_str(), Some(STEER), "{object:#}");
    said(&["info", &sound, "--exec", &elf, "--json"]);
    said(&["frames", &file, "--arch", "x86-64", "--json"]);
    let (_, rows) = said(&["frames", &sound, "--exec", &elf, "--json"]);
    let row: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(row["file"].as_str(), Some("\u{9b}2J\x07\r"));
}

/// `traceframe info *` passes whatever names files have.
#[test]
fn errors_of_the_command_line() {
    let sound = path("tfile/04-step.tf");
    for arguments in [
        &["info", &sound, STEER][..],
        &[STEER],
        &["info", &sound, &format!("--{STEER}")],
        &["serve", &sound, "--listen", STEER],
        &["frames", &sound, "--range", STEER],
        &["frames", &sound, "--pc", STEER],
        &["frames", &sound, "--tracepoint", STEER],
        &["info", &sound, "--endian", STEER],
        &["info", &sound, "--exec", "x", "--load-bias", STEER],
    ] {
        let (code, _) = said(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
    }
    // On a terminal, where errors are coloured, too.
    let program = env!("CARGO_BIN_EXE_traceframe");
    let mut terminal = std::process::Command::new("script");
    terminal.args(["-qec", &format!("{program} info {sound} \"$STEER\""), "/dev/null"]).env("STEER", STEER);
    let (_, output, errors) = run(&mut terminal);
    assert!(output.contains("unexpected argument") && output.contains("\\u{1b}]0;title"), "{output:?}{errors}");
    assert!(!output.contains("\x1b]") && !output.contains('\u{9b}') && !output.contains('\x07'), "{output:?}");
}

#[test]
fn ready_lines_messages_and_monitor_commands() {
    let (folder, file) = recording();
    let (_program, elf) = program();
    let socket = folder.path().join(format!("{STEER}.socket"));
    let listen = format!("unix:{}", socket.display());
    for format in ["text", "json"] {
        for arguments in [
            &[file.as_str(), "--arch", "x86-64"][..],
            &[&path("tfile/04-step.tf"), "--exec", &elf],
            &[&path("tfile/17-pie.tf"), "--exec", &elf],
        ] {
            let options = ["-v", "--log-format", format, "--listen", &listen];
            let mut server = Server::serve(&[arguments, &options].concat());
            drop(UnixStream::connect(&socket).unwrap());
            let mut client = server.connect();
            client.ask("QTFrame:0");
            for command in ["status", "frames", "damage", "help"] {
                let answer = client.monitor(command);
                assert!(!steers(&answer), "{command}: {answer:?}");
            }
            for before in ["", "frames ", "frames range ", "frames pc ", "frames tracepoint "] {
                let answer = client.monitor(&format!("{before}{STEER}"));
                assert!(!steers(&answer) && answer.contains("\\u{1b}"), "{before}: {answer:?}");
            }
            // Each byte that is none of text, by itself.
            for byte in (0..0x20).chain(0x7f..=0xff) {
                client.send(format!("qRcmd,{}", hex([b'x', byte, b'y'])));
                let answer = client.console_until_reply("OK");
                assert!(!steers(&answer), "{byte:#x}: {answer:?}");
            }
            for sent in [STEER.as_bytes(), b"\xff\xfe\x1b[31m", b"qRcmd,1b5b33316d"] {
                client.send(sent);
                client.console_and_reply();
            }
            let left = format!("client {} left", client.stream.local_addr().unwrap());
            drop(client);
            eventually("the client left", || server.errors().contains(&left));
            server.end_by("TERM");
            for said in [server.output(), server.errors()] {
                assert!(!steers(&said), "{arguments:?}, {format}: {said:?}");
                assert!(said.contains("\\u{1b}") || said.contains("\\x1b"), "{arguments:?}, {format}: {said}");
            }
        }
    }
}

#[test]
fn a_file_that_changes_while_it_is_served() {
    for format in ["text", "json"] {
        let (_folder, file) = made::save(&format!("{STEER}.tf"), std::fs::read(path("tfile/04-step.tf")).unwrap());
        let server = Server::serve(&[&file, "--log-format", format]);
        let mut client = server.connect();
        assert_eq!(client.ask("QTFrame:5"), "F5T2");
        std::fs::OpenOptions::new().write(true).open(OsStr::from_bytes(file.as_bytes())).unwrap().set_len(100).unwrap();
        let answer = client.ask("g");
        assert!(answer.starts_with("E.") && !steers(&answer), "{answer:?}");
        assert!(!steers(&client.monitor("status")));
        eventually("it is told", || server.errors().contains("nothing of it is served any more"));
        assert!(!steers(&server.errors()), "{:?}", server.errors());
        client.write(packet("D"));
    }
}
