//! What a trace encoder is like: its parameters, which the specification names.

use std::num::NonZeroU8;

use riscv_etrace::config;
use riscv_etrace::packet::unit::ReferenceIOptions;

use super::entries::Entries;
use super::vectors::Vectors;

/// The parameters of an encoder that decide how its packets are read.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Those that the widths of packets' fields depend on.
    pub(super) fields: config::Parameters,
    /// The options that it was switched to, if they are known without the packet that tells them.
    pub(super) options: Option<ReferenceIOptions>,
    /// Whether jumps are not told to where the instruction before says, which no packet tells.
    pub(super) infers_sequences: bool,
    /// The branch predictor has 2 to the power of this entries; 0 where there is none.
    pub(super) predictor_size: u8,
    /// Where exceptions are handled.
    pub(super) vectors: Vectors,
    /// What the encoder keeps over a synchronization.
    pub(super) kept: Kept,
}

/// What an encoder keeps over a synchronization. By the specification it empties all; but the model encoders of its
/// authors do not, each in another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Whether it keeps the calls that tell where functions return to, if somebody said so.
    pub returns: Option<bool>,
    /// Whether it keeps what its branch predictor learned, if somebody said so.
    pub predictions: Option<bool>,
}

/// Why parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParametersError {
    /// One is missing without which no packet can be read.
    #[error(
        "the parameter {0} of the trace encoder is missing: its documentation, or a discovery of its parameters, has it"
    )]
    Missing(&'static str),
    /// One that no encoder has.
    #[error("{0:?} is no parameter of a trace encoder that decides how packets are read; those are {known}", known = NAMES.join(", "))]
    Unknown(String),
    /// A number that the parameter cannot be.
    #[error("the parameter {name} is {value}, expected {expected}")]
    Value {
        /// Its name.
        name: String,
        /// The number.
        value: u64,
        /// What it can be.
        expected: &'static str,
    },
}

/// The names, as chapter 3 of the specification has them; those of its modes (chapter 5); those of registers of the
/// privileged architecture; and two for what encoders do otherwise than it says.
const NAMES: [&str; 25] = [
    "bpred_size_p",
    "branch_prediction",
    "cache_size_p",
    "call_counter_size_p",
    "context_width_p",
    "ecause_width_p",
    "f0s_width_p",
    "full_address",
    "iaddress_lsb_p",
    "iaddress_width_p",
    "implicit_exception",
    "implicit_return",
    "jump_target_cache",
    "keeps_predictions",
    "keeps_returns",
    "mtvec",
    "nocontext_p",
    "notime_p",
    "privilege_width_p",
    "return_stack_size_p",
    "sequentially_inferred_jumps",
    "sijump_p",
    "stvec",
    "time_width_p",
    "vstvec",
];

/// Predictors and caches have 2 to the power of this entries at most: that is more than a trace encoder has.
const LARGEST: u8 = 16;

