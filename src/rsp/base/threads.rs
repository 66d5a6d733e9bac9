//! Threads: a recording that knows none has one, and `info threads` says where it stands.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use gdbstub::common::Tid;
use gdbstub::target::ext::thread_extra_info::ThreadExtraInfo;

use super::target::copy_part;
use crate::rsp::client::Client;
use crate::session::Position;

/// The thread of a recording that knows no threads.
pub const RECORDED_THREAD: Tid = NonZeroUsize::MIN;

impl ThreadExtraInfo for Client {
    fn thread_extra_info(&self, _tid: Tid, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let text = match self.session.cursor().position() {
            Position::Start => "before the first move".to_owned(),
            Position::Frame(frame) => format!("trace frame {frame}"),
            Position::After(frame) => format!("outside, last at trace frame {frame}"),
        };
        Ok(copy_part(text.as_bytes(), 0, buffer.len(), buffer))
    }
}
