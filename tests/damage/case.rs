//! Cases run one after the other, each with a name, a deadline, and a limit to the memory it takes.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use super::heap;

/// Whether all cases are run, and not a sample of them.
pub fn is_soak() -> bool {
    std::env::var_os("TRACEFRAME_SOAK").is_some_and(|value| value == "1")
}

/// How long a case may take; nearly all take some milliseconds. In a soak, one has a hundred times as many frames.
fn deadline() -> Duration {
    Duration::from_secs(if is_soak() { 600 } else { 60 })
}

/// What a recording may take besides twice its length. Measured are 0.3 MB, most of it a built-in target description
/// with what the XML parser makes of it; then the stub's packet buffer, and up to 64 kB of replies before a turn ends.
pub const ROOM: usize = 1 << 19;

static RUNNING: Mutex<Option<(String, Instant)>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps other tests away, whose memory would be counted.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    lock(&ALONE)
}

/// Names the case that does not come to an end. No thread can be ended from outside, so the process is.
fn watch() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(500));
                let running = lock(&RUNNING);
                if let Some((name, _)) = running.as_ref().filter(|(_, began)| began.elapsed() > deadline()) {
                    // Not through `eprintln`, whose text the test harness would keep.
                    let _ = writeln!(std::io::stderr(), "\nno end after {:?}: {name}", deadline());
                    std::process::abort();
                }
            }
        });
    });
}

/// Names the case in which a test panics.
struct Named;

impl Drop for Named {
    fn drop(&mut self) {
        let ended = lock(&RUNNING).take();
        if let Some((name, _)) = ended.filter(|_| std::thread::panicking()) {
            eprintln!("in the case: {name}");
        }
    }
}

/// The cases of one test.
pub struct Cases {
    of: &'static str,
    began: Instant,
    run: u64,
    /// When it was last said, in a soak, how far they are.
    said: Instant,
    /// The greatest growth in bytes, and the case.
    most: (usize, String),
    /// The greatest growth in relation to what was allowed, and the case.
    worst: (f64, String),
    _alone: MutexGuard<'static, ()>,
}

impl Cases {
    /// Waits until no other test runs.
    pub fn of(of: &'static str) -> Cases {
        let alone = alone();
        watch();
        let now = Instant::now();
        Cases { of, began: now, run: 0, said: now, most: Default::default(), worst: Default::default(), _alone: alone }
    }

    /// Runs one, which may take so many bytes of memory.
    pub fn run<T>(&mut self, name: String, room: usize, work: impl FnOnce() -> T) -> T {
        if is_soak() && self.said.elapsed() > Duration::from_secs(60) {
            println!("{}: {} cases so far, now {name}", self.of, self.run);
            self.said = Instant::now();
        }
        *lock(&RUNNING) = Some((name.clone(), Instant::now()));
        let named = Named;
        let (done, grown) = heap::growth(work);
        assert!(grown <= room, "{grown} bytes of memory taken, {room} expected at most");
        drop(named);
        self.run += 1;
        let part = grown as f64 / room as f64;
        if part > self.worst.0 {
            self.worst = (part, name.clone());
        }
        if grown > self.most.0 {
            self.most = (grown, name);
        }
        done
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        println!(
            "{}: {} cases in {:.1} s; at most {} bytes of memory ({}); at most {:.2} of what is allowed ({})",
            self.of,
            self.run,
            self.began.elapsed().as_secs_f64(),
            self.most.0,
            self.most.1,
            self.worst.0,
            self.worst.1
        );
    }
}

/// About `count` of the numbers below `end`, evenly spread and always the same; all of them in a soak, or where there
/// are no more.
pub fn sample(end: usize, count: usize) -> impl Iterator<Item = usize> {
    // Odd, so that no field of even length is always met at the same byte.
    let stride = if is_soak() { 1 } else { end.div_ceil(count.max(1)).max(1) | 1 };
    let stride = if end <= count { 1 } else { stride };
    (0..end).step_by(stride)
}

/// All of these in a soak, or where the whole file is small; else one of them, each in its turn.
pub fn turn<T>(of: Vec<T>, at: usize, all: bool) -> Vec<T> {
    if is_soak() || all {
        return of;
    }
    let one = at % of.len();
    of.into_iter().skip(one).take(1).collect()
}
