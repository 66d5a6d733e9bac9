//! Recordings made while the test runs: what gdb shows of one while the recorded process still lives and gdbserver
//! answers, and what it shows of the same recording served from the file that `tsave` wrote. Both must be equal, but
//! for [`DIFFERENCES`].

mod support;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use support::{Gdb, Server, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The ways in which `tests/programs/steps.c` is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// At a fixed address.
    Fixed,
    /// Position independent.
    Pie,
    /// For i386, without a C library.
    I386,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Program::Fixed => "steps",
            Program::Pie => "steps-pie",
            Program::I386 => "steps-i386",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Program::Fixed => &["-no-pie", "-fno-pie"],
            Program::Pie => &["-pie", "-fPIE"],
            Program::I386 => &[
                "-m32",
                "-no-pie",
                "-fno-pie",
                "-nostdlib",
                "-static",
                "-ffreestanding",
                "-fno-stack-protector",
                "-DFREESTANDING",
            ],
        }
    }

    /// The executable, compiled by whoever needs it first.
    fn path(self) -> &'static Path {
        static COMPILED: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        COMPILED[self as usize].get_or_init(|| {
            let path = folder().join(self.name());
            let mut compiler = Command::new("gcc");
            compiler.args(["-g", "-O0"]).args(self.options()).arg("-o").arg(&path).arg(source());
            let (code, out, err) = run(&mut compiler);
            assert_eq!(code, Some(0), "{compiler:?}: {out}{err}");
            path
        })
    }
}

fn source() -> PathBuf {
    Path::new(ROOT).join("tests/programs/steps.c")
}

/// Where programs and recordings lie, to be looked at after a failure.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Puts the number of the line that is marked `/* WORD */` for every `{WORD}`.
fn with_lines(text: &str) -> String {
    static LINES: OnceLock<Vec<(String, usize)>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let source = std::fs::read_to_string(source()).unwrap();
        let marked = source.lines().enumerate().filter_map(|(at, line)| {
            let (_, word) = line.strip_suffix(" */")?.rsplit_once("/* ")?;
            Some((format!("{{{word}}}"), at + 1))
        });
        marked.collect()
    });
    lines.iter().fold(text.to_owned(), |text, (word, line)| text.replace(word, &line.to_string()))
}

/// A recording and what is asked of it.
struct Scenario {
    name: &'static str,
    program: Program,
    /// The tracepoints, and what else is to be set before the run: a script for gdb.
    ///
    /// Tracepoints come by ascending address: in that order gdbserver tells of them, so that the replaying gdb,
    /// which numbers them anew, gives them the same numbers.
    define: &'static str,
    /// How the run is stopped; nothing where it stops by itself.
    stop: &'static str,
    /// How many frames it gives.
    frames: usize,
    /// Asked in every frame.
    ask: &'static [&'static str],
    /// Asked after the walk through the frames, beginning in frame 0.
    find: &'static [&'static str],
    /// How many answers must be the same to the letter, and not empty.
    least: usize,
}

/// Something that the live session and the replay tell apart, and why they may. Where it is listed, it must be seen.
struct Difference {
    why: &'static str,
    scenarios: &'static [&'static str],
    gdbs: &'static [Gdb],
    shown: &'static [Shown],
}

