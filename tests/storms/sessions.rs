//! Storms of sessions: many clients that each do what a client should.

use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::link::{at_once, wrong};
use super::place::{Place, Served};
use super::size;
use super::support::{DEADLINE, Gdb, Killed, wait};

/// Each walks from another frame on, looks at each, and its answers are its own.
pub fn cursors(place: &Place) -> io::Result<()> {
    let clients = size(16, 200);
    at_once(clients, |at| {
        let link = place.link(at)?;
        let first = place.frames() * at / clients;
        link.ask_all(&place.visit(first))?;
        for frame in first + 1..(first + size(20, 1_000)).min(place.frames()) {
            link.ask(place.next(), &place.found(frame))?;
            link.ask_all(&place.state(frame))?;
        }
        // Behind the last frame there is none, and it stays selected.
        let last = place.frames() - 1;
        link.ask_all(&place.visit(last))?;
        link.ask(place.next(), "F-1")?;
        link.ask_all(&place.state(last))
    })
}

/// What everybody types. Commands that fail do no harm.
const COMMANDS: &[&str] = &[
    "tstatus",
    "tfind 3",
    "tdump",
    "print $trace_frame",
    "print/x $pc",
    "x/4xb 0x1000",
    "print $count",
    "backtrace",
    "tfind",
    "tdump",
    "print i",
    "tfind 39",
    "info registers",
    "tfind none",
    "print $trace_frame",
];

/// A gdb that does this in a session, and what it shows.
struct Session {
    gdb: Killed,
    shown: std::fs::File,
    target: String,
}

impl Session {
    /// Over TCP or the Unix socket, by turns.
    fn begin(place: &Place, at: usize, commands: &[&str]) -> io::Result<Session> {
        let target = match at.is_multiple_of(2) {
            true => format!(":{}", place.port),
            false => place.socket.display().to_string(),
        };
        let shown = tempfile::tempfile()?;
        let mut gdb = Gdb::Debian.command();
        gdb.arg("-ex").arg(format!("target remote {target}"));
        for command in commands {
            gdb.arg("-ex").arg(format!("echo (gdb) {command}\\n")).arg("-ex").arg(command);
        }
        // gdb 13.1 aborts where a server ends at some moments; its core goes with this folder.
        gdb.current_dir(place.socket.parent().unwrap());
        gdb.stdin(Stdio::null()).stdout(shown.try_clone()?).stderr(shown.try_clone()?);
        Ok(Session { gdb: Killed(gdb.spawn()?), shown, target })
    }

    /// What it showed so far, the same whichever way it connected.
    fn shown(&self) -> io::Result<String> {
        let mut text = vec![0; usize::try_from(self.shown.metadata()?.len()).unwrap_or(0)];
        // The place in the file is gdb's own.
        self.shown.read_exact_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text).replace(&self.target, "SERVER"))
    }

    /// What it showed by its end. Two hundred at once take their time.
    fn transcript(mut self) -> io::Result<String> {
        match wait(&mut self.gdb, Duration::from_secs(600)) {
            Some(_) => self.shown(),
            None => Err(wrong(format!("a gdb does not end: {}", self.shown()?))),
        }
    }
}

/// What gdb shows of a server that nobody else asks.
fn in_calm_weather(place: &Place) -> &'static str {
    static SHOWN: [OnceLock<String>; 2] = [const { OnceLock::new() }; 2];
    SHOWN[place.kind as usize].get_or_init(|| {
        let served = Served::new(place.kind);
        served.settle();
        let shown = Session::begin(&served.place, 0, COMMANDS).and_then(Session::transcript).unwrap();
        for found in [3, 4, 39] {
            assert!(shown.contains(&format!("Found trace frame {found}, tracepoint ")), "{shown}");
        }
        shown
    })
}

/// All at once; each is shown what one alone is shown.
pub fn gdbs(place: &Place) -> io::Result<()> {
    let expected = in_calm_weather(place);
    // The storms of one test at a time: all these gdbs take much memory.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    at_once(size(8, 200), |at| {
        let shown = Session::begin(place, at, COMMANDS)?.transcript()?;
        if shown == expected {
            Ok(())
        } else {
            Err(wrong(format!("gdb {at} shows\n{shown}\nwhere\n{expected}\nis right")))
        }
    })
}

/// Their users kill them while they walk.
pub fn killed_gdbs(place: &Place) -> io::Result<()> {
    at_once(size(4, 50), |at| {
        // Walks on and on.
        let walk = "python while True: gdb.execute('tfind 3'); gdb.execute('tdump'); gdb.execute('tfind 39')";
        let mut session = Session::begin(place, at, &[walk])?;
        let began = Instant::now();
        while !session.shown()?.contains("Found trace frame 39") {
            if session.gdb.try_wait()?.is_some() || began.elapsed() > DEADLINE {
                return Err(wrong(format!("gdb {at} does not walk: {}", session.shown()?)));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // SIGKILL ends it here.
        Ok(())
    })
}
