//! What front ends send to gdb in its machine interface.

use serde_json::Value;

use super::serve;
use crate::support::page::{self, Names, Page, demo};
use crate::support::{Gdb, Server};

fn names(server: &Server) -> Names {
    Names::new(&[
        ("/home/me/traceframe", env!("CARGO_MANIFEST_DIR")),
        ("/home/me", demo().to_str().unwrap()),
        ("localhost:1234", &format!("localhost:{}", server.port)),
    ])
}

/// What VS Code's C/C++ extension sends for a configuration (MIEngine, `DebuggedProcess.GetInitializeCommands`).
fn launched(configuration: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let console = |command: String| match command.starts_with('-') {
        true => command,
        false => format!("-interpreter-exec console \"{command}\""),
    };
    let mut sent: Vec<String> = configuration["setupCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| console(text(&command["text"])))
        .collect();
    sent.extend([
        format!("-environment-cd {}", text(&configuration["cwd"])),
        format!("-file-exec-and-symbols {}", text(&configuration["program"])),
        "-break-insert -f main".to_owned(),
        format!("-target-select remote {}", text(&configuration["miDebuggerServerAddress"])),
    ]);
    sent
}

#[test]
fn the_page_is_as_it_shows_it() {
    let page = Page::of_client("machine_interface");
    let typed = page.typed("(gdb) ");
    let configuration: Value = serde_json::from_str(&page.block("json")).unwrap();
    let configuration = &configuration["configurations"][0];
    assert_eq!([&configuration["type"], &configuration["request"]], ["cppdbg", "launch"]);
    // Without it the extension continues to the end.
    assert_eq!(configuration["stopAtConnect"], true);
    let expected = typed.iter().flat_map(|(_, lines)| lines.clone()).collect::<Vec<_>>().join("\n");
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let server = serve(&[]);
        let names = names(&server);
        let mut setup: Vec<String> = launched(configuration).iter().map(|command| names.meant(command)).collect();
        // The extension does so once it has stopped.
        setup.push("-break-delete 1".to_owned());
        // The records of a stop come before the answer to the next command.
        let shown = whole(gdb.machine_answers(&setup, &names.commands(&typed)).concat());
        let shown = names.shown(&shown.join("\n"));
        assert!(page::fits(&shown, &expected), "{gdb:?}:\n{shown}");
    }
}

/// Records that are not broken into lines.
fn whole(lines: Vec<String>) -> Vec<String> {
    let mut records: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("  "), records.last_mut()) {
            (Some(rest), Some(record)) => record.push_str(rest),
            _ => records.push(line),
        }
    }
    records
}

/// As CDT connects with "Stop on startup at" a function, and steps through the frames in its view.
#[test]
fn cdt_is_answered() {
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let server = serve(&[]);
        let setup = [
            format!("-file-exec-and-symbols {}", demo().join("queue").display()),
            format!("-target-select remote localhost:{}", server.port),
            "-break-insert -t -f submit".to_owned(),
            "-exec-continue".to_owned(),
        ];
        let commands =
            ["-trace-status", "-trace-find frame-number 45", "-trace-find frame-number 46", "-trace-find none"];
        let answers = gdb.machine_answers(&setup, &commands.map(str::to_owned));
        let shown = answers.concat().join("\n");
        assert!(shown.contains("*stopped,reason=\"breakpoint-hit\",disp=\"del\""), "{gdb:?}: {shown}");
        assert!(shown.contains("func=\"submit\""), "{gdb:?}: {shown}");
        assert!(
            shown.contains("^done,supported=\"1\",running=\"0\",stop-reason=\"request\",frames=\"51\""),
            "{gdb:?}: {shown}"
        );
        for (answer, frame) in [(&answers[1], 45), (&answers[2], 46)] {
            let found =
                page::fits(&answer[0], &format!("^done,found=\"1\",tracepoint=\"...\",traceframe=\"{frame}\",..."));
            assert!(found, "{gdb:?}: {shown}");
        }
    }
}

/// As Seer connects: to an extended target, with the program after that.
#[test]
fn seer_is_answered() {
    let program = format!("-file-exec-and-symbols \"{}\"", demo().join("queue").display());
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let server = serve(&[]);
        let setup = [format!("-target-select extended-remote localhost:{}", server.port), program.clone()];
        let commands = [
            "-break-insert queue.c:36",
            "-exec-continue",
            "-interpreter-exec console \"reverse-stepi\"",
            "-data-evaluate-expression $pc",
        ];
        let shown = gdb.machine_answers(&setup, &commands.map(str::to_owned)).concat().join("\n");
        assert!(shown.contains("*stopped,reason=\"breakpoint-hit\""), "{gdb:?}: {shown}");
        assert!(shown.contains("*stopped,reason=\"end-stepping-range\""), "{gdb:?}: {shown}");
        assert!(shown.ends_with("^done,value=\"0x4002ca <main+8>\""), "{gdb:?}: {shown}");
    }
}
