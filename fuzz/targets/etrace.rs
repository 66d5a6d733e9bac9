//! Any bytes as packets of E-Trace, and true streams with changes, with a small program.
#![cfg_attr(fuzzing, no_main)]

use std::sync::OnceLock;

use traceframe::format::itrace::etrace::{Framing, Packets, Parameters, Place, Reconstruction};
use traceframe::format::itrace::instruction::{Blocks, Ends, InstructionSet};

use crate::support::instructions::{Walked, changed, program};
use crate::support::tests_data;

#[cfg(fuzzing)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| run(data));

const FRAMINGS: [Framing; 3] = [
    Framing::Siemens { hart_bits: 0 },
    Framing::Siemens { hart_bits: 3 },
    Framing::Encapsulation { source_bits: 8, timestamp_bytes: 4 },
];

/// The beginnings of true streams: plain, with implicit returns, and in more modes.
fn streams() -> &'static [Vec<u8>] {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |name: &&str| {
            let mut stream = std::fs::read(tests_data().join("itrace").join(name)).expect("a stream");
            stream.truncate(700);
            stream
        };
        ["rv64.200.te_inst", "rv64.200.ir.te_inst", "rv64.loops.te_inst"].iter().map(read).collect()
    })
}

/// The first byte chooses how packets are framed and addresses told, the program, and whether the others are a sink or
/// changes of a true one.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let choice = usize::from(*choice);
    let (name, set, width) =
        [("prog.rv64.200", InstructionSet::Rv64, 64), ("walk.rv32", InstructionSet::Rv32, 32)][choice / 3 % 2];
    let (has_modes, has_returns) = (choice & 0x80 != 0, choice & 0x20 != 0);
    let size = |is_there: bool, size: u64| if is_there { size } else { 0 };
    let named = [
        ("iaddress_width_p", width),
        ("return_stack_size_p", size(has_returns && !has_modes, 8)),
        ("call_counter_size_p", if has_modes { 9 } else { size(has_returns, 8) }),
        ("full_address", (choice >> 4 & 1) as u64),
        ("implicit_return", u64::from(has_returns || has_modes)),
        ("keeps_returns", u64::from(has_returns)),
        ("branch_prediction", u64::from(has_modes)),
        ("bpred_size_p", size(has_modes, 7)),
        ("keeps_predictions", u64::from(has_modes)),
        ("jump_target_cache", u64::from(has_modes)),
        ("cache_size_p", size(has_modes, 7)),
        ("f0s_width_p", size(has_modes, 1)),
        ("sijump_p", u64::from(has_modes)),
        ("sequentially_inferred_jumps", u64::from(has_modes)),
        ("mtvec", 0x10000),
    ];
    let parameters = Parameters::new(&named).expect("sound parameters");
    let program = program(name);
    let sink = if choice & 0x40 == 0 {
        rest.to_vec()
    } else {
        changed(&streams()[if has_modes { 2 } else { usize::from(has_returns) }], rest)
    };
    let mut walked = Walked::new(program, sink.len());
    let mut blocks = Blocks::new(program, Ends::default());
    let mut reconstruction = Reconstruction::new(set, &parameters);
    let packets = Packets::new(&sink, FRAMINGS[choice % FRAMINGS.len()], &parameters);
    let mut behind = 0;
    for packet in packets.read_on(Place::default(), ((choice >> 3 & 1) as u64, &[0, 2]), (&program, set)) {
        assert!((behind..sink.len() as u64).contains(&packet.at));
        behind = packet.at + 1;
        walked.packet();
        reconstruction.take(&packet, &mut blocks, &mut |_, step| walked.take(step));
    }
    reconstruction.end(&mut |_, step| walked.take(step));
}
