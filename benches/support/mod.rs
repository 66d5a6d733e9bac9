//! What the benches share.

use traceframe::trace::{SourceStrings, Tracepoint, TracepointKind};

/// A tracepoint that collects registers.
pub fn tracepoint(number: i32, address: u64) -> Tracepoint {
    Tracepoint {
        number,
        address,
        enabled: true,
        kind: TracepointKind::Trap,
        step_count: 0,
        pass_count: 0,
        condition: None,
        actions: vec!["R0".to_owned()],
        step_actions: Vec::new(),
        source: SourceStrings { at: Some(format!("*{address:#x}")), ..SourceStrings::default() },
        hits: None,
        usage: None,
        pieces: Vec::new(),
    }
}
