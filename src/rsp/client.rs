//! What one client's conversation is about: its session, and how far its lists were sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::monitor::Finding;
use super::packet::q_btrace::BranchTrace;
use crate::arch::Addresses;
use crate::image::Image;
use crate::session::{Motion, Replay, Session};

/// One client's side of the protocol; gdbstub sees it as its target.
pub struct Client {
    /// Its view of the recording.
    pub session: Session,
    /// Next tracepoint piece to upload: tracepoint, and piece of it.
    pub tracepoint_piece: (usize, usize),
    /// Next trace state variable to upload.
    pub variable_piece: usize,
    /// The memory map of a frame as XML, kept since a client reads it in parts.
    pub traceframe_info: Option<(u64, Vec<u8>)>,
    /// Whether it is LLDB, as it asked what only LLDB asks.
    pub is_lldb: bool,
    /// The longest packet it may send, in bytes of data; announced as `PacketSize`.
    pub packet_size: usize,
    /// The thread whose registers it asks for; `None` where it left that open.
    pub general_thread: Option<u32>,
    /// How far it wants to move, as far as it has said so.
    pub motion: Motion,
    /// Whether it wants one thread to move and no other.
    pub locks_others: bool,
    /// The search that it waits for the end of.
    pub finding: Option<Box<Finding>>,
    /// The branch trace that it reads, where it has switched it on.
    pub branch_trace: Option<BranchTrace>,
    /// File descriptors that the client holds open, and the files that they are.
    pub open_files: BTreeMap<u32, Arc<Image>>,
}

impl Client {
    /// A fresh conversation.
    pub fn new(replay: Arc<Replay>, packet_size: usize) -> Client {
        Client {
            session: Session::new(replay),
            tracepoint_piece: (0, 0),
            variable_piece: 0,
            traceframe_info: None,
            is_lldb: false,
            packet_size,
            general_thread: None,
            motion: Motion::Continue,
            locks_others: false,
            finding: None,
            branch_trace: None,
            open_files: BTreeMap::new(),
        }
    }

    /// The thread whose registers and memory it asks for.
    pub fn asked_thread(&self) -> u32 {
        self.general_thread.unwrap_or_else(|| self.session.thread())
    }

    /// How the addresses of the recorded machine are written.
    pub fn addresses(&self) -> Addresses {
        self.session.replay().recording().target().addresses()
    }
}
