//! A readable log of a conversation.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A file that gets a line for each packet, of all conversations that share it: seconds since the log began, `->` for
/// what the client sent and `<-` for what it was sent, and the packet's data with bytes that are no text escaped.
#[derive(Clone, Debug)]
pub struct PacketLog {
    file: Arc<Mutex<File>>,
    began: Instant,
}

impl PacketLog {
    /// Creates the file, or empties it.
    pub fn create(path: &Path) -> io::Result<PacketLog> {
        Ok(PacketLog { file: Arc::new(Mutex::new(File::create(path)?)), began: Instant::now() })
    }

    pub(super) fn received(&self, data: &[u8]) {
        self.line("->", data);
    }

    pub(super) fn sent(&self, data: &[u8]) {
        self.line("<-", data);
    }

    fn line(&self, arrow: &str, data: &[u8]) {
        let line = format!("{:10.6} {arrow} {}\n", self.began.elapsed().as_secs_f64(), data.escape_ascii());
        // A full disk is no reason to end the conversation.
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
