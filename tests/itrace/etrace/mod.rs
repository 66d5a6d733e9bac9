//! RISC-V E-Trace: streams as the encoder of `riscv-etrace` sends them.

mod damaged;
mod encoder;
mod judge;
mod judged;
mod modes;

use riscv_etrace::config;
use riscv_etrace::packet::unit::ReferenceIOptions;
use traceframe::format::itrace::etrace::{Framing, Packets, Parameters, Place, Reconstruction};
use traceframe::format::itrace::instruction::{Blocks, Ends, InstructionSet};

use crate::execution::Execution;
use crate::program::Program;
use crate::shown::Shown;
use crate::stream::Sink;

pub const SIEMENS: Framing = Framing::Siemens { hart_bits: 0 };
pub const ENCAPSULATION: Framing = Framing::Encapsulation { source_bits: 8, timestamp_bytes: 4 };

/// What an encoder is like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Width {
    /// The width of an address.
    pub address: u8,
    /// Whether every address is told as a whole.
    pub is_full: bool,
    /// How many bits count the returns that are told by calls, and whether those from before a synchronization are.
    pub returns: u8,
    pub keeps_returns: bool,
    /// Whether jumps are not told to where the instruction before says.
    pub infers_sequences: bool,
    /// The sizes of the branch predictor and of the cache of jump targets.
    pub predictor: u8,
    pub jump_targets: u8,
    /// Where exceptions are handled, if packets do not tell.
    pub mtvec: Option<u64>,
}

impl Width {
    fn of(program: &Program) -> Width {
        let address = if program.instruction_set(0) == InstructionSet::Rv32 { 32 } else { 64 };
        Width { address, ..Width::default() }
    }

    /// How many bits tell which kind of packet one of format 0 is.
    fn kinds(self) -> u8 {
        u8::from(self.predictor > 0 && self.jump_targets > 0)
    }

    /// The parameters as the crate has them.
    fn theirs(self) -> config::Parameters {
        config::Parameters {
            iaddress_width_p: self.address.try_into().unwrap(),
            return_stack_size_p: self.returns,
            call_counter_size_p: self.returns,
            cache_size_p: self.jump_targets,
            f0s_width_p: self.kinds(),
            sijump_p: self.infers_sequences,
            ..config::PARAMETERS
        }
    }

    fn options(self) -> ReferenceIOptions {
        ReferenceIOptions {
            full_address: self.is_full,
            implicit_return: self.returns > 0,
            implicit_exception: self.mtvec.is_some(),
            branch_prediction: self.predictor > 0,
            jump_target_cache: self.jump_targets > 0,
        }
    }

    fn ours(self) -> Parameters {
        let options = self.options();
        let mut named = vec![
            ("iaddress_width_p", self.address.into()),
            ("return_stack_size_p", self.returns.into()),
            ("call_counter_size_p", self.returns.into()),
            ("bpred_size_p", self.predictor.into()),
            ("cache_size_p", self.jump_targets.into()),
            ("f0s_width_p", self.kinds().into()),
            ("sijump_p", self.infers_sequences.into()),
            ("sequentially_inferred_jumps", self.infers_sequences.into()),
            ("keeps_returns", self.keeps_returns.into()),
            ("full_address", options.full_address.into()),
            ("implicit_return", options.implicit_return.into()),
            ("implicit_exception", options.implicit_exception.into()),
            ("branch_prediction", options.branch_prediction.into()),
            ("jump_target_cache", options.jump_target_cache.into()),
        ];
        named.extend(self.mtvec.map(|mtvec| ("mtvec", mtvec)));
        Parameters::new(&named).unwrap()
    }
}

/// What traceframe shows of the one hart in a sink.
fn show(program: &Program, sink: &Sink, framing: Framing, width: Width) -> Shown {
    let mut shown = Shown::default();
    let parameters = width.ours();
    let mut blocks = Blocks::new(program, Ends::default());
    let mut reconstruction = Reconstruction::new(program.instruction_set(0), &parameters);
    let source = if matches!(framing, Framing::Siemens { .. }) { 0 } else { encoder::SOURCE };
    let packets = Packets::new(&sink.bytes, framing, &parameters).read_on(
        Place::default(),
        (source.into(), &[]),
        (program, program.instruction_set(0)),
    );
    reconstruction.take_all(packets, &mut blocks, &mut |at, step| shown.take(program, sink, at, step));
    shown
}

/// A sink with the run of a program, and the description that goes with it, of files beside it.
pub fn made(program: &Program, execution: &Execution) -> (Vec<u8>, String) {
    let (options, width) = (encoder::Options { period: 700, ..encoder::Options::default() }, Width::of(program));
    let packets = encoder::encode(program, execution, &options, SIEMENS, width);
    let (name, bits) = (program.name, width.address);
    let description = format!(
        "[capture]\nversion = 1\n\n[[sink]]\nfile = \"{name}.bin\"\nformat = \"smi\"\n\n[[sink.source]]\nid = 0\n\
         protocol = \"etrace\"\nname = \"hart 0\"\nisa = \"rv{bits}\"\nparameters = {{ iaddress_width_p = {bits} }}\n\n\
         [[image]]\nfile = \"{name}\"\n"
    );
    (Sink::of(&packets, 0..packets.len()).bytes, description)
}

/// What is shown of a run of a program, if it is taken for one of another.
pub fn show_with(program: &Program, wrong: &Program, execution: &Execution) -> Shown {
    let (options, width) = (encoder::Options { period: 700, ..encoder::Options::default() }, Width::of(program));
    let packets = encoder::encode(program, execution, &options, SIEMENS, width);
    show(wrong, &Sink::of(&packets, 0..packets.len()), SIEMENS, width)
}
