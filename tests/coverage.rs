//! `info --coverage` and `--lcov`: lines and functions against counts that are made otherwise, of the true lists of
//! executed instructions and of what binutils say of the programs; tracefiles against lcov.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use support::made::{self, Made};
use support::{data, run, traceframe};
use traceframe::format::itrace::capture::{Capture, Options};
use traceframe::format::itrace::recording::{InstructionTrace, OpenOptions};
use traceframe::image::Image;
use traceframe::index::{Index, InterruptionQuery};

const HART: &str = "0=etrace,isa=rv64,iaddress_width_p=64,full_address=0,implicit_return=0";

fn path(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

/// Runs `traceframe info`: exit code, standard output, standard error.
fn info(arguments: &[&str]) -> (i32, String, String) {
    let (code, output, errors) = run(traceframe().arg("info").args(arguments));
    (code.expect("the program was killed by a signal"), output, errors)
}

/// What it shows that goes well, without a word on standard error.
fn shown(arguments: &[&str]) -> String {
    let (code, output, errors) = info(arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    output
}

/// What it says that fails with this exit code.
fn refused(code: i32, arguments: &[&str]) -> String {
    let (found, output, errors) = info(arguments);
    assert_eq!((found, output.as_str()), (code, ""), "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    errors
}

/// How often each address is in a list of executed instructions.
fn truth(names: &[(&str, usize)]) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for (name, missing) in names {
        let mut text = String::new();
        let file = std::fs::File::open(data(&format!("itrace/{name}.pcs.gz"))).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let pcs: Vec<u64> = text.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
        for pc in &pcs[..pcs.len() - missing] {
            *counts.entry(*pc).or_insert(0) += 1;
        }
    }
    counts
}

/// The index of an instruction trace.
fn index(file: &str, source: Option<&str>, program: &str) -> Arc<Index> {
    let sources = source.map(|source| source.parse().unwrap()).into_iter().collect();
    let options = Options { sources, ..Options::default() };
    let capture = Capture::open(&data(file), &options).unwrap().unwrap();
    let program = Some(Arc::new(Image::open(&data(program)).unwrap()));
    let options = OpenOptions { program, ..OpenOptions::default() };
    let opened = InstructionTrace::open(&data(file), &capture, &options).unwrap();
    Index::build(&opened.recording, None)
}

/// Whatever the protocol, an instruction is counted as often as it was executed, by whichever thread.
#[test]
fn program_counters_are_counted_as_they_were_executed() {
    let hart = index("itrace/rv64.200.te_inst", Some(HART), "itrace/prog.rv64.200");
    let cores = index("itrace/gen-etm4-two-rs", None, "itrace/prog.a64.200");
    // The last two instructions are not in the trace: it ends with a branch's address.
    let (long, short) = (("a64.200", 2), ("a64.10", 2));
    for (index, thread, lists) in [
        (&hart, None, &[("rv64.200", 0)][..]),
        (&hart, Some(1), &[("rv64.200", 0)]),
        (&hart, Some(2), &[]),
        (&cores, None, &[long, short]),
        (&cores, Some(1), &[long]),
        (&cores, Some(2), &[short]),
        (&cores, Some(3), &[]),
    ] {
        let counts = index.counts_by_pc(thread);
        let expected = truth(lists);
        assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), expected, "{thread:?}");
        assert_eq!((counts.known(), counts.unknown()), (expected.values().sum(), 0));
        assert_eq!(index.interruptions_of(&InterruptionQuery { thread, gaps: true, exceptions: false }), 0);
    }
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let (code, output, errors) = run(Command::new(program).args(arguments));
    assert_eq!(code, Some(0), "{program} {arguments:?}: {errors}");
    output
}

