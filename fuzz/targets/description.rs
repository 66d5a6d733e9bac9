//! Any bytes as a target description that the user gives, with itself to include.
#![cfg_attr(fuzzing, no_main)]

use traceframe::arch::{Known, resolve, with_includes};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

/// The first byte says how long a register block is, the others are the description.
pub fn run(data: &[u8]) {
    let Some((size, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let Ok(whole) = with_includes(&text, &mut |_| Some(text.clone().into_owned())) else { return };
    let block_size = Some(usize::from(*size) * 8).filter(|size| *size > 0);
    for known in [
        Known { given: Some(&whole), block_size, ..Known::default() },
        Known { recorded: Some(&whole), block_size, ..Known::default() },
    ] {
        let Ok(choice) = resolve(&known) else { continue };
        let Some(layout) = choice.layout else { continue };
        assert!(layout.pc().end() <= layout.size());
        let sizes: usize = layout.registers().iter().map(|register| register.size).sum();
        assert_eq!(sizes, layout.size(), "registers lie one behind the other");
    }
}