/// How a difference looks. In a command and in a line `*` stands for anything; the line `...` stands for any lines.
#[derive(Debug)]
enum Shown {
    /// For these lines of the live session the replay has those.
    Lines(&'static str, &'static [&'static str], &'static [&'static str]),
    /// The lines come in another order.
    Order(&'static str),
}

use Shown::{Lines, Order};

const DIFFERENCES: &[Difference] = &[
    Difference {
        why: "outside any frame the live process has a clock; a recording has the last value that a frame recorded",
        scenarios: &[
            "registers",
            "memory",
            "stepping",
            "conditions",
            "locations",
            "strings",
            "full",
            "pie",
            "i386",
            "realigned",
        ],
        gdbs: BOTH,
        shown: &[Lines("info tvariables", &["$trace_timestamp 0 * *"], &["$trace_timestamp 0 * <undefined>"])],
    },
    Difference {
        why: "outside any frame the live process has counted on after the last recorded value",
        scenarios: &["variables"],
        gdbs: BOTH,
        shown: &[Lines(
            "info tvariables",
            &["$never *", "$sum * 10 * 754", "$trace_timestamp 0 * *"],
            &["$never * <undefined>", "$sum * 10 * 377", "$trace_timestamp 0 * *"],
        )],
    },
    Difference {
        why: "gdb lists trace state variables in the reverse of the order in which the target tells of them; gdbserver \
              tells the newest first, and the file has the oldest first",
        scenarios: &["variables", "conditions", "i386"],
        gdbs: BOTH,
        shown: &[Order("info tvariables")],
    },
    Difference {
        why: "gdbserver has static tracepoint data of no bytes for a frame without any; the replay says that there is \
              none",
        scenarios: &["memory"],
        gdbs: BOTH,
        shown: &[Lines("print $_sdata", &["$ = 0x0"], &["$ = void"])],
    },
    Difference {
        why: "for a frame without registers gdbserver makes up a program counter, the first location of its \
              tracepoint; with several locations or while-stepping that is a guess, and the replay has none",
        scenarios: &["stepping", "locations"],
        gdbs: BOTH,
        shown: &[
            Lines("print $trace_line", &["$ = *"], &["$ = -1"]),
            Lines("print $trace_func", &["$ = \"*\""], &["$ = void"]),
            Lines("print $trace_file", &["$ = \"*/tests/programs/steps.c\""], &["$ = void"]),
            Lines("info registers", &["rip * 0x* <*>"], &["rip            <unavailable>"]),
            Lines(
                "tdump",
                &["Data collected at tracepoint *", "...", "counter = *"],
                &["PC register is not available"],
            ),
            Lines("backtrace", &["#0 *", "..."], &["#0  <unavailable> in ?? ()"]),
            Lines(
                "info frame",
                &[" rip = 0x* in *; saved rip = *", "..."],
                &[" rip = <unavailable>; saved rip = *", "..."],
            ),
            Lines("x/2i $pc", &["=> 0x* <*", "   0x* <*"], &["value is not available"]),
            Lines("print $pc", &["$ = (void (*)()) 0x* <*>"], &["$ = <unavailable>"]),
        ],
    },
    Difference {
        why: "so it finds such a frame there, and knows the function, too, and what is not to be had in it",
        scenarios: &["stepping"],
        gdbs: BOTH,
        shown: &[
            Lines("tfind line *", &["Found trace frame 19, tracepoint 2"], &["Found trace frame 30, tracepoint 2"]),
            Lines("tfind pc", &["Found trace frame 19, tracepoint 2"], &["PC register is not available"]),
            Lines("info frame", &[" source language c."], &[]),
            Lines("print local", &["$ = <unavailable>"], &["No symbol \"local\" in current context."]),
            Lines("print half", &["$ = <unavailable>"], &["No symbol \"half\" in current context."]),
        ],
    },
    Difference {
        why: "so it knows the function, too, what is not to be had in it, and what it is inlined into",
        scenarios: &["locations"],
        gdbs: BOTH,
        shown: &[
            Lines("print k", &["$ = <unavailable>"], &["No symbol \"k\" in current context."]),
            Lines("up", &["#1  main () at *", "*\t*"], &["Initial frame selected; you cannot go up."]),
            Lines("print here", &["$ = <unavailable>"], &["No symbol \"here\" in current context."]),
        ],
    },
    Difference {
        why: "gdb 13.1 and 18.1 tell gdbserver (QTro) the read-only parts of a position-independent program as if it \
              lay at 0, so gdbserver does not give them in a frame; the replay does",
        scenarios: &["pie"],
        gdbs: BOTH,
        shown: &[
            Lines(
                "x/2i $pc",
                &["=> 0x* <*>:\tCannot access memory at address 0x*"],
                &["=> 0x* <*>:\t*", "   0x* <*>:\t*"],
            ),
            Lines("print limit", &["$ = <unavailable>"], &["$ = 10000"]),
            // For want of the prologue's code.
            Lines(
                "info frame",
                &[" Arglist at unknown address.", " Locals at unknown address, Previous frame's sp is *"],
                &[" Arglist at 0x*, args: *", " Locals at 0x*, Previous frame's sp is *"],
            ),
        ],
    },
];

const BOTH: &[Gdb] = &[Gdb::Debian, Gdb::Newest];

const REGISTERS: Scenario = Scenario {
    name: "registers",
    program: Program::Fixed,
    define: "trace steps.c:{FIRST}
             actions
               collect $regs
             end
             trace steps.c:{LAST}
             actions
               collect $regs, $_ret, *(unsigned char *) $rsp@256
             end",
    stop: "tstop",
    frames: 12,
    ask: &[
        "info all-registers",
        "print $rip",
        "print $xmm0",
        "print $eflags",
        "print local",
        "print counter",
        "info locals",
        "info args",
        "x/8xw $rsp",
        "up",
        "info locals",
    ],
    find: &[
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint 1",
        "print $trace_frame",
        "tfind tracepoint 7",
        "print $trace_frame",
        "tfind line {LAST}",
        "tfind line",
        "tfind line",
        "tfind pc",
        "tfind pc",
        "print $trace_frame",
    ],
    least: 270,
};

const MEMORY: Scenario = Scenario {
    name: "memory",
    program: Program::Fixed,
    define: "trace steps.c:{FIRST} if i == 5
             actions
               collect block, $regs
             end
             trace steps.c:{COUNT}
             actions
               collect counter, &origin, nowhere, parts[0].weight
             end
             trace steps.c:{LAST}
             actions
               collect $args, $locals, *p, counter, big, origin.y, parts[1], parts[2].at, text[2]@3, $regs
             end",
    stop: "tstop",
    frames: 13,
    ask: &[
        "print i",
        "print p",
        "print *p",
        "print p->y",
        "info locals",
        "print counter",
        "print big",
        "print/x big",
        "print origin",
        "print origin.y",
        "print parts",
        "print parts[0]",
        "print parts[1].name",
        "print parts[2]",
        "print parts[1].label",
        "print text",
        "print text[1]",
        "print text[2]@3",
        "print text[3]@4",
        "x/6xb text",
        "x/2xb &text[2]",
        "print limit",
        "print colours",
        "print message",
        "print nowhere",
        "print *nowhere",
        "print block[0]",
        "print block[65534]@3",
        "print block[69990]@10",
        "x/4xb block+65533",
        "print sizeof(block)",
        "print $_sdata",
        "ptype parts",
        "x/s colours",
    ],
    find: &[
        "tfind tracepoint 1",
        "print block",
        "find block, +sizeof(block), (char) 6",
        "tfind tracepoint 1",
        "tfind 0",
        "tfind range step, finish",
        "print $trace_frame",
        "tfind outside step, finish",
        "print $trace_frame",
    ],
    least: 550,
};

const VARIABLES: Scenario = Scenario {
    name: "variables",
    program: Program::Fixed,
    define: "set circular-trace-buffer on
             tvariable $sum = 10
             tvariable $below = -3
             tvariable $never = 0x7fffffffffffffff
             trace steps.c:{FIRST}
             actions
               collect $regs, i, $sum, $trace_timestamp
               teval $sum = $sum + i
             end
             trace steps.c:{LAST}
             actions
               teval $below = $below - 0x100000000
               collect $sum, $below
               teval $sum = $sum * 2
             end",
    stop: "tstop",
    frames: 12,
    ask: &[
        "print $sum",
        "print/x $sum",
        "print $below",
        "print $never",
        "print $trace_timestamp",
        "print $sum + $below",
        "print $unheard_of",
        "info tvariables",
        "print i",
    ],
    find: &[],
    least: 220,
};

const STEPPING: Scenario = Scenario {
    name: "stepping",
    program: Program::Fixed,
    define: "trace steps.c:{FIRST}
             actions
               collect $regs, counter
               while-stepping 7
                 collect $regs, counter, $locals
               end
             end
             trace steps.c:{LAST} if i == 2
             actions
               collect $regs, counter
               while-stepping 3
                 collect counter
               end
             end",
    stop: "tstop",
    frames: 67,
    ask: &["print $pc", "print counter", "print local", "print half"],
    find: &[
        "tfind start",
        "tfind pc",
        "print $trace_frame",
        "tfind line {COUNT}",
        "print $trace_frame",
        "tfind start",
        "tfind line",
        "print $trace_frame",
        "tfind line {FIRST}",
        "print $trace_frame",
        "tfind line {LAST}",
        "tfind start",
        "tfind pc step+14",
        "print $trace_frame",
        "tfind pc step+14",
        "print $trace_frame",
        "tfind range step+15,step+30",
        "print $trace_frame",
        "tfind range step+15,step+30",
        "print $trace_frame",
        "tfind range step+15",
        "print $trace_frame",
        "tfind outside step,step+30",
        "print $trace_frame",
        "tfind outside 0,0xffffffffffffffff",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint",
        "print $trace_frame",
        "tfind pc",
    ],
    least: 780,
};

const CONDITIONS: Scenario = Scenario {
    name: "conditions",
    program: Program::Fixed,
    define: "set trace-user someone
             set trace-notes \"notes; with: colons\"
             set disconnected-tracing on
             tvariable $hits
             trace *step
             actions
               collect $regs
             end
             disable 1
             trace steps.c:{FIRST} if $hits > 0 || i == 1
             actions
               collect $regs, $args
             end
             passcount 2
             trace steps.c:{COUNT}
             trace steps.c:{LAST} if i > 2 && counter < 20
             actions
               teval $hits = $hits + 1
               collect $regs, i, counter, $hits
             end
             trace finish
             actions
               collect $regs
             end",
    stop: "",
    frames: 7,
    ask: &["print i", "print counter", "print $hits"],
    find: &[
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint 1",
        "print $trace_frame",
        "tfind tracepoint 3",
        "print $trace_frame",
        "tfind tracepoint 5",
        "print $trace_frame",
    ],
    least: 115,
};

const LOCATIONS: Scenario = Scenario {
    name: "locations",
    program: Program::Fixed,
    define: "trace steps.c:{FIRST}
             actions
               collect $regs
             end
             trace steps.c:{INLINED}
             actions
               collect $regs, k, counter, *(unsigned char *) $rsp@128
             end
             trace steps.c:{INLINED} if k < 2
             actions
               collect counter
             end",
    stop: "tstop enough of it",
    frames: 21,
    ask: &["print $pc", "print k", "print counter", "up", "print here"],
    find: &[
        "tfind pc",
        "print $trace_frame",
        "tfind pc",
        "print $trace_frame",
        "tfind range main,main+300",
        "print $trace_frame",
        "tfind outside main,main+300",
        "print $trace_frame",
        "tfind line {INLINED}",
        "print $trace_frame",
        "tfind line {INLINED}",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
        "tfind tracepoint 3",
        "print $trace_frame",
    ],
    least: 300,
};

const STRINGS: Scenario = Scenario {
    name: "strings",
    program: Program::Fixed,
    define: "trace steps.c:{LAST}
             actions
               collect/s message, colours[1], text, parts[1].label
               collect/s4 parts[2].label
               collect $regs
             end
             trace steps.c:{TICK}
             actions
               collect big
             end",
    stop: "tstop",
    frames: 18,
    ask: &[
        "print message",
        "x/s message",
        "print colours[1]",
        "print colours[0]",
        "print text",
        "x/s text",
        "print parts[0].label",
        "print parts[1].label",
        "print *parts[1].label@12",
        "print parts[2].label",
        "print *parts[2].label@12",
        "x/s parts[2].label",
    ],
    find: &["tfind line {LAST}", "print message"],
    least: 390,
};

/// The buffer runs full; it would wrap round in a circular one.
const FULL: Scenario = Scenario {
    name: "full",
    program: Program::Fixed,
    define: "set trace-buffer-size 250
             trace steps.c:{FIRST}
             actions
               collect text
             end",
    stop: "",
    frames: 3,
    ask: &["print text"],
    find: &[],
    least: 50,
};

const PIE: Scenario = Scenario {
    name: "pie",
    program: Program::Pie,
    define: "trace steps.c:{FIRST}
             actions
               collect $regs, $args, counter, *(unsigned char *) $rsp@256
               collect/s parts[1].label
               while-stepping 2
                 collect $regs, $locals
               end
             end
             trace steps.c:{INLINED} if counter > 10
             actions
               collect $regs, k
             end",
    stop: "tstop",
    frames: 24,
    ask: &[
        "info all-registers",
        "print i",
        "print k",
        "print local",
        "print &counter",
        "print counter",
        "print limit",
        "print &limit",
        "print colours",
        "print message",
        "x/2gx colours",
        "up",
        "info locals",
    ],
    find: &[
        "tfind line {INLINED}",
        "print $trace_frame",
        "tfind pc",
        "print $trace_frame",
        "tfind range step,finish",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
    ],
    least: 480,
};

const I386: Scenario = Scenario {
    name: "i386",
    program: Program::I386,
    define: "tvariable $sum = -1
             trace steps.c:{FIRST}
             actions
               collect $regs, $args, $locals, counter, parts, big, *(unsigned char *) $esp@128
               teval $sum = $sum - i
               collect $sum
               while-stepping 3
                 collect $regs, counter
               end
             end
             trace steps.c:{INLINED} if k > 4
             actions
               collect $regs, k
               collect/s parts[1].label
             end",
    stop: "tstop",
    frames: 27,
    ask: &[
        "info all-registers",
        "print i",
        "print *p",
        "print local",
        "print half",
        "print parts",
        "print big",
        "print message",
        "print limit",
        "print $sum",
        "info locals",
        "up",
        "info locals",
    ],
    find: &[
        "tfind line {INLINED}",
        "print $trace_frame",
        "tfind pc",
        "print $trace_frame",
        "tfind range step,finish",
        "print $trace_frame",
        "tfind tracepoint 2",
        "print $trace_frame",
    ],
    least: 600,
};

/// The function that the recorded one is inlined into has its stack realigned, so that gdb would read the stack to
/// tell where it stands.
const REALIGNED: Scenario = Scenario {
    name: "realigned",
    program: Program::I386,
    define: "trace steps.c:{INLINED}
             actions
               collect $regs, k
             end",
    stop: "tstop",
    frames: 12,
    ask: &["print k"],
    find: &["tfind end", "tfind start", "tfind line {INLINED}", "print $trace_frame"],
    least: 150,
};

impl Scenario {
    fn recording(&self, gdb: Gdb) -> PathBuf {
        folder().join(format!("{}-{gdb:?}.tf", self.name))
    }

    /// What is asked of the live session and of the replay.
    fn commands(&self) -> Vec<String> {
        let mut commands: Vec<&str> = vec!["tstatus", "info tracepoints", "info tvariables"];
        let place = ["print $trace_frame", "print $tracepoint", "print $trace_line", "print $trace_func"];
        let state = ["print $trace_file", "info registers", "tdump", "backtrace", "info frame", "x/2i $pc"];
        commands.push("tfind start");
        for _ in 0..self.frames {
            commands.extend(place.iter().chain(&state).chain(self.ask));
            commands.push("tfind");
        }
        commands.push("print $trace_frame");
        let last = format!("tfind {}", self.frames - 1);
        commands.extend([last.as_str(), "print $trace_frame", "tfind -", "tfind -", "print $trace_frame"]);
        commands.extend(["tfind start", "tfind -", "print $trace_frame", "tfind start"]);
        commands.extend(self.find);
        commands.extend(["tfind start", "tfind end", "print $trace_frame", "tfind start", "tfind none"]);
        commands.extend(["print $trace_frame", "print $tracepoint", "print $trace_line", "info tvariables"]);
        commands.into_iter().map(with_lines).collect()
    }

    /// Records, saves, and asks while the process still lives.
    fn record(&self, gdb: Gdb, commands: &[String]) -> Vec<Vec<String>> {
        let script = folder().join(format!("{}-{gdb:?}.gdb", self.name));
        let recording = self.recording(gdb);
        let _ = std::fs::remove_file(&recording);
        let lines = with_lines(&format!(
            "set sysroot\n\
             file {program}\n\
             target remote | exec gdbserver --once --no-startup-with-shell - {program} 2>/dev/null\n\
             {define}\n\
             tbreak main\n\
             continue\n\
             break finish\n\
             tstart\n\
             continue\n\
             {stop}\n\
             tsave {recording}\n",
            program = self.program.path().display(),
            define = self.define,
            stop = self.stop,
            recording = recording.display(),
        ));
        std::fs::write(&script, lines).unwrap();
        let source = format!("source {}", script.display());
        let mut answers = gdb.answers(&[], &[std::slice::from_ref(&source), commands].concat());
        let made = answers.remove(0);
        let recorded = format!("Collected {} trace frames.", self.frames);
        assert!(
            answers[0].contains(&recorded) && recording.exists(),
            "{source} with {gdb:?} makes no such recording:\n{}{}",
            indented(&made),
            indented(&answers[0])
        );
        answers
    }
}

/// Whether a line is as the pattern says, in which `*` stands for anything.
fn matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == line,
        Some((start, rest)) => match line.strip_prefix(start) {
            Some(left) => (0..=left.len()).any(|at| left.is_char_boundary(at) && matches(rest, &left[at..])),
            None => false,
        },
    }
}

/// Whether lines are as the patterns say, in which `...` stands for any lines.
fn match_lines(patterns: &[&str], lines: &[String]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|at| match_lines(rest, &lines[at..])),
        Some((pattern, rest)) => match lines.split_first() {
            Some((line, lines)) => matches(pattern, line) && match_lines(rest, lines),
            None => false,
        },
    }
}

