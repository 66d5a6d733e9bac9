//! `traceframe run`: a true answer for a script, with a true exit code.

mod support;

use std::time::{Duration, Instant};

use support::made;
use support::{Gdb, data, run, traceframe};

/// `traceframe run` over the recording of steps, with its program.
fn ran(gdb: Gdb, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = traceframe();
    command.arg("run").arg(data("tfile/04-step.tf")).arg("--exec").arg(data("bin/case"));
    run(command.arg("--gdb").arg(gdb.path()).args(arguments))
}

#[test]
fn what_gdb_shows_is_passed_through() {
    for gdb in Gdb::ALL {
        let (code, shown, errors) = ran(gdb, &["-ex", "tfind 9", "--ex", "print counter", "-ex", "output 6 * 7"]);
        assert_eq!(code, Some(0), "{gdb:?}: {errors}");
        assert!(shown.contains("Found trace frame 9, tracepoint 1\n$1 = 2\n42"), "{gdb:?}: {shown}");
        assert!(!errors.contains("INFO") && !errors.contains("remote targets can be slow"), "{gdb:?}: {errors}");
    }
}

#[test]
fn the_first_error_fails_and_ends_it() {
    let (_folder, middle) = made::save("middle.gdb", "tfind 2\nprint nosuch\necho never\\n\n");
    let (_folder, python) = made::save("wrong.py", "import gdb\nraise gdb.GdbError('said by a script')\n");
    let (_folder, fine) = made::save("fine.gdb", "tfind 2\nprint counter\n");
    for gdb in Gdb::ALL {
        for (arguments, said) in [
            (&["-ex", "print nosuch", "-ex", "echo never\\n"][..], "No symbol \"nosuch\""),
            (&["-x", &middle, "-ex", "echo never\\n"], "No symbol \"nosuch\""),
            (&["-ex", "print 1", "-x", &python, "-x", &fine], "said by a script"),
            (&["-ex", "quit 3", "-ex", "echo never\\n"], "code 3"),
            (&["-ex", "tfind 9", "-ex", "tassert counter == 3"], "frame 9: counter == 3 (counter = 2)"),
        ] {
            let (code, shown, errors) = ran(gdb, arguments);
            assert_eq!(code, Some(1), "{gdb:?} {arguments:?}: {shown}{errors}");
            assert!(errors.contains(said) && !shown.contains("never"), "{gdb:?} {arguments:?}: {shown}{errors}");
        }
        // What swallows the rest in silence, and what ends gdb in order.
        for (unfinished, code) in [("if 0", 1), ("define x", 1), ("python", 1), ("quit", 0), ("quit 0", 0)] {
            let (found, shown, errors) = ran(gdb, &["-ex", unfinished, "-ex", "tassert 0"]);
            assert_eq!(found, Some(code), "{gdb:?} {unfinished}: {shown}{errors}");
            let said = if unfinished == "python" { "SyntaxError" } else { "the end of the script was not reached" };
            assert!(code == 0 || errors.contains(said), "{unfinished}: {errors}");
        }
        // In the order of the command line.
        let (code, shown, errors) = ran(gdb, &["-ex", "echo one\\n", "-x", &fine, "-ex", "echo two\\n"]);
        assert_eq!(code, Some(0), "{errors}");
        let places = ["one\n", "$1 = 0\n", "two\n"].map(|text| shown.find(text).unwrap());
        assert!(places.is_sorted(), "{shown}");
    }
}

