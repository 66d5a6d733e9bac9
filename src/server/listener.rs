//! Where clients come in.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use super::ServeError;
use crate::report::printable;

/// How long a connection is silent before its other end is asked for a sign of life.
const SILENT_BEFORE_PROBE: Duration = Duration::from_secs(60);

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Both loopback addresses, 127.0.0.1 and `[::1]`, at one port; 0 for any free one.
    Loopback(u16),
    /// One TCP address.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// Why a text is no address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address to listen on: expected ADDR:PORT, [IPV6]:PORT, localhost:PORT, :PORT or unix:PATH")]
pub struct AddressError {
    text: String,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let wrong = || AddressError { text: text.to_owned() };
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(wrong()) } else { Ok(Address::Unix(PathBuf::from(path))) };
        }
        if let Some(port) = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')) {
            return port.parse().map(Address::Loopback).map_err(|_| wrong());
        }
        text.parse().map(Address::Tcp).map_err(|_| wrong())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Loopback(port) => write!(f, "localhost:{port}"),
            Address::Tcp(address) => write!(f, "{address}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection that was accepted.
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    #[cfg(unix)]
    Unix(UnixStream),
}

/// The listeners of a server.
pub struct Bound {
    tcp: Vec<(TcpListener, SocketAddr)>,
    #[cfg(unix)]
    unix: Vec<(UnixListener, PathBuf)>,
}

impl Bound {
    /// Listens on all addresses, or says which one was refused.
    pub async fn bind(addresses: &[Address]) -> Result<Bound, ServeError> {
        let mut bound = Bound {
            tcp: Vec::new(),
            #[cfg(unix)]
            unix: Vec::new(),
        };
        for address in addresses {
            match address {
                Address::Tcp(address) => bound.tcp.push(listen(*address).await?),
                Address::Loopback(port) => bound.tcp.extend(listen_on_loopback(*port).await?),
                #[cfg(unix)]
                Address::Unix(path) => bound.unix.push((listen_on_path(path)?, path.clone())),
                #[cfg(not(unix))]
                Address::Unix(_) => return Err(refused(address, io::ErrorKind::Unsupported.into())),
            }
        }
        Ok(bound)
    }

    /// Waits for the next client; its connection, and its address for messages.
    pub async fn accept(&self) -> io::Result<(Stream, String)> {
        let tcp = accept_any(&self.tcp, |(listener, _), context| listener.poll_accept(context));
        #[cfg(unix)]
        let unix = accept_any(&self.unix, |(listener, _), context| listener.poll_accept(context));
        #[cfg(not(unix))]
        let unix = std::future::pending::<io::Result<(TcpStream, SocketAddr)>>();
        tokio::select! {
            accepted = tcp => {
                let (stream, address) = accepted?;
                // Each packet waits for its reply: delaying small writes would cost 40 ms a packet.
                stream.set_nodelay(true)?;
                // A client whose machine is gone says nothing, and one that thinks says nothing for hours.
                let probe = TcpKeepalive::new().with_time(SILENT_BEFORE_PROBE);
                SockRef::from(&stream).set_tcp_keepalive(&probe)?;
                Ok((Stream::Tcp(stream), format!("client {address}")))
            }
            accepted = unix => {
                let (stream, _) = accepted?;
                #[cfg(unix)]
                return Ok((Stream::Unix(stream), "client on the Unix socket".to_owned()));
                #[cfg(not(unix))]
                return Ok((Stream::Tcp(stream), String::new()));
            }
        }
    }

