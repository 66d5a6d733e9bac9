//! How many instructions the tracer of `riscv-etrace` reads out of a stream.

use riscv_etrace::binary;
use riscv_etrace::config::{PARAMETERS, Parameters};
use riscv_etrace::instruction::{Instruction, base};
use riscv_etrace::packet;
use riscv_etrace::packet::payload::Payload;
use riscv_etrace::tracer::{self, Tracer};
use riscv_etrace::types::stack::StaticStack;
use traceframe::format::itrace::instruction::Code;

use super::Program;

/// The instructions of a hart whose addresses have 64 bits.
pub fn instructions(program: &Program, bytes: &[u8]) -> u64 {
    let parameters = Parameters { iaddress_width_p: 64.try_into().unwrap(), ..PARAMETERS };
    let code = binary::from_fn(|address| {
        let found: Option<(Instruction, _)> = Instruction::extract(program.code(address), &base::Set::Rv64I);
        found.map(|(instruction, _)| instruction).ok_or(binary::error::NoInstruction)
    });
    let mut tracer: Tracer<_, StaticStack<256>> =
        tracer::builder().with_binary(code).with_params(&parameters).build().unwrap();
    let mut decoder = packet::builder().with_params(&parameters).with_hart_index_width(0).decoder(bytes);
    let mut count = 0;
    while decoder.bytes_left() > 0 {
        let payload: Payload = decoder.decode_smi_packet().and_then(|packet| packet.decode_payload()).unwrap();
        tracer.process_payload(&payload).unwrap();
        count += tracer.by_ref().filter(|item| item.as_ref().unwrap().instruction().is_some()).count() as u64;
    }
    count
}