#[test]
fn a_wrong_command_line_is_2() {
    let (_folder, script) = made::save("fine.gdb", "tfind 2\n");
    for (arguments, said) in [
        (&[][..], "required"),
        (&["-x", "/nonexistent.gdb"], "the script /nonexistent.gdb cannot be read: No such file"),
        (&["-ex", "tfind 1", "-x", "/nonexistent.gdb"], "cannot be read"),
        (&["-x", &script, "--timeout", "soon"], "expected a number with s, m, h or ms"),
        (&["-x", &script, "--timeout", "5x"], "expected a number with s, m, h or ms"),
        (&["-ex", "tfind 1\ntfind 2"], "a command is one line"),
        (&["-ex", "echo hi\\", "-ex", "tfind 1"], "ends in a backslash"),
        (&["-x", "/"], "is no regular file"),
        (&["-x", "/dev/null"], "is no regular file"),
    ] {
        let (code, shown, errors) = ran(Gdb::Debian, arguments);
        assert_eq!((code, shown.as_str()), (Some(2), ""), "{arguments:?}: {errors}");
        assert!(errors.contains(said), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_recording_or_program_that_cannot_be_read_is_3() {
    let (_folder, wrong) = made::save("wrong.tf", "no recording");
    let good = data("tfile/04-step.tf");
    let good = good.to_str().unwrap();
    for arguments in [&["/nonexistent.tf"][..], &[&wrong], &[good, "--exec", &wrong], &["--strict", &wrong]] {
        let (code, shown, errors) = run(traceframe().arg("run").args(arguments).args(["-ex", "echo never"]));
        assert_eq!((code, shown.as_str()), (Some(3), ""), "{arguments:?}: {errors}");
        assert!(errors.starts_with("traceframe: ") && errors.lines().count() == 1, "{errors}");
    }
}

#[test]
fn a_gdb_that_cannot_be_run_is_1() {
    let recording = data("tfile/04-step.tf");
    let mut command = traceframe();
    command.arg("run").arg(recording).args(["--gdb", "/nonexistent/gdb", "-ex", "tfind 1"]);
    let (code, shown, errors) = run(&mut command);
    assert_eq!((code, shown.as_str()), (Some(1), ""));
    assert!(errors.contains("/nonexistent/gdb: not found") && errors.contains("with --gdb"), "{errors}");
}

/// The address of the server is a file in a folder for temporary files.
#[test]
fn a_server_that_cannot_listen_is_4_or_says_why() {
    let mut command = traceframe();
    command.arg("run").arg(data("tfile/04-step.tf")).args(["-ex", "tfind 1"]).env("TMPDIR", "/nonexistent");
    let (code, _, errors) = run(&mut command);
    assert_eq!(code, Some(4), "{errors}");
    assert!(errors.contains("/nonexistent") && errors.contains("TMPDIR"), "{errors}");
}

/// Whether there is a process of this command line.
fn is_running(line: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).any(|found| found.trim() == line)
}

#[test]
fn a_deadline_ends_gdb_and_what_it_started() {
    for gdb in [Gdb::Debian, Gdb::Newest] {
        for hanging in ["shell exec sleep 4321.5", "python while True: pass", "shell trap '' TERM; sleep 4321.5"] {
            let began = Instant::now();
            let (code, shown, errors) = ran(gdb, &["--timeout", "4s", "-ex", "echo here\\n", "-ex", hanging]);
            assert_eq!(code, Some(5), "{hanging}: {shown}{errors}");
            assert!(shown.contains("here") && errors.contains("no end after 4s"), "{hanging}: {shown}{errors}");
            assert!(began.elapsed() < Duration::from_secs(20), "{hanging}: {:?}", began.elapsed());
            assert!(!is_running("sleep 4321.5"), "{hanging}: left behind");
        }
    }
}

#[test]
fn a_packet_log_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("packets.log");
    let (code, _, errors) = ran(
        Gdb::Debian,
        &["--packet-log", log.to_str().unwrap(), "-ex", "tfind 3", "-ex", "monitor marks", "-ex", "tfind none"],
    );
    assert_eq!(code, Some(0), "{errors}");
    let log = std::fs::read_to_string(log).unwrap();
    let mut last = 0.0;
    for line in log.lines() {
        let (time, rest) = line.trim_start().split_once(' ').unwrap();
        let time: f64 = time.parse().unwrap();
        assert!(time >= last && (rest.starts_with("-> ") || rest.starts_with("<- ")), "{line}");
        last = time;
    }
    for pair in [
        ["-> QTFrame:3", "<- F3T2"],
        ["-> qRcmd,6d61726b73", &format!("<- {}", support::protocol::hex("no frame is marked\n"))],
        ["-> QTFrame:ffffffff", "<- OK"],
    ] {
        let mut lines = log.lines().skip_while(|line| !line.ends_with(pair[0])).skip(1);
        assert!(lines.next().is_some_and(|line| line.ends_with(pair[1])), "{pair:?} in {log}");
    }
}

#[test]
fn a_packet_log_is_never_written_over_the_recording() {
    let (_folder, file) = made::save("victim.tf", std::fs::read(data("tfile/04-step.tf")).unwrap());
    for (log, said) in [(file.as_str(), "it is the recording or the program"), ("/nonexistent/log", "No such file")] {
        let mut command = traceframe();
        let (code, _, errors) = run(command.args(["run", &file, "--packet-log", log, "-ex", "tfind 1"]));
        assert_eq!(code, Some(1), "{errors}");
        assert!(
            errors.contains(&format!("the packet log {log} cannot be written: ")) && errors.contains(said),
            "{errors}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(data("tfile/04-step.tf")).unwrap());
}

/// Names that gdb would read otherwise.
#[test]
fn scripts_of_any_name_are_run() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["with blanks.gdb", "ends in one ", "a'b\"c$d\\e.gdb", "two\nlines", "-x", "x.py"] {
        let script = folder.path().join(name);
        let text = if name == "x.py" { "print(__file__)\ngdb.execute('tassert 0')\n" } else { "tassert 0\n" };
        std::fs::write(&script, text).unwrap();
        let (code, _, errors) = ran(Gdb::Debian, &["-x", script.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{name:?}: {errors}");
        assert!(errors.contains("assertion failed: 0"), "{name:?}: {errors}");
    }
}

/// However it is ended, gdb and the folder go with it.
#[test]
fn signals_leave_nothing_behind() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = tempfile::tempdir().unwrap();
        // Whoever started the tests with nohup did not mean these.
        let mut command = std::process::Command::new("env");
        command.arg("--default-signal=HUP").arg(traceframe().get_program());
        command.arg("run").arg(data("tfile/04-step.tf")).args(["-ex", "shell : >here; exec sleep 4321.25"]);
        command.env("TMPDIR", folder.path()).current_dir(folder.path());
        let mut child =
            command.stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null()).spawn().unwrap();
        support::started::eventually("the script runs", || folder.path().join("here").exists());
        assert!(
            std::process::Command::new("kill")
                .arg(format!("-{signal}"))
                .arg(child.id().to_string())
                .status()
                .unwrap()
                .success()
        );
        let status = support::wait(&mut child, support::DEADLINE).unwrap();
        assert_eq!(status.code(), Some(1), "{signal}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{signal}");
        assert!(!is_running("sleep 4321.25"), "{signal}");
    }
}

/// A terminal where what is in the background may not write, as gdb is there.
#[test]
fn a_terminal_that_stops_what_writes_in_the_background_does_not_stop_gdb() {
    let command = format!(
        "stty tostop; {} run {} --timeout 20s -ex 'output 6 * 7'",
        traceframe().get_program().display(),
        data("tfile/04-step.tf").display()
    );
    let mut terminal = std::process::Command::new("script");
    let (code, shown, errors) = run(terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]));
    assert_eq!(code, Some(0), "{shown}{errors}");
    assert!(shown.contains("42"), "{shown}");
}

