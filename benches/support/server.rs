//! A server that a bench starts, and what its process takes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// `traceframe serve`, ended when dropped.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it on a file, and waits until it listens. `folder` is for files of its own.
    pub fn start(options: &[&str], file: &Path, folder: &Path) -> Server {
        let port_file = folder.join("port");
        let _ = std::fs::remove_file(&port_file);
        let child = Command::new(env!("CARGO_BIN_EXE_traceframe"))
            .args(["serve", "--listen", ":0", "--quiet", "--port-file"])
            .arg(&port_file)
            .args(options)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Server { child, port: 0 };
        while server.port == 0 {
            assert_eq!(server.child.try_wait().unwrap(), None, "the server ended");
            match std::fs::read_to_string(&port_file) {
                Ok(port) => server.port = port.trim().parse().unwrap_or(0),
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        server
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process had, in bytes.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    /// That is its own and not a file's.
    pub own: u64,
    /// With what it mapped of files.
    pub all: u64,
}

/// Looks at the memory of a process, every 2 ms.
pub struct Watch {
    stop: Sender<()>,
    thread: JoinHandle<Memory>,
}

impl Watch {
    pub fn start(process: u32) -> Watch {
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let mut most = Memory::default();
            while stopped.recv_timeout(Duration::from_millis(2)) == Err(RecvTimeoutError::Timeout) {
                let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
                let of = |name: &str| {
                    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
                    value.trim().trim_end_matches(" kB").parse::<u64>().ok()
                };
                most.own = most.own.max(of("RssAnon:").unwrap_or(0) * 1024);
                most.all = most.all.max(of("VmHWM:").unwrap_or(0) * 1024);
            }
            most
        });
        Watch { stop, thread }
    }

    pub fn stop(self) -> Memory {
        drop(self.stop);
        self.thread.join().unwrap()
    }
}
