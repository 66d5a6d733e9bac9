//! What a trace encoder is like: its parameters, which the specification names.

use std::num::NonZeroU8;

use riscv_etrace::config;
use riscv_etrace::packet::unit::ReferenceIOptions;

/// The parameters of an encoder that decide how its packets are read, and the options that it was switched to, if they
/// are known without the packet that tells them.
#[derive(Clone, Copy, Debug)]
pub struct Parameters(pub(super) config::Parameters, pub(super) Option<ReferenceIOptions>);

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
    /// What is not read.
    #[error("the encoder has {0}, which is not read")]
    NotRead(&'static str),
}

/// The names, as chapter 3 of the specification has them, and two of its chapter 5.
const NAMES: [&str; 15] = [
    "cache_size_p",
    "call_counter_size_p",
    "context_width_p",
    "ecause_width_p",
    "f0s_width_p",
    "full_address",
    "iaddress_lsb_p",
    "iaddress_width_p",
    "implicit_return",
    "nocontext_p",
    "notime_p",
    "privilege_width_p",
    "return_stack_size_p",
    "sijump_p",
    "time_width_p",
];

impl Parameters {
    /// The parameters with these names and values. What is not named is as in the specification's own example; the width
    /// of an address must be named.
    ///
    /// The options `full_address` and `implicit_return` are told by a packet when tracing begins. Where that packet is
    /// not there any more, as in a buffer that was filled more than once, one of them at least must be named: it counts
    /// until a packet tells otherwise, and the other is off.
    pub fn new(named: &[(&str, u64)]) -> Result<Parameters, ParametersError> {
        let mut parameters = config::PARAMETERS;
        let mut has_width = false;
        let mut options: Option<ReferenceIOptions> = None;
        for (name, value) in named {
            let wrong = |expected| ParametersError::Value { name: (*name).to_owned(), value: *value, expected };
            let number = || u8::try_from(*value).ok().filter(|number| *number <= 64).ok_or(wrong("0 to 64"));
            let width = || number().ok().and_then(NonZeroU8::new).ok_or(wrong("1 to 64"));
            let flag = || if *value <= 1 { Ok(*value == 1) } else { Err(wrong("0 or 1")) };
            match *name {
                "cache_size_p" => parameters.cache_size_p = number()?,
                "call_counter_size_p" => parameters.call_counter_size_p = number()?,
                "context_width_p" => parameters.context_width_p = width()?,
                "ecause_width_p" => parameters.ecause_width_p = width()?,
                "f0s_width_p" => parameters.f0s_width_p = number()?,
                "full_address" => options.get_or_insert_default().full_address = flag()?,
                "implicit_return" => options.get_or_insert_default().implicit_return = flag()?,
                "iaddress_lsb_p" => parameters.iaddress_lsb_p = number()?,
                "iaddress_width_p" => {
                    has_width = true;
                    parameters.iaddress_width_p = width()?;
                }
                "nocontext_p" => parameters.nocontext_p = flag()?,
                "notime_p" => parameters.notime_p = flag()?,
                "privilege_width_p" => parameters.privilege_width_p = width()?,
                "return_stack_size_p" => parameters.return_stack_size_p = number()?,
                "sijump_p" => parameters.sijump_p = flag()?,
                "time_width_p" => parameters.time_width_p = width()?,
                _ => return Err(ParametersError::Unknown((*name).to_owned())),
            }
        }
        if parameters.sijump_p {
            return Err(ParametersError::NotRead("sequentially inferred jumps (sijump_p)"));
        }
        if !has_width {
            return Err(ParametersError::Missing("iaddress_width_p"));
        }
        Ok(Parameters(parameters, options))
    }

    /// Whether it is known how the encoder tells addresses and returns, without a packet that says it.
    pub fn are_options_known(&self) -> bool {
        self.1.is_some()
    }

    /// The bits of an address.
    pub(super) fn address_mask(&self) -> u64 {
        u64::MAX >> (64 - u32::from(self.0.iaddress_width_p.get()))
    }

    /// Whether packets have the ID of a context.
    pub(super) fn has_contexts(&self) -> bool {
        !self.0.nocontext_p
    }

    /// How many returns can be told by the calls before them.
    pub(super) fn return_stack_depth(&self) -> usize {
        let bits = self.0.return_stack_size_p.max(self.0.call_counter_size_p);
        if bits == 0 { 0 } else { 1usize.checked_shl(bits.into()).unwrap_or(usize::MAX) }
    }
}
