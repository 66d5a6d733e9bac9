//! The memory and registers in which a debugger finds a recorded stack.

use super::frames::{RECORD_WORDS, registers};
use crate::arch::Machine;

/// What a debugger must be given for `backtrace` to show a recorded stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Registers by the names that gdb has for them, each of the size of an address.
    pub registers: Vec<(&'static str, u64)>,
    /// The chain: its first address, and its bytes. Empty for a stack of one address.
    pub memory: (u64, Vec<u8>),
}

/// Makes a recorded stack readable for a debugger that has a made image with a [`FrameRule`](super::FrameRule).
///
/// The addresses are those of the innermost function first: where the program was, then where each caller goes on.
/// They must lie in code of the image, or where the rule holds too, or a debugger goes by ways of its own; on some
/// machines it must also be able to read that code ([`unknown_code`](super::unknown_code)). The chain is made at `base`,
/// where nothing else may lie; it is all that the rule reads. A word has the machine's address size and byte order, and a
/// record three words; `base` plus three words for each address must be an address. Neither the chain nor the frame
/// pointer were recorded.
///
/// A stack of one address needs no chain, and its frame pointer must be unavailable.
///
/// `None` if there is no address, no rule for the machine, or no room at `base`.
pub fn frame_chain(machine: &Machine, base: u64, addresses: &[u64]) -> Option<Chain> {
    let registers = registers(machine)?;
    let (innermost, callers) = addresses.split_first()?;
    let word = machine.address_size as u64;
    let record = word.checked_mul(RECORD_WORDS)?;
    let room = record.checked_mul(addresses.len() as u64)?;
    if base.checked_add(room)? > machine.last_address() {
        return None;
    }
    let mut words = Vec::new();
    let mut at = base;
    for caller in callers {
        let saved = at + 2 * word;
        words.extend([at + record, saved, *caller]);
        at += record;
    }
    if !callers.is_empty() {
        // The outermost frame has the word of the frame that it called, whose record came before, and itself for a
        // caller: where gdb looks past the first, it sees the second.
        words.extend([at, at - word]);
    }
    let mut memory = vec![0; words.len() * machine.address_size];
    for (value, place) in words.iter().zip(memory.chunks_exact_mut(machine.address_size)) {
        machine.byte_order.store(*value, place);
    }
    let frame_pointer = (!callers.is_empty()).then_some((registers.frame_pointer, base));
    Some(Chain {
        registers: [(registers.program_counter, *innermost)].into_iter().chain(frame_pointer).collect(),
        memory: (base, memory),
    })
}
