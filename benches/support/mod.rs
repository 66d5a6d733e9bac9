//! What the benches share.

use traceframe::trace::{SourceStrings, Tracepoint};

/// A tracepoint that collects registers.
pub fn tracepoint(number: i32, address: u64) -> Tracepoint {
    Tracepoint {
        actions: vec!["R0".to_owned()],
        source: SourceStrings { at: Some(format!("*{address:#x}")), ..SourceStrings::default() },
        ..Tracepoint::new(number, address)
    }
}
