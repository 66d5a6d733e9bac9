//! Threads: those that the recording names, and `info threads` says where they stand. A recording that knows none has
//! one.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use gdbstub::common::Tid;
use gdbstub::target::ext::thread_extra_info::ThreadExtraInfo;

use super::target::copy_part;
use crate::report;
use crate::rsp::client::Client;

/// gdbstub's number of a thread, which is never 0.
pub fn tid(thread: u32) -> Tid {
    NonZeroUsize::new(thread as usize).unwrap_or(NonZeroUsize::MIN)
}

/// The number of a thread.
pub fn number(tid: Tid) -> u32 {
    u32::try_from(tid.get()).unwrap_or(u32::MAX)
}

impl ThreadExtraInfo for Client {
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let text = report::thread(&self.session, number(tid));
        Ok(copy_part(text.as_bytes(), 0, buffer.len(), buffer))
    }
}

impl Client {
    /// Whether there is such a thread.
    pub fn has_thread(&self, thread: u32) -> bool {
        self.session.threads().iter().any(|known| known.id == thread)
    }
}
