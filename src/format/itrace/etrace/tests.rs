use super::*;
use crate::format::itrace::instruction::{Blocks, Code, Ends, InstructionSet};
use crate::format::itrace::tests::{data, truth};
use crate::format::itrace::{Run, Step};
use crate::image::Image;

struct Program(Image);

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        self.0.read_only(address)
    }
}

#[test]
fn every_instruction_is_the_one_that_was_executed() {
    let truth = truth("rv64.200.pcs.gz");
    for (name, returns) in [("rv64.200.te_inst", 0), ("rv64.200.etrace.smi", 0), ("rv64.200.ir.te_inst", 8)] {
        let parameters = Parameters::new(&[
            ("iaddress_width_p", 64),
            ("return_stack_size_p", returns),
            ("call_counter_size_p", returns),
        ])
        .unwrap();
        let bytes = std::fs::read(data(name)).unwrap();
        let program = Program(Image::open(&data("prog.rv64.200")).unwrap());
        let blocks = Blocks::new(&program, Ends::default());
        let mut walk = Reconstruction::new(blocks, InstructionSet::Rv64, &parameters);
        let mut seen = Vec::new();
        for packet in Packets::new(&bytes, Framing::Siemens { hart_bits: 0 }, &parameters) {
            walk.take(&packet, &mut |step| match step {
                Step::Run(Run { start, last, instructions, .. }) => {
                    let mut blocks = Blocks::new(&program, Ends::default());
                    let block = blocks.block(InstructionSet::Rv64, start);
                    let addresses: Vec<u64> = (0..instructions).map(|nth| block.address(nth).unwrap()).collect();
                    assert_eq!(addresses.last(), Some(&last));
                    seen.extend(addresses);
                }
                // It ends as it was meant to.
                Step::End if seen.len() == truth.len() => {}
                other => panic!("{name}: {other:?} behind {} instructions, packet {packet:?}", seen.len()),
            });
        }
        let differs = seen.iter().zip(&truth).position(|(seen, truth)| seen != truth);
        assert_eq!((differs, seen.len()), (None, truth.len()), "{name}");
    }
}
