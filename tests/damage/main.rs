//! Damage of every kind, everywhere: recordings, programs, target descriptions, and files that are none of these.
//!
//! Whatever the bytes are, nothing panics, hangs, or takes more memory than the file is long; what is damaged is named
//! with its offset, and what lies whole before it is served unchanged.
//!
//! An ordinary run takes a sample of the cases, the same each time; with `TRACEFRAME_SOAK=1` in the environment all of
//! them are run, which is for `cargo test --release --test damage`.

mod anatomy;
mod case;
mod conversation;
mod descriptions;
mod fixtures;
mod heap;
mod itrace;
mod made;
mod odd_files;
mod programs;
mod questions;
mod recordings;
mod sparse;
mod strange;
#[path = "../support/mod.rs"]
mod support;
mod tracedat;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;