impl Parameters {
    /// The parameters with these names and values. What is not named is as in the specification's own example; the width
    /// of an address must be named.
    ///
    /// The options `full_address`, `implicit_return`, `implicit_exception`, `branch_prediction` and `jump_target_cache` are
    /// told by a packet when tracing begins. Where that packet is not there any more, as in a buffer that was filled more
    /// than once, one of them at least must be named: it counts until a packet tells otherwise, and the others are off. No
    /// packet tells `sequentially_inferred_jumps`, so that it must be named where `sijump_p` is 1. Registers have the
    /// values of a hart's whose handlers are not told, and `keeps_returns` and `keeps_predictions` are 1 where an encoder
    /// does not empty its return stack and its branch predictor at a synchronization; where they are not named, it is
    /// found out ([`Parameters::fitted`]).
    pub fn new(named: &[(&str, u64)]) -> Result<Parameters, ParametersError> {
        let mut fields = config::PARAMETERS;
        let mut has_width = false;
        let mut options: Option<ReferenceIOptions> = None;
        let mut infers_sequences = None;
        let mut predictor_size = 0;
        let (mut vectors, mut kept) = (Vectors::default(), Kept::default());
        for (name, value) in named {
            let wrong = |expected| ParametersError::Value { name: (*name).to_owned(), value: *value, expected };
            let up_to = |most: u8, expected| u8::try_from(*value).ok().filter(|n| *n <= most).ok_or(wrong(expected));
            let number = || up_to(64, "0 to 64");
            let size = || up_to(LARGEST, "0 to 16");
            let width = || number().ok().and_then(NonZeroU8::new).ok_or(wrong("1 to 64"));
            let flag = || if *value <= 1 { Ok(*value == 1) } else { Err(wrong("0 or 1")) };
            match *name {
                "bpred_size_p" => predictor_size = size()?,
                "branch_prediction" => options.get_or_insert_default().branch_prediction = flag()?,
                "cache_size_p" => fields.cache_size_p = size()?,
                "call_counter_size_p" => fields.call_counter_size_p = number()?,
                "context_width_p" => fields.context_width_p = width()?,
                "ecause_width_p" => fields.ecause_width_p = width()?,
                "f0s_width_p" => fields.f0s_width_p = number()?,
                "full_address" => options.get_or_insert_default().full_address = flag()?,
                "implicit_exception" => options.get_or_insert_default().implicit_exception = flag()?,
                "implicit_return" => options.get_or_insert_default().implicit_return = flag()?,
                "jump_target_cache" => options.get_or_insert_default().jump_target_cache = flag()?,
                "iaddress_lsb_p" => fields.iaddress_lsb_p = number()?,
                "iaddress_width_p" => {
                    has_width = true;
                    fields.iaddress_width_p = width()?;
                }
                "keeps_predictions" => kept.predictions = Some(flag()?),
                "keeps_returns" => kept.returns = Some(flag()?),
                "mtvec" => vectors.mtvec = Some(*value),
                "nocontext_p" => fields.nocontext_p = flag()?,
                "notime_p" => fields.notime_p = flag()?,
                "privilege_width_p" => fields.privilege_width_p = width()?,
                "return_stack_size_p" => fields.return_stack_size_p = number()?,
                "sequentially_inferred_jumps" => infers_sequences = Some(flag()?),
                "sijump_p" => fields.sijump_p = flag()?,
                "stvec" => vectors.stvec = Some(*value),
                "time_width_p" => fields.time_width_p = width()?,
                "vstvec" => vectors.vstvec = Some(*value),
                _ => return Err(ParametersError::Unknown((*name).to_owned())),
            }
        }
        if !has_width {
            return Err(ParametersError::Missing("iaddress_width_p"));
        }
        if fields.sijump_p && infers_sequences.is_none() {
            return Err(ParametersError::Missing("sequentially_inferred_jumps"));
        }
        let infers_sequences = infers_sequences.unwrap_or(false);
        if infers_sequences && !fields.sijump_p {
            let (name, expected) = ("sequentially_inferred_jumps".to_owned(), "0 where sijump_p is 0, or not named");
            return Err(ParametersError::Value { name, value: 1, expected });
        }
        if predictor_size > 0 && fields.cache_size_p > 0 && fields.f0s_width_p == 0 {
            return Err(ParametersError::Missing("f0s_width_p"));
        }
        Ok(Parameters { fields, options, infers_sequences, predictor_size, vectors, kept })
    }

    /// Whether it is known how the encoder tells addresses and returns, without a packet that says it.
    pub fn are_options_known(&self) -> bool {
        self.options.is_some()
    }

    /// The bits of an address.
    pub(super) fn address_mask(&self) -> u64 {
        u64::MAX >> (64 - u32::from(self.fields.iaddress_width_p.get()))
    }

    /// Whether packets have the ID of a context.
    pub(super) fn has_contexts(&self) -> bool {
        !self.fields.nocontext_p
    }

    /// The entries of the branch predictor.
    pub(super) fn predictor_entries(&self) -> Entries {
        Entries { size: self.predictor_size, unused: self.fields.iaddress_lsb_p }
    }

    /// The entries of the cache of jump targets.
    pub(super) fn jump_target_entries(&self) -> Entries {
        Entries { size: self.fields.cache_size_p, unused: self.fields.iaddress_lsb_p }
    }

    /// Whether packets of format 0 can only be of the cache of jump targets, and do not say so.
    pub(super) fn has_jump_targets_alone(&self) -> bool {
        self.predictor_size == 0 && self.fields.cache_size_p > 0 && self.fields.f0s_width_p == 0
    }

    /// How many returns can be told by the calls before them.
    pub(super) fn return_stack_depth(&self) -> usize {
        let bits = self.fields.return_stack_size_p.max(self.fields.call_counter_size_p);
        if bits == 0 { 0 } else { 1usize.checked_shl(bits.into()).unwrap_or(usize::MAX) }
    }
}
