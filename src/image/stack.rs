//! Recorded stacks made readable by a program's own call frame information.
//!
//! Of a stack the return addresses alone were recorded. By the rules of each function (DWARF 5, section 6.4) there is a
//! stack pointer, a frame pointer and memory for which these rules lead from one function to the next: they are made
//! here, and hold the recorded addresses and each other, nothing else.

use super::unwind::{CallerRule, Saved};
use super::{PlacedImage, made};
use crate::arch::FrameRegisters;
use object::elf;

/// What a debugger must be given for `backtrace` to show a recorded stack with a program's own rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Registers by their numbers in DWARF.
    pub registers: Vec<(u16, u64)>,
    /// Words of memory: address and value, each of the machine's address size.
    pub words: Vec<(u64, u64)>,
    /// How many of the addresses are reached.
    pub depth: usize,
}

/// The frame pointer's value in some of the functions, which keep it from one to the next.
#[derive(Default)]
struct FramePointer {
    value: Option<u64>,
    /// Where it is saved.
    slots: Vec<u64>,
}

impl PlacedImage {
    /// Makes a recorded stack readable: `addresses` are those of the innermost function first, where the program was,
    /// then where each caller goes on. The stack pointer is `base`, and memory is used from there on upward.
    ///
    /// It reaches as far as there are rules that can be followed; `None` if that is not one caller. Where the program has
    /// none, `beside` says whether a made image beside it has: [`Records::Plain`](super::made::Records::Plain).
    pub fn stack(&self, base: u64, addresses: &[u64], beside: impl Fn(u64) -> bool) -> Option<Stack> {
        let machine = self.image.machine();
        let registers = machine.frame_registers()?;
        let word = machine.address_size as u64;
        let mut stack = Stack { registers: vec![(registers.stack_pointer, base)], words: Vec::new(), depth: 1 };
        let mut frame_pointers = vec![FramePointer::default()];
        let mut at = base;
        for (place, pair) in addresses.windows(2).enumerate() {
            // A caller is looked up at its call, before its return address.
            let pc = if place == 0 { pair[0] } else { pair[0].checked_sub(1)? };
            let own = self.linked(pc).and_then(|pc| self.image.caller_rule(pc));
            let plain = || made::return_address(&machine).map(|number| CallerRule::plain(registers, number, word));
            let Some(rule) = own.or_else(|| plain().filter(|_| beside(pair[0]))) else { break };
            let Some(frame_address) = frame_address(&rule, at, registers, word, &mut frame_pointers) else { break };
            match rule.saved(rule.return_address) {
                Saved::At(offset) => stack.words.push((frame_address.wrapping_add_signed(offset), pair[1])),
                // A function that calls none may keep it in its register.
                Saved::Kept if place == 0 && self.keeps_return_address() => {
                    stack.registers.push((rule.return_address, pair[1]));
                }
                _ => break,
            }
            match rule.saved(registers.frame_pointer) {
                Saved::At(offset) => {
                    let slots = vec![frame_address.wrapping_add_signed(offset)];
                    frame_pointers.push(FramePointer { value: None, slots });
                }
                Saved::Kept => {}
                Saved::Lost => frame_pointers.push(FramePointer::default()),
            }
            at = frame_address;
            stack.depth = place + 2;
        }
        for found in &frame_pointers {
            stack.words.extend(found.slots.iter().map(|slot| (*slot, found.value.unwrap_or(0))));
        }
        let frame_pointer = frame_pointers.first().and_then(|first| first.value);
        stack.registers.extend(frame_pointer.map(|value| (registers.frame_pointer, value)));
        stack.words.sort_unstable();
        (stack.depth > 1).then_some(stack)
    }

    /// Whether calls leave the return address in a register.
    fn keeps_return_address(&self) -> bool {
        !matches!(elf::Machine(self.image.machine().elf_machine), elf::EM_386 | elf::EM_X86_64)
    }
}

/// Where a function's frame is, given its stack pointer; one that is found by the frame pointer says what that must be.
fn frame_address(
    rule: &CallerRule,
    at: u64,
    registers: FrameRegisters,
    word: u64,
    frame_pointers: &mut [FramePointer],
) -> Option<u64> {
    let (register, offset) = rule.frame_address;
    if register == registers.stack_pointer {
        return Some(at.wrapping_add_signed(offset)).filter(|address| *address >= at);
    }
    if register != registers.frame_pointer {
        return None;
    }
    // Behind everything that is saved below it.
    let below = rule.saved.iter().filter_map(|(_, saved)| if let Saved::At(at) = saved { Some(-*at) } else { None });
    let room = below.max().unwrap_or(0).max(offset).max(0) as u64;
    let address = at.checked_add(room.next_multiple_of(2 * word))?;
    let pointer = frame_pointers.last_mut()?;
    let value = address.wrapping_add_signed(offset.checked_neg()?);
    if pointer.value.is_some_and(|known| known != value) {
        return None;
    }
    pointer.value = Some(value);
    Some(address)
}
