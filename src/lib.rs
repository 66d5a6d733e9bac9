//! traceframe
pub mod arch;
pub mod format;
pub mod image;
pub mod index;
pub mod source;
pub mod trace;