    /// Listens no more; what was accepted stays.
    pub fn close(&mut self) {
        self.tcp.clear();
        #[cfg(unix)]
        for (_, path) in self.unix.drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Whether [`Bound::close`] was called.
    pub fn is_closed(&self) -> bool {
        #[cfg(unix)]
        let unix = self.unix.is_empty();
        #[cfg(not(unix))]
        let unix = true;
        self.tcp.is_empty() && unix
    }

    /// The first TCP port.
    pub fn port(&self) -> Option<u16> {
        self.tcp.first().map(|(_, address)| address.port())
    }

    /// All addresses, with the ports that were found.
    pub fn names(&self) -> Vec<String> {
        let tcp = self.tcp.iter().map(|(_, address)| address.to_string());
        #[cfg(unix)]
        let names = tcp.chain(self.unix.iter().map(|(_, path)| printable(&path.display().to_string()))).collect();
        #[cfg(not(unix))]
        let names = tcp.collect();
        names
    }

    /// What to type behind `target remote`.
    pub fn target(&self) -> String {
        match self.tcp.first() {
            Some((_, address)) if address.ip().is_loopback() || address.ip().is_unspecified() => {
                format!(":{}", address.port())
            }
            Some((_, address)) => address.to_string(),
            None => self.names().into_iter().next().unwrap_or_default(),
        }
    }

    /// The addresses that other machines can reach.
    pub fn exposed(&self) -> Vec<String> {
        self.tcp
            .iter()
            .filter(|(_, address)| !address.ip().is_loopback())
            .map(|(_, address)| address.to_string())
            .collect()
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.close();
    }
}

/// The first connection that any of the listeners has.
async fn accept_any<L, S, A>(
    listeners: &[L],
    poll: impl Fn(&L, &mut std::task::Context<'_>) -> std::task::Poll<io::Result<(S, A)>>,
) -> io::Result<(S, A)> {
    std::future::poll_fn(|context| {
        for listener in listeners {
            if let std::task::Poll::Ready(accepted) = poll(listener, context) {
                return std::task::Poll::Ready(accepted);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let refused = |cause| refused(&Address::Tcp(address), cause);
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    Ok((listener, bound))
}

/// Both families at one port, since `localhost` is the one on some machines and the other on others. A machine
/// without IPv6 gives the first only.
async fn listen_on_loopback(port: u16) -> Result<Vec<(TcpListener, SocketAddr)>, ServeError> {
    // A free port of the one family may be taken in the other: another is tried then.
    const TRIES: usize = 16;
    let mut tries = 0;
    loop {
        tries += 1;
        let first = listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)).await?;
        let second = SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), first.1.port());
        match listen(second).await {
            Ok(second) => return Ok(vec![first, second]),
            Err(ServeError::Listen { cause, .. })
                if cause.kind() == io::ErrorKind::AddrInUse && port == 0 && tries < TRIES => {}
            Err(ServeError::Listen { cause, .. }) if cause.kind() != io::ErrorKind::AddrInUse => {
                return Ok(vec![first]);
            }
            Err(error) => return Err(error),
        }
    }
}

/// A socket file that nobody listens on any more is replaced; anything else at that path is left alone.
#[cfg(unix)]
fn listen_on_path(path: &std::path::Path) -> Result<UnixListener, ServeError> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let address = Address::Unix(path.to_owned());
    // Clients could not name a longer path.
    std::os::unix::net::SocketAddr::from_pathname(path).map_err(|cause| refused(&address, cause))?;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    // Any other failure to connect tells of a socket that is in use, but not by this kind of server.
    let nobody = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(nobody) {
        let _ = std::fs::remove_file(path);
    }
    // Whoever may connect may read the recording: only its owner. A socket gets its permissions after it listens, so
    // until then it lies in a folder that is closed to others.
    let bind = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = tempfile::Builder::new().prefix(".").tempdir_in(parent.unwrap_or(std::path::Path::new(".")))?;
        let hidden = folder.path().join("s");
        let listener = UnixListener::bind(&hidden)?;
        std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))?;
        // Fails where something is at the path.
        std::fs::hard_link(&hidden, path)?;
        std::fs::remove_file(&hidden)?;
        Ok(listener)
    };
    bind().map_err(|cause| refused(&address, cause))
}

fn refused(address: &Address, cause: io::Error) -> ServeError {
    let hint = match cause.kind() {
        io::ErrorKind::AddrInUse => " (another server has it; choose another with --listen, port 0 for any free one)",
        io::ErrorKind::AlreadyExists => " (something else is at that path, and is left there)",
        io::ErrorKind::PermissionDenied if matches!(address, Address::Unix(_)) => {
            " (whoever listens at a path makes a file there: choose a folder that you may write to)"
        }
        io::ErrorKind::PermissionDenied => " (ports below 1024 are for root; choose another with --listen)",
        io::ErrorKind::AddrNotAvailable => " (this machine has no such address)",
        _ => "",
    };
    ServeError::Listen { address: address.to_string(), cause, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_they_are_written() {
        assert_eq!(":1234".parse(), Ok(Address::Loopback(1234)));
        assert_eq!("localhost:0".parse(), Ok(Address::Loopback(0)));
        assert_eq!("127.0.0.1:1".parse(), Ok(Address::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1))));
        assert_eq!("[::]:99".parse(), Ok(Address::Tcp(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 99))));
        assert_eq!("unix:/tmp/x".parse(), Ok(Address::Unix(PathBuf::from("/tmp/x"))));
        for wrong in ["", "*", "1234", "*:1234", "127.0.0.1", ":99999", "unix:", "example.org:1"] {
            assert!(wrong.parse::<Address>().unwrap_err().to_string().contains("expected ADDR:PORT"), "{wrong}");
        }
    }
}
