//! The command line: help, messages, exit codes, and what `info` and `frames` show.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::Value;
use support::made::{self, Made};
use support::started::eventually;
use support::{DEADLINE, Server, data, run, traceframe};

fn path(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

/// Runs the program: exit code, standard output, standard error.
fn traceframe_with(arguments: &[&str]) -> (i32, String, String) {
    let (code, output, errors) = run(traceframe().args(arguments));
    (code.expect("the program was killed by a signal"), output, errors)
}

/// What a command that succeeds shows, without a word on standard error.
fn shown(arguments: &[&str]) -> String {
    let (code, output, errors) = traceframe_with(arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    output
}

/// What a command says that fails with this exit code: one message, and nothing on standard output.
fn refused(code: i32, arguments: &[&str]) -> String {
    let (found, output, errors) = traceframe_with(arguments);
    assert_eq!(found, code, "{arguments:?}: {errors}");
    assert_eq!(output, "", "{arguments:?}");
    assert!(errors.starts_with("traceframe: ") || code == 2, "{arguments:?}: {errors}");
    assert!(errors.ends_with('\n') && !errors.contains("panicked"), "{arguments:?}: {errors}");
    errors
}

fn rows(table: &str) -> Vec<u64> {
    table.lines().skip(1).map(|row| row.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

mod help {
    use super::*;

    const EVERYWHERE: [&str; 4] = ["--verbose", "--quiet", "--log-format", "--help"];
    const RECORDING: [&str; 7] = ["<FILE>", "--exec", "--load-bias", "--tdesc", "--arch", "--endian", "--strict"];
    const LISTENING: [&str; 3] = ["--listen", "--port-file", "--once"];

    fn names(command: &[&str], expected: &[&[&str]]) {
        let help = shown(&[command, &["--help"]].concat());
        for option in expected.iter().copied().flatten() {
            assert!(help.contains(option), "{option} is not in the help of {command:?}: {help}");
        }
        // Each option says what it is for.
        let mut lines = help.lines().peekable();
        while let Some(line) = lines.next() {
            if line.trim_start().starts_with("--") {
                assert!(lines.peek().is_some_and(|next| next.trim().len() > 10), "{line} is not explained");
            }
        }
    }

    #[test]
    fn of_the_program() {
        names(&[], &[&EVERYWHERE, &["serve", "info", "frames", "convert", "demo", "--version"]]);
        let help = shown(&["--help"]);
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("target remote :1234"), "{help}");
        for code in ["0 all went well", "1 output", "2 the command line", "3 the recording", "4 the server"] {
            assert!(words.contains(code), "exit code {code} is not in {help}");
        }
        assert_eq!(shown(&["help"]), help);
    }

    #[test]
    fn of_each_command() {
        names(&["serve"], &[&EVERYWHERE, &RECORDING, &LISTENING, &["unix:PATH", "1234"]]);
        names(
            &["info"],
            &[&EVERYWHERE, &RECORDING, &["--json", "version", "--coverage", "--lcov", "--thread", "--limit"]],
        );
        names(&["frames"], &[&EVERYWHERE, &RECORDING, &["--json", "--tracepoint", "--pc", "--range", "A[,B]", "M..N"]]);
        names(&["frames"], &[&["--pid", "--time", "A..B"]]);
        names(&["convert"], &[&EVERYWHERE, &RECORDING, &["<OUT>", "--partial-registers", "target tfile"]]);
        names(&["demo"], &[&EVERYWHERE, &LISTENING]);
        for command in ["serve", "info", "frames", "convert", "demo"] {
            assert_eq!(shown(&["help", command]), shown(&[command, "--help"]));
            assert!(!shown(&[command, "-h"]).is_empty());
        }
    }

    #[test]
    fn the_version() {
        // With the commit, where it is built in a checkout.
        let expected = format!("traceframe {}{}\n", env!("CARGO_PKG_VERSION"), env!("TRACEFRAME_COMMIT"));
        assert_eq!(shown(&["--version"]), expected);
        assert_eq!(shown(&["-V"]), expected);
        let commit = env!("TRACEFRAME_COMMIT");
        assert!(commit.is_empty() || commit.len() >= " (1234567)".len(), "{commit}");
    }

    #[test]
    fn manual_pages_name_every_command_and_option() {
        let page = shown(&["man"]);
        assert!(page.contains(".TH traceframe 1"), "{page}");
        for command in ["serve", "run", "info", "frames", "convert", "demo", "completions", "man"] {
            assert!(page.contains(&format!("traceframe\\-{command}(1)")), "{command} is not in {page}");
            let page = shown(&["man", command]);
            assert!(page.contains(&format!(".TH traceframe-{command} 1")), "{page}");
            for option in shown(&[command, "--help"]).split_whitespace().filter(|word| word.starts_with("--")) {
                let name = option.trim_end_matches([',', ']', ':', '.']).replace('-', "\\-");
                assert!(page.contains(&name), "{option} is not in the page of {command}");
            }
        }
        let error = refused(2, &["man", "nosuch"]);
        assert!(error.contains("there is no command \"nosuch\""), "{error}");
    }

    #[test]
    fn completions_for_every_shell() {
        for shell in ["bash", "zsh", "fish"] {
            let script = shown(&["completions", shell]);
            for name in ["serve", "run", "timeout", "packet-log"] {
                assert!(script.contains(name), "{name} is not completed in {shell}");
            }
        }
        // What bash makes of it, behind `traceframe ru`.
        let (_folder, script) = made::save("traceframe.bash", shown(&["completions", "bash"]));
        let asked = format!(
            "source '{script}'; COMP_WORDS=(traceframe ru); COMP_CWORD=1; _traceframe traceframe ru traceframe; \
             echo \"${{COMPREPLY[@]}}\""
        );
        let (code, completed, errors) = run(std::process::Command::new("bash").args(["-c", &asked]));
        assert_eq!((code, completed.trim()), (Some(0), "run"), "{errors}");
    }
}

mod wrong_command_lines {
    use super::*;

    #[test]
    fn without_a_command_the_help_is_shown_and_that_is_an_error() {
        let errors = refused(2, &[]);
        assert!(errors.contains("Usage: traceframe") && errors.contains("serve"), "{errors}");
    }

    #[test]
    fn each_is_named_with_what_was_found() {
        let file = path("tfile/01-regs.tf");
        let file = file.as_str();
        for (arguments, said) in [
            (&["nosuch"][..], &["nosuch"][..]),
            (&["serve"], &["<FILE>"]),
            (&["info"], &["<FILE>"]),
            (&["frames"], &["<FILE>"]),
            (&["info", file, "more"], &["more"]),
            (&["info", file, "--nosuch"], &["--nosuch"]),
            (&["info", file, "--json=yes"], &["--json"]),
            (&["info", file, "--exec"], &["--exec", "value is required"]),
            (&["info", file, "--load-bias", "0x1000"], &["--exec"]),
            (&["info", file, "--exec", file, "--load-bias", "x"], &["--load-bias", "x is no number"]),
            (&["info", file, "--exec", file, "--load-bias", "-1"], &["-1"]),
            (&["info", file, "--exec", file, "--load-bias", "0x10000000000000000"], &["no number"]),
            (&["info", file, "--endian", "middle"], &["--endian", "middle", "little", "big"]),
            (&["info", file, "--log-format", "xml"], &["--log-format", "xml", "text", "json"]),
            (&["info", file, "-q", "-v"], &["--quiet", "--verbose"]),
            (&["serve", file, "--listen", "1234"], &["--listen", "\"1234\"", "ADDR:PORT", "unix:PATH"]),
            (&["serve", file, "--listen", "example.org:1"], &["example.org:1", "ADDR:PORT"]),
            (&["serve", file, "--listen", ":65536"], &[":65536"]),
            (&["serve", file, "--listen", "unix:"], &["unix:"]),
            (&["serve", file, "--listen", ""], &["--listen"]),
            (&["serve", file, "--listen", ":0", "--once", "--once"], &["--once"]),
            (&["demo", file], &["unexpected argument"]),
            (&["frames", file, "--tracepoint", "two"], &["two is no tracepoint number"]),
            (&["frames", file, "--tracepoint", ""], &["--tracepoint"]),
            (&["frames", file, "--tracepoint", "2147483648"], &["2147483648 is no tracepoint number"]),
            (&["frames", file, "--pc", "main"], &["main is no number", "0x"]),
            (&["frames", file, "--pc", ""], &["--pc"]),
            (&["frames", file, "--pc", "0x"], &["0x is no number"]),
            (&["frames", file, "--pc", "401131"], &[]),
            (&["frames", file, "--pc", "9,8"], &["9,8", "first address is above the second"]),
            (&["frames", file, "--pc", "1,2,3"], &["2,3 is no number"]),
            (&["frames", file, "--pc", "0x10000000000000000"], &["no number"]),
            (&["frames", file, "--pid", "me"], &["me is no number of a task"]),
            (&["frames", file, "--time", "2..1"], &["the first time is behind the second"]),
            (&["frames", file, "--time", "soon"], &["soon is no time in seconds"]),
            (&["convert", file], &["<OUT>"]),
            (&["frames", file, "--range", "5"], &["5 is no range", "M..N"]),
            (&["frames", file, "--range", "5..4"], &["5..4", "behind the second"]),
            (&["frames", file, "--range", "a..b"], &["a is no number"]),
            (&["frames", file, "--range", "1..2..3"], &["2..3 is no number"]),
            (&["frames", file, "--range", "1-2"], &["1-2 is no range"]),
        ] {
            if said.is_empty() {
                // A decimal number is right, and no frame is there.
                assert_eq!(rows(&shown(arguments)), [0u64; 0]);
                continue;
            }
            let errors = refused(2, arguments);
            for part in said {
                assert!(errors.contains(part), "{part} is not in the message to {arguments:?}: {errors}");
            }
        }
    }
}

mod files_that_cannot_be_read {
    use super::*;

    /// Every command that reads a recording says the same about it.
    fn every_command_says(file: &str, parts: &[&str]) {
        for command in [&["info", file][..], &["frames", file], &["serve", file, "--listen", ":0"]] {
            let errors = refused(3, command);
            assert!(errors.starts_with(&format!("traceframe: {file}: ")), "the file comes first: {errors}");
            for part in parts {
                assert!(errors.contains(part), "{part} is not in {errors}");
            }
            assert_eq!(errors.lines().count(), 1, "{errors}");
        }
    }

    #[test]
    fn what_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        every_command_says(&name("nosuch.tf"), &["No such file or directory", "(is its name right?)"]);
        every_command_says(folder.path().to_str().unwrap(), &["is a directory", "regular file"]);
        // Opening a pipe would wait for its writer.
        let pipe = name("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        every_command_says(&pipe, &["is a pipe", "copy"]);
        every_command_says("/dev/null", &["is a device"]);
        let socket = name("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        every_command_says(&socket, &["is a socket"]);
        std::fs::write(name("file"), "").unwrap();
        every_command_says(&format!("{}/below.tf", name("file")), &["Not a directory"]);
        std::os::unix::fs::symlink(name("loop"), name("loop")).unwrap();
        every_command_says(&name("loop"), &["symbolic links"]);
    }

    #[test]
    fn what_is_no_recording() {
        let recorded = std::fs::read(path("tfile/01-regs.tf")).unwrap();
        let text = recorded[..500].iter().fold(Vec::new(), |mut text, byte| {
            text.extend_from_slice(if *byte == b'\n' { b"\r\n" } else { std::slice::from_ref(byte) });
            text
        });
        for (bytes, parts) in [
            (&b""[..], &["is empty", "copied whole"][..]),
            (&std::fs::read(path("bin/case")).unwrap(), &["is an ELF file", "--exec"]),
            (b"\x1f\x8b\x08\0\0\0\0\0", &["is gzip data", "cannot be expanded"]),
            (b"\x28\xb5\x2f\xfd\x04\0", &["is zstd data", "cannot be expanded"]),
            (b"\xfd7zXZ\0\0\x04", &["is xz data", "cannot be expanded"]),
            (b"\x17\x08\x44tracing6\0\0\x08", &["trace.dat", "cut"]),
            (b"\x7fTRACE1\nR 10\n\n", &["version \"1\"", "expected version \"0\"", "tsave"]),
            (b"\x7fTRAC", &["cut inside its first line", "copy it again"]),
            (&text, &["line ends were changed", "binary mode"]),
            (b"TRACE0\n", &["begins with the bytes 54 52 41 43 45 30 0a", "expected", "7f 54 52 41 43 45 30 0a"]),
            (b"hello\n", &["begins with the bytes 68 65 6c 6c 6f 0a", "expected"]),
        ] {
            // The name says nothing.
            let (_folder, file) = made::save("recording.tf", bytes);
            every_command_says(&file, parts);
        }
    }

    #[test]
    fn a_program_that_is_none() {
        let recording = path("tfile/01-regs.tf");
        let case = std::fs::read(path("bin/case")).unwrap();
        let (_folder, text) = made::save("program", "#!/bin/sh\necho\n");
        let (_folder, empty) = made::save("program", "");
        let (_folder, cut) = made::save("program", &case[..40]);
        let mut object = case.clone();
        object[16] = 1;
        let (_folder, object) = made::save("program.o", &object);
        let mut core = case;
        core[16] = 4;
        let (_folder, core) = made::save("core", &core);
        for (program, parts) in [
            ("/nonexistent/program", &["No such file"][..]),
            (data("bin").to_str().unwrap(), &["is a directory"]),
            ("/dev/null", &["is a device"]),
            (recording.as_str(), &["not an ELF file", "7f 54 52 41 (a trace file)", "expected 7f 45 4c 46"]),
            (text.as_str(), &["not an ELF file", "23 21 2f 62 (a script)", "program that was recorded"]),
            (empty.as_str(), &["an empty file"]),
            (cut.as_str(), &["ELF header"]),
            (object.as_str(), &["an object file", "linked"]),
            (core.as_str(), &["a core dump"]),
        ] {
            for command in ["info", "frames", "serve"] {
                let errors = refused(3, &[command, &recording, "--exec", program]);
                assert!(errors.starts_with(&format!("traceframe: {program}: ")), "{errors}");
                for part in parts {
                    assert!(errors.contains(part), "{part} is not in {errors}");
                }
            }
        }
    }

    #[test]
    fn a_target_description_that_is_none() {
        let recording = path("tfile/01-regs.tf");
        let (_folder, binary) = made::save("tdesc.xml", b"<target>\xff</target>");
        let (_folder, empty) = made::save("tdesc.xml", "");
        let (_folder, text) = made::save("tdesc.xml", "not xml");
        let (_folder, short) = made::save(
            "tdesc.xml",
            "<target><architecture>i386:x86-64</architecture><feature name=\"org.gnu.gdb.i386.core\">\
             <reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\"/></feature></target>",
        );
        for (description, parts) in [
            ("/nonexistent.xml", &["/nonexistent.xml: No such file"][..]),
            (binary.as_str(), &["not UTF-8"]),
            (empty.as_str(), &["XML"]),
            (text.as_str(), &["XML"]),
            (short.as_str(), &["8 bytes", "2416"]),
        ] {
            let errors = refused(3, &["info", &recording, "--tdesc", description]);
            for part in parts {
                assert!(errors.contains(part), "{part} is not in {errors}");
            }
        }
    }

    #[test]
    fn a_machine_that_is_not_known() {
        let bare = path("nios2/seq-bare.tr");
        let errors = refused(3, &["info", &bare, "--arch", "nosuch"]);
        for part in [bare.as_str(), "--arch", "\"nosuch\"", "expected one of", "x86-64", "nios2", "--tdesc"] {
            assert!(errors.contains(part), "{part} is not in {errors}");
        }
        // Where the recording tells the machine, the option is not needed, and it is said that it was not used.
        let info = shown(&["info", &path("tfile/01-regs.tf"), "--arch", "mips"]);
        assert!(info.contains("--arch mips is not used"), "{info}");
        // A machine with too few registers for the recording.
        let (_folder, wide) = Made::new(&["R 2000"]).save("wide.tf");
        let errors = refused(3, &["info", &wide, "--arch", "nios2"]);
        for part in [wide.as_str(), "nios2", "196 bytes", "8192", "--tdesc"] {
            assert!(errors.contains(part), "{part} is not in {errors}");
        }
    }

    #[test]
    fn the_message_survives_a_standard_error_that_is_gone() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = traceframe().args(["info", "/nonexistent.tf"]).stderr(writer).spawn().unwrap();
        assert_eq!(support::wait(&mut child, DEADLINE).unwrap().code(), Some(3));
    }
}

mod strict {
    use super::*;

    #[test]
    fn damage_is_refused_with_its_place_and_served_without() {
        for (recording, said) in [
            ("tfile/30-truncframe.tf", "frame 4 at byte 0x61f4: the frame's size is 2417 bytes, but 994 are left"),
            ("tfile/31-noend.tf", "at byte 0x9abe: no end mark behind the last frame"),
            ("tfile/37-unkblock.tf", "frame 1 at byte 0x45a4: block type 0x5a is not R, M, V or S"),
        ] {
            let file = path(recording);
            for command in [&["info", &file][..], &["frames", &file], &["serve", &file, "--listen", ":0"]] {
                let errors = refused(3, &[command, &["--strict"]].concat());
                assert!(errors.contains(&format!("{file}: {said}")), "{errors}");
                assert!(errors.contains("--strict"), "{errors}");
            }
            let info = shown(&["info", &file]);
            assert!(info.contains(&format!("  {said}")) && info.contains("damage: 1 place could"), "{info}");
            let json: Value = serde_json::from_str(&shown(&["info", &file, "--json"])).unwrap();
            assert_eq!(json["damaged"], 1);
            assert!(json["damage"][0].as_str().unwrap().starts_with(said), "{json}");
            let (code, table, errors) = traceframe_with(&["frames", &file]);
            assert_eq!(code, 0);
            assert!(!rows(&table).is_empty());
            assert!(errors.contains("1 place could not be read") && errors.contains("info"), "{errors}");
            assert_eq!(table.contains("DAMAGED"), recording.contains("unkblock"), "{table}");
            // A server says it when all is indexed.
            let server = Server::serve(&[&file]);
            eventually("the warning", || server.errors().contains(said));
        }
    }

    #[test]
    fn what_is_whole_passes() {
        for arguments in [
            &["info", &path("tfile/01-regs.tf"), "--strict"][..],
            &["info", &path("tfile/04-step.tf"), "--exec", &path("bin/case"), "--strict"],
            &["frames", &path("tfile/17-pie.tf"), "--exec", &path("bin/casepie"), "--strict"],
            &["info", &path("nios2/seq.tr"), "--exec", &path("bin/seq.elf"), "--strict"],
        ] {
            shown(arguments);
        }
        let server = Server::serve(&[&path("tfile/04-step.tf"), "--exec", &path("bin/case"), "--strict"]);
        assert_eq!(server.connect().ask("QTFrame:27"), "F27T2");
    }
}

mod wrong_programs {
    use super::*;

    /// Where `constglob`, which is 10000, lies in `bin/case`: in memory and in the file.
    const CONSTANT: (u64, usize) = (0x40_2004, 0x2004);

    /// `bin/case` with one byte of a constant changed.
    fn changed() -> (tempfile::TempDir, String, String) {
        let mut program = std::fs::read(path("bin/case")).unwrap();
        assert_eq!(program[CONSTANT.1..CONSTANT.1 + 4], 10_000u32.to_le_bytes());
        program[CONSTANT.1 + 1] ^= 0x40;
        let (folder, program) = made::save("case", program);
        let real = std::fs::canonicalize(&program).unwrap().to_str().unwrap().to_owned();
        (folder, program, real)
    }

    /// Frames that collected the constant, the second and the third.
    fn recording() -> (tempfile::TempDir, String) {
        let mut made = Made::new(&["R 0", "tp T2:401131:E:0:0", "tp Z2:401131:at:0:9:636173652e633a3139"]);
        made.frame(2, &[made::memory(0x40_40c0, &[1, 2, 3, 4])]);
        for _ in 0..2 {
            made.frame(2, &[made::memory(CONSTANT.0, &10_000u32.to_le_bytes())]);
        }
        made.save("constant.tf")
    }

    #[test]
    fn one_changed_byte_that_a_frame_recorded_is_found() {
        let (_folder, program, real) = changed();
        let (_folder, file) = recording();
        let said = format!(
            "this may be the wrong program: frame 1 recorded 0x27 at 0x402005, where {real} has 0x67 in a read-only part"
        );
        let server = Server::serve(&[&file, "--exec", &program]);
        eventually("the warning", || server.errors().contains("WARN"));
        assert!(server.errors().contains(&said), "{}", server.errors());
        let mut client = server.connect();
        assert!(client.monitor("status").contains(&said));
        // In the frame the recorded byte counts, in another the program's.
        client.ask("QTFrame:1");
        assert_eq!(client.ask("m402004,4"), "10270000");
        client.ask("QTFrame:0");
        assert_eq!(client.ask("m402004,4"), "10670000");
        let info = shown(&["info", &file, "--exec", &program]);
        assert!(info.contains(&format!("warnings:\n  {said}\n")), "{info}");
        let json: Value = serde_json::from_str(&shown(&["info", &file, "--exec", &program, "--json"])).unwrap();
        assert_eq!(json["warnings"][0], said);
        let errors = refused(3, &["info", &file, "--exec", &program, "--strict"]);
        assert!(errors.contains(&said), "{errors}");

        // The right program gives no warning.
        let case = path("bin/case");
        assert!(!shown(&["info", &file, "--exec", &case, "--strict"]).contains("warnings:"));
        // What no frame recorded cannot be told.
        let regs = path("tfile/01-regs.tf");
        assert!(!shown(&["info", &regs, "--exec", &program]).contains("warnings:"));
    }

    #[test]
    fn a_program_that_could_not_have_made_the_recording() {
        let file = path("tfile/01-regs.tf");
        let real = |name: &str| std::fs::canonicalize(path(name)).unwrap().to_str().unwrap().to_owned();
        for (program, options, said) in [
            (
                "bin/casepie",
                &[][..],
                format!(
                    "{} is position-independent and nothing recorded tells the one place where it lay",
                    real("bin/casepie")
                ),
            ),
            ("bin/casepie", &["--load-bias", "0"], "tracepoint 2 was set at case.c:19, and 0x401131 is".to_owned()),
            (
                "bin/case32",
                &[],
                format!("{} is for another machine than i386:x86-64, and is not used", real("bin/case32")),
            ),
            (
                "bin/seq.elf",
                &[],
                format!("{} is for another machine than i386:x86-64, and is not used", real("bin/seq.elf")),
            ),
        ] {
            let program = path(program);
            let arguments = [&[file.as_str(), "--exec", &program][..], options].concat();
            let server = Server::serve(&arguments);
            eventually("the warning", || server.errors().contains("WARN"));
            assert!(server.errors().contains(&said), "{said} is not in {}", server.errors());
            assert_eq!(server.connect().ask("QTFrame:0"), "F0T2");
            let errors = refused(3, &[&["info", "--strict"], &arguments[..]].concat());
            assert!(errors.contains(&said), "{errors}");
        }
        // Another build of the same program, in which a function before the tracepoint's moved it.
        let folder = tempfile::tempdir().unwrap();
        let built = |name: &str, flags: &[&str], change: &dyn Fn(String) -> String| {
            let source = change(std::fs::read_to_string(path("bin/case.c")).unwrap());
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            let (source_file, program) =
                (folder.path().join(name).join("case.c"), folder.path().join(name).join("case"));
            std::fs::write(&source_file, source).unwrap();
            let mut gcc = std::process::Command::new("gcc");
            let (code, _, errors) = run(gcc.args(["-g", "-O0"]).args(flags).arg("-o").args([&program, &source_file]));
            assert_eq!(code, Some(0), "{errors}");
            program.to_str().unwrap().to_owned()
        };
        let moved = |source: String| {
            source.replace(
                "int __attribute__ ((noinline)) step",
                "int more (int q) { return q * 7 + other; } int __attribute__ ((noinline)) step",
            )
        };
        let program = built("moved", &["-no-pie"], &moved);
        let errors = refused(3, &["info", "--strict", &file, "--exec", &program]);
        assert!(errors.contains("tracepoint 2 was set at case.c:19, and 0x401131 is "), "{errors}");
        // A tracepoint in a library says nothing of the program.
        let program = path("bin/case");
        let library = folder.path().join("library.tf");
        let text = std::fs::read(&file).unwrap();
        let at = memchr::memmem::find(&text, b"\n\n").unwrap();
        let added = b"\ntp T3:7ffff7e4b980:E:0:0\ntp A3:7ffff7e4b980:R03\ntp Z3:7ffff7e4b980:at:0:9:656c73657768657265";
        std::fs::write(&library, [&text[..at], added, &text[at..]].concat()).unwrap();
        shown(&["info", "--strict", library.to_str().unwrap(), "--exec", &program]);
        // A program of another machine is named as such.
        let info = shown(&["info", &file, "--exec", &path("bin/case32")]);
        assert!(info.contains("the program image is for i386, the registers are those of i386:x86-64"), "{info}");
    }
}

mod info {
    use super::*;

    #[test]
    fn as_text() {
        let file = path("tfile/04-step.tf");
        let info = shown(&["info", &file, "--exec", &path("bin/case")]);
        for line in [
            &format!("{file}: TRACE0"),
            "frames: 40",
            "tracepoint 2 (trap) at case.c:19: 40 frames",
            "  0x401131 step+11 case.c:19, hit 10 or 16 times, 97130 or 618800 bytes of the buffer",
            "  while-stepping 3",
            "  collect $regs,counter",
            "  $trace_timestamp (variable 1): initial 0, never recorded",
        ] {
            assert!(info.lines().any(|found| found == line), "{line} is not in {info}");
        }
        assert!(info.contains("\ntarget: i386:x86-64, little-endian, 64-bit addresses; "), "{info}");
        assert!(info.contains("\nrun: stopped by a tstop command, 0.024934 s after its start"), "{info}");
        assert!(!info.contains("damage") && !info.contains("warnings"), "{info}");
        let info = shown(&["info", &path("tfile/03-tsv.tf")]);
        assert!(info.contains("  $neg (variable 3): initial -7, last recorded -17\n"), "{info}");
        // A number in a file of gdbserver's that may be read in two ways is said to be so.
        assert!(info.contains("may mean 10 or 16"), "{info}");
    }

    #[test]
    fn as_json() {
        let (file, program) = (path("tfile/04-step.tf"), path("bin/case"));
        let info: Value = serde_json::from_str(&shown(&["info", &file, "--exec", &program, "--json"])).unwrap();
        let real = std::fs::canonicalize(&program).unwrap();
        for (place, expected) in [
            ("/version", Value::from(1)),
            ("/file", Value::from(file)),
            ("/format", Value::from("TRACE0")),
            ("/target/architecture", Value::from("i386:x86-64")),
            ("/target/byte_order", Value::from("little-endian")),
            ("/target/address_size", Value::from(8)),
            ("/target/registers", Value::from(148)),
            ("/target/register_block_bytes", Value::from(2416)),
            ("/program/path", Value::from(real.to_str().unwrap())),
            ("/program/build_id", Value::from("96c8db45b6484a3ec8ed59f88a0b84f684176a9e")),
            ("/run/running", Value::from(false)),
            ("/run/frames", Value::from(40)),
            ("/run/buffer_free", Value::from(0x4e_83a6)),
            ("/run/start_us", Value::from(0x8e90_93acu64)),
            ("/tracepoints/0/number", Value::from(2)),
            ("/tracepoints/0/at", Value::from("case.c:19")),
            ("/tracepoints/0/condition", Value::Null),
            ("/tracepoints/0/step_count", Value::from(3)),
            ("/tracepoints/0/locations/0/address", Value::from("0x401131")),
            ("/tracepoints/0/locations/0/function", Value::from("step+11")),
            ("/tracepoints/0/frames", Value::from(40)),
            ("/variables/0/name", Value::from("trace_timestamp")),
            ("/frames", Value::from(40)),
            ("/frames_by_tracepoint/2", Value::from(40)),
            ("/warnings", Value::Array(Vec::new())),
            ("/damaged", Value::from(0)),
            ("/damage", Value::Array(Vec::new())),
        ] {
            assert_eq!(info.pointer(place), Some(&expected), "{place} of {info:#}");
        }
        let info: Value = serde_json::from_str(&shown(&["info", &path("nios2/seq-bare.tr"), "--json"])).unwrap();
        assert_eq!(info["program"], Value::Null);
        assert_eq!(info["run"]["known"], false);
        assert_eq!(info["frames_by_tracepoint"]["2"], 16, "of a tracepoint that nothing defines");
        let info: Value = serde_json::from_str(&shown(&["info", &path("tfile/03-tsv.tf"), "--json"])).unwrap();
        assert_eq!(info["variables"][2]["initial"], -7);
        assert_eq!(info["variables"][2]["last"], -17);
    }
}

mod frames {
    use super::*;

    fn of(recording: &str, options: &[&str]) -> Vec<u64> {
        rows(&shown(&[&["frames", &path(recording)], options].concat()))
    }

    #[test]
    fn with_each_filter() {
        let steps = "tfile/04-step.tf";
        assert_eq!(of(steps, &[]), (0..40).collect::<Vec<_>>());
        assert_eq!(of(steps, &["--range", "3..5"]), [3, 4, 5]);
        assert_eq!(of(steps, &["--range", "..1"]), [0, 1]);
        assert_eq!(of(steps, &["--range", "38.."]), [38, 39]);
        assert_eq!(of(steps, &["--range", "0x26..0x27"]), [38, 39]);
        assert_eq!(of(steps, &["--range", "39..1000"]), [39]);
        let (code, output, errors) = traceframe_with(&["frames", &path(steps), "--range", "40..50"]);
        assert_eq!((code, rows(&output).len()), (0, 0));
        assert_eq!(errors, " WARN there is no frame 40 (--range): the last is 39\n");
        assert_eq!(of(steps, &["--pc", "0x401134", "--range", "..9"]), [1, 5, 9]);
        assert_eq!(of(steps, &["--pc", "4198708", "--range", "..9"]), [1, 5, 9]);
        assert_eq!(of(steps, &["--pc", "0x401134,0x401136", "--range", "..6"]), [1, 2, 5, 6]);
        assert_eq!(of(steps, &["--pc", "0,0xffffffffffffffff"]).len(), 40);
        assert_eq!(of(steps, &["--tracepoint", "2"]).len(), 40);
        assert_eq!(of(steps, &["--tracepoint", "9"]), [0; 0]);
        assert_eq!(of(steps, &["--tracepoint", "-1"]), [0; 0]);
        assert_eq!(of("tfile/06-mloc.tf", &["--tracepoint", "3", "--range", "..6"]), [1, 3, 5]);
        assert_eq!(of("tfile/06-mloc.tf", &["--tracepoint", "3", "--pc", "0,0xffffffffffffffff"]), [0; 0]);
    }

    #[test]
    fn what_a_row_says() {
        let table = shown(&["frames", &path("tfile/03-tsv.tf"), "--exec", &path("bin/case"), "--range", "4..4"]);
        let row = table.lines().nth(1).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        let expected = ["4", "2", "0x401131", "step+11", "case.c:19", "registers", "0x7fffffffe4bc+4", "$hits=10"];
        assert_eq!(words[..8], expected, "{row}");
        let table = shown(&["frames", &path("tfile/42-noR.tf")]);
        let inferred: Vec<bool> = table.lines().skip(1).map(|row| row.contains("0x401131 inferred")).collect();
        assert_eq!(inferred, [true, true, false]);
        let table = shown(&["frames", &path("tfile/06-mloc.tf"), "--range", "1..1"]);
        assert!(table.contains("unknown"), "{table}");
    }

    #[test]
    fn as_json_a_line_each() {
        let output = shown(&["frames", &path("tfile/03-tsv.tf"), "--exec", &path("bin/case"), "--json"]);
        let frames: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(frames.len(), 10);
        for (number, frame) in frames.iter().enumerate() {
            assert_eq!(frame["version"], 1);
            assert_eq!(frame["frame"], number);
            assert_eq!(frame["tracepoint"], 2);
            assert_eq!(frame["pc"], "0x401131");
            assert_eq!(frame["pc_inferred"], false);
            assert_eq!(frame["function"], "step+11");
            assert_eq!(frame["line"], 19);
            assert_eq!(frame["register_bytes"], 2416);
            assert_eq!(frame["memory"][0]["address"], "0x7fffffffe4bc");
            assert_eq!(frame["memory"][0]["length"], 4);
            assert_eq!(frame["variables"][0]["name"], "hits");
            assert_eq!(frame["variables"][0]["value"], 6 + number);
            assert_eq!(frame["damage"], Value::Null);
        }
        let output = shown(&["frames", &path("tfile/42-noR.tf"), "--json", "--range", "0..0"]);
        let frame: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&frame["pc_inferred"], &frame["register_bytes"]), (&Value::from(true), &Value::from(0)));
        let output = shown(&["frames", &path("tfile/06-mloc.tf"), "--json", "--range", "1..1"]);
        assert_eq!(serde_json::from_str::<Value>(&output).unwrap()["pc"], Value::Null);
        let output = shown(&["frames", &path("tfile/39-sblock.tf"), "--json", "--range", "0..0"]);
        assert_eq!(serde_json::from_str::<Value>(&output).unwrap()["static_data_bytes"], 5);
        assert_eq!(shown(&["frames", &path("tfile/03-tsv.tf"), "--json", "--tracepoint", "9"]), "");
    }

    /// A recording whose table is far longer than a pipe holds.
    fn long() -> (tempfile::TempDir, String) {
        let mut made = Made::new(&["R 0"]);
        for _ in 0..20_000 {
            made.frame(1, &[made::variable(1, 2)]);
        }
        made.save("long.tf")
    }

    #[test]
    fn whoever_reads_the_table_may_have_seen_enough() {
        let (_folder, file) = long();
        for command in [&["frames", &file][..], &["frames", &file, "--json"]] {
            let mut child = traceframe()
                .args(command)
                .args(["--arch", "x86-64"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut reader = BufReader::with_capacity(64, child.stdout.take().unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            assert!(line.contains("frame"), "{line}");
            drop(reader);
            let status = support::wait(&mut child, DEADLINE).expect("it does not end");
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            assert_eq!((status.code(), errors.as_str()), (Some(0), ""), "{command:?}");
        }
        // The same where nobody ever read, and for the other command.
        for command in ["frames", "info"] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut child = traceframe().args([command, &file, "--arch", "x86-64"]).stdout(writer).spawn().unwrap();
            assert_eq!(support::wait(&mut child, DEADLINE).unwrap().code(), Some(0), "{command}");
        }
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let (_folder, file) = long();
        for command in ["frames", "info"] {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let mut child = traceframe()
                .args([command, &file, "--arch", "x86-64"])
                .stdout(full)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let status = support::wait(&mut child, DEADLINE).unwrap();
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            assert_eq!(status.code(), Some(1), "{errors}");
            assert!(errors.contains("cannot write: No space left"), "{errors}");
        }
    }
}

mod compressed {
    use super::*;
    use std::io::Write;

    type Compress = fn(&[u8]) -> Vec<u8>;

    const COMPRESSIONS: [(&str, Compress); 3] = [("gzip", gzip), ("xz", xz), ("zstd", zstd)];

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    #[test]
    fn a_recording_is_read_as_it_was_before_it_was_compressed() {
        let plain = std::fs::read(data("tfile/04-step.tf")).unwrap();
        let expected = shown(&["frames", &path("tfile/04-step.tf")]);
        for (name, compress) in COMPRESSIONS {
            // Its name tells nothing.
            let (_folder, file) = made::save("any.name", compress(&plain));
            assert_eq!(shown(&["frames", &file]), expected, "{name}");
            let info = shown(&["info", &file]);
            assert!(info.contains(&format!("{name} data, expanded in memory")), "{info}");
        }
    }

    #[test]
    fn what_is_whole_of_cut_data_is_shown_and_the_cut_is_named() {
        let mut made = Made::new(&["R 0"]);
        for number in 0..40_000u32 {
            made.frame(1, &[made::memory(0x1000, &(number.wrapping_mul(2_654_435_761)).to_le_bytes())]);
        }
        for (name, compress) in COMPRESSIONS {
            let stored = compress(&made.bytes());
            let (_folder, file) = made::save("cut.tf", &stored[..stored.len() * 3 / 4]);
            let info = shown(&["info", &file]);
            assert!(info.contains(&format!("the {name} data cannot be expanded beyond here: ")), "{info}");
            let frames: u64 =
                serde_json::from_str::<Value>(&shown(&["info", "--json", &file])).unwrap()["frames"].as_u64().unwrap();
            assert!((10_000..40_000).contains(&frames), "{name}: {frames}");
            let error = refused(3, &["info", "--strict", &file]);
            assert!(error.contains("cannot be expanded beyond here"), "{error}");
            let (_folder, file) = made::save("cut.tf", &stored[..8]);
            let error = refused(3, &["info", &file]);
            assert!(error.contains(&format!("cut.tf: is {name} data that cannot be expanded: ")), "{error}");
        }
    }

    #[test]
    fn a_terminal_shows_how_far_a_long_expansion_is() {
        // Members of a gzip file follow one another.
        let stored = [gzip(b"\x7fTRACE0\nR 0\n\n\0\0\0\0"), gzip(&[0; 1 << 20]).repeat(200)].concat();
        let (_folder, file) = made::save("long", stored);
        // A part of util-linux that runs a command on a terminal of its own.
        let mut script = std::process::Command::new("script");
        let program = env!("CARGO_BIN_EXE_traceframe");
        script.env("SHELL", "/bin/sh").args(["-qec", &format!("'{program}' info '{file}'"), "/dev/null"]);
        let shown = script.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        let (progress, info) = text.rsplit_once("\r\x1b[K").unwrap_or_else(|| panic!("{text:?}"));
        let steps: Vec<u64> = progress
            .split('\r')
            .filter_map(|line| line.strip_prefix("reading: ")?.strip_suffix(" MB\x1b[K")?.parse().ok())
            .collect();
        assert!(!steps.is_empty() && steps.is_sorted(), "{text:?}");
        assert!(info.contains("frames: 0") && !info.contains("reading: "), "{text:?}");
        // Nobody watches a file or a pipe.
        let output = std::process::Command::new(program).args(["info", &file]).output().unwrap();
        assert!(!String::from_utf8(output.stderr).unwrap().contains("reading: "));
    }

    #[test]
    fn what_is_no_recording_is_named_behind_the_compression_too() {
        for (name, compress) in COMPRESSIONS {
            let (_folder, file) = made::save("twice", compress(&compress(b"\x7fTRACE0\n\n")));
            let error = refused(3, &["info", &file]);
            assert!(error.contains(&format!("is {name} data, not a recording")), "{error}");
            let (_folder, file) = made::save("nothing", compress(b""));
            let error = refused(3, &["info", &file]);
            assert!(error.contains("is empty"), "{error}");
        }
    }
}

mod frames_of_a_kernel {
    use super::*;
    use support::report::{self, Line};

    #[test]
    fn are_rows_as_trace_cmd_has_them() {
        for name in ["sched-v7-zstd", "clock-mono_raw", "marker-v7-zstd"] {
            let table = shown(&["frames", &path(&format!("tracedat/{name}.dat"))]);
            let lines = report::lines(&format!("{name}.report-R"));
            assert!(lines.len() > 60 && table.lines().count() == lines.len() + 1, "{name}");
            for ((number, line), row) in lines.iter().enumerate().zip(table.lines().skip(1)) {
                let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
                let Line { time, cpu, pid, event, .. } = line;
                // The report names a task as it was called in the end, the table as it was then.
                assert!(row.starts_with(&format!("{number} {time} {cpu} ")), "{name}: {row}, not {line:?}");
                assert!(row.contains(&format!("-{pid} {event} ")), "{name}: {row}, not {line:?}");
                for field in ["prev_comm", "next_comm", "next_pid", "ret", "child_comm", "child_pid"] {
                    let Some(value) = line.field(field) else { continue };
                    // Longs are hexadecimal in the report.
                    if value.starts_with("0x") {
                        continue;
                    }
                    let value = if value.contains(' ') { format!("\"{value}\"") } else { value.to_owned() };
                    assert!(
                        format!("{row} ").contains(&format!(" {field}={value} ")),
                        "{name}: {row}, not {field}={value}"
                    );
                }
                assert!(!row.contains("event_id") && !row.contains("rec="), "{row}");
            }
        }
    }

    #[test]
    fn have_counts_for_times_where_the_clock_counts_no_nanoseconds() {
        let report = report::text("clock-x86-tsc.report-t");
        assert!(
            report
                .lines()
                .nth(1)
                .unwrap()
                .starts_with("            bash-12013 [001] d..2.2453820245150: sched_switch:")
        );
        let recording = path("tracedat/clock-x86-tsc.dat");
        let table = shown(&["frames", &recording, "--time", "..2453820245150"]);
        let row = table.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(row[..5], ["0", "2453820245150", "1", "bash-12013", "sched_switch"]);
        assert_eq!(rows(&table), [0]);
    }

    #[test]
    fn are_chosen_by_task_and_time() {
        let recording = path("tracedat/sched-v7-zstd.dat");
        let lines = report::lines("sched-v7-zstd.report-t");
        let expected = |holds: &dyn Fn(&Line) -> bool| -> Vec<u64> {
            (0..).zip(&lines).filter(|(_, line)| holds(line)).map(|(number, _)| number).collect()
        };
        let of = |options: &[&str]| rows(&shown(&[&["frames", &recording[..]], options].concat()));
        let task = expected(&|line| line.pid == 672);
        assert!(!task.is_empty());
        assert_eq!(of(&["--pid", "672"]), task);
        let late = expected(&|line| line.nanoseconds >= 882_296_100_000);
        assert!(late.len() > 100 && late.len() < 2000);
        assert_eq!(of(&["--time", "882.2961.."]), late);
        let both = expected(&|line| line.nanoseconds <= 882_296_100_000 && line.pid == 24560);
        assert!(!both.is_empty());
        assert_eq!(of(&["--time", "..882.2961", "--pid", "24560"]), both);
        assert_eq!(of(&["--pid", "1"]), [0; 0]);
        // A recording without tasks and times has no such frames.
        assert_eq!(rows(&shown(&["frames", &path("tfile/04-step.tf"), "--pid", "1"])), [0; 0]);
        assert_eq!(rows(&shown(&["frames", &path("tfile/04-step.tf"), "--time", "0.."])), [0; 0]);
    }

    #[test]
    fn are_events_in_json() {
        let output = shown(&["frames", &path("tracedat/sched-v7-zstd.dat"), "--json", "--range", "0..633"]);
        let rows: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines = report::lines("sched-v7-zstd.report-R");
        for (row, line) in rows.iter().zip(&lines) {
            let event = &row["event"];
            assert_eq!(row["time"], line.nanoseconds);
            assert_eq!((&event["name"], &event["time"]), (&line.event.as_str().into(), &line.time.as_str().into()));
            assert_eq!((&event["cpu"], &event["pid"]), (&line.cpu.into(), &line.pid.into()));
            if let Some(own) = line.field("prev_comm") {
                assert_eq!(event["task"], own, "{row}");
            }
            for name in ["prev_comm", "next_comm"] {
                assert_eq!(event["fields"][name].as_str(), line.field(name), "{row}");
            }
        }
        // The first of CPU 0 is marked in the report: `CPU:0 [EVENTS DROPPED]`.
        assert_eq!((&rows[0]["event"]["lost_before"], &rows[1]["event"]["lost_before"]), (&(-1).into(), &Value::Null));
        let output = shown(&["frames", &path("tfile/04-step.tf"), "--json", "--range", "0..0"]);
        let row: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&row["event"], &row["time"]), (&Value::Null, &Value::Null));
    }
}

mod addresses {
    use super::*;

    #[test]
    fn are_hexadecimal_where_a_probe_or_its_registers_were() {
        let table = shown(&["frames", &path("tracedat/uprobe-v7-zstd.dat")]);
        let row = |event: &str| table.lines().find(|row| row.contains(&format!(" {event} "))).unwrap();
        let hit = row("place_order");
        for field in [
            " __probe_ip=0x401136 rip=0x401136 rsp=0x7ffc",
            " rdx=0x1000 ",
            " r8=0x0 ",
            " stk=[0x40129e ",
            " id=1 qty=7 ",
        ] {
            assert!(hit.contains(field), "{hit}");
        }
        assert!(row("place_order_ret").contains(" __probe_func=0x401136 __probe_ret_ip=0x40129e ret=12 "));
    }
}

mod choices {
    use super::*;

    fn refusal(name: &str, options: &[&str]) -> String {
        let recording = path(&format!("tracedat/{name}.dat"));
        let said = ["info", "frames"].map(|command| refused(3, &[&[command, &recording], options].concat()));
        assert_eq!(said[0], said[1]);
        let what = said[0].strip_prefix(&format!("traceframe: {recording}: ")).unwrap_or_else(|| panic!("{said:?}"));
        what.trim_end().to_owned()
    }

    #[test]
    fn of_what_a_recording_does_not_have_are_refused_with_what_it_has() {
        let events = "there are: sched_switch, ";
        for (name, options, what, there) in [
            ("sched-v7-zstd", &["--event", "sched_swich"][..], "there is no event \"sched_swich\" (--event); ", events),
            (
                "sched-v6",
                &["--event", "sched_switch", "--event", "irq:nosuch"],
                "no event \"irq:nosuch\"",
                "there are: irq:irq_handler_entry, ",
            ),
            ("sched-v7-zstd", &["--event", "\x1b[31m"], "no event \"\\u{1b}[31m\"", " more"),
            ("sched-v7-zstd", &["--cpu", "99"], "there is no CPU 99 (--cpu); ", "there are: 0, 1"),
            ("sched-v6", &["--cpu", "0", "--cpu", "2"], "there is no CPU 2 ", "there are: 0, 1"),
            ("instances-v7-zlib", &["--instance", "foox"], "no instance \"foox\"", "there are: foo, '', bar"),
            ("instances-v7-zlib", &["--instance", "foo", "--instance", "baz"], "no instance \"baz\"", ": bar, '', foo"),
            (
                "sched-v7-zstd",
                &["--map", "arg1=rdi"],
                "arg1=rdi (--map): no probe has a field \"arg1\"",
                "there are: none",
            ),
            ("uprobe-v7-zstd", &["--map", "rdx=di", "--map", "nme=+0(%di)"], "nme=+0(%di) (--map): no probe", ": name"),
            ("uprobe-v7-zstd", &["--map", "rdx=rdxx"], "the machine has no register rdxx", "there are: rdx, "),
            ("uprobe-v7-zstd", &["--map", "name=di"], "the field is no number as wide as the register", ""),
            ("uprobe-v7-zstd", &["--map", "rdx=+0(%di)"], "the field is a number, which is no memory", ""),
            (
                "uprobe-v7-zstd",
                &["--map", "name=-0x10(%xmm0)"],
                "name=-16(%xmm0) (--map): no field of the probe is",
                "",
            ),
        ] {
            let said = refusal(name, options);
            assert!(said.contains(what) && said.contains(there), "{options:?}: {said}");
        }
    }

    #[test]
    fn of_what_occurs_nowhere_are_no_error() {
        // An event that has a format, and a CPU that made none of the instance's.
        for (name, options) in [
            ("sched-v7-zstd", ["--event", "ftrace:print"]),
            ("marker-v7-zstd", ["--event", "ftrace:kernel_stack"]),
            ("instances-v7-zlib", ["--instance", ""]),
            ("latency-v7-zstd", ["--instance", ""]),
        ] {
            shown(&[&["frames", &path(&format!("tracedat/{name}.dat"))], &options[..]].concat());
        }
    }
}

mod instances {
    use super::*;

    fn recording() -> String {
        path("tracedat/instances-v7-zlib.dat")
    }

    fn of(event: &Value) -> &str {
        event["event"]["instance"].as_str().unwrap_or_default()
    }

    #[test]
    fn are_named_with_each_event_where_there_are_several() {
        let json = shown(&["frames", &recording(), "--json"]);
        let json: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let table = shown(&["frames", &recording()]);
        let (heading, rows) = table.split_once('\n').unwrap();
        assert!(heading.contains("  cpu  instance    task  "), "{heading}");
        let mut counts = std::collections::BTreeMap::new();
        for (event, row) in json.iter().zip(rows.lines()) {
            let name = of(event);
            let shown = row.split_whitespace().nth(3).unwrap();
            assert_eq!(shown, if name.is_empty() { "\"\"" } else { name }, "{row}");
            *counts.entry(name).or_insert(0) += 1;
        }
        // As the decoder counts them.
        assert_eq!(counts, [("", 8), ("bar", 1518), ("foo", 66)].into());
    }

    #[test]
    fn are_no_column_where_one_is_shown() {
        for options in [&[&recording()[..], "--instance", "foo"][..], &[&path("tracedat/sched-v7-zstd.dat")[..]]] {
            let table = shown(&[&["frames"], options].concat());
            assert!(table.starts_with("   frame                time  cpu  task "), "{table}");
        }
        let json = shown(&["frames", &recording(), "--instance", "foo", "--json"]);
        assert!(json.lines().all(|line| of(&serde_json::from_str(line).unwrap()) == "foo"));
    }

    #[test]
    fn with_different_clocks_do_not_compare() {
        let remark = "the instances shown have different clocks";
        let said = shown(&["info", &recording()]);
        assert!(
            said.contains(&format!("{remark} (the top one: local, foo: mono, bar: boot): their times do not ")),
            "{said}"
        );
        assert!(!shown(&["info", &recording(), "--instance", "bar"]).contains(remark));
    }
}

mod lost_events {
    use super::*;

    #[test]
    fn count_as_made_where_they_may_have_been_chosen() {
        let counts = |name: &str, options: &[&str]| {
            let recording = path(&format!("tracedat/{name}.dat"));
            let info = shown(&[&["info", &recording, "--json"], options].concat());
            let info: Value = serde_json::from_str(&info).unwrap();
            (info["run"]["frames"].as_u64().unwrap(), info["run"]["frames_created"].as_u64())
        };
        let (frames, created) = counts("lost-v7-zstd", &[]);
        let of_cpu = ["0", "1"].map(|cpu| counts("lost-v7-zstd", &["--cpu", cpu]));
        assert_eq!(of_cpu.map(|(frames, _)| frames).iter().sum::<u64>(), frames);
        assert_eq!(of_cpu.map(|(_, created)| created.unwrap()).iter().sum::<u64>(), created.unwrap());
        assert!(of_cpu.iter().all(|(frames, created)| *frames < created.unwrap()));
        assert_eq!(counts("instances-v7-zlib", &["--instance", "foo"]), (66, Some(66)));
        // Which events were lost nobody knows, nor how many where they were not counted: of CPU 0 here.
        assert_eq!(counts("lost-v7-zstd", &["--event", "sys_enter"]).1, None);
        assert_eq!(counts("sched-v7-zstd", &["--event", "sched_switch", "--cpu", "1"]).1, None);
        assert!(counts("sched-v7-zstd", &["--cpu", "1"]).1.is_some());
        assert_eq!(counts("sched-v7-zstd", &[]).1, None);
    }

    #[test]
    fn have_their_last_count_wherever_it_is() {
        for (name, options) in [
            ("lost-v7-zstd", &[][..]),
            ("lost-v7-zstd", &["--cpu", "0"]),
            ("sched-v7-zstd", &["--event", "sched_switch"]),
            ("uprobe-v7-zstd", &[]),
        ] {
            let recording = path(&format!("tracedat/{name}.dat"));
            let rows = shown(&[&["frames", &recording, "--json"], options].concat());
            let lost = |row: &str| serde_json::from_str::<Value>(row).unwrap()["event"]["lost_before"].as_i64();
            let last = rows.lines().rev().find_map(lost);
            assert_eq!(last.is_some(), name != "uprobe-v7-zstd");
            let info = shown(&[&["info", &recording, "--json"], options].concat());
            let info: Value = serde_json::from_str(&info).unwrap();
            let mut variables = info["variables"].as_array().unwrap().iter();
            let variable = variables.find(|variable| variable["name"] == "lost_before").unwrap();
            assert_eq!(variable["last"].as_i64(), last, "{name} {options:?}");
        }
    }
}
