//! One client's connection: bytes in, bytes out, one write a turn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Limits;
use crate::rsp::{Activity, PacketLog, Stub};
use crate::session::Replay;

/// How long a client waits in silence. gdb gives a reply up after a few seconds without any (six with gdb 13.1).
const SILENCE: Duration = Duration::from_millis(1500);

/// What a client needs as long as it stays.
///
/// It is to be made by the thread that accepts clients. An allocator keeps memory by threads, and of many threads each
/// would come to keep what a crowd of clients once needed.
pub struct Conversation {
    stub: Stub,
    buffer: Vec<u8>,
    replay: Arc<Replay>,
}

impl Conversation {
    /// A fresh one.
    pub fn new(replay: &Arc<Replay>, limits: Limits, log: Option<PacketLog>) -> Conversation {
        let mut stub = Stub::with_packet_size(replay.clone(), limits.packet_size);
        if let Some(log) = log {
            stub.log_to(log);
        }
        Conversation { stub, buffer: vec![0; 16 * 1024], replay: replay.clone() }
    }
}

/// Serves a client until it leaves, falls silent for too long, or the server ends.
pub async fn converse<S>(
    mut stream: S,
    Conversation { mut stub, mut buffer, replay }: Conversation,
    limits: Limits,
    mut ended: watch::Receiver<bool>,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut generation = 0;
    let mut activity = Activity::Idle;
    let mut silent_until = Instant::now() + SILENCE;
    let mut heard = Instant::now();
    loop {
        let output = stub.take_output();
        if !output.is_empty() {
            tokio::select! {
                written = send(&mut stream, &output) => written?,
                () = wait_for(&mut ended) => return Ok(()),
                () = limits.silence(heard) => return Err(limits.was_silent()),
            }
            silent_until = Instant::now() + SILENCE;
        }
        if activity == Activity::Closed {
            return stream.shutdown().await;
        }
        if activity == Activity::Busy {
            tokio::task::yield_now().await;
            if *ended.borrow() {
                return Ok(());
            }
            activity = turn(|| stub.run());
            continue;
        }
        let (indexing, searching) = (activity == Activity::Indexing, activity == Activity::Searching);
        let change = std::future::poll_fn(|context| replay.index().poll_change(generation, context));
        tokio::select! {
            read = stream.read(&mut buffer), if !stub.is_crowded() => match read? {
                0 => return Ok(()),
                count => {
                    heard = Instant::now();
                    activity = turn(|| stub.receive(&buffer[..count]));
                }
            },
            changed = change, if indexing => {
                generation = changed;
                activity = turn(|| stub.run());
            }
            () = sleep_until(silent_until), if indexing || searching => {
                // It need not have anything to say.
                silent_until = Instant::now() + SILENCE;
                stub.tell_progress();
            }
            () = tokio::task::yield_now(), if searching => activity = turn(|| stub.run()),
            () = limits.silence(heard), if !indexing && !searching => return Err(limits.was_silent()),
            () = wait_for(&mut ended) => {
                stub.farewell();
                let _ = send(&mut stream, &stub.take_output()).await;
                return stream.shutdown().await;
            }
        }
    }
}

/// Standard output keeps what it is given until it is told not to.
async fn send(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// A turn of a conversation. The thread gives up its part in serving sockets and signals for as long: should one packet
/// take long, nobody else waits for it.
fn turn(answer: impl FnOnce() -> Activity) -> Activity {
    tokio::task::block_in_place(answer)
}

/// Waits until the server ends; it has ended, too, when its channel is gone.
pub async fn wait_for(ended: &mut watch::Receiver<bool>) {
    let _ = ended.wait_for(|ended| *ended).await;
}
