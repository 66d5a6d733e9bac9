//! Every recording against the independent decoder.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use traceframe::format::tracedat::Choices;
use traceframe::trace::Item;

use super::answers::{Decoded, decoded};
use super::frames::{Shown, fixture, one, open, shown};

/// The recordings, the name of the answers, and how many events there are.
pub const RECORDINGS: [(&str, &str, usize); 12] = [
    ("sched-v6", "sched-v7-zstd", 2981),
    ("sched-v7-none", "sched-v7-zstd", 2981),
    ("sched-v7-zlib", "sched-v7-zstd", 2981),
    ("sched-v7-zstd", "sched-v7-zstd", 2981),
    ("uprobe-v7-zstd", "uprobe-v7-zstd", 162),
    ("marker-v7-zstd", "marker-v7-zstd", 156),
    ("instances-v7-zlib", "instances-v7-zlib", 1592),
    ("lost-v7-zstd", "lost-v7-zstd", 2262),
    ("clock-mono_raw", "clock-mono_raw", 65),
    ("clock-x86-tsc", "clock-x86-tsc", 74),
    ("options-v7-zlib", "options-v7-zlib", 74),
    ("btfmod-v7-none", "btfmod-v7-none", 32),
];

#[test]
fn every_event_of_every_cpu_is_the_decoders() {
    for (name, answers, count) in RECORDINGS {
        let events = decoded(answers);
        assert_eq!(events.len(), count, "{name}");
        let instances: BTreeSet<&str> = events.iter().map(|event| event.instance.as_str()).collect();
        for instance in instances {
            let choices = Choices { instances: vec![instance.to_owned()], ..Choices::default() };
            let shown = shown(&*open(&fixture(name), choices));
            let wanted: Vec<&Decoded> = events.iter().filter(|event| event.instance == instance).collect();
            assert_eq!(shown.len(), wanted.len(), "{name}, instance {instance:?}");
            let times: Vec<i64> = shown.iter().map(|event| event.time).collect();
            assert!(times.is_sorted(), "{name}, instance {instance:?}");
            for (cpu, wanted) in by_cpu(&wanted, |event| event.cpu) {
                let seen = shown.iter().filter(|event| event.variable("cpu") == cpu);
                let mut count = 0;
                for (place, (seen, wanted)) in seen.zip(&wanted).enumerate() {
                    compare(seen, wanted, &format!("{name}, instance {instance:?}, CPU {cpu}, event {place}"));
                    count += 1;
                }
                assert_eq!(count, wanted.len());
            }
        }
    }
}

fn by_cpu<'e, T>(events: &[&'e T], cpu: impl Fn(&T) -> i64) -> BTreeMap<i64, Vec<&'e T>> {
    let mut cpus: BTreeMap<i64, Vec<&T>> = BTreeMap::new();
    for event in events {
        cpus.entry(cpu(event)).or_default().push(event);
    }
    cpus
}

fn compare(seen: &Shown, wanted: &Decoded, place: &str) {
    assert_eq!(seen.variable("raw_timestamp"), wanted.raw, "{place}");
    assert_eq!(seen.variable("event_id"), wanted.id, "{place}");
    assert_eq!(seen.variable("pid"), wanted.pid, "{place}");
    assert_eq!(seen.variables.get("lost_before").copied(), wanted.lost, "{place}");
    assert_eq!(hex::encode(&seen.record), hex::encode(&wanted.record), "{place}");
    assert_eq!(seen.event, wanted.event, "{place}");
}

#[test]
fn a_recording_that_is_cut_is_the_whole_one_up_to_the_cut() {
    let recording = open(&fixture("bad-truncated-v7-none"), Choices::default());
    let mut damage = recording.damage().to_vec();
    let mut locations = Vec::new();
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => locations.push(frame.location),
            Item::Damage(found) => damage.push(found),
            Item::Instructions(_) | Item::Interruption(_) => panic!("{item:?}"),
        }
        ControlFlow::Continue(())
    });
    let length = std::fs::metadata(fixture("bad-truncated-v7-none")).unwrap().len();
    assert!(damage.iter().any(|damage| damage.at == length), "{damage:?}");
    let whole = decoded("sched-v7-zstd");
    let cpus = by_cpu(&whole.iter().collect::<Vec<_>>(), |event| event.cpu);
    let mut next: BTreeMap<i64, usize> = BTreeMap::new();
    for location in locations {
        let seen = one(&*recording, &recording.frame(location));
        let cpu = seen.variable("cpu");
        let place = next.entry(cpu).or_default();
        compare(&seen, cpus[&cpu][*place], &format!("CPU {cpu}, event {place}"));
        *place += 1;
    }
    assert!(next[&0] > 100, "{next:?}");
}

#[test]
fn a_buffer_that_was_saved_as_text_is_named() {
    let recording = open(&fixture("latency-v7-zstd"), Choices::default());
    assert!(shown(&*recording).is_empty());
    assert!(recording.remarks().iter().any(|remark| remark.contains("latency")), "{:?}", recording.remarks());
}
