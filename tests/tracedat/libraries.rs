//! A probe in a shared library: what the recording's maps say of it, in gdb.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use super::made_file::{COMMON, Made, TIME};
use super::support::{Gdb, Server, data, run, traceframe};

const MACHINE: Made = Made { uname: "x86_64", long: 8, is_big: false, base: 0xffff_ffff_8100_0000 };

const REGISTERS: [&str; 5] = ["rip", "rsp", "rbp", "rbx", "rdi"];

/// How many words of the stack the probe fetches.
const WORDS: usize = 48;

/// The program and its library, made in a folder: the program's path.
fn compile(folder: &Path) -> String {
    let source = |name: &str| format!("{}/tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let common = ["-g", "-O1", "-fno-inline", "-fomit-frame-pointer", "-nostdlib"];
    let library = ["-shared", "-fPIC", "-o", "liblibrary.so", &source("library")].map(str::to_owned);
    let program = ["-fPIE", "-pie", "-Wl,-rpath,$ORIGIN", "-o", "borrower", &source("borrower"), "liblibrary.so"];
    for own in [library.to_vec(), program.map(str::to_owned).to_vec()] {
        let (code, _, errors) = run(Command::new("gcc").args(common).args(own).current_dir(folder));
        assert_eq!(code, Some(0), "{errors}");
    }
    folder.join("borrower").to_str().unwrap().to_owned()
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).unwrap()
}

/// What a real run shows at the second call of the library's function.
struct Seen {
    registers: Vec<u64>,
    stack: Vec<u64>,
    /// Address, end and path of each mapped part of a file.
    maps: Vec<(u64, u64, String)>,
    backtrace: Vec<String>,
}

fn record(gdb: Gdb, program: &str) -> Seen {
    let start = ["set breakpoint pending on", "break lend", "run", "continue"].map(str::to_owned);
    let setup: Vec<String> = std::iter::once(format!("file {program}")).chain(start).collect();
    let mut commands: Vec<String> = REGISTERS.iter().map(|name| format!("printf \"%#lx\\n\", ${name}")).collect();
    commands.extend((0..WORDS).map(|word| format!("printf \"%#lx\\n\", ((unsigned long *) $rsp)[{word}]")));
    commands.extend(["info proc mappings", "backtrace"].map(str::to_owned));
    let answers = gdb.answers(&setup, &commands);
    let (numbers, texts) = answers.split_at(REGISTERS.len() + WORDS);
    let numbers: Vec<u64> = numbers.iter().map(|lines| number(&lines[0])).collect();
    let [maps, backtrace] = texts else { panic!("{texts:?}") };
    let map = |line: &String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let path = words.last().filter(|path| path.starts_with('/'))?;
        Some((number(words[0]), number(words[1]), (*path).to_owned()))
    };
    Seen {
        registers: numbers[..REGISTERS.len()].to_vec(),
        stack: numbers[REGISTERS.len()..].to_vec(),
        maps: maps.iter().filter_map(map).collect(),
        backtrace: backtrace.clone(),
    }
}

/// The recording of a probe at that place, and the maps of the process.
fn file(seen: &Seen) -> Vec<u8> {
    recording(seen, &[(77, 0)])
}

/// The same with the maps of several processes, each so much higher.
fn recording(seen: &Seen, processes: &[(u32, u64)]) -> Vec<u8> {
    let mut format = format!("name: lend\nID: 1500\n{COMMON}\tfield:u64 __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n");
    for (name, at) in REGISTERS.iter().zip((16..).step_by(8)) {
        writeln!(format, "\tfield:u64 {name};\toffset:{at};\tsize:8;\tsigned:0;").unwrap();
    }
    let at = 16 + 8 * REGISTERS.len();
    writeln!(format, "\tfield:u64 stk[];\toffset:{at};\tsize:{};\tsigned:0;\n\nprint fmt: \"\"", 8 * WORDS).unwrap();
    let mut record = MACHINE.common(1500, 77);
    let numbers = std::iter::once(&seen.registers[0]).chain(&seen.registers).chain(&seen.stack);
    record.extend(numbers.flat_map(|value| value.to_le_bytes()));
    let mut maps = String::new();
    for (pid, higher) in processes {
        writeln!(maps, "{pid:x} {:x} borrower", seen.maps.len()).unwrap();
        for (start, end, path) in &seen.maps {
            writeln!(maps, "{:x} {:x} {path}", start + higher, end + higher).unwrap();
        }
    }
    // A word of 27 bits says how long a record is, up to 112 bytes; longer ones say it in one of their own.
    let long = [MACHINE.number(record.len() as u64 + 4, 4), record].concat();
    let data = [MACHINE.number(0, 4), long].concat();
    let mut page = [MACHINE.number(TIME, 8), MACHINE.number(data.len() as u64, 8), data].concat();
    page.resize(4096, 0);
    MACHINE.file(&[("uprobes", format)], &[(10, maps.into_bytes())], &[page], &[])
}

