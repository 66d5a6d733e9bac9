//! The commands in `gdbinit` over all frames: what the server finds is what a visit to each frame finds.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use support::made::{self, Made};
use support::{Gdb, Killed, Server, data, run, traceframe};

/// `traceframe run` over a recording, with its program.
fn ran_with(recording: &str, program: &str, gdb: Gdb, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = traceframe();
    command.arg("run").arg(data(recording)).arg("--exec").arg(data(program));
    run(command.arg("--gdb").arg(gdb.path()).args(arguments))
}

fn ran(gdb: Gdb, arguments: &[&str]) -> (Option<i32>, String, String) {
    ran_with("tfile/04-step.tf", "bin/case", gdb, arguments)
}

const EXPRESSIONS: &[&str] = &[
    "$rax == 7",
    "counter > 20",
    "counter % 12 == 6 && $rax < 5",
    "(char) counter < 0",
    "$pc == 0x401136",
    "-counter < -41",
    "counter / 0 == 1",
    "1",
    "0",
    "local == 3",
    "other == 1",
    "dbl > 1.0",
    "$eax == 4",
];

/// The numbers that stand in the lines below a command.
fn numbers(lines: &[String]) -> Vec<u64> {
    lines
        .iter()
        .filter(|line| line.starts_with("    "))
        .flat_map(|line| line.split_whitespace())
        .map_while(|word| word.parse().ok())
        .collect()
}

#[test]
fn tgrep_finds_what_a_visit_to_each_finds() {
    let server =
        Server::serve(&[data("tfile/04-step.tf").to_str().unwrap(), "--exec", data("bin/case").to_str().unwrap()]);
    for gdb in Gdb::ALL {
        let setup = [
            format!("source {}/gdbinit", env!("CARGO_MANIFEST_DIR")),
            "set sysroot".to_owned(),
            format!("target remote :{}", server.port),
            "tfind 5".to_owned(),
        ];
        let mut commands: Vec<String> = EXPRESSIONS.iter().map(|expression| format!("tgrep {expression}")).collect();
        commands.push("twatch counter".to_owned());
        // The slow way.
        commands
            .push("python Compiled.__init__ = lambda self, expression: setattr(self, 'is_whole', False)".to_owned());
        let fast = commands.len();
        commands.extend(EXPRESSIONS.iter().map(|expression| format!("tgrep {expression}")));
        commands.extend(["twatch counter", "print $trace_frame"].map(str::to_owned));
        let answers = gdb.answers(&setup, &commands);
        for (at, expression) in EXPRESSIONS.iter().chain(&["twatch counter"]).enumerate() {
            assert_eq!(answers[at], answers[fast + at], "{gdb:?}: {expression}");
        }
        assert_eq!(numbers(&answers[0]), [28, 29], "{gdb:?}");
        assert_eq!(answers[0][1], "2 trace frames", "{gdb:?}");
        assert_eq!(answers[fast - 2].len(), 9, "{gdb:?}: {:?}", answers[fast - 2]);
        assert_eq!(answers.last().unwrap()[0], "$1 = 5", "{gdb:?}");
    }
}

#[test]
fn assertions_and_tables() {
    for gdb in Gdb::ALL {
        let (code, shown, errors) = ran(
            gdb,
            &[
                "-ex",
                "tassert -all counter >= 0 && counter < 91",
                "-ex",
                "ttable -csv -frames 8..10 counter '$rax + 1'",
            ],
        );
        assert_eq!(code, Some(0), "{gdb:?}: {errors}");
        let held = "holds in 30 trace frames (10 did not collect what it takes): counter >= 0 && counter < 91\n";
        assert!(shown.contains(held), "{gdb:?}: {shown}");
        let table = "frame,counter,$rax + 1\n8,<unavailable>,3\n9,2,3\n10,2,5\n";
        assert!(shown.contains(table), "{gdb:?}: {shown}");
        for (assertion, said) in [
            ("tassert -all counter < 50", "in trace frame 33: counter < 50 (counter = 56), and in 5 more"),
            ("tassert -all other == 99", "no trace frame collected what it takes: other == 99"),
            ("tassert counter == 0", "cannot"),
            ("tassert nosuch == 0", "No symbol \"nosuch\""),
            ("tassert", "an expression is needed"),
            ("tassert $typo", "cannot be told in trace frame 8: $typo (it has no value here)"),
            ("tassert -all $typo", "no trace frame collected what it takes: $typo"),
            ("tgrep \"text\"", "neither true nor false"),
        ] {
            let (code, shown, errors) = ran(gdb, &["-ex", "tfind 8", "-ex", assertion]);
            assert_eq!(code, Some(1), "{gdb:?} {assertion}: {shown}");
            assert!(errors.contains(said), "{gdb:?} {assertion}: {errors}");
        }
    }
}

