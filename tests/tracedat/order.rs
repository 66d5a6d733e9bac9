//! Every recording against what trace-cmd shows: the order across CPUs and instances, and the times.

use std::collections::{HashMap, HashSet};

use traceframe::format::tracedat::Choices;

use super::answers::{Reported, answer, reported};
use super::frames::{Shown, fixture, open, shown};
use super::judged::RECORDINGS;

/// That these are the events of a report, in its order.
pub fn assert_same(seen: &[Shown], wanted: &[Reported], place: &str) {
    assert_eq!(seen.len(), wanted.len(), "{place}");
    for (number, (seen, wanted)) in seen.iter().zip(wanted).enumerate() {
        let place = format!("{place}, frame {number}");
        assert_eq!(seen.time, wanted.time, "{place}");
        assert_eq!(seen.event, wanted.event, "{place}");
        assert_eq!(seen.variable("cpu"), wanted.cpu, "{place}");
        assert_eq!(seen.variable("pid"), wanted.pid, "{place}");
        assert_eq!(seen.variables.get("lost_before").copied(), wanted.lost, "{place}");
    }
}

#[test]
fn the_order_and_the_times_are_those_of_trace_cmd() {
    for (name, answers, count) in RECORDINGS {
        let wanted = reported(&answer(answers, "report-t.txt"));
        assert_eq!(wanted.len(), count, "{name}");
        assert_same(&shown(&*open(&fixture(name), Choices::default())), &wanted, name);
    }
}

#[test]
fn tasks_have_the_name_of_the_time() {
    for (name, answers, _) in RECORDINGS {
        let wanted = reported(&answer(answers, "report-t.txt"));
        let shown = shown(&*open(&fixture(name), Choices::default()));
        // trace-cmd knows a task by the last name that it saw, whenever that was.
        let mut names: HashSet<String> = wanted.iter().map(|event| format!("{}-{}", event.task, event.pid)).collect();
        for event in shown.iter().filter(|event| event.event == "sched_switch") {
            let task = |side: &str| {
                let text =
                    event.memory(event.variable(&format!("{side}_comm"))).split(|byte| *byte == 0).next().unwrap();
                format!("{}-{}", String::from_utf8_lossy(text), event.variable(&format!("{side}_pid")))
            };
            if event.variable("pid") > 0 {
                assert_eq!(event.task, task("prev"), "{name}");
            }
            names.extend([task("prev"), task("next")]);
        }
        for event in shown.iter().filter(|event| event.event == "sched_process_fork") {
            let text = event.memory(event.variable("parent_comm")).split(|byte| *byte == 0).next().unwrap();
            names.insert(format!("{}-{}", String::from_utf8_lossy(text), event.variable("parent_pid")));
        }
        for (number, event) in shown.iter().enumerate() {
            assert!(names.contains(&event.task), "{name}, frame {number}: {}", event.task);
        }
    }
}

#[test]
fn what_was_lost_is_said_before_the_next_frame_of_the_cpu_that_is_shown() {
    let path = fixture("lost-v7-zstd");
    let whole = shown(&*open(&path, Choices::default()));
    let names: HashSet<&str> = whole.iter().map(|event| event.event.as_str()).collect();
    assert!(names.len() > 1);
    for name in names {
        let mut lost: HashMap<i64, i64> = HashMap::new();
        let mut wanted = Vec::new();
        for event in &whole {
            let unsaid = lost.entry(event.variable("cpu")).or_default();
            *unsaid += event.variables.get("lost_before").copied().unwrap_or(0);
            if event.event == name {
                wanted.push((event.time, Some(std::mem::take(unsaid)).filter(|lost| *lost > 0)));
            }
        }
        let chosen = shown(&*open(&path, Choices { events: vec![name.to_owned()], ..Choices::default() }));
        let seen: Vec<_> =
            chosen.iter().map(|event| (event.time, event.variables.get("lost_before").copied())).collect();
        assert_eq!(seen, wanted, "{name}");
    }
}
