//! A client's end of a connection, over TCP or a Unix socket, for clients that do not behave.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::time::Duration;

use socket2::Socket;

use super::support::DEADLINE;
use super::support::protocol::packet;

/// A connection. Whatever goes wrong is an error for the caller to judge: in a storm the server may be gone.
pub struct Link {
    socket: Socket,
}

impl Link {
    /// Over what was connected.
    pub fn new(stream: impl Into<OwnedFd>) -> io::Result<Link> {
        let socket = Socket::from(stream.into());
        socket.set_read_timeout(Some(DEADLINE))?;
        socket.set_write_timeout(Some(DEADLINE))?;
        Ok(Link { socket })
    }

    /// Sends bytes as they are.
    pub fn write(&self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        (&self.socket).write_all(bytes.as_ref())
    }

    /// The next bytes must be these.
    pub fn expect(&self, expected: impl AsRef<[u8]>) -> io::Result<()> {
        let expected = expected.as_ref();
        let mut found = vec![0; expected.len()];
        (&self.socket).read_exact(&mut found)?;
        if found == expected {
            return Ok(());
        }
        let at = found.iter().zip(expected).position(|(found, expected)| found != expected).unwrap_or(0);
        let shown = |bytes: &[u8]| bytes[at.saturating_sub(20)..].iter().take(80).copied().collect::<Vec<_>>();
        let (found, expected) = (shown(&found), shown(expected));
        Err(wrong(format!("{} where {} is right", found.escape_ascii(), expected.escape_ascii())))
    }

    /// Asks a question without acknowledgement.
    pub fn ask(&self, question: &str, answer: &str) -> io::Result<()> {
        self.write(packet(question))?;
        self.expect(packet(answer)).map_err(|error| io::Error::new(error.kind(), format!("{question}: {error}")))
    }

    /// Asks everything of a list.
    pub fn ask_all(&self, questions: &[(String, String)]) -> io::Result<()> {
        questions.iter().try_for_each(|(question, answer)| self.ask(question, answer))
    }

    /// Turns acknowledgement off.
    pub fn without_acknowledgement(self) -> io::Result<Link> {
        self.write(packet("QStartNoAckMode"))?;
        self.expect([b"+", &packet("OK")[..]].concat())?;
        Ok(self)
    }

    /// Writes these bytes again and again while the other side takes them; how many bytes it took.
    pub fn write_until_stuck(&self, bytes: &[u8], patience: Duration) -> io::Result<usize> {
        // Small, so that it is the server and not the system that holds what is not read.
        self.socket.set_send_buffer_size(1 << 14)?;
        self.socket.set_write_timeout(Some(patience))?;
        let mut taken = 0;
        loop {
            match (&self.socket).write(&bytes[taken % bytes.len()..]) {
                Ok(count) => taken += count,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Ok(taken);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A little room for what comes in and is not read.
    pub fn narrow(&self) -> io::Result<()> {
        self.socket.set_recv_buffer_size(1 << 14)
    }

    /// Reads all there is to the end of the connection, in the background; how many bytes that were.
    pub fn drain(&self) -> io::Result<std::thread::JoinHandle<usize>> {
        let mut socket = self.socket.try_clone()?;
        Ok(std::thread::spawn(move || {
            let (mut part, mut total) = (vec![0; 1 << 16], 0);
            loop {
                match socket.read(&mut part) {
                    Ok(0) | Err(_) => return total,
                    Ok(count) => total += count,
                }
            }
        }))
    }

    /// Sends no more.
    pub fn finish(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }

    /// Ends the connection without a farewell: the other side meets a reset.
    pub fn reset(self) -> io::Result<()> {
        self.socket.set_linger(Some(Duration::ZERO))
    }
}

/// An answer that is not what it should be.
pub fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// So many clients at the same time; the first failure of any.
pub fn at_once(count: usize, client: impl Fn(usize) -> io::Result<()> + Sync) -> io::Result<()> {
    let client = &client;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..count).map(|at| scope.spawn(move || client(at))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).fold(Ok(()), io::Result::and)
    })
}