/// A statement as readelf shows it: the file's last name, the line, the address.
fn statements(program: &str) -> Vec<(String, u64, u64)> {
    let table = output_of("readelf", &["-W", "--debug-dump=decodedline", program]);
    let mut found = Vec::new();
    let mut sequence: Vec<(String, u64, u64)> = Vec::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [file, line, address, marks @ ..] = &words[..] else { continue };
        let number = |digits: &str| u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok();
        let Some(address) = number(address) else { continue };
        if *line == "-" {
            // What is said of the address behind the last instruction is of none.
            found.extend(sequence.drain(..).filter(|(.., at)| *at < address));
        } else if marks.contains(&"x") {
            sequence.push(((*file).to_owned(), line.parse().unwrap(), address));
        }
    }
    found
}

/// The functions of a program as nm shows them, those with a size: first address, the one behind the last, name.
fn functions(program: &str) -> Vec<(u64, u64, String)> {
    let table = output_of("nm", &["-S", program]);
    let functions = table.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [first, size, "t" | "T", name] = words[..] else { return None };
        let [first, size] = [first, size].map(|digits| u64::from_str_radix(digits, 16).unwrap());
        Some((first, first + size, name.to_owned()))
    });
    functions.collect()
}

/// Lines with their counts, by file and line.
type Lines = BTreeMap<(String, u64), u64>;

/// The largest count of each line that has a statement, of those addresses that are wanted.
fn expected_lines(program: &str, counts: &BTreeMap<u64, u64>, wanted: impl Fn(u64) -> bool) -> Lines {
    let mut lines = Lines::new();
    for (file, line, address) in statements(program).into_iter().filter(|(.., address)| wanted(*address)) {
        let count = counts.get(&address).copied().unwrap_or(0);
        let known = lines.entry((file, line)).or_default();
        *known = count.max(*known);
    }
    lines
}

fn coverage(arguments: &[&str]) -> Value {
    serde_json::from_str(&shown(&[arguments, &["--coverage", "--json"]].concat())).unwrap()
}

/// The lines that a report in JSON has.
fn lines_of(coverage: &Value) -> Lines {
    let files = coverage["by_file"].as_array().unwrap().iter();
    let lines = files.flat_map(|file| {
        let name = file["path"].as_str().unwrap().rsplit('/').next().unwrap();
        let counts = file["counts"].as_array().unwrap().iter();
        counts.map(move |pair| ((name.to_owned(), pair[0].as_u64().unwrap()), pair[1].as_u64().unwrap()))
    });
    lines.collect()
}

fn hits(lines: &Lines) -> (u64, u64) {
    (lines.len() as u64, lines.values().filter(|count| **count > 0).count() as u64)
}

fn found_and_hit(value: &Value) -> (u64, u64) {
    (value["found"].as_u64().unwrap(), value["hit"].as_u64().unwrap())
}

/// Compares a report with what the lists say.
fn check(arguments: &[&str], program: &str, counts: &BTreeMap<u64, u64>) -> Value {
    let coverage = coverage(arguments);
    let expected = expected_lines(program, counts, |_| true);
    assert!(expected.len() > 10, "{expected:?}");
    assert_eq!(lines_of(&coverage), expected);
    assert_eq!(found_and_hit(&coverage["lines"]), hits(&expected));
    assert_eq!(coverage["executed"], counts.values().sum::<u64>());
    let by_name = |name: &str| {
        let mut found = coverage["by_function"].as_array().unwrap().iter();
        found.find(|function| function["name"] == name).unwrap_or_else(|| panic!("no {name} in {coverage:#}"))
    };
    let functions = functions(program);
    assert!(functions.len() > 2, "{functions:?}");
    for (first, end, name) in functions {
        let function = by_name(&name);
        assert_eq!(function["address"], format!("{first:#x}"));
        assert_eq!(function["count"], counts.get(&first).copied().unwrap_or(0), "{name}");
        let lines = expected_lines(program, counts, |address| (first..end).contains(&address));
        assert_eq!(found_and_hit(&function["lines"]), hits(&lines), "{name}");
    }
    coverage
}

/// The arguments for the two cores.
fn two_cores<'a>(directory: &'a str, program: &'a str) -> [&'a str; 3] {
    [directory, "--exec", program]
}

