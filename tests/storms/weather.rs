//! A storm over a server: who asks meanwhile, and what is left of it afterwards.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::place::Served;
use super::support::Server;
use super::support::started::eventually;
use super::{Round, size};

/// When an answer is late. It comes in a millisecond or so.
const LATE: Duration = Duration::from_secs(2);

/// When the end of a server is late.
const END: Duration = Duration::from_secs(1);

/// By how much times are longer in a soak, where two hundred gdbs leave little of the machine to the server, and to
/// whoever measures it.
fn patience() -> u32 {
    size(1, 15) as u32
}

/// What memory may grow by from one round to the next: an allocator keeps pieces of what it had, by threads.
fn kept() -> usize {
    size(4 << 20, 16 << 20)
}

/// What memory may grow by during a round, whatever is sent or not read.
const HELD: usize = 48 << 20;

/// What a server costs the system at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    memory: usize,
    descriptors: usize,
    pub threads: usize,
}

impl Costs {
    pub fn of(server: &Server) -> Costs {
        Costs { memory: server.own_memory(), descriptors: server.descriptors(), threads: server.threads() }
    }
}

/// What an honest client and whoever watched the memory met in a storm.
struct Seen {
    questions: usize,
    worst: Duration,
    memory: usize,
}

/// Looks at frame after frame while it storms; says so when the first was looked at, so that no storm is over before.
fn honest(Served { server, place, .. }: &Served, asking: Sender<()>, over: &AtomicBool) -> io::Result<Seen> {
    let mut seen = Seen { questions: 0, worst: Duration::ZERO, memory: 0 };
    let link = place.link(0)?;
    let mut frame = 0;
    while !over.load(Ordering::Relaxed) {
        frame = (frame + 7919) % place.frames();
        for (question, answer) in place.visit(frame) {
            let began = Instant::now();
            link.ask(&question, &answer)?;
            seen.worst = seen.worst.max(began.elapsed());
            seen.questions += 1;
        }
        let _ = asking.send(());
        seen.memory = seen.memory.max(server.own_memory());
        thread::sleep(Duration::from_millis(2));
    }
    Ok(seen)
}

/// A round of a storm, with an honest client in it.
fn storm(served: &Served, round: Round) -> io::Result<Seen> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (asking, asked) = channel();
        let honest = scope.spawn(|| honest(served, asking, &over));
        // It may have failed, and says so when it is joined.
        let _ = asked.recv();
        let stormed = round(&served.place);
        over.store(true, Ordering::Relaxed);
        let seen = honest.join().unwrap();
        stormed.and(seen)
    })
}

/// A first round, and a second that leaves nothing behind and hinders nobody.
pub fn weather(served: &Served, at_first: Costs, name: &str, round: Round) {
    let began = Instant::now();
    let Served { server, place, .. } = served;
    let go = || {
        let seen = storm(served, round).unwrap_or_else(|error| panic!("{name}: {error}"));
        let closed = || server.descriptors() <= at_first.descriptors;
        eventually(&format!("{name}: no more descriptors than at first"), closed);
        seen
    };
    let first = go();
    let before = Costs::of(server);
    let mut seen = go();
    let after = Costs::of(server);
    seen.worst = seen.worst.max(first.worst);
    println!(
        "{:?} recording, {name}: {:.1} s; {} questions, the slowest answered in {:.1} ms; memory {} kB before, at most \
         {} kB, {} kB after; {} descriptors before, {} after; {} threads before, {} after",
        place.kind,
        began.elapsed().as_secs_f64(),
        seen.questions,
        1e3 * seen.worst.as_secs_f64(),
        before.memory >> 10,
        seen.memory >> 10,
        after.memory >> 10,
        before.descriptors,
        after.descriptors,
        before.threads,
        after.threads,
    );
    assert!(seen.questions > 0, "{name}: nobody asked");
    assert!(seen.worst < LATE * patience(), "{name}: an answer came after {:?}", seen.worst);
    assert!(after.memory <= before.memory + kept(), "{name}: {before:?} became {after:?}");
    assert!(seen.memory <= before.memory + HELD, "{name}: {before:?} became {} bytes at times", seen.memory);
    let next = place.link(1).and_then(|link| link.ask_all(&place.visit(3)));
    next.unwrap_or_else(|error| panic!("{name}: the next client: {error}"));
}

/// A signal in the middle of a storm.
pub fn end_in(mut served: Served, name: &str, round: Round, signal: &str) {
    let Served { server, place, .. } = &mut served;
    let place = &*place;
    let over = &AtomicBool::new(false);
    let (code, took) = thread::scope(|scope| {
        scope.spawn(move || {
            // What clients meet when the server ends is nobody's failure.
            while !over.load(Ordering::Relaxed) {
                let _ = round(place);
            }
        });
        eventually("a client in the storm", || server.errors().contains("connected"));
        thread::sleep(Duration::from_millis(size(200, 500) as u64));
        let ended = server.end_within(signal);
        over.store(true, Ordering::Relaxed);
        ended
    });
    println!("{:?} recording, {name}: {signal} ended the server in {:.0} ms", place.kind, 1e3 * took.as_secs_f64());
    assert_eq!(code, Some(0), "{name}: {signal}: {}", server.errors());
    assert!(took < END * patience(), "{name}: {signal} ended the server after {took:?}");
}
