//! `vFile`: for reading, the program under its announced path, and what lies beside it. Every other path does not exist.

use std::sync::Arc;

use gdbstub::target::ext::host_io::{
    FsKind, HostIo, HostIoClose, HostIoCloseOps, HostIoErrno, HostIoError, HostIoFstat, HostIoFstatOps, HostIoOpen,
    HostIoOpenFlags, HostIoOpenMode, HostIoOpenOps, HostIoPread, HostIoPreadOps, HostIoReadlink, HostIoReadlinkOps,
    HostIoResult, HostIoSetfs, HostIoSetfsOps, HostIoStat,
};

use super::target::copy_part;
use crate::image::Image;
use crate::rsp::client::Client;

/// Descriptors that a client may hold at a time.
const OPEN_LIMIT: u32 = 64;

impl HostIo for Client {
    fn support_open(&mut self) -> Option<HostIoOpenOps<'_, Self>> {
        Some(self)
    }

    fn support_close(&mut self) -> Option<HostIoCloseOps<'_, Self>> {
        Some(self)
    }

    fn support_pread(&mut self) -> Option<HostIoPreadOps<'_, Self>> {
        Some(self)
    }

    fn support_fstat(&mut self) -> Option<HostIoFstatOps<'_, Self>> {
        Some(self)
    }

    fn support_readlink(&mut self) -> Option<HostIoReadlinkOps<'_, Self>> {
        Some(self)
    }

    fn support_setfs(&mut self) -> Option<HostIoSetfsOps<'_, Self>> {
        Some(self)
    }
}

impl Client {
    /// The file's bytes, if `descriptor` is open.
    fn open_file(&self, descriptor: u32) -> Result<&[u8], HostIoErrno> {
        let image = self.open_files.get(&descriptor).ok_or(HostIoErrno::EBADF)?;
        match image.file().change_seen() {
            // An empty file would be a lie.
            Some(_) => Err(HostIoErrno::EIO),
            None => Ok(image.file().bytes()),
        }
    }

    /// The file with a path.
    fn file(&self, path: &[u8]) -> Option<&Arc<Image>> {
        let replay = self.session.replay();
        let mut files = replay.image().into_iter().chain(replay.beside()).map(|image| &image.image);
        files.find(|image| image.path().as_os_str().as_encoded_bytes() == path)
    }
}

impl HostIoOpen for Client {
    fn open(&mut self, name: &[u8], flags: HostIoOpenFlags, _mode: HostIoOpenMode) -> HostIoResult<u32, Self> {
        let file = self.file(name).ok_or(HostIoError::Errno(HostIoErrno::ENOENT))?.clone();
        let reading =
            HostIoOpenFlags::O_NONBLOCK | HostIoOpenFlags::O_DONT_FOLLOW_SYMLINKS | HostIoOpenFlags::O_CLOSE_ON_EXEC;
        if !reading.contains(flags) {
            return Err(HostIoError::Errno(HostIoErrno::EROFS));
        }
        let free = (0..OPEN_LIMIT).find(|descriptor| !self.open_files.contains_key(descriptor));
        let descriptor = free.ok_or(HostIoError::Errno(HostIoErrno::EMFILE))?;
        self.open_files.insert(descriptor, file);
        Ok(descriptor)
    }
}

impl HostIoClose for Client {
    fn close(&mut self, descriptor: u32) -> HostIoResult<(), Self> {
        if self.open_files.remove(&descriptor).is_some() { Ok(()) } else { Err(HostIoError::Errno(HostIoErrno::EBADF)) }
    }
}

impl HostIoPread for Client {
    fn pread(&mut self, descriptor: u32, count: usize, offset: u64, buffer: &mut [u8]) -> HostIoResult<usize, Self> {
        let bytes = self.open_file(descriptor).map_err(HostIoError::Errno)?;
        Ok(copy_part(bytes, offset, count, buffer))
    }
}

impl HostIoFstat for Client {
    /// A regular file that nobody may write. Times and owners are nobody's business and zero.
    fn fstat(&mut self, descriptor: u32) -> HostIoResult<HostIoStat, Self> {
        let size = self.open_file(descriptor).map_err(HostIoError::Errno)?.len() as u64;
        Ok(HostIoStat {
            st_dev: 0,
            st_ino: 0,
            st_mode: HostIoOpenMode::S_IFREG
                | HostIoOpenMode::S_IRUSR
                | HostIoOpenMode::S_IRGRP
                | HostIoOpenMode::S_IROTH,
            st_nlink: 1,
            st_uid: 0,
            st_gid: 0,
            st_rdev: 0,
            st_size: size,
            st_blksize: 512,
            st_blocks: size.div_ceil(512),
            st_atime: 0,
            st_mtime: 0,
            st_ctime: 0,
        })
    }
}

impl HostIoReadlink for Client {
    fn readlink(&mut self, name: &[u8], _buffer: &mut [u8]) -> HostIoResult<usize, Self> {
        // Announced paths have their links resolved.
        let errno = if self.file(name).is_some() { HostIoErrno::EINVAL } else { HostIoErrno::ENOENT };
        Err(HostIoError::Errno(errno))
    }
}

impl HostIoSetfs for Client {
    fn setfs(&mut self, _fs: FsKind) -> HostIoResult<(), Self> {
        Ok(())
    }
}
