//! Calls that have not returned, made readable for a debugger by a program's own call frame information.
//!
//! Where the functions are and where each returns to is known, and nothing of the stack. By the rules of each function
//! (DWARF 5, section 6.4) there is a stack pointer, other registers and memory for which these rules lead from one function
//! to the next: they are made here, and hold the known addresses and each other, nothing else.
//!
//! The frame address of a function stays the same from its first instruction to its last, and that of a function that it
//! calls lies below: a debugger tells calls apart by it.

use super::unwind::{CallerRule, Saved};
use crate::arch::Machine;

/// A function that was called and has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// An address in it by which its rule is found: what it executes; in a caller, the call.
    pub at: u64,
    /// Its canonical frame address.
    pub frame_address: u64,
    /// Where it returns to; `None` where that is not known.
    pub returns_to: Option<u64>,
}

/// What a debugger must be given to unwind from one function to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unwinding {
    /// Registers by their numbers in DWARF.
    pub registers: Vec<(u16, u64)>,
    /// Words of memory: address and value, each of the machine's address size.
    pub words: Vec<(u64, u64)>,
}

/// The value of a register in some of the functions, which keep it from one to the next.
#[derive(Clone, Debug)]
struct Held {
    register: u16,
    value: Option<u64>,
    place: Place,
}

/// Where a value is found.
#[derive(Clone, Copy, Debug)]
enum Place {
    Register,
    Memory(u64),
    Nowhere,
}

impl CallerRule {
    /// How far the stack pointer lies below the frame address, where nothing lies further down than the rule tells of.
    pub fn room(&self, machine: &Machine) -> Option<u64> {
        let registers = machine.frame_registers()?;
        let (register, offset) = self.frame_address;
        if register == registers.stack_pointer {
            return u64::try_from(offset).ok();
        }
        let below =
            self.saved.iter().filter_map(|(_, saved)| if let Saved::At(at) = saved { Some(-*at) } else { None });
        let room = below.max().unwrap_or(0).max(offset).max(0).cast_unsigned();
        Some(room.next_multiple_of(2 * machine.address_size as u64))
    }
}

/// Makes calls readable, the innermost first. It reaches as far as there are rules that can be followed.
///
/// Where the innermost function has no rule, a debugger reads its code: it is given the stack pointer where the function
/// began, and where it returns to as if it called nothing.
pub fn unwinding<R: AsRef<CallerRule>>(
    machine: &Machine,
    activations: impl IntoIterator<Item = Activation>,
    rule: impl Fn(u64) -> Option<R>,
) -> Unwinding {
    let mut made = Unwinding::default();
    let Some(registers) = machine.frame_registers() else { return made };
    let mut held: Vec<Held> = Vec::new();
    for (depth, activation) in activations.into_iter().enumerate() {
        let Activation { at, frame_address, returns_to } = activation;
        let found = rule(at);
        let Some(rule) = found.as_ref().map(AsRef::as_ref) else {
            if depth == 0 {
                made.registers.push((registers.stack_pointer, frame_address));
                made.registers.extend(machine.link_register().zip(returns_to));
            }
            break;
        };
        let (register, offset) = rule.frame_address;
        let Some(value) = offset.checked_neg().map(|offset| frame_address.wrapping_add_signed(offset)) else { break };
        if depth == 0 {
            let room = rule.room(machine).unwrap_or(0);
            made.registers.push((registers.stack_pointer, frame_address.wrapping_sub(room)));
        }
        if register != registers.stack_pointer {
            let known = now(&mut held, register);
            // Two functions that share it, and do not agree.
            if known.value.is_some_and(|known| known != value) {
                break;
            }
            known.value = Some(value);
        }
        for (register, saved) in &rule.saved {
            let place = match saved {
                Saved::At(offset) => Place::Memory(frame_address.wrapping_add_signed(*offset)),
                Saved::Lost => Place::Nowhere,
                Saved::Kept => continue,
            };
            held.push(Held { register: *register, value: None, place });
        }
        let Some(returns_to) = returns_to else { break };
        match rule.saved(rule.return_address) {
            Saved::At(offset) => made.words.push((frame_address.wrapping_add_signed(offset), returns_to)),
            // A function that calls none may keep it in its register.
            Saved::Kept if depth == 0 => made.registers.push((rule.return_address, returns_to)),
            Saved::Kept | Saved::Lost => break,
        }
    }
    for Held { register, value, place } in held {
        match (place, value) {
            (Place::Register, Some(value)) => made.registers.push((register, value)),
            (Place::Memory(address), Some(value)) => made.words.push((address, value)),
            (Place::Nowhere, _) | (_, None) => {}
        }
    }
    made.words.sort_unstable();
    made
}

/// What is known of a register at the function that is looked at.
fn now(held: &mut Vec<Held>, register: u16) -> &mut Held {
    let at = held.iter().rposition(|held| held.register == register).unwrap_or_else(|| {
        held.push(Held { register, value: None, place: Place::Register });
        held.len() - 1
    });
    &mut held[at]
}