/// The pieces in which two lists of lines differ.
fn differing(live: &[String], replay: &[String]) -> Vec<(Vec<String>, Vec<String>)> {
    // Longest common subsequence: `common[i][j]` is its length for what comes from `i` and `j` on.
    let mut common = vec![vec![0usize; replay.len() + 1]; live.len() + 1];
    for i in (0..live.len()).rev() {
        for j in (0..replay.len()).rev() {
            common[i][j] =
                if live[i] == replay[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pieces = Vec::new();
    let mut piece = (Vec::new(), Vec::new());
    loop {
        let both = i < live.len() && j < replay.len();
        if both && live[i] == replay[j] || i == live.len() && j == replay.len() {
            if piece != (Vec::new(), Vec::new()) {
                pieces.push(std::mem::take(&mut piece));
            }
            if !both {
                return pieces;
            }
            (i, j) = (i + 1, j + 1);
        } else if j == replay.len() || i < live.len() && common[i + 1][j] >= common[i][j + 1] {
            piece.0.push(live[i].clone());
            i += 1;
        } else {
            piece.1.push(replay[j].clone());
            j += 1;
        }
    }
}

/// Value numbers count what was shown before, which is not what is compared here.
fn without_value_number(line: &str) -> String {
    match line.strip_prefix('$').and_then(|rest| rest.split_once(" = ")) {
        Some((number, value)) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("$ = {value}"),
        _ => line.to_owned(),
    }
}

fn indented(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + "    " + line + "\n")
}

/// Compares answer by answer.
fn compare(scenario: &Scenario, gdb: Gdb, commands: &[String], live: &[Vec<String>], replay: &[Vec<String>]) {
    let known: Vec<(&Shown, &str)> = DIFFERENCES
        .iter()
        .filter(|difference| difference.scenarios.contains(&scenario.name) && difference.gdbs.contains(&gdb))
        .flat_map(|difference| difference.shown.iter().map(|shown| (shown, difference.why)))
        .collect();
    let mut seen = vec![false; known.len()];
    let mut wrong = String::new();
    let mut equal = 0;
    for ((command, live), replay) in commands.iter().zip(live).zip(replay) {
        let mut live: Vec<String> = live.iter().map(|line| without_value_number(line)).collect();
        let mut replay: Vec<String> = replay.iter().map(|line| without_value_number(line)).collect();
        if live == replay && !live.is_empty() {
            equal += 1;
        }
        for ((shown, _), seen) in known.iter().zip(&mut seen) {
            if matches!(shown, Order(pattern) if matches(pattern, command)) {
                let first_words = |lines: &[String]| -> Vec<String> {
                    lines.iter().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
                };
                *seen |= first_words(&live) != first_words(&replay);
                live.sort();
                replay.sort();
            }
        }
        for (live, replay) in differing(&live, &replay) {
            let reason = known.iter().position(|(shown, _)| {
                matches!(shown, Lines(pattern, here, there)
                    if matches(pattern, command) && match_lines(here, &live) && match_lines(there, &replay))
            });
            match reason {
                Some(at) => seen[at] = true,
                None => {
                    let _ =
                        write!(wrong, "(gdb) {command}\n  live\n{}  replay\n{}", indented(&live), indented(&replay));
                }
            }
        }
    }
    for ((shown, why), _) in known.iter().zip(seen).filter(|(_, seen)| !seen) {
        let _ = writeln!(wrong, "no longer to be seen: {shown:?}, {why}");
    }
    assert!(wrong.is_empty(), "{} with {gdb:?}, {equal} answers equal\n{wrong}", scenario.name);
    assert!(equal >= scenario.least, "{} with {gdb:?}: only {equal} answers were compared", scenario.name);
}

/// A live session: the file that its `tsave` wrote, and its answers.
struct Live {
    recording: PathBuf,
    commands: Vec<String>,
    answers: Vec<Vec<String>>,
}

/// The live session of a scenario, played by whoever needs it first.
fn live(scenario: &Scenario, gdb: Gdb) -> Arc<Live> {
    type Played = Mutex<HashMap<(&'static str, String), Arc<OnceLock<Arc<Live>>>>>;
    static PLAYED: LazyLock<Played> = LazyLock::new(Mutex::default);
    let key = (scenario.name, format!("{gdb:?}"));
    let played = PLAYED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    let live = played.get_or_init(|| {
        let commands = scenario.commands();
        let answers = scenario.record(gdb, &commands);
        Arc::new(Live { recording: scenario.recording(gdb), commands, answers })
    });
    live.clone()
}

/// Serves a recording of the scenario's program.
fn serve(scenario: &Scenario, recording: &Path) -> Server {
    Server::serve(&[recording.to_str().unwrap(), "--exec", scenario.program.path().to_str().unwrap()])
}

/// Records with a gdb and gdbserver, replays with the same gdb, and compares.
fn play(scenario: &Scenario, gdb: Gdb) {
    let live = live(scenario, gdb);
    let server = serve(scenario, &live.recording);
    let replay = gdb.answers(&[format!("target remote :{}", server.port)], &live.commands);
    for (side, answers) in [("live", &live.answers), ("replay", &replay)] {
        let answers = live.commands.iter().zip(answers);
        let text: String = answers.map(|(command, lines)| format!("(gdb) {command}\n{}", indented(lines))).collect();
        std::fs::write(folder().join(format!("{}-{gdb:?}.{side}", scenario.name)), text).unwrap();
    }
    compare(scenario, gdb, &live.commands, &live.answers, &replay);
}

/// A trace file in its two parts: the lines of its description, sorted, and the bytes of its frames.
fn parts(file: &Path) -> (Vec<String>, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap() + 2;
    let mut lines: Vec<String> = String::from_utf8_lossy(&bytes[..end]).lines().map(str::to_owned).collect();
    lines.sort();
    (lines, bytes[end..].to_vec())
}

/// What `tsave` makes of a replay: the recording again. And what it makes of the replay of that.
fn save_again(scenario: &Scenario, gdb: Gdb) {
    let name = scenario.name;
    let live = live(scenario, gdb);
    let file = |what: &str| folder().join(format!("{name}-{gdb:?}-{what}"));
    let (again, thrice, ctf) = (file("again.tf"), file("thrice.tf"), file("ctf"));
    let _ = (std::fs::remove_file(&again), std::fs::remove_file(&thrice), std::fs::remove_dir_all(&ctf));

    let server = serve(scenario, &live.recording);
    let [save, save_ctf] = [format!("tsave {}", again.display()), format!("tsave -ctf {}", ctf.display())];
    let connect = format!("target remote :{}", server.port);
    let registers = ["tfind start".to_owned(), "info registers".to_owned()];
    let shown = gdb.answers(&[connect], &[&[save, save_ctf][..], &registers].concat());
    assert_eq!(shown[0], [""; 0], "{name} with {gdb:?}: what fails says so");
    if gdb == Gdb::Newest {
        // It no longer writes the Common Trace Format.
        assert_eq!(shown[1], ["unknown option `-ctf'"]);
    } else {
        assert_eq!(shown[1], [""; 0], "{name} with {gdb:?}: what fails says so");
        for part in ["metadata", "datastream"] {
            assert!(std::fs::metadata(ctf.join(part)).unwrap().len() > 0, "{part} is empty");
        }
    }

    let (recorded, saved) = (parts(&live.recording), parts(&again));
    assert_eq!(recorded.0, saved.0, "{name} with {gdb:?}");
    assert!(recorded.1 == saved.1, "{name} with {gdb:?}: other frames");
    assert!(recorded.1.len() > 10 * scenario.frames, "{name} with {gdb:?}: {} bytes of frames", recorded.1.len());

    // gdb tells definitions in the reverse order of what it was told, so it takes two times for the same file.
    let server = serve(scenario, &again);
    let save = format!("tsave {}", thrice.display());
    gdb.answers(&[format!("target remote :{}", server.port)], &[save]);
    assert!(
        std::fs::read(&live.recording).unwrap() == std::fs::read(&thrice).unwrap(),
        "{name} with {gdb:?}: saved twice, {} is not {}",
        thrice.display(),
        live.recording.display()
    );

    // gdb's own reader, which cannot place a position-independent program and refuses tracepoints that collect strings.
    if matches!(name, "pie" | "strings") {
        return;
    }
    let open = [format!("file {}", scenario.program.path().display()), format!("target tfile {}", again.display())];
    let own = gdb.answers(&open, &registers);
    assert!(own[1].len() >= 16, "{name} with {gdb:?}: {own:?}");
    assert_eq!(own[1], shown[3], "{name} with {gdb:?}");
}

macro_rules! played {
    ($($name:ident: $scenario:expr, $gdb:expr;)*) => {
        $(#[test] fn $name() { play(&$scenario, $gdb); })*
    };
}

played! {
    registers: REGISTERS, Gdb::Debian;
    registers_newest: REGISTERS, Gdb::Newest;
    memory: MEMORY, Gdb::Debian;
    memory_newest: MEMORY, Gdb::Newest;
    variables: VARIABLES, Gdb::Debian;
    variables_newest: VARIABLES, Gdb::Newest;
    stepping: STEPPING, Gdb::Debian;
    stepping_newest: STEPPING, Gdb::Newest;
    conditions: CONDITIONS, Gdb::Debian;
    conditions_newest: CONDITIONS, Gdb::Newest;
    locations: LOCATIONS, Gdb::Debian;
    locations_newest: LOCATIONS, Gdb::Newest;
    strings: STRINGS, Gdb::Debian;
    strings_newest: STRINGS, Gdb::Newest;
    full: FULL, Gdb::Debian;
    full_newest: FULL, Gdb::Newest;
    pie: PIE, Gdb::Debian;
    pie_newest: PIE, Gdb::Newest;
    i386: I386, Gdb::Debian;
    i386_newest: I386, Gdb::Newest;
    realigned: REALIGNED, Gdb::Debian;
    realigned_newest: REALIGNED, Gdb::Newest;
}

/// What a static tracepoint's marker would have passed in a frame.
fn static_data(frame: usize) -> Vec<u8> {
    match frame {
        0 => b"marker\0\x01\xff passed 0".to_vec(),
        // More than gdb asks for at once.
        1 => vec![b'x'; 5000],
        // A block without bytes, which is not the same as no block.
        2 => Vec::new(),
        _ => format!("passed {frame}").into_bytes(),
    }
}

/// Puts static tracepoint data behind the other blocks of each frame (gdb manual, "Trace File Format").
fn with_static_data(file: &[u8]) -> Vec<u8> {
    let end = file.windows(2).position(|two| two == b"\n\n").unwrap() + 2;
    let mut made = file[..end].to_vec();
    let mut rest = &file[end..];
    for frame in 0.. {
        let number = &rest[..2];
        if number == [0, 0] {
            break;
        }
        let size = u32::from_le_bytes(rest[2..6].try_into().unwrap());
        let (blocks, behind) = rest[6..].split_at(size as usize);
        let data = static_data(frame);
        made.extend_from_slice(number);
        made.extend_from_slice(&(size + 3 + data.len() as u32).to_le_bytes());
        made.extend_from_slice(blocks);
        made.push(b'S');
        made.extend_from_slice(&(data.len() as u16).to_le_bytes());
        made.extend_from_slice(&data);
        rest = behind;
    }
    made.extend_from_slice(rest);
    made
}

/// Static tracepoints need a library that is not to be had everywhere, so their data are put into a recording made
/// without them: gdb shows them, and everything else as before.
fn static_data_is_shown(gdb: Gdb) {
    let scenario = &REGISTERS;
    let live = live(scenario, gdb);
    let made = folder().join(format!("static-{gdb:?}.tf"));
    std::fs::write(&made, with_static_data(&std::fs::read(&live.recording).unwrap())).unwrap();
    let server = serve(scenario, &made);
    let mut commands = live.commands.clone();
    commands.extend(
        ["tfind none", "print $_sdata", "tfind start", "print $_sdata", "print sizeof($_sdata)"].map(str::to_owned),
    );
    commands.extend(["print/x $_sdata[8]", "tfind", "print sizeof($_sdata)", "print $_sdata[4999]"].map(str::to_owned));
    for _ in 2..scenario.frames {
        commands.extend(["tfind", "print $_sdata"].map(str::to_owned));
    }
    let shown = gdb.answers(&[format!("target remote :{}", server.port)], &commands);
    let (as_before, data) = shown.split_at(live.commands.len());
    compare(scenario, gdb, &live.commands, &live.answers, as_before);
    let data: Vec<String> = data.iter().map(|lines| without_value_number(&lines.join("\n"))).collect();
    let mut expected = vec![
        "No longer looking at any trace frame".to_owned(),
        "$ = void".to_owned(),
        "Found trace frame 0, tracepoint 1".to_owned(),
        r#"$ = "marker\000\001\377 passed 0""#.to_owned(),
        "$ = 18".to_owned(),
        "$ = 0xff".to_owned(),
        "Found trace frame 1, tracepoint 2".to_owned(),
        "$ = 5000".to_owned(),
        "$ = 120 'x'".to_owned(),
        "Found trace frame 2, tracepoint 1".to_owned(),
        "$ = 0x0".to_owned(),
    ];
    for frame in 3..scenario.frames {
        expected.push(format!("Found trace frame {frame}, tracepoint {}", frame % 2 + 1));
        expected.push(format!("$ = \"passed {frame}\""));
    }
    assert_eq!(data, expected);
}

/// A tracepoint that was set at a marker, which gdb cannot read back.
fn static_tracepoint_is_shown(gdb: Gdb) {
    let scenario = &REGISTERS;
    let file = with_static_data(&std::fs::read(&live(scenario, gdb).recording).unwrap());
    let end = file.windows(2).position(|two| two == b"\n\n").unwrap();
    let (description, frames) = file.split_at(end);
    let mut lines: Vec<String> = std::str::from_utf8(description).unwrap().lines().map(str::to_owned).collect();
    for line in &mut lines {
        if line.starts_with("tp T1:") {
            line.push_str(":S");
        } else if line.starts_with("tp Z1:") && line.contains(":at:") {
            let marker = "-m loop/begin";
            let place = line.split_once(":at:").unwrap().0;
            *line = format!("{place}:at:0:{:x}:{}", marker.len(), hex::encode(marker));
        }
    }
    let made = folder().join(format!("marker-{gdb:?}.tf"));
    std::fs::write(&made, [lines.join("\n").as_bytes(), frames].concat()).unwrap();
    let server = serve(scenario, &made);
    let commands =
        ["info tracepoints", "tfind start", "print $_sdata", "print $rip", "tfind tracepoint 1", "print $_sdata"];
    let connect = format!("target remote :{}", server.port);
    let shown = gdb.answers(&[connect], &commands.map(str::to_owned));
    assert!(shown[0][1].starts_with("1       static tracepoint keep y   0x"), "{:?}", shown[0]);
    let shown: Vec<String> = shown[1..].iter().map(|lines| without_value_number(&lines.join("\n"))).collect();
    let expected = [
        "Found trace frame 0, tracepoint 1",
        r#"$ = "marker\000\001\377 passed 0""#,
        "$ = (void (*)()) 0x* <step+*>",
        "Found trace frame 2, tracepoint 1",
        "$ = 0x0",
    ];
    assert!(match_lines(&expected, &shown), "{shown:?}");
}

#[test]
fn static_tracepoints() {
    static_data_is_shown(Gdb::Debian);
    static_tracepoint_is_shown(Gdb::Debian);
}

#[test]
fn static_tracepoints_newest() {
    static_data_is_shown(Gdb::Newest);
    static_tracepoint_is_shown(Gdb::Newest);
}

#[test]
fn tsave_gives_back_the_recording() {
    for scenario in [&REGISTERS, &MEMORY, &VARIABLES, &STEPPING, &CONDITIONS, &LOCATIONS, &STRINGS, &FULL, &PIE, &I386]
    {
        save_again(scenario, Gdb::Debian);
    }
}

#[test]
fn tsave_gives_back_the_recording_newest() {
    for scenario in [&VARIABLES, &LOCATIONS, &STRINGS, &I386] {
        save_again(scenario, Gdb::Newest);
    }
}
