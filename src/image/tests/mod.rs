//! The image against real programs, made-up ELF files, and damaged ones.

mod build;
mod damaged;
mod made_up;
mod names;
mod placing;
mod real;

use super::{Image, MachineState};
use crate::source::Source;

const CASEPIE: &[u8] = include_bytes!("../../../tests/data/bin/casepie");
const CASE: &[u8] = include_bytes!("../../../tests/data/bin/case");
const NIOS2: &[u8] = include_bytes!("../../../tests/data/bin/seq.elf");

/// A machine that has one number everywhere.
struct Everything(u64);

impl MachineState for Everything {
    fn register(&self, _: u16) -> Option<u64> {
        Some(self.0)
    }

    fn memory(&self, _: u64, _: usize) -> Option<u64> {
        Some(self.0)
    }
}

fn image(bytes: &'static [u8]) -> Image {
    Image::from_source(Source::from_static("/bin/test", bytes)).unwrap()
}

fn made_up(bytes: Vec<u8>) -> Image {
    Image::from_source(Source::from_vec("/bin/test", bytes)).unwrap()
}