#[test]
fn lines_and_functions_of_two_cores() {
    let (directory, program) = (path("itrace/gen-etm4-two-rs"), path("itrace/prog.a64.200"));
    let arguments = two_cores(&directory, &program);
    // The last two instructions are not in the trace: it ends with a branch's address.
    let cores = [("a64.200", 2), ("a64.10", 2)];
    let both = check(&arguments, &program, &truth(&cores));
    assert_eq!(both["thread"], Value::Null);
    assert_eq!((both["counted"].as_str(), both["gaps"].as_u64()), (Some("instruction"), Some(0)));
    assert_eq!((both["outside"].as_u64(), both["unknown_pc"].as_u64()), (Some(0), Some(0)));
    assert_eq!(both["by_file"][0]["path"], "/usr/src/itraces/prog.c");
    for (thread, name, core) in [("1", "ETM_0", cores[0]), ("2", "ETM_1", cores[1])] {
        let of_number = check(&[&arguments[..], &["--thread", thread]].concat(), &program, &truth(&[core]));
        assert_eq!(of_number["thread"].to_string(), thread);
        assert_eq!(of_number["thread_name"], name);
        assert_eq!(coverage(&[&arguments[..], &["--thread", name]].concat()), of_number);
    }
}

#[test]
fn lines_and_functions_of_a_hart() {
    let (file, program) = (path("itrace/rv64.200.te_inst"), path("itrace/prog.rv64.200"));
    let arguments = [file.as_str(), "--source", HART, "--exec", &program];
    check(&arguments, &program, &truth(&[("rv64.200", 0)]));
    let text = shown(&[&arguments[..], &["--coverage"]].concat());
    assert!(text.starts_with(&format!("{file}: 63108 instructions executed\n")), "{text}");
    for line in ["lines: 26 of 27 hit (96.2 %)", "functions: 7 of 7 hit (100.0 %)"] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    let words: Vec<String> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["23 of 24 95.8 % prog.c", "1600 1 of 1 fib prog.c:3", "80 7 of 8 collatz prog.c:4"] {
        assert!(words.iter().any(|found| found == line), "{line}: {text}");
    }
    // Those first that were called most often.
    let limited = shown(&[&arguments[..], &["--coverage", "--limit", "1"]].concat());
    assert!(limited.contains(" fib ") && !limited.contains(" pick "), "{limited}");
    assert!(limited.contains("… and 6 more functions (--limit 0 shows all)"), "{limited}");
    assert!(limited.contains("… and 1 more file (--limit 0 shows all)"), "{limited}");
    assert_eq!(shown(&[&arguments[..], &["--coverage", "--limit", "0"]].concat()), text);
}

/// In a recording of frames each frame counts, and it is said that more was executed.
#[test]
fn lines_and_functions_of_a_trace_file() {
    let (file, program) = (path("tfile/04-step.tf"), path("bin/case"));
    let frames = run(traceframe().args(["frames", &file, "--exec", &program, "--json"])).1;
    let mut counts = BTreeMap::new();
    for frame in frames.lines() {
        let frame: Value = serde_json::from_str(frame).unwrap();
        let pc = frame["pc"].as_str().unwrap();
        *counts.entry(u64::from_str_radix(&pc[2..], 16).unwrap()).or_insert(0) += 1;
    }
    let coverage = check(&[&file, "--exec", &program], &program, &counts);
    assert_eq!(coverage["counted"], "frame");
    let text = shown(&[&file, "--exec", &program, "--coverage"]);
    assert!(text.contains("counted are frames: what lies between them was executed as well"), "{text}");
}

