//! The settings in `gdbinit`.

mod support;

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use support::{Gdb, Killed, Server, data, run};

const GDBINIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/gdbinit");

#[test]
fn loading_it_says_nothing() {
    for gdb in [Gdb::Debian, Gdb::Newest] {
        assert_eq!(run(gdb.command().args(["-x", GDBINIT])), (Some(0), String::new(), String::new()), "{gdb:?}");
    }
}

/// Code and constants are seen in every connection of one gdb, whichever way it came to the program.
#[test]
fn a_second_connection_is_as_good_as_the_first() {
    let (recording, program) = (data("tfile/01-regs.tf"), data("bin/case"));
    let (recording, program) = (recording.to_str().unwrap(), program.to_str().unwrap());
    let server = Server::serve(&[recording, "--exec", program]);
    let untold = Server::serve(&[recording]);
    // Which server, and what gdb is told of the program before.
    let (own, none) = (format!("file {program}"), "file".to_owned());
    let nothing = String::from("echo");
    for connections in [
        [(&server, &nothing), (&server, &nothing)],
        [(&server, &own), (&server, &none)],
        [(&server, &nothing), (&untold, &own)],
        [(&untold, &own), (&untold, &nothing)],
    ] {
        let mut commands = Vec::new();
        for (server, program) in connections {
            commands.extend([program.clone(), format!("target remote :{}", server.port)]);
            commands.extend(["tfind start", "x/i $pc", r#"printf "%d\n", constglob"#, "disconnect"].map(str::to_owned));
        }
        for gdb in [Gdb::Debian, Gdb::Newest] {
            let answers = gdb.answers(&[format!("source {GDBINIT}")], &commands);
            for seen in answers.chunks(6) {
                assert!(seen[3][0].starts_with("=> 0x401131 <step+11>:\tmov "), "{gdb:?} {commands:?}\n{seen:#?}");
                assert_eq!(seen[4], ["10000"], "{gdb:?} {commands:?}");
            }
            // A tracepoint that gdb makes anew lies where it was.
            let mut made = answers.iter().flatten().filter(|line| line.starts_with("Tracepoint "));
            assert!(made.all(|line| line.contains("at 0x401131:")), "{gdb:?} {commands:?}\n{answers:#?}");
        }
    }
}

/// What gdb shows to somebody who types these commands, prompts and all.
fn typed(gdb: Gdb, commands: &[&str]) -> String {
    let mut child = Command::new(gdb.path());
    child.args(["-q", "-nx", "-ex", "set confirm off", "-ex", "set pagination off", "-x", GDBINIT]);
    let mut child = Killed(child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    child.0.stdin.take().unwrap().write_all((commands.join("\n") + "\n").as_bytes()).unwrap();
    let mut shown = String::new();
    child.0.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    shown
}

#[test]
fn the_prompt_has_the_task_and_cpu_of_the_frame() {
    let events = Server::serve(&[data("tracedat/sched-v7-zlib.dat").to_str().unwrap()]);
    let frames = Server::serve(&[data("tfile/01-regs.tf").to_str().unwrap()]);
    let (events, frames) = (format!("target remote :{}", events.port), format!("target remote :{}", frames.port));
    for gdb in Gdb::ALL {
        let commands = [
            "echo unconnected\\n",
            &events,
            "echo outside\\n",
            "tfind 5",
            "echo inside\\n",
            "set prompt (mine) ",
            "tfind 600",
            "tfind none",
            "disconnect",
            "echo gone\\n",
            &frames,
            "tfind 1",
            "echo without\\n",
        ];
        let shown = typed(gdb, &commands);
        for said in [
            "(gdb) unconnected\n",
            "(gdb) outside\n",
            "[demo-675, CPU 0] (gdb) inside\n",
            "[demo-675, CPU 0] (mine) Found trace frame 600, ",
            "[rustc-673, CPU 0] (mine) No longer looking",
            "\n(mine) gone\n",
            "\n(mine) without\n",
        ] {
            assert!(shown.contains(said), "{gdb:?}: {said:?} in\n{shown}");
        }
        assert!(!shown.contains("not known"), "{gdb:?}\n{shown}");
    }
}

#[test]
fn a_prompt_of_the_users_own_making_stays() {
    let events = Server::serve(&[data("tracedat/sched-v7-zlib.dat").to_str().unwrap()]);
    let connect = format!("target remote :{}", events.port);
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let mut own = gdb.command();
        own.args(["-ex", "python gdb.prompt_hook = lambda prompt: 'own> '", "-x", GDBINIT]);
        own.args(["-ex", &connect, "-ex", "tfind 5", "-ex", "python print(gdb.prompt_hook('(gdb) '))", "-batch"]);
        let (_, shown, _) = run(&mut own);
        assert!(shown.contains("\nown> \n"), "{gdb:?}\n{shown}");
    }
}
