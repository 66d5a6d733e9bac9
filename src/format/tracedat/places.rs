//! The addresses that traceframe gives to what has none: a record, a recorded stack, an event.
//!
//! No recorded address lies there: on a 64-bit machine they are between the addresses of programs and those of the
//! kernel (x86-64 and AArch64 with 47 to 52 bits of address; the bits that AArch64's tags use are clear), on a 32-bit
//! one among the kernel's fixed mappings, of which no event records contents.

/// Where things are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The record of the frame.
    pub record: u64,
    /// The chain of frames made of a recorded stack, of the first thread.
    chains: u64,
    /// How far those of threads lie apart.
    chain_size: u64,
    /// The first event that has no address of its own; each has [`Places::EVENT_SIZE`] bytes.
    pub events: u64,
}

impl Places {
    /// The size that an event's made address has.
    pub const EVENT_SIZE: u64 = 16;

    /// For addresses of so many bytes.
    pub fn new(address_size: usize) -> Places {
        if address_size < 8 {
            Places { record: 0xfe00_0000, chains: 0xfe80_0000, chain_size: 8 << 10, events: 0xfec0_0000 }
        } else {
            let record = 0x0070_0000_0000_0000;
            Places { record, chains: record + (1 << 32), chain_size: 1 << 20, events: record + 0xc0_0000 }
        }
    }

    /// The chain of frames made of a recorded stack, by the place of its thread among all. Each has its own: gdb takes
    /// what it has read of one thread's stack for what lies there in all (`set stack-cache`).
    pub fn chain(&self, thread: usize) -> u64 {
        self.chains + self.chain_size * thread as u64
    }

    /// The made address of an event, by its number.
    pub fn event(&self, id: u16) -> u64 {
        self.events + u64::from(id) * Places::EVENT_SIZE
    }
}
