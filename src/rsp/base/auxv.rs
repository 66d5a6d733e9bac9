//! `qXfer:auxv`: the auxiliary vector, made so that gdb places what it reads of the program where it lay.
//!
//! `AT_BASE` 0 keeps gdb from placing a dynamic linker it has at hand where the program counter is, on top of the
//! program (seen with gdb 13.1); `AT_ENTRY` places a position-independent program.

use gdbstub::target::TargetResult;
use gdbstub::target::ext::auxv::Auxv;

use super::target::copy_part;
use crate::rsp::client::Client;

const AT_NULL: u64 = 0;
const AT_BASE: u64 = 7;
const AT_ENTRY: u64 = 9;

impl Auxv for Client {
    fn get_auxv(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(copy_part(&self.auxiliary_vector(), offset, length, buffer))
    }
}

impl Client {
    fn auxiliary_vector(&self) -> Vec<u8> {
        let replay = self.session.replay();
        let target = replay.recording().target();
        let mut entries = vec![(AT_BASE, 0)];
        if let Some(image) = replay.image().filter(|image| image.is_placed()) {
            entries.push((AT_ENTRY, image.entry()));
        }
        entries.push((AT_NULL, 0));
        let mut vector = Vec::new();
        for word in entries.into_iter().flat_map(|(tag, value)| [tag, value]) {
            let mut bytes = vec![0; target.address_size];
            target.byte_order.store(word, &mut bytes);
            vector.extend(bytes);
        }
        vector
    }
}
