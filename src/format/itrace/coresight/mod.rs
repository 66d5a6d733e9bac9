//! CoreSight: from the bytes of a sink to what each of its trace sources told.
//!
//! A sink (ETB, ETF, ETR, or the file of a probe at the trace port) holds frames in which a formatter mixed the bytes of
//! several sources. [`formatter`] takes the frames apart; [`etm4`] reads the bytes of one source, an ETMv4 or an ETE.
//!
//! Nothing is kept of a sink: a source is read by walking the frames and passing over those of others. A reading
//! position is small and can be cloned.

pub mod etm4;
pub mod formatter;
mod reconstruction;
#[cfg(test)]
pub(super) mod tests;

pub use reconstruction::Reconstruction;
