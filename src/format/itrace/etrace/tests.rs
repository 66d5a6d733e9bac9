use super::*;
use crate::format::itrace::Step;
use crate::format::itrace::instruction::{Blocks, Code, Ends, InstructionSet};
use crate::format::itrace::tests::{data, truth};
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
        let mut blocks = Blocks::new(&program, Ends::default());
        let mut walk = Reconstruction::new(InstructionSet::Rv64, &parameters);
        let mut seen = Vec::new();
        for packet in Packets::new(&bytes, Framing::Siemens { hart_bits: 0 }, &parameters) {
            walk.take(&packet, &mut blocks, &mut |step| match step {
                Step::Run(run) => {
                    let mut blocks = Blocks::new(&program, Ends::default());
                    let block = blocks.block(InstructionSet::Rv64, run.start);
                    let addresses: Vec<u64> = (0..run.instructions()).map(|nth| block.address(nth).unwrap()).collect();
                    assert_eq!(addresses.last().copied(), run.last());
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

/// What is executed by a stream, and how many discontinuities there are; with a program that is moved by so many bytes.
fn walked(bytes: &[u8], moved: u64) -> (u64, usize) {
    struct Moved<'p>(&'p Program, u64);
    impl Code for Moved<'_> {
        fn code(&self, address: u64) -> &[u8] {
            self.0.code(address.wrapping_sub(self.1))
        }
    }
    let parameters = Parameters::new(&[("iaddress_width_p", 64)]).unwrap();
    let program = Program(Image::open(&data("prog.rv64.200")).unwrap());
    let mut blocks = Blocks::new(Moved(&program, moved), Ends::default());
    let mut walk = Reconstruction::new(InstructionSet::Rv64, &parameters);
    let (mut executed, mut gaps) = (0, 0);
    for packet in Packets::new(bytes, Framing::Siemens { hart_bits: 0 }, &parameters) {
        walk.take(&packet, &mut blocks, &mut |step| match step {
            Step::Run(run) => executed += u64::from(run.instructions()),
            Step::Discontinuity(_) => gaps += 1,
            Step::Trap { .. } | Step::End | Step::Time(_) => {}
        });
    }
    (executed, gaps)
}

#[test]
fn whatever_the_bytes_are_it_ends_and_what_does_not_fit_is_a_discontinuity() {
    let bytes = std::fs::read(data("rv64.200.te_inst")).unwrap();
    assert_eq!(walked(&bytes, 0), (63_108, 0));
    for cut in (0..bytes.len()).step_by(97) {
        assert!(walked(&bytes[..cut], 0).0 <= 63_108);
    }
    for at in (0..bytes.len()).step_by(53) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        walked(&changed, 0);
    }
    // Another program: a function moved by four bytes.
    let (executed, gaps) = walked(&bytes, 4);
    assert!(gaps > 0 && executed < 63_108, "{executed} {gaps}");
}

#[test]
fn parameters_are_asked_for_and_not_guessed() {
    let error = |named: &[(&str, u64)]| Parameters::new(named).unwrap_err();
    assert_eq!(error(&[("notime_p", 1)]), ParametersError::Missing("iaddress_width_p"));
    assert_eq!(error(&[("iaddress_width", 64)]), ParametersError::Unknown("iaddress_width".to_owned()));
    assert_eq!(
        error(&[("iaddress_width_p", 64), ("sijump_p", 1)]),
        ParametersError::NotRead("sequentially inferred jumps (sijump_p)")
    );
    for (name, value, expected) in
        [("iaddress_width_p", 0, "1 to 64"), ("cache_size_p", 65, "0 to 64"), ("notime_p", 2, "0 or 1")]
    {
        assert_eq!(error(&[(name, value)]), ParametersError::Value { name: name.to_owned(), value, expected });
    }
}
