//! What the tests share: a running server, a gdb with a deadline, packets over a socket.
//!
//! A tool that is missing fails a test; `scripts/test` installs them all.
#![allow(dead_code, unused_imports)] // Each test program uses a part of it.

mod gdb;
pub mod lldb;
pub mod made;
pub mod page;
pub mod protocol;
pub mod report;
pub mod started;

use std::io::{Read, Seek, Write};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use gdb::Gdb;

/// How long anything may take that should take a moment; machines of continuous integration are slow.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A file of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The program under test.
pub fn traceframe() -> Command {
    Command::new(env!("CARGO_BIN_EXE_traceframe"))
}

/// A server on a free port; it ends with the value.
pub struct Server {
    child: Killed,
    folder: tempfile::TempDir,
    /// Its TCP port, on both loopback addresses.
    pub port: u16,
}

impl Server {
    /// `traceframe serve` with these arguments, once it listens.
    pub fn serve(arguments: &[&str]) -> Server {
        Server::command("serve", arguments)
    }

    /// Any command that serves.
    pub fn command(command: &str, arguments: &[&str]) -> Server {
        Server::exactly(&[&[command, "--listen", ":0"], arguments].concat())
    }

    /// What it wrote to standard output so far.
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("out")).unwrap()
    }

    /// What it wrote to standard error so far.
    pub fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("err")).unwrap()
    }

    /// Its process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A connection of its own.
    pub fn connect(&self) -> Client {
        Client::connect(self.port)
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends a signal by name (`INT`) and waits for the end; the exit code.
    pub fn end_by(&mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.id().to_string()).status().unwrap();
        assert!(sent.success());
        self.wait()
    }

    /// Waits for the end; the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        wait(&mut self.child, DEADLINE).expect("the server does not end").code()
    }
}

/// A process that ends with the value.
pub struct Killed(pub Child);

impl Deref for Killed {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Killed {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for the end of a process, and kills it at the deadline.
pub fn wait(child: &mut Child, deadline: Duration) -> Option<std::process::ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Runs a command to its end; its exit code, standard output and standard error.
pub fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let name = format!("{command:?}");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap_or_else(|error| {
            panic!("{name}: {error} (scripts/test installs what the tests need)");
        });
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let out = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let err = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = wait(&mut child, DEADLINE);
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let status = status.unwrap_or_else(|| panic!("{name} did not end in time:\n{out}\n{err}"));
    (status.code(), out, err)
}

/// What a program says to a text on its standard input, on one stream, so that errors stand where they happened.
fn transcript(mut command: Command, input: &str) -> String {
    let name = format!("{command:?}");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    file.rewind().unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    command.stdin(file).stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("{name}: {error} (scripts/test installs what the tests need)");
    });
    drop(command);
    let text = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let ended = wait(&mut child, DEADLINE);
    let text = text.join().unwrap();
    assert!(ended.is_some(), "{name} did not end in time:\n{text}");
    text
}

/// The lines below each command, where every command stands on a line behind a prompt.
fn below_commands(transcript: &str, prompt: &str, commands: &[String]) -> Vec<Vec<String>> {
    let mut shown: Vec<Vec<String>> = Vec::new();
    let mut awaited = commands.iter().peekable();
    for line in transcript.lines() {
        if awaited.peek().is_some_and(|command| line == format!("{prompt}{command}")) {
            awaited.next();
            shown.push(Vec::new());
        } else if let Some(lines) = shown.last_mut() {
            lines.push(line.trim_end().to_owned());
        }
    }
    assert_eq!(shown.len(), commands.len(), "it did not come through:\n{transcript}");
    shown
}

/// A client that speaks packets.
pub struct Client {
    /// The connection.
    pub stream: TcpStream,
}

impl Client {
    /// Connects, and turns acknowledgement off.
    pub fn connect(port: u16) -> Client {
        let mut client = Client::raw(port);
        assert_eq!(client.ask("QStartNoAckMode"), "OK");
        client.stream.write_all(b"+").unwrap();
        client
    }

    /// Connects and says nothing.
    pub fn raw(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream }
    }

    /// Sends a packet.
    pub fn send(&mut self, data: impl AsRef<[u8]>) {
        let data = data.as_ref();
        let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        self.stream.write_all(&[b"$", data, format!("#{sum:02x}").as_bytes()].concat()).unwrap();
    }

    /// The data of the next packet. Acknowledgements before it are passed over.
    pub fn receive(&mut self) -> Vec<u8> {
        let mut byte = [0];
        let mut data = None;
        loop {
            self.stream.read_exact(&mut byte).unwrap();
            match (byte[0], &mut data) {
                (b'$', _) => data = Some(Vec::new()),
                (b'#', Some(found)) => {
                    let mut sum = [0; 2];
                    self.stream.read_exact(&mut sum).unwrap();
                    let right = found.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
                    assert_eq!(format!("{right:02x}").as_bytes(), sum, "checksum of {}", found.escape_ascii());
                    return data.unwrap();
                }
                (byte, Some(found)) => found.push(byte),
                (_, None) => {}
            }
        }
    }

    /// Sends a packet; the reply as text.
    pub fn ask(&mut self, data: impl AsRef<[u8]>) -> String {
        self.send(data);
        String::from_utf8_lossy(&self.receive()).into_owned()
    }
}
