//! RISC-V E-Trace: packets, and what they say was executed.
//!
//! The source of facts is the RISC-V specification "Efficient Trace for RISC-V", version 2.0: its chapter 7 for packets,
//! which the crate `riscv-etrace` takes apart, and its chapter on the decoder for what they mean, which is here.
//!
//! What an encoder keeps to tell less has the decoder keep the same, a room each: calls (`returns`), a branch predictor
//! (`predictor`), a cache of jump targets (`jump_targets`), and the addresses of handlers (`vectors`).
//!
//! Owns: [`Parameters`], what an encoder is like; [`Packets`], from the bytes of a sink to packets of harts, which are found
//! again behind damage (`alignment`); and [`Reconstruction`], from the packets of one hart to [`Step`](super::Step)s.
//! Invariant: what does not fit ends in a discontinuity, and nothing is believed until a packet with a full address.

mod alignment;
mod branches;
mod entries;
mod fitted;
mod jump_targets;
mod packets;
mod parameters;
mod predictor;
mod reconstruction;
mod returns;
#[cfg(test)]
mod tests;
mod vectors;

pub use self::fitted::Fit;
pub use self::packets::{Framing, Packet, Packets, Place};
pub use self::parameters::{Parameters, ParametersError};
pub use self::reconstruction::{Reconstruction, UNKNOWN_OPTIONS};