#[test]
fn what_is_known_without_programs_and_without_lines() {
    let directory = path("itrace/gen-etm4-two-rs");
    let text = shown(&[&directory, "--coverage"]);
    assert!(text.contains("outside any program: 66574 instructions"), "{text}");
    assert!(text.contains("program: none (--exec gives one)"), "{text}");
    let errors = refused(3, &[&directory, "--lcov", "-"]);
    assert!(errors.contains("nothing tells the source lines") && errors.contains("-g"), "{errors}");
    // Functions are counted by symbols alone.
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("prog").to_str().unwrap().to_owned();
    let program = path("itrace/prog.a64.200");
    let objcopy = "aarch64-linux-gnu-objcopy";
    if run(Command::new("sh").args(["-c", &format!("command -v {objcopy}")])).0 == Some(0) {
        output_of(objcopy, &["--strip-debug", &program, &stripped]);
        let coverage = coverage(&[&directory, "--exec", &stripped]);
        assert_eq!(found_and_hit(&coverage["lines"]), (0, 0));
        assert_eq!(found_and_hit(&coverage["functions"]), (7, 7));
        let text = shown(&[&directory, "--exec", &stripped, "--coverage"]);
        assert!(text.contains("no program has a line table") && text.contains("1680"), "{text}");
    }
}

/// A tracefile, read as geninfo(1) says, and nothing else.
#[derive(Debug, Default, PartialEq)]
struct Tracefile {
    /// By file and line.
    lines: BTreeMap<(String, u64), u64>,
    /// By file and name: line and count.
    functions: BTreeMap<(String, String), (u64, u64)>,
}

impl Tracefile {
    fn read(text: &str) -> Tracefile {
        let mut read = Tracefile::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            assert_eq!(line, "TN:");
            let file = lines.next().and_then(|line| line.strip_prefix("SF:")).unwrap().to_owned();
            let mut totals = BTreeMap::new();
            let mut names = BTreeMap::new();
            let mut last = 0;
            let mut ended = false;
            for line in lines.by_ref() {
                if line == "end_of_record" {
                    ended = true;
                    break;
                }
                let (key, value) = line.split_once(':').unwrap();
                match (key, value.split_once(',')) {
                    ("FN", Some((line, name))) => {
                        assert!(names.insert(name.to_owned(), line.parse().unwrap()).is_none(), "{name} twice");
                    }
                    ("FNDA", Some((count, name))) => {
                        let entry = (file.clone(), name.to_owned());
                        let value = (names[name], count.parse().unwrap());
                        assert!(read.functions.insert(entry, value).is_none(), "{name} twice");
                    }
                    ("DA", Some((line, count))) => {
                        let line = line.parse().unwrap();
                        assert!(line > last, "{line} behind {last}");
                        last = line;
                        read.lines.insert((file.clone(), line), count.parse().unwrap());
                    }
                    ("FNF" | "FNH" | "LF" | "LH", None) => {
                        assert!(totals.insert(key, value.parse::<u64>().unwrap()).is_none());
                    }
                    _ => panic!("{line}"),
                }
            }
            assert!(ended);
            let counts: Vec<u64> =
                read.lines.iter().filter(|((of, _), _)| *of == file).map(|(_, count)| *count).collect();
            let called: Vec<u64> =
                read.functions.iter().filter(|((of, _), _)| *of == file).map(|(_, (_, count))| *count).collect();
            let hit = |counts: &[u64]| counts.iter().filter(|count| **count > 0).count() as u64;
            let expected = [
                ("FNF", called.len() as u64),
                ("FNH", hit(&called)),
                ("LF", counts.len() as u64),
                ("LH", hit(&counts)),
            ];
            assert_eq!(totals, BTreeMap::from(expected));
            assert_eq!(names.len(), called.len());
        }
        read
    }

    fn at(&self, file: &str, line: u64) -> Option<u64> {
        self.lines.get(&(file.to_owned(), line)).copied()
    }
}

/// What `lcov --summary` says of lines and of functions: `22 of 25`.
fn summary(tracefile: &str) -> [String; 2] {
    let (code, output, errors) = run(Command::new("lcov").args(["--summary", tracefile]));
    assert_eq!(code, Some(0), "{errors}");
    let all = output + &errors;
    ["lines", "functions"].map(|what| {
        let line = all.lines().find(|line| line.trim_start().starts_with(&format!("{what}."))).unwrap();
        line.split_once('(').unwrap().1.split_once(&format!(" {what})")).unwrap().0.to_owned()
    })
}