#[test]
fn one_comes_back_to_where_one_was() {
    let (code, shown, errors) = ran(
        Gdb::Debian,
        &[
            "-ex",
            "tgrep counter > 3",
            "-ex",
            "monitor status",
            "-ex",
            "stepi",
            "-ex",
            "twatch counter",
            "-ex",
            "monitor status",
        ],
    );
    assert_eq!(code, Some(0), "{errors}");
    let shown = shown + &errors;
    let places: Vec<&str> = shown.lines().filter(|line| line.starts_with("you are: ")).collect();
    let expected =
        ["you are: outside any frame, none visited yet", "you are: outside any frame, last in trace frame 0"];
    assert_eq!(places, expected);
    let (code, _, errors) = ran(Gdb::Debian, &["-ex", "disconnect", "-ex", "tgrep 1"]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("nothing is connected"), "{errors}");
}

/// A recording without registers: tracepoints, and of each frame its tracepoint and the value of `$count`.
fn counted(tracepoints: &[&str], frames: impl IntoIterator<Item = (i16, i64)>) -> (tempfile::TempDir, String) {
    let variable = format!("tsv 1:0:0:{}", support::protocol::hex("count"));
    let mut made = Made::new(&[&["R 0", "status 0;tstop::0", &variable], tracepoints].concat());
    for (tracepoint, value) in frames {
        made.frame(tracepoint, &[made::variable(1, value)]);
    }
    made.save("counted.tf")
}

fn ran_over(file: &str, commands: [&str; 2]) -> (Option<i32>, String, String) {
    let mut command = traceframe();
    command.args(["run", file, "--arch", "x86-64"]);
    run(command.args(commands.iter().flat_map(|line| ["-ex", line])))
}

/// The first command of a script, while the recording is still being indexed; the last frame alone lies elsewhere.
#[test]
fn all_frames_are_those_that_are_not_indexed_yet_too() {
    let frames = std::iter::repeat_n((1, 3), 1_000_000).chain([(2, -7)]);
    let (_folder, file) = counted(&["tp T1:1000:E:0:0", "tp T2:2000:E:0:0"], frames);
    let (code, shown, errors) = ran_over(&file, ["tgrep $count == -7", "tassert -all $count >= 0"]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains(" 1000000\n1 trace frame\n"), "{shown}");
    assert!(errors.contains("assertion failed in trace frame 1000000: $count >= 0 ($count = -7)"), "{errors}");
}