/// What a script asks over stepping is true as well.
#[test]
fn a_script_steps_and_goes_back() {
    let script = "break *0x401136\ncontinue\ncontinue\nprint $rax\nreverse-stepi\nreverse-stepi\nprint $pc\n";
    let (_folder, script) = made::save("steps.gdb", script);
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let (code, shown, errors) = ran(gdb, &["-x", &script]);
        assert_eq!(code, Some(0), "{gdb:?}: {errors}");
        assert!(shown.contains("$1 = 2\n"), "{shown}");
        assert!(shown.contains("$2 = (void (*)()) 0x401131 <step+11>"), "{gdb:?}: {shown}");
    }
}

/// A folder whose path is longer than a socket's may be.
#[test]
fn a_long_folder_for_temporary_files_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("x".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let mut command = traceframe();
    command.arg("run").arg(data("tfile/04-step.tf")).args(["-ex", "tfind 1"]).env("TMPDIR", &long);
    let (code, _, errors) = run(&mut command);
    assert_eq!(code, Some(0), "{errors}");
}

mod over_standard_input_and_output {
    use super::*;

    fn target(recording: &str) -> String {
        format!("target remote | {} serve --stdio {recording}", env!("CARGO_BIN_EXE_traceframe"))
    }

    #[test]
    fn gdb_talks_through_a_pipe() {
        let (recording, program) = (data("tfile/04-step.tf"), data("bin/case"));
        for gdb in Gdb::ALL {
            let setup =
                ["set sysroot".to_owned(), format!("file {}", program.display()), target(recording.to_str().unwrap())];
            let commands = ["tfind 9", "print counter", "tfind none", "stepi", "monitor find reg rax == 7"];
            let answers = gdb.answers(&setup, &commands.map(str::to_owned));
            assert_eq!(answers[0], ["Found trace frame 9, tracepoint 1"], "{gdb:?}");
            assert_eq!(answers[1], ["$1 = 2"], "{gdb:?}");
            assert!(answers[3].iter().any(|line| line.contains("0x0000000000401136")), "{gdb:?}: {:?}", answers[3]);
            assert_eq!(answers[4][2], "go there with: tfind 28", "{gdb:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_in_words() {
        let (code, shown, errors) = run(traceframe().args(["serve", "--stdio", "/nonexistent.tf"]));
        assert_eq!((code, shown.as_str()), (Some(3), ""));
        assert!(errors.starts_with("traceframe: /nonexistent.tf: No such file"), "{errors}");
        // gdb shows it.
        let shown = Gdb::Debian.command().args(["-ex", &target("/nonexistent.tf")]).output().unwrap();
        let shown = String::from_utf8_lossy(&[shown.stdout, shown.stderr].concat()).into_owned();
        assert!(shown.contains("traceframe: /nonexistent.tf: No such file"), "{shown}");
    }

    #[test]
    fn nothing_but_packets_comes_and_it_is_gone_when_the_client_is() {
        use std::io::{Read, Write};
        use std::process::Stdio;
        let mut command = traceframe();
        command.args(["serve", "--stdio"]).arg(data("tfile/04-step.tf"));
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = server.stdin.take().unwrap();
        input.write_all(&support::protocol::packet("QTFrame:3")).unwrap();
        let mut reply = [0; 9];
        server.stdout.as_mut().unwrap().read_exact(&mut reply).unwrap();
        assert_eq!(&reply[..], [b"+", &support::protocol::packet("F3T2")[..]].concat());
        drop(input);
        assert_eq!(support::wait(&mut server, support::DEADLINE).and_then(|status| status.code()), Some(0));
        let mut rest = String::new();
        server.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        server.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }

    #[test]
    fn it_goes_with_no_option_of_a_listener() {
        for option in [&["--listen", ":0"][..], &["--once"], &["--port-file", "x"]] {
            let (code, _, errors) = run(traceframe().args(["serve", "--stdio", "x.tf"]).args(option));
            assert_eq!(code, Some(2), "{errors}");
        }
    }
}
