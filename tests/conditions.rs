//! Conditions of breakpoints: tested by the server, gdb stops where it stops when it tests them itself, and says the
//! same.

mod support;

use support::{Gdb, Server, data};

/// Conditions at `0x401134`, where frames hold registers and `counter`.
const CONDITIONS: &[&str] = &[
    "$rax == 3",
    "$rax > 2 && $rax <= 5 || $rax == 8",
    "$eax == 4",
    "$ax != 0 && $al < 3",
    "(signed char) ($rax - 5) < 0",
    "(unsigned char) ($rax - 5) > 250",
    "(short) ($rax * 8191) < 0",
    "$rax * $rax == 16",
    "$rax % 3 == 1 && $rax / 3 == 2",
    "-(long) $rax % 4 == -3",
    "($rax << 4) - ($rax >> 1) == 46",
    "-(long) $rax >> 1 == -3",
    "!($rax & 1)",
    "($rax ^ 5) == 3",
    "($rax | 8) == 13",
    "~$rax == -7",
    "(int) $rax == -1 + 6",
    "$rax < counter",
    "counter == 12",
    "counter % 7 == 2",
    "(char) counter > 20",
    "counter > 6 ? $rax < 5 : $rax == 2",
    "*(unsigned char *) &counter == 12",
    "*((char *) &counter + 1) == 0 && $rax == 6",
    "&counter == 0",
    "$rip == 0x401134 && $rax == 7",
    "$sp != $rsp",
    "step != 0 && $rax == 1",
    "other == 99",
    "0",
    "1",
    // Not in the frames: gdb says why it stopped.
    "buf[3] == 1",
    "*(long *) $sp == 1",
    "$rax == 5 && *(long *) $sp == 1",
    "$rax / (counter - 12) == 1",
];

/// What is shown below each command, but for the addresses of gdb's own.
fn stops(gdb: Gdb, where_tested: &str) -> Vec<Vec<String>> {
    let program = data("bin/case");
    let server = Server::serve(&[data("tfile/04-step.tf").to_str().unwrap(), "--exec", program.to_str().unwrap()]);
    let setup = [
        format!("set breakpoint condition-evaluation {where_tested}"),
        format!("file {}", program.display()),
        format!("target remote :{}", server.port),
    ];
    let mut commands = vec!["show breakpoint condition-evaluation".to_owned()];
    for condition in CONDITIONS {
        commands.extend(["tfind 0", "tfind none"].map(str::to_owned));
        commands.push(format!("break *0x401134 if {condition}"));
        for _ in 0..12 {
            commands.extend(["continue", "info threads"].map(str::to_owned));
        }
        commands.push("delete $bpnum".to_owned());
    }
    gdb.answers(&setup, &commands)
}

#[test]
fn the_server_tests_them_as_gdb_does() {
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let expected = stops(gdb, "host");
        let found = stops(gdb, "auto");
        assert_eq!(expected[0], ["Breakpoint condition evaluation mode is host."]);
        assert_eq!(found[0], ["Breakpoint condition evaluation mode is auto (currently target)."]);
        let mut hits = 0;
        for (at, (expected, found)) in expected[1..].iter().zip(&found[1..]).enumerate() {
            assert_eq!(expected, found, "{gdb:?}, {}: command {}", CONDITIONS[at / 28], at % 28);
            hits += usize::from(expected.iter().any(|line| line.starts_with("Breakpoint ")));
        }
        assert!(hits > 100, "{hits}");
    }
}
