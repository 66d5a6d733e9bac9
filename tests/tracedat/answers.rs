//! The answers of others, read.

use std::io::Read;

use super::support::data;

/// The text of an answer, `NAME.KIND.gz`.
pub fn answer(name: &str, kind: &str) -> String {
    let path = data(&format!("tracedat/expect/{name}.{kind}.gz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An event as the independent decoder has it.
#[derive(Debug)]
pub struct Decoded {
    pub instance: String,
    pub cpu: i64,
    pub raw: i64,
    pub id: i64,
    pub event: String,
    /// Events lost before it: -1 where they were not counted.
    pub lost: Option<i64>,
    pub pid: i64,
    pub record: Vec<u8>,
}

/// The events of a file, each CPU's in order.
pub fn decoded(name: &str) -> Vec<Decoded> {
    let text = answer(name, "events.tsv");
    let mut lines = text.lines();
    let columns = "#instance\tcpu\tts_raw\tevent_id\tsystem\tevent\tlost_before\tcommon_pid\trecord_hex";
    assert_eq!(lines.next(), Some(columns));
    let event = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [instance, cpu, raw, id, _, event, lost, pid, record] = columns[..] else { panic!("{line}") };
        Decoded {
            instance: instance.to_owned(),
            cpu: cpu.parse().unwrap(),
            raw: raw.parse().unwrap(),
            id: id.parse().unwrap(),
            event: event.to_owned(),
            lost: match lost {
                "" => None,
                "?" => Some(-1),
                count => Some(count.parse().unwrap()),
            },
            pid: pid.parse().unwrap(),
            record: hex::decode(record).unwrap(),
        }
    };
    lines.map(event).collect()
}

/// An event as `trace-cmd report` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Nothing for the top one.
    pub instance: String,
    pub task: String,
    pub cpu: i64,
    pub pid: i64,
    /// In nanoseconds, or in ticks of the clock where it shows these.
    pub time: i64,
    pub event: String,
    /// Events lost before it: -1 where they were not counted.
    pub lost: Option<i64>,
    /// What follows the name.
    pub text: String,
}

/// The events of a report, in its order.
pub fn reported(report: &str) -> Vec<Reported> {
    let mut lost = None;
    let mut events = Vec::new();
    for line in report.lines() {
        if let Some((cpu, dropped)) = line.rsplit_once("CPU:").and_then(|(_, rest)| rest.split_once(" [")) {
            let instance = line.split_once(": ").map_or("", |(before, _)| before.trim());
            let count = match dropped.strip_suffix(" EVENTS DROPPED]") {
                Some(count) => count.parse().unwrap(),
                None => {
                    assert_eq!(dropped, "EVENTS DROPPED]");
                    -1
                }
            };
            let cpu: i64 = cpu.parse().unwrap();
            lost = Some((instance, cpu, count));
        } else if let Some(mut event) = event(line) {
            // The event behind follows at once, and then the instance is not named again.
            if let Some((instance, cpu, count)) = lost.take() {
                assert_eq!((event.cpu, event.instance.as_str()), (cpu, ""), "{line}");
                event.instance = instance.to_owned();
                event.lost = Some(count);
            }
            events.push(event);
        } else {
            // Stacks take several lines, and hooks are told of.
            let line = line.trim_start();
            let is_more = line.is_empty() || ["=> ", "cpus=", "start "].iter().any(|start| line.starts_with(start));
            assert!(is_more, "{line}");
        }
    }
    assert_eq!(lost, None);
    events
}

/// `foo:     comm-12   [001] d..2.   894.830150184: sched_switch:    TEXT`, where the instance and the flags may be missing.
fn event(line: &str) -> Option<Reported> {
    let at = line.match_indices(" [").map(|(at, _)| at).find(|at| {
        line[at + 2..].split_once(']').is_some_and(|(cpu, _)| cpu.len() == 3 && cpu.parse::<i64>().is_ok())
    })?;
    let (task, rest) = (&line[..at], &line[at + 2..]);
    let (instance, task) = match task.split_once(": ") {
        Some((instance, task)) if !instance.starts_with(' ') => (instance, task),
        _ => ("", task),
    };
    let (task, pid) = task.trim().rsplit_once('-')?;
    let (cpu, rest) = rest.split_once(']')?;
    let (stamp, rest) = rest.split_once(": ")?;
    let stamp = stamp.split_whitespace().last()?;
    let time = match stamp.rsplit_once('.') {
        Some((seconds, fraction)) if fraction.len() == 9 => {
            seconds.parse::<i64>().ok()? * 1_000_000_000 + fraction.parse::<i64>().ok()?
        }
        // Ticks of a clock, behind the flags without a space.
        Some((_, ticks)) => ticks.parse().ok()?,
        None => stamp.trim_start_matches("-0x").parse().ok()?,
    };
    let (event, text) = rest.split_once(':')?;
    Some(Reported {
        instance: instance.to_owned(),
        task: task.to_owned(),
        cpu: cpu.parse().ok()?,
        pid: pid.trim().parse().ok()?,
        time,
        event: event.trim().to_owned(),
        lost: None,
        text: text.trim_start().to_owned(),
    })
}