#[test]
fn lcov_reads_what_is_written() {
    let (directory, program) = (path("itrace/gen-etm4-two-rs"), path("itrace/prog.a64.200"));
    let arguments = two_cores(&directory, &program);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("trace.info").to_str().unwrap().to_owned();
    assert_eq!(shown(&[&arguments[..], &["--lcov", &out]].concat()), "");
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(shown(&[&arguments[..], &["--lcov", "-"]].concat()), text);
    // Both at once.
    std::fs::remove_file(&out).unwrap();
    let table = shown(&[&arguments[..], &["--lcov", &out, "--coverage"]].concat());
    assert_eq!(table, shown(&[&arguments[..], &["--coverage"]].concat()));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
    let json = coverage(&arguments);
    let tracefile = Tracefile::read(&text);
    let lines: Lines = tracefile
        .lines
        .iter()
        .map(|((file, line), count)| ((file.strip_prefix("/usr/src/itraces/").unwrap().to_owned(), *line), *count))
        .collect();
    assert_eq!(lines, lines_of(&json));
    let prog = "/usr/src/itraces/prog.c".to_owned();
    assert_eq!(tracefile.functions[&(prog, "fib".to_owned())], (3, 1680));
    assert_eq!(tracefile.functions.len(), 7);
    assert_eq!(summary(&out), ["22 of 25", "7 of 7"]);
    // One thread alone.
    shown(&[&arguments[..], &["--lcov", &out, "--thread", "ETM_1"]].concat());
    let one = Tracefile::read(&std::fs::read_to_string(&out).unwrap());
    assert_eq!(one.at("/usr/src/itraces/prog.c", 3), Some(80));
}

const MAIN: &str = "\
#include \"deep/../shared.h\"
int called(int x) {
    return twice(x) + 1;
}
int never(int x) {
    return x - 1;
}
int main(void) {
    return called(1) + twice(2) == 0 ? never(1) : 0;
}
";

const SHARED: &str = "\
static inline __attribute__((always_inline)) int twice(int x) {
    return 2 * x;
}
static __attribute__((noinline, used)) int other(int x) {
    return 3 * x;
}
";

const SECOND: &str = "#include \"shared.h\"\nint second(int x) {\n    return other(x);\n}\n";

