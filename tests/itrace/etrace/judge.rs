//! What the tracer of `riscv-etrace` reads out of a stream.

use riscv_etrace::binary;
use riscv_etrace::instruction::{Instruction, base};
use riscv_etrace::packet;
use riscv_etrace::packet::payload::Payload;
use riscv_etrace::tracer::{self, Tracer};
use riscv_etrace::types::stack::StaticStack;
use traceframe::format::itrace::etrace::Framing;
use traceframe::format::itrace::instruction::{Code, InstructionSet};

use super::Width;
use crate::program::Program;

/// The instructions that each packet of a stream proves.
pub fn read(program: &Program, bytes: &[u8], framing: Framing, width: Width) -> Result<Vec<Vec<u64>>, String> {
    let set = if program.instruction_set(0) == InstructionSet::Rv32 { base::Set::Rv32I } else { base::Set::Rv64I };
    let code = binary::from_fn(|address| {
        let found: Option<(Instruction, _)> = Instruction::extract(program.code(address), &set);
        found.map(|(instruction, _)| instruction).ok_or(binary::error::NoInstruction)
    });
    let mut tracer: Tracer<_, StaticStack<256>> =
        tracer::builder().with_binary(code).with_params(&width.theirs()).build().map_err(|error| error.to_string())?;
    let builder = packet::builder().with_params(&width.theirs());
    let mut decoder = match framing {
        Framing::Siemens { hart_bits } => builder.with_hart_index_width(hart_bits),
        Framing::Encapsulation { source_bits, timestamp_bytes } => {
            builder.with_hart_index_width(source_bits).with_timestamp_width(timestamp_bytes)
        }
    }
    .decoder(bytes);
    let mut proven = Vec::new();
    while decoder.bytes_left() > 0 {
        let payload: Payload = match framing {
            Framing::Siemens { .. } => decoder.decode_smi_packet().and_then(|packet| packet.decode_payload()),
            Framing::Encapsulation { .. } => {
                decoder.decode_encap_packet().and_then(|packet| packet.into_normal().unwrap().decode_payload())
            }
        }
        .map_err(|error| error.to_string())?;
        tracer.process_payload(&payload).map_err(|error| format!("{payload:?}: {error}"))?;
        let mut list = Vec::new();
        for item in tracer.by_ref() {
            let item = item.map_err(|error| {
                let before: Vec<_> = proven.iter().rev().take(4).collect();
                format!("{payload:?} behind {before:x?} and {list:x?}: {error}")
            })?;
            if item.instruction().is_some() {
                list.push(item.pc());
            }
        }
        proven.push(list);
    }
    Ok(proven)
}
