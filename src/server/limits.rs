//! What clients may take of a server.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};

use super::listener::Stream;
use crate::rsp::{PACKET_SIZE, refusal};

/// What clients may take of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many may be connected at a time.
    pub clients: usize,
    /// How long one may be silent before its connection is ended; `None` for ever.
    pub idle: Option<Duration>,
    /// The longest packet, in bytes of data.
    pub packet_size: usize,
}

impl Default for Limits {
    /// Far more clients than people share a recording, and far fewer than a process usually has file descriptors;
    /// whoever thinks about a frame may be silent for hours.
    fn default() -> Limits {
        Limits { clients: 256, idle: None, packet_size: PACKET_SIZE }
    }
}

impl Limits {
    /// Waits until a client that was last heard then has been silent for too long.
    pub(super) async fn silence(&self, heard: Instant) {
        match self.idle {
            Some(idle) => sleep_until(heard + idle).await,
            None => pending().await,
        }
    }

    /// Why its connection ends.
    pub(super) fn was_silent(&self) -> io::Error {
        let seconds = self.idle.unwrap_or_default().as_secs();
        io::Error::new(io::ErrorKind::TimedOut, format!("it was silent for {seconds} s (--idle-timeout)"))
    }
}

/// How many clients are told at a time that there is no room for them; others just see their connection end.
pub(super) const TURNED_AWAY_AT_ONCE: usize = 16;

/// How long a client that is turned away has for its first packet.
const FIRST_PACKET: Duration = Duration::from_secs(2);

/// Tells a client that there is no room for it, as the reply to its first packet.
pub(super) async fn turn_away(stream: Stream, name: String, clients: usize) {
    tracing::warn!("{name} was turned away: {clients} connected is the limit (--max-clients)");
    let words = format!("this trace server takes no more clients, {clients} connected is its limit");
    let told = match stream {
        Stream::Tcp(stream) => timeout(FIRST_PACKET, refuse(stream, &words)).await,
        #[cfg(unix)]
        Stream::Unix(stream) => timeout(FIRST_PACKET, refuse(stream, &words)).await,
    };
    if !matches!(told, Ok(Ok(()))) {
        tracing::debug!("{name} did not wait for the reason");
    }
}

async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, words: &str) -> io::Result<()> {
    let mut seen = [0; 4096];
    let mut length = 0;
    // The first packet is a list of features, which fits.
    while length < seen.len() && !seen[..length].contains(&b'#') {
        match stream.read(&mut seen[length..]).await? {
            0 => return Ok(()),
            more => length += more,
        }
    }
    stream.write_all(&refusal(words)).await?;
    stream.shutdown().await
}

/// How many file descriptors a server needs besides those of its clients, generously: tokio panics without.
const DESCRIPTORS: usize = 16;

/// Whether a server can have the file descriptors that it needs.
pub(super) fn have_descriptors() -> io::Result<()> {
    let pipes: io::Result<Vec<_>> = (0..DESCRIPTORS / 2).map(|_| io::pipe()).collect();
    pipes.map(drop)
}
