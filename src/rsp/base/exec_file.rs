//! `qXfer:exec-file`: the program's path, under which host I/O gives its bytes.

use gdbstub::common::Pid;
use gdbstub::target::ext::exec_file::ExecFile;
use gdbstub::target::{TargetError, TargetResult};

use super::target::copy_part;
use crate::rsp::client::Client;

impl ExecFile for Client {
    fn get_exec_file(
        &self,
        _pid: Option<Pid>,
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let path = self.image_path().ok_or(TargetError::NonFatal)?;
        Ok(copy_part(path, offset, length, buffer))
    }
}

impl Client {
    /// The path that is announced, as bytes.
    pub fn image_path(&self) -> Option<&[u8]> {
        Some(self.session.replay().image()?.image.path().as_os_str().as_encoded_bytes())
    }
}
