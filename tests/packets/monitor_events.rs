//! `monitor find` with several conditions, in recordings of a kernel and others.

use serde_json::Value;

use super::support::report::{self, Line};
use super::support::{Client, data, run, traceframe};
use super::{serve, steps};

/// The frames that are found, in the order of the search, which goes on where one answer does not have all.
fn numbers(client: &mut Client, what: &str) -> Vec<usize> {
    let (what, from) = what.split_once(" from ").map_or((what, None), |(what, from)| (what, Some(from.to_owned())));
    let mut from = from.map_or_else(String::new, |from| format!(" from {from}"));
    let mut found = Vec::new();
    loop {
        let answer = client.monitor(&format!("find {what} numbers{from}"));
        let (numbers, rest): (Vec<&str>, Vec<&str>) = answer.lines().partition(|line| line.parse::<usize>().is_ok());
        found.extend(numbers.iter().map(|number| number.parse::<usize>().unwrap()));
        match rest[..] {
            [without] if without.starts_with("without ") => return found,
            [without, next] if without.starts_with("without ") => {
                from = format!(" from {}", next.strip_prefix("next ").unwrap());
            }
            _ => panic!("{what}: {answer}"),
        }
    }
}

#[test]
fn all_conditions_hold_as_trace_cmd_reports_the_events() {
    let lines = report::lines("sched-v7-zstd.report-R");
    let server = serve("tracedat/sched-v7-zstd.dat", None);
    let mut client = server.connect();
    let number = |line: &Line, name: &str| line.field(name).and_then(|value| value.parse::<i64>().ok());
    type Holds<'a> = Box<dyn Fn(&Line) -> bool + 'a>;
    let is = |name: &'static str, value: &'static str| move |line: &Line| line.field(name) == Some(value);
    let cases: [(&str, Holds<'_>); 16] = [
        ("event=sched_switch", Box::new(|line| line.event == "sched_switch")),
        ("event=sched:sched_switch cpu=1", Box::new(|line| line.event == "sched_switch" && line.cpu == 1)),
        ("pid=675", Box::new(|line| line.pid == 675)),
        ("$pid=675 event=sys_exit", Box::new(|line| line.pid == 675 && line.event == "sys_exit")),
        ("thread=672", Box::new(|line| line.pid == 672)),
        ("pid=1", Box::new(|_| false)),
        ("time=882.28..882.29", Box::new(|line| (882_280_000_000..=882_290_000_000).contains(&line.nanoseconds))),
        ("time=882.274860585", Box::new(|line| line.nanoseconds == 882_274_860_585)),
        (
            "time=882.2961.. event=sys_enter",
            Box::new(|line| line.nanoseconds >= 882_296_100_000 && line.event == "sys_enter"),
        ),
        ("time=..882274900000ns cpu=0", Box::new(|line| line.nanoseconds <= 882_274_900_000 && line.cpu == 0)),
        (
            "time=882.28.. time=..882.29 pid=24560",
            Box::new(|line| (882_280_000_000..=882_290_000_000).contains(&line.nanoseconds) && line.pid == 24560),
        ),
        ("event=sched_switch prev_comm=\"gdb worker\"", Box::new(is("prev_comm", "gdb worker"))),
        ("next_comm=bash", Box::new(is("next_comm", "bash"))),
        (
            "event=sched_switch next_comm!=bash",
            Box::new(|line| line.event == "sched_switch" && line.field("next_comm") != Some("bash")),
        ),
        (
            "event=sys_exit ret<0",
            Box::new(move |line| line.event == "sys_exit" && number(line, "ret").is_some_and(|ret| ret < 0)),
        ),
        (
            "prev_prio>=100 prev_prio<=120 cpu!=0",
            Box::new(move |line| {
                line.cpu != 0 && number(line, "prev_prio").is_some_and(|prio| (100..=120).contains(&prio))
            }),
        ),
    ];
    for (what, holds) in &cases {
        let expected: Vec<usize> = (0..lines.len()).filter(|at| holds(&lines[*at])).collect();
        assert_eq!(expected.is_empty(), *what == "pid=1", "{what}");
        assert_eq!(numbers(&mut client, what), expected, "{what}");
        let middle = lines.len() / 2;
        let before: Vec<usize> = expected.iter().copied().filter(|at| *at < middle).rev().collect();
        assert_eq!(numbers(&mut client, &format!("{what} reverse from {middle}")), before, "{what}");
    }
}

#[test]
fn what_is_found_is_shown_as_events() {
    let lines = report::lines("sched-v7-zstd.report-t");
    let server = serve("tracedat/sched-v7-zstd.dat", None);
    let mut client = server.connect();
    let answer = client.monitor("find event=sched_switch");
    let place = lines.iter().position(|line| line.event == "sched_switch").unwrap();
    let Line { time, cpu, task, .. } = &lines[place];
    let row = answer.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(row.starts_with(&format!("{place} {time} {cpu} {task} sched_switch prev_comm=")), "{answer}");
    assert!(answer.ends_with(&format!("go there with: tfind {place}\n")), "{answer}");
    // A field that few events have.
    assert!(client.monitor("find next_comm=nobody").contains("did not collect what it takes"));
}

#[test]
fn in_a_gdb_trace_file_an_event_is_a_tracepoint() {
    let server = steps();
    let mut client = server.connect();
    let expected = numbers(&mut client, "tracepoint 2");
    assert!(expected.len() > 10);
    for what in ["event=2", "tracepoint=2", "event=2 thread=1"] {
        assert_eq!(numbers(&mut client, what), expected, "{what}");
    }
    // By the function at it, and by what its maker typed.
    for what in ["event=step", "event=case.c:19"] {
        assert_eq!(numbers(&mut client, what), expected, "{what}");
    }
    let server = serve("tfile/06-mloc.tf", Some("bin/case"));
    let mut client = server.connect();
    assert_eq!(numbers(&mut client, "event=main"), (0..40).collect::<Vec<_>>());
    assert_eq!(numbers(&mut client, "event=mloc event=3"), numbers(&mut client, "tracepoint 3"));
    assert_eq!(numbers(&mut client, "tracepoint 3").len(), 20);
}

#[test]
fn what_cannot_be_found_so_is_said() {
    let server = serve("tracedat/sched-v7-zstd.dat", None);
    let mut client = server.connect();
    for (what, expected) in [
        ("event=nosuch", "there is no event nosuch in this recording"),
        ("event!=sched_switch", "event is found with = only"),
        ("nosuch=1", "there is no trace state variable, no field of an event and no register nosuch here"),
        ("instance=nosuch", "there is no instance nosuch in this recording"),
        ("instance<b", "instance is found with = and != only"),
        ("cpu=1 foo", "foo is no condition: write NAME=VALUE"),
        ("cpu=<1", "=< is no comparison"),
        ("time=soon", "soon is no time in seconds"),
        ("time=2..1", "the first time is behind the second"),
        ("thread=x", "x is no number"),
        ("next_comm=\"a", "a quotation mark is missing"),
        ("event=\x1b[31m", "there is no event \\u{1b}[31m"),
    ] {
        let answer = client.monitor(&format!("find {what}"));
        assert!(answer.contains(expected) && answer.contains("monitor find"), "{what}: {answer}");
    }
    let server = steps();
    let answer = server.connect().monitor("find time=1..2");
    assert!(answer.contains("the frames of this recording have no time of their own"), "{answer}");
}

/// The frames whose event, as JSON, fits.
fn rows(recording: &str, fits: impl Fn(&Value) -> bool) -> Vec<usize> {
    let (code, rows, errors) = run(traceframe().args(["frames", "--json"]).arg(data(recording)));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let events = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["event"].take());
    events.enumerate().filter(|(_, event)| fits(event)).map(|(number, _)| number).collect()
}