#[test]
fn frames_without_a_program_counter_are_asked_too() {
    // A tracepoint of two locations: without registers nothing tells at which a frame was made.
    let tracepoints = ["tp T1:1000:E:0:0", "tp T1:2000:E:0:0", "tp T2:3000:E:0:0"];
    let (_folder, file) = counted(&tracepoints, [(1, 3), (2, 3), (1, -9), (2, 4)]);
    let (code, shown, errors) = ran_over(&file, ["tgrep $count < 0", "twatch $count"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.contains("       2\n1 trace frame\n"), "{shown}{errors}");
    assert!(shown.contains("       2  -9\n       3  4\n2 changes\n"), "{shown}");
}

#[test]
fn without_a_program_variables_of_the_recording_will_do() {
    let (_folder, file) = counted(&["tp T1:1000:E:0:0"], [3, 3, 9, 4].map(|value| (1, value)));
    let (code, shown, errors) = ran_over(&file, ["tgrep $count > 3", "twatch $count"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.contains("       2       3\n2 trace frames\n"), "{shown}{errors}");
    assert!(shown.contains("       2  9\n       3  4\n2 changes\n"), "{shown}");
}

/// A recording of values in memory, in a program of the tests.
fn valued(address: u64, values: &[&[u8]]) -> (tempfile::TempDir, String) {
    let mut made = Made::new(&["R 0", "status 0;tstop::0", "tp T1:401136:E:0:0"]);
    for value in values {
        made.frame(1, &[made::memory(address, value)]);
    }
    made.save("valued.tf")
}

/// gdb compiles what is floating point as if it were an integer.
#[test]
fn floating_point_numbers_compare_as_such() {
    // `dbl` of bin/case.
    let (_folder, file) =
        valued(0x4040a8, &[0.5, 2.5, -1.0, 0.75].map(f64::to_le_bytes).each_ref().map(|value| &value[..]));
    for gdb in Gdb::ALL {
        let commands = ["-ex", "tgrep dbl > 0.6", "-ex", "tgrep dbl < 1", "-ex", "tgrep -dbl > 0", "-ex", "twatch dbl"];
        let (code, shown, errors) = ran_with(&file, "bin/case", gdb, &commands);
        assert_eq!(code, Some(0), "{gdb:?}: {errors}");
        let tables =
            "       1       3\n2 trace frames\n       0       2       3\n3 trace frames\n       2\n1 trace frame\n";
        assert!(shown.contains(tables), "{gdb:?}: {shown}");
        assert!(shown.contains("       1  2.5\n       2  -1\n       3  0.75\n3 changes\n"), "{gdb:?}: {shown}");
    }
}

/// An array that differs where gdb shows it no longer.
#[test]
fn values_are_compared_in_full_however_little_is_shown() {
    // `numbers` of partial/values.
    let same = [7; 1600];
    let mut other = same;
    other[1500] = 8;
    let (_folder, file) = valued(0x40_1200, &[&same, &same, &other, &same]);
    for gdb in Gdb::ALL {
        let commands = ["-ex", "set print elements 3", "-ex", "twatch numbers"];
        let (code, shown, errors) = ran_with(&file, "partial/values", gdb, &commands);
        assert_eq!(code, Some(0), "{gdb:?}: {errors}");
        assert!(shown.contains("\n2 changes\n"), "{gdb:?}: {shown}");
        assert!(shown.contains("\n       2  {") && shown.contains("\n       3  {"), "{gdb:?}: {shown}");
    }
}

/// A search that ends before its end has found nothing that can be told.
#[test]
fn a_search_that_was_given_up_is_an_error() {
    let given_up = "python quietly = lambda command, usual=quietly: \
                    'interrupted\\n' if command.startswith('monitor find code') else usual(command)";
    for command in ["tgrep counter == 12345", "tassert -all counter < 100", "twatch counter"] {
        let (code, shown, errors) = ran(Gdb::Debian, &["-ex", given_up, "-ex", command]);
        assert_eq!(code, Some(1), "{command}: {shown}");
        assert!(errors.contains("the server gave the search up: interrupted"), "{command}: {errors}");
    }
}

/// A gdb that takes one command after another.
struct Interactive {
    gdb: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Interactive {
    fn new(gdb: Gdb, port: u16) -> Interactive {
        let mut command = Command::new(gdb.path());
        command.args(["-nx", "-nh", "-q", "-x", concat!(env!("CARGO_MANIFEST_DIR"), "/gdbinit"), "-ex", "set sysroot"]);
        command.args(["-ex", "set width 0", "-ex", &format!("target remote :{port}")]);
        command.env("HOME", "/nonexistent").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut gdb = command.spawn().unwrap();
        let (input, output) = (gdb.stdin.take().unwrap(), BufReader::new(gdb.stdout.take().unwrap()));
        Interactive { gdb: Killed(gdb), input, output }
    }

    fn type_in(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap();
    }

    /// What is shown until a line holds this text, that line included.
    fn shown_until(&mut self, text: &str) -> String {
        let mut shown = String::new();
        while shown.lines().last().is_none_or(|line| !line.contains(text)) {
            assert!(self.output.read_line(&mut shown).unwrap() > 0, "gdb has ended:\n{shown}");
        }
        shown
    }

    fn interrupt(&self) {
        let id = self.gdb.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    }
}

/// Ctrl-C while the commands ask one frame after another: gdb would take answers for those to other questions.
#[test]
fn ctrl_c_leaves_gdb_in_step_with_the_server() {
    let recorded = std::fs::read(data("tfile/04-step.tf")).unwrap();
    let frames = made::frame_section(&recorded);
    let (description, frames) = (&recorded[..recorded.len() - frames.len()], &frames[..frames.len() - 4]);
    let (_folder, file) = made::save("long.tf", [description, &frames.repeat(500), &[0; 4]].concat());
    let server = Server::serve(&[&file, "--exec", data("bin/case").to_str().unwrap()]);
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let mut asked = Interactive::new(gdb, server.port);
        for round in 0..20 {
            asked.type_in("ttable counter $rip");
            // Ever elsewhere in the exchange, as far as that can be.
            asked.shown_until(&format!("{:>8}  ", 20 + 7 * round));
            std::thread::sleep(std::time::Duration::from_micros(130 * round));
            asked.interrupt();
            asked.type_in("tfind 17\nprint counter\ntfind 19999\nprint $rip\necho round is over\\n");
            let shown = asked.shown_until("round is over");
            for expected in ["Found trace frame 17, tracepoint 1", " = 12\n", "Found trace frame 19999, tracepoint 1"] {
                assert!(shown.contains(expected), "{gdb:?}, round {round}:\n{shown}");
            }
        }
    }
}
