//! How a run ended, and what was noted of it: every way that gdb knows, as `tstatus` and `-trace-status` show it.
//! All gdbs show the same.

mod support;

use support::made::{Made, memory};
use support::protocol::hex;
use support::{Gdb, Server, data};

/// What a file says of the run, and what is shown of it.
struct Case {
    /// The file's status line, behind its first word; no line where there is nothing.
    status: String,
    /// The lines of `tstatus` before those that say how full the buffer is.
    reason: &'static [&'static str],
    /// Those lines.
    buffer: &'static [&'static str],
    /// The lines behind, before that which says where gdb stands.
    notes: &'static [&'static str],
    /// The line behind that.
    times: &'static [&'static str],
    /// What `-trace-status` says, but for its beginning.
    machine: String,
}

const FIELDS: &str = "tframes:1;tcreated:1;tfree:4ffe00;tsize:500000;circular:0;disconn:0";
const COLLECTED: &str = "Collected 1 trace frames.";
const FREE: &str = "Trace buffer has 5242368 bytes of 5242880 bytes free (0% full).";
const COUNTS: &str = r#"frames="1",frames-created="1",buffer-size="5242880",buffer-free="5242368","#;
const FLAGS: &str = r#"disconnected="0",circular="0","#;
const NO_NOTES: &str = r#"user-name="",notes="","#;
const NO_TIMES: &str = r#"start-time="0.000000",stop-time="0.000000""#;
const ENDS: &str = "Trace will stop if GDB disconnects.";

/// A run with nothing particular but its end: the reason, as the file, `tstatus` and `-trace-status` have it.
fn ended(status: &str, reason: &'static [&'static str], machine: &str) -> Case {
    Case {
        status: format!("{status};{FIELDS}"),
        reason,
        buffer: &[COLLECTED, FREE],
        notes: &[ENDS],
        times: &[],
        machine: format!("{machine}{COUNTS}{FLAGS}{NO_NOTES}{NO_TIMES}"),
    }
}

