//! The run, as the options tell it.

use std::collections::HashMap;

use super::choices::{Choices, Names};
use super::container::Container;
use super::container::options::Value;
use super::container::section::id;
use super::streams::Streams;
use super::survey::Survey;
use crate::format::tfile::made_fields;
use crate::trace::RunStatus;

/// What `tstatus` and `info` show of the run. Times are microseconds.
pub(super) fn status(container: &Container, survey: &Survey, choices: &Choices) -> RunStatus {
    let frames: u64 = survey.counts.values().sum();
    let lost = survey.lost.values().try_fold(0u64, |sum, (counted, places)| {
        // What nobody counted has no sum.
        (*places == 0).then(|| sum.saturating_add(*counted))
    });
    // Nobody knows which events those were that were lost.
    let created = lost.filter(|_| choices.events.is_empty()).map(|lost| frames.saturating_add(lost));
    let [start, stop] = [survey.span.map(|span| span.0 / 1000), survey.span.map(|span| span.1 / 1000)];
    let mut status = RunStatus {
        known: true,
        frames: Some(frames),
        created,
        start,
        stop,
        notes: Some(notes(container)),
        ..RunStatus::default()
    };
    status.fields = made_fields(&status);
    status
}

fn notes(container: &Container) -> String {
    let mut notes = Vec::new();
    for option in container.options() {
        match &option.value {
            Value::Uname(uname) => notes.push(uname.trim().to_owned()),
            Value::Version(version) => notes.push(format!("trace-cmd {}", version.trim())),
            Value::CpuCount(cpus) => notes.push(format!("{cpus} CPUs")),
            _ => {}
        }
    }
    for buffer in container.buffers() {
        if let Some(clock) = &buffer.clock {
            let of = if buffer.name.is_empty() { String::new() } else { format!(" of {}", buffer.name) };
            notes.push(format!("clock{of}: {clock}"));
        }
    }
    shown(&notes.join("; "))
}

/// Text that a terminal can show: gdb escapes nothing in it.
fn shown(text: &str) -> String {
    let escaped = |letter: char| {
        if (' '..='~').contains(&letter) { letter.to_string() } else { letter.escape_unicode().to_string() }
    };
    text.chars().map(escaped).collect()
}

/// What a person should know about the recording.
pub(super) fn remarks(container: &Container, survey: &Survey, streams: &Streams) -> Vec<String> {
    let mut remarks: Vec<String> = several_clocks(container, streams).into_iter().collect();
    for ((buffer, cpu), (counted, places)) in &survey.lost {
        let name = container.buffers().get(*buffer).map_or("", |buffer| &buffer.name);
        let of = if name.is_empty() { String::new() } else { format!(" of the instance {name}") };
        let counted = (*counted > 0).then(|| format!("{counted} events"));
        let more = (*places > 0).then(|| format!("an unknown number at {places} places"));
        let lost: Vec<String> = counted.into_iter().chain(more).collect();
        if !lost.is_empty() {
            remarks
                .push(format!("CPU {cpu}{of} lost {} ($lost_before is set in the frames behind)", lost.join(", and ")));
        }
    }
    for option in container.options().iter().filter(|option| option.value == Value::Unknown && option.id != id::STRINGS)
    {
        remarks.push(format!("option {} at byte {:#x} is not known here and left out", option.id, option.at));
    }
    for text in container.texts() {
        let of = if text.name.is_empty() { "the top buffer".to_owned() } else { format!("the instance {}", text.name) };
        remarks.push(format!("{of} was saved as text, in the latency format, which has no events to show"));
    }
    if container.buffers().iter().any(|buffer| buffer.recovered) {
        let remark =
            "the part of the file that says which CPU is which is lost: CPUs are counted in the order of the file";
        remarks.push(remark.to_owned());
    }
    remarks
}

/// What is to be known of the times of instances that have not all the same clock.
fn several_clocks(container: &Container, streams: &Streams) -> Option<String> {
    // Clocks begin anew when the machine does; where the kernel lay tells one boot from another.
    let earlier = container.options().iter().filter_map(|option| match &option.value {
        Value::LastBoot(boot) if !boot.current => Some((boot.instance.as_str(), boot.kernel)),
        _ => None,
    });
    let earlier: HashMap<&str, Option<u64>> = earlier.collect();
    let (mut clocks, mut boots, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for buffer in streams.buffers(container) {
        let name = if buffer.name.is_empty() { "the top one" } else { &buffer.name };
        let boot = earlier.get(buffer.name.as_str());
        let of = if boot.is_some() { " of an earlier boot" } else { "" };
        shown.push(format!("{name}: {}{of}", buffer.clock.as_deref().unwrap_or("an unknown clock")));
        clocks.extend(buffer.clock.as_deref());
        boots.push(boot);
    }
    clocks.dedup();
    boots.dedup();
    (clocks.len() > 1 || boots.len() > 1).then(|| {
        format!(
            "the instances shown have different clocks ({}): their times do not compare, and the order of frames of \
             different instances means nothing (--instance shows one)",
            Names::first(shown)
        )
    })
}
