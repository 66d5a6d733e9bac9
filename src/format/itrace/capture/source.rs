//! A source of trace, and the core that it watches.

use std::sync::Arc;

use super::{ImageAt, Protocol};

/// A source of instruction trace.
#[derive(Clone, Debug)]
pub struct TraceSource {
    /// Its ID in the sink: that of the formatter's frames, the number of the hart or of the source. `None` in a sink
    /// that is not formatted.
    pub id: Option<u64>,
    /// What it is called.
    pub name: String,
    /// The core that it watches, if anything is known of that.
    pub core: Option<Arc<Core>>,
    /// How it is read.
    pub protocol: Protocol,
}

/// A core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// What it is called.
    pub name: String,
    /// What it is, as its maker calls it: `Cortex-A53`.
    pub kind: Option<String>,
    /// What lay in memory as this core sees it, the first that has an address is believed.
    pub images: Vec<ImageAt>,
}
