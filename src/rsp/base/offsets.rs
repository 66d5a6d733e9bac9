//! `qOffsets`: where a position-independent program lay.

use std::convert::Infallible;

use gdbstub::target::ext::section_offsets::{Offsets, SectionOffsets};

use crate::rsp::client::Client;

impl SectionOffsets for Client {
    fn get_section_offsets(&mut self) -> Result<Offsets<u64>, Infallible> {
        // Where the first segment lies, by which gdb moves all of them.
        let first = self.session.replay().image().map_or(0, |image| image.image.first_address());
        let text_seg = self.load_bias().unwrap_or(0).wrapping_add(first);
        Ok(Offsets::Segments { text_seg, data_seg: None })
    }
}

impl Client {
    /// The load bias of a program that has one and whose place is known. A kernel is linked to fixed addresses, and
    /// moves itself all the same.
    pub fn load_bias(&self) -> Option<u64> {
        let image = self.session.replay().image()?;
        let is_moved = image.image.is_position_independent() || image.bias != 0;
        (image.is_placed() && is_moved).then_some(image.bias)
    }
}
