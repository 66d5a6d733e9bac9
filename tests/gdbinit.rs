//! The settings in `gdbinit`.

mod support;

use support::{Gdb, Server, data, run};

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
