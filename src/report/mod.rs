//! A recording in words: what `info`, `frames` and the monitor commands show, as text and as JSON.
//!
//! Owns: tables, sentences, and the escaping of names that files hold.
//! Knows nothing of packets and of the command line.
//!
//! Invariant: nothing that came from a file reaches a terminal unescaped.

mod coverage;
mod damage;
mod events;
mod frames;
mod info;
mod interruptions;
mod program;
mod status;
mod text;
mod times;
mod told;

pub use coverage::Coverage;
pub use damage::{damage, warnings};
pub use events::EventRow;
pub use frames::{
    FrameFilter, FrameRow, FrameRows, frames_table, lines_without_frames, parse_number, parse_pc, parse_pid,
    parse_range, parse_tracepoint, rows,
};
pub use info::Info;
pub use interruptions::{InterruptionRow, interruption};
pub use program::without_program;
pub use status::{place, status, thread};
pub use text::{count, printable, printable_json};
pub use times::{parse_nanoseconds, parse_times};
pub use told::told_otherwise;

/// The version of the JSON that `info` and `frames` write. It grows when a field changes its meaning or goes; new
/// fields do not change it.
pub const JSON_VERSION: u32 = 1;
