//! The protocols of trace sources.

use std::fmt;

use super::DescriptionError;
use crate::format::itrace::coresight::etm4::Configuration;
use crate::format::itrace::etrace::Parameters;
use crate::format::itrace::instruction::InstructionSet;

/// The protocol of a source, with all that reading it takes.
#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    /// ETMv4, or ETE.
    Etm4(Configuration),
    /// RISC-V E-Trace.
    ETrace {
        /// What the encoder is like.
        parameters: Parameters,
        /// How the hart's instructions are encoded.
        instruction_set: InstructionSet,
    },
}

impl Protocol {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Etm4(configuration) => configuration.name(),
            Protocol::ETrace { .. } => "E-Trace",
        }
    }
}

/// A protocol that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotRead {
    /// RISC-V N-Trace (Nexus).
    NTrace,
    /// The Program Trace Macrocell of Cortex-A9, A15 and their like.
    Ptm,
    /// ETMv3 and older.
    Etm3,
    /// Intel Processor Trace.
    IntelPt,
    /// The System Trace Macrocell: what programs and hardware say, no instructions.
    Stm,
    /// The Instrumentation Trace Macrocell: what a program says, no instructions.
    Itm,
}

impl NotRead {
    /// Whether it tells what was executed.
    pub fn is_instruction_trace(self) -> bool {
        !matches!(self, NotRead::Stm | NotRead::Itm)
    }
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotRead::NTrace => "RISC-V N-Trace",
            NotRead::Ptm => "PTM",
            NotRead::Etm3 => "ETMv3",
            NotRead::IntelPt => "Intel PT",
            NotRead::Stm => "STM",
            NotRead::Itm => "ITM",
        })
    }
}

/// A protocol's name, as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Etm4,
    Ete,
    ETrace,
}

impl Named {
    /// The names that people and the files of tools have for protocols: `etm4`, `ETM4.2`, `PFT1.1`.
    pub(super) fn new(name: &str) -> Result<Named, DescriptionError> {
        let lower = name.to_ascii_lowercase();
        let not_read = match lower.split('.').next().unwrap_or_default() {
            "etm4" | "etmv4" => return Ok(Named::Etm4),
            "ete" => return Ok(Named::Ete),
            "etrace" | "e-trace" => return Ok(Named::ETrace),
            "ntrace" | "n-trace" | "nexus" => NotRead::NTrace,
            "ptm" | "ptm1" | "pft" | "pft1" => NotRead::Ptm,
            "etm1" | "etm2" | "etm3" | "etmv1" | "etmv2" | "etmv3" => NotRead::Etm3,
            "pt" | "intel-pt" | "intel_pt" | "intelpt" => NotRead::IntelPt,
            "stm" => NotRead::Stm,
            "itm" => NotRead::Itm,
            _ => return Err(DescriptionError::Protocol { found: name.to_owned() }),
        };
        Err(DescriptionError::NotRead(not_read))
    }

    /// As it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Named::Etm4 => "etm4",
            Named::Ete => "ete",
            Named::ETrace => "etrace",
        }
    }
}
