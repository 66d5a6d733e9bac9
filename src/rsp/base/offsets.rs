//! `qOffsets`: where a position-independent program lay.

use std::convert::Infallible;

use gdbstub::target::ext::section_offsets::{Offsets, SectionOffsets};

use crate::rsp::client::Client;

impl SectionOffsets for Client {
    fn get_section_offsets(&mut self) -> Result<Offsets<u64>, Infallible> {
        Ok(Offsets::Segments { text_seg: self.load_bias().unwrap_or(0), data_seg: None })
    }
}

impl Client {
    /// The load bias of a program that has one and whose place is known.
    pub fn load_bias(&self) -> Option<u64> {
        let image = self.session.replay().image()?;
        (image.is_placed() && image.image.is_position_independent()).then_some(image.bias)
    }
}