#[test]
fn a_backtrace_from_a_library_leads_into_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path());
    let path = folder.path().join("library.dat");
    let library = folder.path().join("liblibrary.so");
    let mut backtrace = Vec::new();
    let (path, library) = (path.to_str().unwrap(), library.to_str().unwrap());
    for gdb in [Gdb::Newest, Gdb::Debian] {
        let seen = record(gdb, &program);
        assert!(seen.backtrace.iter().any(|line| line.contains("lend (amount=")), "{:?}", seen.backtrace);
        assert!(seen.backtrace.last().unwrap().contains("in _start () at"), "{:?}", seen.backtrace);
        std::fs::write(path, file(&seen)).unwrap();
        let commands = ["info sharedlibrary", "tfind 0", "backtrace"].map(str::to_owned);
        // By the server alone, by the file here, and as a gdb does it that knows of no operating system.
        for settings in ["set sysroot target:", "set sysroot /", "set osabi none"] {
            let server = Server::serve(&[path, "--exec", &program, "--library", library]);
            let setup = [settings.to_owned(), format!("target remote :{}", server.port)];
            let answers = gdb.answers(&setup, &commands);
            assert_eq!(answers[2], seen.backtrace, "{gdb:?}");
            assert!(answers[0].iter().any(|line| line.contains("Yes") && line.ends_with(library)), "{:?}", answers[0]);
        }
        // Without it nobody knows which function that is.
        let server = Server::serve(&[path, "--exec", &program]);
        let answers = gdb.answers(&[format!("target remote :{}", server.port)], &commands);
        assert_eq!(answers[2][0], format!("#0  {:#018x} in ?? ()", seen.registers[0]), "{gdb:?}");
        let output = server.output();
        assert!(
            output.contains(&format!("library: {library}, at 0x")) && output.contains("--library gives it"),
            "{output}"
        );
        backtrace = seen.backtrace;
    }
    let ran = ["run", path, "--exec", &program, "--library", library, "--ex", "tfind 0", "--ex", "backtrace"];
    // By Debian's gdb, as what was seen last.
    let (code, output, errors) = run(traceframe().args(ran));
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.contains(&backtrace.join("\n")), "{output}");
}

#[test]
fn a_library_of_which_the_recording_says_nothing_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path());
    let library = folder.path().join("liblibrary.so");
    let recording = super::frames::fixture("uprobe-v7-zstd");
    let arguments = ["info", recording.to_str().unwrap(), "--exec", &program, "--library", library.to_str().unwrap()];
    let (code, output, _) = run(traceframe().args(arguments));
    assert_eq!(code, Some(0));
    assert!(
        output.contains("liblibrary.so: the recording does not say the one place where a library of this name lay"),
        "{output}"
    );
}

#[test]
fn the_first_of_many_libraries_are_named_in_text_and_all_in_json() {
    const MANY: usize = 1000;
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("many.dat");
    let mut maps = format!("4d {:x} case\n400000 401000 /there/case\n", MANY + 1);
    for (number, start) in (0..MANY).zip((0x7000_0000u64..).step_by(0x1_0000)) {
        writeln!(maps, "{start:x} {:x} /lib/lib{number}.so", start + 0x1000).unwrap();
    }
    std::fs::write(&recording, MACHINE.file(&[], &[(10, maps.into_bytes())], &[MACHINE.page(TIME, &[])], &[])).unwrap();
    let program = data("bin/case");
    let arguments = [recording.to_str().unwrap(), "--exec", program.to_str().unwrap()];
    let info = |more: &[&str]| {
        let (code, output, errors) = run(traceframe().arg("info").args(arguments).args(more));
        assert_eq!(code, Some(0), "{errors}");
        output
    };
    let json: serde_json::Value = serde_json::from_str(&info(&["--json"])).unwrap();
    let all = json["libraries"].as_array().unwrap().len();
    assert!(all >= MANY);
    let said = [info(&[]), Server::serve(&arguments).output()];
    for text in said {
        let named: Vec<&str> = text.lines().filter(|line| line.starts_with("library: ")).collect();
        assert_eq!(named.len(), 21, "{text}");
        assert_eq!(named[20], format!("library: … and {} more (info --json names all)", all - 20));
    }
}

#[test]
fn of_processes_that_had_a_program_at_different_places_one_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path());
    let seen = record(Gdb::Debian, &program);
    let path = folder.path().join("library.dat");
    std::fs::write(&path, recording(&seen, &[(77, 0), (78, 0x1000_0000)])).unwrap();
    let (path, library) = (path.to_str().unwrap(), folder.path().join("liblibrary.so"));
    let common = ["info", path, "--exec", &program, "--library", library.to_str().unwrap()];
    let (code, output, _) = run(traceframe().args(common));
    assert!(code == Some(0) && output.contains("2 processes had "), "{output}");
    assert!(output.contains("tells the one place where it lay") && output.contains("(77, 78)"), "{output}");
    for (pid, higher) in [("77", 0), ("78", 0x1000_0000)] {
        let (code, output, _) = run(traceframe().args(common).args(["--process", pid]));
        let bias = seen.maps.iter().find(|(.., path)| *path == program).unwrap().0 + higher;
        assert!(code == Some(0) && output.contains(&format!("load bias {bias:#x}, as the recording says")), "{output}");
        assert!(!output.contains("processes had"), "{output}");
    }
    let (code, _, errors) = run(traceframe().args(common).args(["--process", "79"]));
    assert!(
        code == Some(3) && errors.contains("no maps of a process 79 (--process); there are of: 77, 78"),
        "{errors}"
    );
}
