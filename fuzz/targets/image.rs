//! Any bytes as a program image.
#![cfg_attr(fuzzing, no_main)]

use std::sync::Arc;

use traceframe::image::{Anchor, Image, MachineState, PlacedImage};
use traceframe::source::Source;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

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

/// The bytes are the file.
pub fn run(data: &[u8]) {
    let Ok(image) = Image::from_source(Source::from_vec("fuzzed", data.to_vec())) else { return };
    let image = Arc::new(image);
    let mut places = vec![0, image.entry(), 0x40_1136, u64::MAX];
    places.extend(image.next_read_only(0));
    let _ = (image.build_id(), image.damage());
    let at = ["case.c:19", "*main+4", "step", "steps.c:1", "-m 5"];
    let anchors: Vec<_> =
        places.iter().zip(at).map(|(address, at)| Anchor { address: *address, at: Some(at) }).collect();
    for bias in [None, Some(0x5555_5555_4000)] {
        let placed = PlacedImage::place(image.clone(), bias, &anchors, &places);
        let _ = placed.disagreement(&anchors);
        for place in &places {
            let recorded = placed.read_only(*place).iter().take(64).copied().collect::<Vec<_>>();
            assert_eq!(placed.contradiction(*place, &recorded), None);
            let _ = (placed.next_read_only(*place), placed.is_code(*place), placed.function(*place));
            let _ = (placed.line(*place), placed.frame_address(*place, &Everything(*place)));
        }
    }
}
