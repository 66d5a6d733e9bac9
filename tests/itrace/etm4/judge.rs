//! What OpenCSD, the decoder that Arm and Linaro maintain, reads out of a sink.

use traceframe::format::itrace::coresight::formatter::Framing;
use traceframe::format::itrace::instruction::{Code, InstructionSet, decode};

use super::opencsd::{self, Said};
use super::registers;
use crate::etm4::encoder::Options;
use crate::program::Program;

/// The instructions of the source with this ID, and what it says of bytes that it cannot read, or that do not fit.
pub fn read(program: &Program, sink: &[u8], framing: Framing, options: &Options, id: u8) -> (Vec<u64>, Vec<String>) {
    let (mut list, mut complaints) = (Vec::new(), Vec::new());
    let is_64_bit = program.instruction_set(0) == InstructionSet::A64;
    opencsd::read(program, is_64_bit, sink, framing, &registers(options, id), &mut |at, said| match said {
        Said::Executed { set, start, end, instructions } => {
            let mut address = start;
            for _ in 0..instructions {
                list.push(address);
                address += decode(set, address, program.code(address)).map_or(4, |found| u64::from(found.size));
            }
            assert_eq!(address, end);
        }
        Said::NoCode(address) => complaints.push(format!("no code at {address:#x}, byte {at}")),
        Said::UnknownAddress => complaints.push(format!("an address is unknown, byte {at}")),
        Said::Refused(response) => complaints.push(format!("response {response} at byte {at}")),
    });
    (list, complaints)
}