#[test]
fn the_instance_of_an_event_is_a_condition() {
    let recording = "tracedat/instances-v7-zlib.dat";
    let server = serve(recording, None);
    let mut client = server.connect();
    for name in ["foo", "bar", ""] {
        let expected = rows(recording, |event| event["instance"].as_str().unwrap_or_default() == name);
        assert!(!expected.is_empty());
        assert_eq!(numbers(&mut client, &format!("instance=\"{name}\"")), expected);
    }
    let others = rows(recording, |event| !event["instance"].is_null() && event["cpu"] == 1);
    assert_eq!(numbers(&mut client, "instance!= cpu=1"), others);
}

#[test]
fn fields_of_a_probe_that_are_registers_and_arrays_are_conditions() {
    let recording = "tracedat/uprobe-v7-zstd.dat";
    let server = serve(recording, None);
    let mut client = server.connect();
    let field = |name: &'static str, fits: &dyn Fn(&Value) -> bool| {
        rows(recording, |event| event["fields"].get(name).is_some_and(fits))
    };
    let hits = field("rip", &|value| *value == 0x40_1136);
    assert_eq!(hits.len(), 6);
    for what in ["rip=0x401136", "$rip=0x401136", "event=place_order rip>0x401000", "rip=0x401136 rax>0"] {
        assert_eq!(numbers(&mut client, what), hits, "{what}");
    }
    let elements = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|element| element.as_u64().unwrap()).collect()
    };
    let has = |wanted: u64| move |value: &Value| elements(value).contains(&wanted);
    let schedule = 0xffff_ffff_821f_8c03;
    let with = field("caller", &has(schedule));
    assert!(!with.is_empty());
    assert_eq!(numbers(&mut client, "caller=0xffffffff821f8c03"), with);
    let without = field("caller", &|value| !has(schedule)(value));
    assert!(!without.is_empty());
    assert_eq!(numbers(&mut client, "caller!=0xffffffff821f8c03"), without);
    let bytes = field("ord", &|value| elements(value).iter().any(|byte| *byte > 250));
    assert!(!bytes.is_empty() && bytes.len() < hits.len());
    assert_eq!(numbers(&mut client, "ord>250"), bytes);
}

#[test]
fn a_register_is_a_condition_in_every_recording() {
    let server = steps();
    let mut client = server.connect();
    let expected = numbers(&mut client, "reg rsp > 0");
    assert!(!expected.is_empty());
    assert_eq!(numbers(&mut client, "rsp>0"), expected);
}
