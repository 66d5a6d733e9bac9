//! Sockets: listening, serving many clients, ending in order.
//!
//! Owns: listeners, one task a connection, the ready lines, shutdown. The only room that names tokio.
//! Knows nothing of formats.
//!
//! Invariant: a client sees nothing of other clients, and a client that misbehaves or vanishes costs its own task only.

mod connection;
mod limits;
mod listener;
mod progress;
mod shutdown;

pub use limits::Limits;
pub use listener::{Address, AddressError};

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use connection::Conversation;
use listener::{Bound, Stream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::rsp::PacketLog;
use crate::session::Replay;

/// How many conversations may have their turn at a time, each on a thread: 512, tokio's own number, would be more than
/// some systems allow a process.
const TURNS_AT_ONCE: usize = 64;

/// How long the end of a server waits for clients to take their last reply.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_secs(1);

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Where to listen.
    pub addresses: Vec<Address>,
    /// A file to write the TCP port to, once the server listens.
    pub port_file: Option<PathBuf>,
    /// End when the first client leaves, and take no other.
    pub once: bool,
    /// Lines to show on standard output when the server listens, before the ready line; `None` for not even that.
    pub greeting: Option<Vec<String>>,
    /// Where every packet is written to, too.
    pub packet_log: Option<PacketLog>,
    /// What clients may take.
    pub limits: Limits,
}

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address was refused.
    #[error("{address}: {cause}{hint}")]
    Listen {
        /// The address as text.
        address: String,
        /// What the system said.
        cause: io::Error,
        /// What to try.
        hint: &'static str,
    },
    /// The port file could not be written, or there is no port to write.
    #[error("{}: the port file cannot be written: {cause}", path.display())]
    PortFile {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The runtime could not start.
    #[error("the server cannot start: {0}")]
    Runtime(io::Error),
    /// Not even a few file descriptors can be had.
    #[error("the server cannot start: {0} (allow the process more file descriptors: ulimit -n)")]
    Descriptors(io::Error),
}

/// Serves a recording until a signal ends it, or with `once` until the first client leaves.
pub fn serve(replay: Arc<Replay>, options: &ServeOptions) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let (_running, stopped) = watch::channel(false);
    let result = runtime.block_on(run(replay, options, |_| (), stopped));
    // A client that does not read holds its task in a write; it is not waited for.
    runtime.shutdown_background();
    result
}

/// Serves one client over standard input and output, until it leaves or a signal comes.
pub fn serve_stdio(replay: Arc<Replay>, limits: Limits) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let mut signals = shutdown::Signals::new().map_err(ServeError::Runtime)?;
        let (ending, ended) = watch::channel(false);
        let stream = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
        let conversation = Conversation::new(&replay, limits, None);
        let mut client = tokio::spawn(connection::converse(stream, conversation, limits, ended));
        tokio::select! {
            _ = &mut client => {}
            _ = signals.next() => {
                let _ = ending.send(true);
                let _ = tokio::time::timeout(LAST_WORDS, client).await;
            }
        }
        replay.index().cancel();
        Ok(())
    });
    runtime.shutdown_background();
    result
}

/// A server beside other work of this process.
pub struct Running {
    runtime: tokio::runtime::Runtime,
    server: tokio::task::JoinHandle<Result<(), ServeError>>,
    stop: watch::Sender<bool>,
}

/// Serves a recording beside other work, from when this returns.
pub fn start(replay: Arc<Replay>, options: ServeOptions) -> Result<Running, ServeError> {
    let runtime = runtime()?;
    let (stop, stopped) = watch::channel(false);
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let server = runtime.spawn(async move {
        let ready = |_: &Bound| {
            let _ = ready.send(());
        };
        run(replay, &options, ready, stopped).await
    });
    match runtime.block_on(is_ready) {
        Ok(()) => Ok(Running { runtime, server, stop }),
        Err(_) => Err(runtime.block_on(server).map_or_else(
            |error| ServeError::Runtime(io::Error::other(error)),
            |result| result.err().unwrap_or_else(|| ServeError::Runtime(io::Error::other("it ended at once"))),
        )),
    }
}

impl Running {
    /// Whether a signal has ended it.
    pub fn has_ended(&self) -> bool {
        self.server.is_finished()
    }

