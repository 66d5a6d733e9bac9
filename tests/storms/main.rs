//! Storms: clients that send garbage, stop in the middle, flood, never read, reset, come by the thousand, or are killed.
//!
//! Meanwhile an honest client asks on, and each of its answers is right and comes in time. Afterwards memory,
//! descriptors and threads of the server are where they were before, and the next client is served. And a server that
//! is told to end in the middle of a storm ends at once.
//!
//! An ordinary run has small storms; with `TRACEFRAME_SOAK=1` in the environment they have their full size, which is for
//! `cargo test --release --test storms -- --nocapture`. With `TRACEFRAME_STORM=TEXT` only those run whose names contain
//! the text.

mod bytes;
mod connections;
mod link;
mod place;
mod sessions;
#[path = "../support/mod.rs"]
mod support;
mod weather;

use std::io;

use place::{Kind, Place, Served};
use support::started::eventually;
use weather::Costs;

/// A storm over a server: one round of it. It fails where an answer is missing or wrong.
type Round = fn(&Place) -> io::Result<()>;

const STORMS: &[(&str, Round)] = &[
    ("garbage", bytes::garbage),
    ("half packets, silence, and the other halves", bytes::halves),
    ("packets without an end", bytes::endless),
    ("wrong checksums", bytes::wrong_checksums),
    ("nacks", bytes::nacks),
    ("^C", bytes::interrupts),
    ("writes of one byte", bytes::single_bytes),
    ("everything in one write", bytes::pipelined),
    ("clients that ask and never read", connections::never_read),
    ("clients that never write", connections::never_write),
    ("connections reset in the middle of a reply", connections::reset),
    ("connections that come and go", connections::come_and_go),
    ("cursors that walk at the same time", sessions::cursors),
    ("gdb sessions", sessions::gdbs),
    ("gdbs that are killed", sessions::killed_gdbs),
];

/// Whether storms have their full size.
fn is_soak() -> bool {
    std::env::var_os("TRACEFRAME_SOAK").is_some_and(|value| value == "1")
}

/// How many of something: in an ordinary run, and in a soak.
fn size(ordinary: usize, full: usize) -> usize {
    if is_soak() { full } else { ordinary }
}

/// The storms that were asked for.
fn storms() -> impl Iterator<Item = (&'static str, Round)> {
    let only = std::env::var("TRACEFRAME_STORM").unwrap_or_default();
    STORMS.iter().copied().filter(move |(name, _)| name.contains(&only))
}

fn all_weathered(kind: Kind) {
    let served = Served::new(kind);
    served.settle();
    let at_first = Costs::of(&served.server);
    for (name, round) in storms() {
        weather::weather(&served, at_first, name, round);
    }
    // Those that were needed for a while end when they have had nothing to do for some seconds.
    eventually("no more threads than at first", || served.server.threads() <= at_first.threads);
}

#[test]
fn a_small_recording_weathers_every_storm() {
    all_weathered(Kind::Small);
}

#[test]
fn a_large_recording_weathers_every_storm() {
    all_weathered(Kind::Large);
}

/// Each crowd is served by other threads than the one before, and none of them may keep what it needed.
#[test]
fn memory_does_not_grow_from_crowd_to_crowd() {
    let served = Served::new(Kind::Small);
    served.settle();
    let crowd = || {
        let links: Vec<_> = (0..250).map(|at| served.place.link(at).unwrap()).collect();
        links.iter().for_each(|link| link.ask("T1", "OK").unwrap());
        drop(links);
        eventually("the crowd left", || served.server.descriptors() < 50);
    };
    (0..3).for_each(|_| crowd());
    let before = served.server.own_memory();
    (0..size(12, 100)).for_each(|_| crowd());
    let after = served.server.own_memory();
    println!("crowds: memory {} kB before, {} kB after", before >> 10, after >> 10);
    assert!(after < before + (2 << 20) * size(1, 2), "{before} bytes became {after}");
}

#[test]
fn a_signal_ends_the_server_in_every_storm() {
    for (at, (name, round)) in storms().enumerate() {
        let (kind, signals) = if at % 2 == 0 { (Kind::Small, ["INT", "TERM"]) } else { (Kind::Large, ["TERM", "INT"]) };
        // In a soak both recordings and both signals are taken, else one of each.
        let kinds = if is_soak() { vec![Kind::Small, Kind::Large] } else { vec![kind] };
        for kind in kinds {
            for signal in &signals[..size(1, 2)] {
                weather::end_in(Served::new(kind), name, round, signal);
            }
        }
    }
}
