//! Instruction traces that are made of what was truly executed, and then damaged.
//!
//! Small programs run in an emulator, which tells every instruction. Encoders make streams of that, as trace units do;
//! judges that others wrote (OpenCSD, and the tracer of `riscv-etrace`) must read back the list, and so must traceframe.
//! Then packets are lost, bytes changed and buffers cut: what traceframe shows must have been executed, in that order,
//! wherever the trace can tell; and behind the next synchronization everything is shown again.
//!
//! An ordinary run takes a sample of the faults, the same each time; with `TRACEFRAME_SOAK=1` in the environment all of
//! them are run, which is for `cargo test --release --test itrace`. What is recovered is printed with `--nocapture`.

mod commands;
mod etm4;
mod etrace;
mod execution;
mod faults;
mod program;
mod random;
mod recordings;
mod shown;
mod stream;
#[path = "../support/mod.rs"]
mod support;
mod wrong_program;

/// Whether every fault is to be run.
fn is_soak() -> bool {
    std::env::var_os("TRACEFRAME_SOAK").is_some_and(|value| value == "1")
}