/// Programs of both ways in which a line table tells where its files are, and of two files that share a third.
#[test]
fn paths_are_where_the_compiler_found_the_files_and_genhtml_shows_them() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let place = |name: &str| top.join(name).to_str().unwrap().to_owned();
        std::fs::create_dir_all(top.join("build")).unwrap();
        std::fs::create_dir_all(top.join("src/deep")).unwrap();
        for (name, text) in [("src/main.c", MAIN), ("src/shared.h", SHARED), ("src/second.c", SECOND)] {
            std::fs::write(top.join(name), text).unwrap();
        }
        let mut compiler = Command::new("gcc");
        compiler.args([version, "-O0", "-no-pie", "-fno-pie", "-o", "app"]);
        let (code, _, errors) = run(compiler.args(["../src/main.c", "../src/second.c"]).current_dir(top.join("build")));
        assert_eq!(code, Some(0), "{errors}");
        let program = place("build/app");
        // A frame at every statement of lines that a run executes, and twice in one function of two of the same name.
        let executed = [("main.c", 2), ("main.c", 3), ("shared.h", 2), ("main.c", 8)];
        let statements = statements(&program);
        let others: Vec<u64> =
            functions(&program).into_iter().filter(|(.., name)| name == "other").map(|(first, ..)| first).collect();
        assert_eq!(others.len(), 2);
        let mut at: Vec<u64> = vec![others[1]; 2];
        for (file, line) in executed {
            at.extend(statements.iter().find(|found| (found.0.as_str(), found.1) == (file, line)).map(|found| found.2));
        }
        assert_eq!(at.len(), 6, "{statements:?}");
        let places: BTreeSet<u64> = at.iter().copied().collect();
        let numbered: BTreeMap<u64, i16> = places.into_iter().zip(1..).collect();
        let mut made = Made::new(&["R 0"]);
        for (address, number) in &numbered {
            made.line(format!("tp T{number:x}:{address:x}:E:0:0"));
        }
        for address in at {
            made.frame(numbered[&address], &[made::memory(0x10, &[0])]);
        }
        let (_folder, recording) = made.save("app.tf");
        let out = place("trace.info");
        let arguments = [recording.as_str(), "--exec", &program, "--arch", "x86-64", "--lcov", &out];
        assert_eq!(shown(&arguments), "");
        let tracefile = Tracefile::read(&std::fs::read_to_string(&out).unwrap());
        let [main, shared, second] = ["src/main.c", "src/shared.h", "src/second.c"].map(place);
        let files: BTreeSet<&String> = tracefile.lines.keys().map(|(file, _)| file).collect();
        let all: BTreeSet<&String> = [&main, &shared, &second].into_iter().collect();
        assert_eq!(files, all, "{version}");
        for (file, line, count) in [
            (&main, 2, Some(1)),
            (&main, 3, Some(1)),
            (&main, 6, Some(0)),
            (&main, 8, Some(1)),
            // Nothing begins on a line of declarations.
            (&main, 1, None),
            // Inlined in two places, of which one was executed.
            (&shared, 2, Some(1)),
            // The largest of two copies.
            (&shared, 4, Some(2)),
            (&second, 3, Some(0)),
        ] {
            assert_eq!(tracefile.at(file, line), count, "{version}: {file}:{line}");
        }
        let function = |file: &String, name: &str| tracefile.functions[&(file.clone(), name.to_owned())];
        assert_eq!(function(&shared, "other"), (4, 2));
        assert_eq!(function(&main, "never"), (5, 0));
        assert_eq!(function(&main, "called"), (2, 1));
        let lines = tracefile.lines.len();
        let hit = tracefile.lines.values().filter(|count| **count > 0).count();
        assert_eq!(summary(&out)[0], format!("{hit} of {lines}"));
        let pages = place("pages");
        let (code, output, errors) = run(Command::new("genhtml").args(["--output-directory", &pages, &out]));
        assert_eq!(code, Some(0), "{output}{errors}");
        let is_page = |path: &Path| path.exists();
        let page = Path::new(&pages).join("src/main.c.gcov.html");
        let flat = Path::new(&pages).join(top.strip_prefix("/").unwrap()).join("src/main.c.gcov.html");
        assert!(is_page(&page) || is_page(&flat) || output.contains("Processing file"), "{output}");
        // Names that two files have are told apart.
        let text = shown(&[&recording, "--exec", &program, "--arch", "x86-64", "--coverage"]);
        assert!(text.contains("main.c") && text.contains("shared.h"), "{text}");
    }
}

/// What a trace does not tell is said where coverage is.
#[test]
fn gaps_are_told() {
    let (directory, program) = (path("itrace/gen-etm4-two-rs"), path("itrace/prog.a64.200"));
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(&directory).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let sink = folder.path().join("cstrace.bin");
    let mut bytes = std::fs::read(&sink).unwrap();
    bytes[3000..3064].fill(0x5a);
    std::fs::write(&sink, &bytes).unwrap();
    let arguments = two_cores(folder.path().to_str().unwrap(), &program);
    let damaged = coverage(&arguments);
    let gaps = damaged["gaps"].as_u64().unwrap();
    assert!(gaps > 0, "{damaged:#}");
    let text = shown(&[&arguments[..], &["--coverage"]].concat());
    assert!(text.contains(" in the trace: what shows no count may have been executed there"), "{text}");
    let (code, output, errors) = info(&[&arguments[..], &["--lcov", "-"]].concat());
    assert_eq!(code, 0);
    Tracefile::read(&output);
    assert!(errors.contains(" in the trace: lines that show no count may have been executed there"), "{errors}");
}

