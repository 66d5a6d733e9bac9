//! RISC-V E-Trace: streams as the encoder of `riscv-etrace` sends them.

mod damaged;
mod encoder;
mod judge;
mod judged;

use riscv_etrace::config;
use traceframe::format::itrace::etrace::{Framing, Packets, Parameters, Place, Reconstruction};
use traceframe::format::itrace::instruction::{Blocks, Ends, InstructionSet};

use crate::execution::Execution;
use crate::program::Program;
use crate::shown::Shown;
use crate::stream::Sink;

pub const SIEMENS: Framing = Framing::Siemens { hart_bits: 0 };
pub const ENCAPSULATION: Framing = Framing::Encapsulation { source_bits: 8, timestamp_bytes: 4 };

/// The width of an address, how many bits count the returns that are told by calls, and whether every address is told
/// as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    pub address: u8,
    pub returns: u8,
    pub is_full: bool,
}

impl Width {
    fn of(program: &Program) -> Width {
        Width {
            address: if program.instruction_set(0) == InstructionSet::Rv32 { 32 } else { 64 },
            returns: 0,
            is_full: false,
        }
    }

    /// The parameters as the crate has them.
    fn theirs(self) -> config::Parameters {
        config::Parameters {
            iaddress_width_p: self.address.try_into().unwrap(),
            return_stack_size_p: self.returns,
            call_counter_size_p: self.returns,
            ..config::PARAMETERS
        }
    }

    fn ours(self) -> Parameters {
        let (address, returns) = (self.address.into(), self.returns.into());
        let named = [
            ("iaddress_width_p", address),
            ("return_stack_size_p", returns),
            ("call_counter_size_p", returns),
            ("implicit_return", u64::from(self.returns > 0)),
            ("full_address", u64::from(self.is_full)),
        ];
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
    let packets =
        Packets::new(&sink.bytes, framing, &parameters).read_on(Place::default(), (source.into(), &[]), program);
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
