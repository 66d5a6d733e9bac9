//! Recordings of trace-cmd, through the library, against the answers of others: of an independent decoder and of trace-cmd
//! (`tests/data/tracedat/expect`), and of the trace-cmd of this machine on files that it makes here.

mod answers;
mod btf;
mod conversions;
mod fields;
mod frames;
mod judged;
mod libraries;
mod machines;
mod made_file;
mod order;
#[path = "../support/mod.rs"]
mod support;