/// Whatever the program and the trace are, an answer comes, and a tracefile is one.
#[test]
fn damaged_programs_and_traces_are_counted_as_far_as_they_go() {
    let whole = std::fs::read(path("itrace/prog.a64.200")).unwrap();
    let directory = path("itrace/gen-etm4-two-rs");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("prog").to_str().unwrap().to_owned();
    let mut random = 1_u32;
    let mut seen = 0;
    for round in 0..60 {
        let mut bytes = whole.clone();
        if round < 20 {
            bytes.truncate(whole.len() * round / 20);
        } else {
            for _ in 0..round / 4 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // In the line table, its strings and the symbols.
                let at = 0x870 + (random >> 8) as usize % (whole.len() - 0x870);
                bytes[at] = random as u8;
            }
        }
        std::fs::write(&program, &bytes).unwrap();
        let arguments = [directory.as_str(), "--exec", &program, "--coverage", "--json"];
        let (code, output, errors) = info(&arguments);
        assert!(code == 0 || code == 3, "{code}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        if code == 0 {
            serde_json::from_str::<Value>(&output).unwrap();
        }
        let (code, output, errors) = info(&[directory.as_str(), "--exec", &program, "--lcov", "-"]);
        assert!(code == 0 || code == 3, "{code}: {errors}");
        if code == 0 {
            Tracefile::read(&output);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn wrong_command_lines_are_named() {
    let (directory, program) = (path("itrace/gen-etm4-two-rs"), path("itrace/prog.a64.200"));
    let arguments = two_cores(&directory, &program);
    let with = |more: &[&'static str]| [&arguments[..], more].concat();
    let errors = refused(2, &with(&["--coverage", "--thread", "3"]));
    assert!(errors.contains("there is no thread \"3\" in it: there are 1 (ETM_0), 2 (ETM_1)"), "{errors}");
    assert!(refused(2, &with(&["--coverage", "--lcov", "-"])).contains("both would go to standard output"));
    assert!(refused(2, &with(&["--json", "--lcov", "-"])).contains("both would go to standard output"));
    assert!(refused(2, &with(&["--thread", "1"])).contains("--coverage"));
    assert!(refused(2, &with(&["--limit", "1"])).contains("--coverage"));
    assert!(refused(2, &with(&["--coverage", "--limit", "x"])).contains("--limit"));
    let errors = refused(1, &with(&["--lcov", "/nonexistent/trace.info"]));
    assert!(errors.contains("/nonexistent/trace.info cannot be written"), "{errors}");
    let file = path("tfile/01-regs.tf");
    assert!(refused(2, &[&file, "--coverage", "--thread", "7"]).contains("it names none"));
}

/// Nothing that is read is written over, under whatever name, also where only a description names it.
#[test]
fn nothing_that_is_read_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(place("snapshot")).unwrap();
    for file in std::fs::read_dir(path("itrace/gen-etm4-two-rs")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), Path::new(&place("snapshot")).join(file.file_name())).unwrap();
    }
    std::fs::copy(path("itrace/prog.a64.200"), place("prog")).unwrap();
    std::os::unix::fs::symlink(place("snapshot/cstrace.bin"), place("link")).unwrap();
    let (snapshot, program) = (place("snapshot"), place("prog"));
    for out in ["prog", "link", "snapshot/cstrace.bin", "snapshot/code.bin"].map(place) {
        let before = std::fs::read(&out).unwrap();
        let errors = refused(2, &[&snapshot, "--exec", &program, "--lcov", &out]);
        assert!(errors.contains("is what is to be read: it is not written over"), "{errors}");
        assert_eq!(std::fs::read(&out).unwrap(), before);
    }
    shown(&[&snapshot, "--exec", &program, "--lcov", &place("trace.info")]);
    // What could not be made leaves what was there.
    let before = std::fs::read(place("trace.info")).unwrap();
    refused(3, &[&snapshot, "--lcov", &place("trace.info")]);
    assert_eq!(std::fs::read(place("trace.info")).unwrap(), before);
}