fn cases() -> Vec<Case> {
    let by_command = &["Trace stopped by a tstop command ()."];
    let request = r#"stop-reason="request","#;
    let unknown = &["Trace stopped for an unknown reason."];
    vec![
        Case {
            status: String::new(),
            buffer: &[],
            machine: format!("{FLAGS}{NO_NOTES}{NO_TIMES}"),
            ..ended("", unknown, "")
        },
        ended("0;tunknown:0", unknown, ""),
        ended("0;tmeteorite:7", unknown, ""),
        ended("0;tnotrun:0", &["No trace has been run on the target."], ""),
        // A trace that still ran cannot be looked at, gdb thinks, so it is not told.
        ended("1;tnotrun:0", unknown, ""),
        ended("0;tstop:0", &["Trace stopped by a tstop command."], request),
        ended("0;tstop::0", by_command, request),
        ended(
            &format!("0;tstop:{}:0", hex("enough; really: 100%")),
            &["Trace stopped by a tstop command (enough; really: 100%)."],
            request,
        ),
        ended("0;tfull:0", &["Trace stopped because the buffer was full."], r#"stop-reason="overflow","#),
        ended("0;tdisconnected:0", &["Trace stopped because of disconnection."], r#"stop-reason="disconnection","#),
        // The number is the recording's, and not gdb's.
        ended(
            "0;tpasscount:1f",
            &["Trace stopped by tracepoint 31."],
            r#"stop-reason="passcount",stopping-tracepoint="31","#,
        ),
        ended(
            &format!("0;terror:{}:1f", hex("Memory access error")),
            &["Trace stopped by an error (Memory access error, tracepoint 31)."],
            r#"stop-reason="error",stopping-tracepoint="31",error-description="Memory access error","#,
        ),
        ended(
            "0;terror::0",
            &["Trace stopped by an error ()."],
            r#"stop-reason="error",stopping-tracepoint="0",error-description="","#,
        ),
        Case {
            status: "0;tfull:0;tframes:1;tcreated:3e8;tfree:0;tsize:500000;circular:1;disconn:1".to_owned(),
            buffer: &[
                "Buffer contains 1 trace frames (of 1000 created total).",
                "Trace buffer has 0 bytes of 5242880 bytes free (100% full).",
            ],
            notes: &["Trace will continue if GDB disconnects.", "Trace buffer is circular."],
            machine: [
                r#"stop-reason="overflow",frames="1",frames-created="1000",buffer-size="5242880",buffer-free="0","#,
                r#"disconnected="1",circular="1","#,
                NO_NOTES,
                NO_TIMES,
            ]
            .concat(),
            ..ended("", &["Trace stopped because the buffer was full."], "")
        },
        Case {
            status: format!("0;tstop::0;{FIELDS};starttime:3b9aca07;stoptime:3b9b0000"),
            times: &["Trace started at 1000.000007 secs, stopped 0.013817 secs later."],
            machine: [request, COUNTS, FLAGS, NO_NOTES, r#"start-time="1000.000007",stop-time="1000.013824""#].concat(),
            ..ended("", by_command, "")
        },
        Case {
            status: format!("0;tnotrun:0;{FIELDS};starttime:3b9aca07"),
            times: &["Trace started at 1000.000007 secs."],
            machine: [COUNTS, FLAGS, NO_NOTES, r#"start-time="1000.000007",stop-time="0.000000""#].concat(),
            ..ended("", &["No trace has been run on the target."], "")
        },
        Case {
            status: format!(
                "0;tstop:{}:0;{FIELDS};username:{};notes:{}",
                hex("größer ✓"),
                hex("Jürgen"),
                hex("Zähler läuft ✓")
            ),
            notes: &[ENDS, "Trace user is Jürgen.", "Trace notes: Zähler läuft ✓."],
            // Bytes from 128 to 159 it takes for control characters, which cuts characters in pieces.
            machine: [
                request,
                COUNTS,
                FLAGS,
                "user-name=\"Jürgen\",notes=\"Zähler läuft \u{fffd}\\234\\223\",",
                NO_TIMES,
            ]
            .concat(),
            ..ended("", &["Trace stopped by a tstop command (größer ✓)."], "")
        },
        Case {
            status: format!("0;tstop:{}:0;{FIELDS};notes:{}", hex("a\tb\nc"), hex("one\ntwo\x1b[1m\x7f\"\\\0three")),
            // A null ends the text in gdb.
            notes: &[ENDS, "Trace notes: one", "two\x1b[1m\x7f\"\\."],
            machine: [request, COUNTS, FLAGS, r#"user-name="",notes="one\ntwo\e[1m\177\"\\","#, NO_TIMES].concat(),
            ..ended("", &["Trace stopped by a tstop command (a\tb", "c)."], "")
        },
    ]
}

/// A recording of one frame with this status line, and its server.
fn serve(status: &str) -> (tempfile::TempDir, Server) {
    let mut made = Made::new(&["R 230"]);
    if !status.is_empty() {
        made.line(format!("status {status}"));
    }
    made.line("tp T1f:401131:E:0:0").line("tp A1f:401131:M-1,4040b8,4");
    made.frame(31, &[memory(0x40_40b8, &[7, 0, 0, 0])]);
    let (folder, path) = made.save("made.tf");
    (folder, Server::serve(&[&path, "--exec", data("bin/case").to_str().unwrap()]))
}

impl Case {
    /// What `tstatus` shows at a place.
    fn told(&self, place: &str) -> Vec<String> {
        let lines = [self.reason, self.buffer, self.notes, &[place], self.times].concat();
        lines.into_iter().map(str::to_owned).collect()
    }
}

#[test]
fn every_way_to_end_is_shown() {
    let cases = cases();
    let servers: Vec<_> = cases.iter().map(|case| serve(&case.status)).collect();
    let asked = ["tstatus", "interpreter-exec mi \"-trace-status\"", "tfind 0", "tstatus", "disconnect"];
    let commands: Vec<String> = servers
        .iter()
        .flat_map(|(_, server)| [&[format!("target remote :{}", server.port)], &asked.map(str::to_owned)[..]].concat())
        .collect();
    for gdb in Gdb::ALL {
        let answers = gdb.answers(&[], &commands);
        for (case, shown) in cases.iter().zip(answers.chunks(asked.len() + 1)) {
            let status = &case.status;
            assert_eq!(shown[1], case.told("Not looking at any trace frame."), "{gdb:?}: {status}");
            let machine = format!(r#"^done,supported="1",running="0",{}"#, case.machine);
            assert_eq!(shown[2], [machine], "{gdb:?}: {status}");
            assert_eq!(shown[4], case.told("Looking at trace frame 0, tracepoint 1."), "{gdb:?}: {status}");
        }
    }
}
