//! The last three addresses.

use super::Address;

/// The last three addresses, the newest first. Packets repeat them, or replace their lower bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    addresses: [Address; 3],
}

impl History {
    /// One of the last three, 0 the newest.
    pub(super) fn get(&self, index: u8) -> Option<Address> {
        self.addresses.get(usize::from(index)).copied()
    }

    pub(super) fn newest(&self) -> Address {
        let [newest, ..] = self.addresses;
        newest
    }

    pub(super) fn add(&mut self, address: Address) {
        let [first, second, _] = self.addresses;
        self.addresses = [address, first, second];
    }
}