    /// Ends it.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.runtime.block_on(self.server);
        self.runtime.shutdown_background();
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    limits::have_descriptors().map_err(ServeError::Descriptors)?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(TURNS_AT_ONCE)
        .build()
        .map_err(ServeError::Runtime)
}

/// `ready` is called when it listens; it ends when `stopped` says so.
async fn run(
    replay: Arc<Replay>,
    options: &ServeOptions,
    ready: impl FnOnce(&Bound),
    mut stopped: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let mut signals = shutdown::Signals::new().map_err(ServeError::Runtime)?;
    let mut bound = Bound::bind(&options.addresses).await?;
    if let Some(path) = &options.port_file {
        write_port(path, bound.port()).map_err(|cause| ServeError::PortFile { path: path.clone(), cause })?;
    }
    if let Some(greeting) = &options.greeting {
        announce(&bound, greeting);
    }
    ready(&bound);
    let (ending, ended) = watch::channel(false);
    let mut clients = JoinSet::new();
    let mut turned_away = JoinSet::new();
    let mut out_of_descriptors = false;
    let indexing = tokio::spawn(progress::show(replay.clone()));
    loop {
        tokio::select! {
            accepted = bound.accept(), if !bound.is_closed() => match accepted {
                Ok((stream, name)) => {
                    out_of_descriptors = false;
                    while turned_away.try_join_next().is_some() {}
                    if clients.len() >= options.limits.clients {
                        if turned_away.len() < limits::TURNED_AWAY_AT_ONCE {
                            turned_away.spawn(limits::turn_away(stream, name, options.limits.clients));
                        }
                        continue;
                    }
                    tracing::info!("{name} connected");
                    if options.once {
                        bound.close();
                    }
                    let conversation = Conversation::new(&replay, options.limits, options.packet_log.clone());
                    clients.spawn(client(stream, name, conversation, options.limits, ended.clone()));
                }
                // Descriptors may be short for a moment; giving up would cost the clients that are connected.
                Err(cause) => {
                    if !std::mem::replace(&mut out_of_descriptors, true) {
                        tracing::warn!("a connection was lost before it was accepted: {cause}");
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            },
            Some(_) = clients.join_next(), if !clients.is_empty() => {
                if options.once {
                    break;
                }
            }
            signal = signals.next() => {
                tracing::info!("{signal}: ending");
                break;
            }
            () = connection::wait_for(&mut stopped) => break,
        }
    }
    bound.close();
    replay.index().cancel();
    let _ = ending.send(true);
    let last_words = async { while clients.join_next().await.is_some() {} };
    tokio::select! {
        () = last_words => {}
        () = tokio::time::sleep(LAST_WORDS) => {}
        _ = signals.next() => {}
    }
    indexing.abort();
    Ok(())
}

async fn client(
    stream: Stream,
    name: String,
    conversation: Conversation,
    limits: Limits,
    ended: watch::Receiver<bool>,
) {
    let result = match stream {
        Stream::Tcp(stream) => connection::converse(stream, conversation, limits, ended).await,
        #[cfg(unix)]
        Stream::Unix(stream) => connection::converse(stream, conversation, limits, ended).await,
    };
    match result {
        Ok(()) => tracing::info!("{name} left"),
        Err(cause) => tracing::info!("{name} left: {cause}"),
    }
}

/// The ready lines, on standard output; whoever started the server may wait for them.
fn announce(bound: &Bound, greeting: &[String]) {
    let mut out = io::stdout().lock();
    // A reader that went away is no reason to stop serving.
    for line in greeting {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "listening on {}", bound.names().join(" and "));
    let _ = writeln!(out, "in gdb: target remote {}", bound.target());
    let _ = out.flush();
    for name in bound.exposed() {
        tracing::warn!(
            "listening on {name}, which is not loopback: whoever can reach this machine can read the recording and \
             the program, there are no passwords"
        );
    }
}

/// Written whole or not at all, so that whoever waits for the file never reads half a number.
fn write_port(path: &std::path::Path, port: Option<u16>) -> io::Result<()> {
    let port = port.ok_or_else(|| io::Error::other("no address with a port is listened on"))?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}", std::process::id()));
    std::fs::write(&partial, format!("{port}\n"))?;
    std::fs::rename(&partial, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&partial);
    })
}
