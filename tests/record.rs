//! `scripts/record`, with programs of its own making.

mod support;

use std::path::Path;
use std::process::Command;

use support::made::{frames, lines_of};
use support::{Gdb, Server, run};

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static int total;
static void step(int by) { total += by; }
int main(int count, char **arguments)
{
    step(1);
    switch (count > 1 ? arguments[1][0] : 0) {
    case 's': total += system("true"); break;
    case 'f': if (fork() == 0) _exit(0); wait(0); break;
    case 'a': abort();
    }
    step(2);
}
"#;

/// Compiles a text; the path of the program.
fn compile(folder: &Path, compiler: &[&str], name: &str, text: &str) -> String {
    let (source, program) = (folder.join(name), folder.join("program"));
    std::fs::write(&source, text).unwrap();
    let built = run(Command::new(compiler[0]).args(&compiler[1..]).arg(&source).arg("-o").arg(&program));
    assert_eq!(built.0, Some(0), "{}", built.2);
    program.to_str().unwrap().to_owned()
}

/// Records a run of a program; the recording, and what the script said on standard error.
fn record(folder: &Path, program: &str, arguments: &[&str]) -> (Vec<u8>, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/record");
    let (code, _, errors) = run(Command::new(script).current_dir(folder).arg(program).arg("--").args(arguments));
    assert_eq!(code, Some(0), "{errors}");
    (std::fs::read(folder.join("program.tf")).unwrap(), errors)
}

#[test]
fn a_trace_goes_on_after_system_and_else_it_is_said_why_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), &["gcc", "-g", "-O0"], "program.c", PROGRAM);
    for (argument, hits, said) in [
        ("", 3, None),
        ("system", 3, None),
        ("fork", 2, Some("it called fork()")),
        ("abort", 2, Some("it received SIGABRT (Aborted), here:\n    #0 ")),
    ] {
        let (recording, errors) = record(folder.path(), &program, &[argument]);
        assert_eq!(frames(&recording).len(), hits, "{argument}: {errors}");
        match said {
            Some(said) => assert!(errors.contains(said), "{argument}: {errors}"),
            None => assert_eq!(errors, ""),
        }
        let mut numbers: Vec<_> = lines_of(&recording, "tp T").iter().map(|line| line[..2].to_owned()).collect();
        numbers.sort();
        assert_eq!(numbers, ["1:", "2:"]);
    }
}

#[test]
fn a_recording_of_rust_opens_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#[inline(never)]\nfn twice(it: i32) -> i32 {\n    it + it\n}\nfn main() {\n    print!(\"{}\", twice(21));\n}\n";
    let program = compile(folder.path(), &["rustc", "-g"], "program.rs", text);
    record(folder.path(), &program, &[]);
    let recording = folder.path().join("program.tf");
    let server = Server::serve(&[recording.to_str().unwrap(), "--exec", &program]);
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let commands = ["tfind 1", "print it", "backtrace"].map(str::to_owned);
        let shown = gdb.answers(&[format!("target remote :{}", server.port)], &commands);
        assert_eq!(shown[1], ["$1 = 21"], "{gdb:?} {shown:?}");
        assert!(shown[2].iter().any(|line| line.contains("in program::main ()")), "{gdb:?} {shown:?}");
    }
}
