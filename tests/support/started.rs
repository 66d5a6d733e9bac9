//! Servers started with other options, and what the system tells of their processes.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{DEADLINE, Killed, Server, traceframe};

impl Server {
    /// `traceframe` with exactly these arguments, which need not be text, once it says that it listens.
    pub fn exactly(arguments: &[impl AsRef<OsStr>]) -> Server {
        let mut command = traceframe();
        command.args(arguments);
        Server::start(command)
    }

    /// Any command that comes to serve, once it says that it listens.
    pub fn start(mut command: Command) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.path().join("out")).unwrap())
            .stderr(std::fs::File::create(folder.path().join("err")).unwrap())
            .spawn()
            .unwrap();
        let mut server = Server { child: Killed(child), folder, port: 0 };
        eventually("the ready line", || {
            assert!(server.is_running(), "the server ended: {}", server.errors());
            server.output().contains("in gdb: ")
        });
        let target = server.target();
        server.port = target.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
        server
    }

    /// What the ready lines say to type behind `target remote`.
    pub fn target(&self) -> String {
        let output = self.output();
        let line = output.lines().find_map(|line| line.strip_prefix("in gdb: target remote "));
        line.unwrap_or_else(|| panic!("no ready line in {output}")).to_owned()
    }

    /// Sends a signal by name; the exit code, and how long the end took.
    pub fn end_within(&mut self, signal: &str) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let code = self.end_by(signal);
        (code, began.elapsed())
    }

    /// The most memory that the process ever had resident, in bytes (Linux).
    pub fn peak_memory(&self) -> usize {
        self.memory("VmHWM:")
    }

    /// The memory that the process has resident, without what is mapped from files, in bytes (Linux).
    pub fn own_memory(&self) -> usize {
        self.memory("RssAnon:")
    }

    fn memory(&self, kind: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(kind)).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
    }

    /// How many file descriptors the process has open (Linux).
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap().count()
    }

    /// How many threads the process has (Linux).
    pub fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.id())).unwrap().count()
    }
}

/// Waits until something is so.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
