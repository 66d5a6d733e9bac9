//! The addresses of an instance that an earlier boot wrote (a persistent buffer), as those of the kernel whose symbols the
//! recording has: the kernel and its modules lay elsewhere then (KASLR).
//!
//! Owns nothing that was recorded: records and fields stay as they are. What is moved are addresses by which gdb finds
//! names: recorded stacks, and where a probe was. So the kernel itself shows them (its `kernel/trace/trace.c`,
//! `trace_adjust_address`).

use std::collections::HashMap;

use object::elf;

use super::container::Container;
use super::container::options::{LastBoot, Value};
use crate::arch::Machine;

/// Where a kernel for x86-64 is linked to (its `arch/x86/include/asm/page_64_types.h`, `__START_KERNEL`).
const LINKED_X86_64: u64 = 0xffff_ffff_8100_0000;

/// A module begins at a page of its own, and its first function in it.
const PAGE: u64 = 0x1000;

/// Where the kernel and its modules lay when a buffer was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastBootPlaces {
    /// What is added to get from there to where the kernel is now.
    kernel: u64,
    /// The same of each part, by the ascending address at which it was; `None` for a module that is not there any more.
    parts: Vec<(u64, Option<u64>)>,
}

impl LastBootPlaces {
    /// What the recording tells of each of its buffers; none where the addresses are those of its symbols. Remarks are
    /// what a person should know.
    pub fn of(
        container: &Container,
        machine: Option<Machine>,
        remarks: &mut Vec<String>,
    ) -> Vec<Option<LastBootPlaces>> {
        let mut places = vec![None; container.buffers().len()];
        for option in container.options() {
            let Value::LastBoot(boot) = &option.value else { continue };
            let buffer = container.buffers().iter().position(|buffer| buffer.name == boot.instance);
            let place = buffer.and_then(|buffer| places.get_mut(buffer));
            if let Some(place) = place.filter(|_| !boot.current) {
                let found = boot.kernel.and_then(|was| LastBootPlaces::new(container, boot, was, machine));
                remarks.extend(remark(boot, found.as_ref()));
                *place = found;
            }
        }
        places
    }

    /// `None` where it is not known where the kernel was, or is.
    fn new(container: &Container, boot: &LastBoot, was: u64, machine: Option<Machine>) -> Option<LastBootPlaces> {
        // The first kernels that had it wrote how far the kernel was moved.
        let was = match machine {
            Some(machine) if was <= machine.last_address() / 2 => {
                let is_known = machine.elf_machine == elf::EM_X86_64.0 && machine.address_size == 8;
                is_known.then(|| LINKED_X86_64.wrapping_add(was))?
            }
            _ => was,
        };
        let mut text = None;
        let mut modules: HashMap<&str, u64> = HashMap::new();
        for symbol in container.kallsyms()?.symbols().filter(|symbol| symbol.address != 0) {
            match symbol.module {
                Some(module) => {
                    let first = modules.entry(module).or_insert(u64::MAX);
                    *first = symbol.address.min(*first) & !(PAGE - 1);
                }
                None if symbol.name == "_text" => text = Some(symbol.address),
                None => {}
            }
        }
        // Where the recording lists modules, it says it to the byte.
        modules.extend(
            container.modules().filter(|module| module.address != 0).map(|module| (module.name, module.address)),
        );
        let kernel = Some(text?.wrapping_sub(was)).filter(|shift| shift.is_multiple_of(PAGE))?;
        let mut parts = vec![(was, Some(kernel))];
        let shift = |(was, name): &(u64, String)| (*was, modules.get(name.as_str()).map(|now| now.wrapping_sub(*was)));
        parts.extend(boot.modules.iter().map(shift));
        parts.sort_unstable();
        Some(LastBootPlaces { kernel, parts })
    }

    /// Where now is what was at an address; the address itself where that is not known.
    fn moved(&self, address: u64) -> u64 {
        let behind = self.parts.partition_point(|(was, _)| *was <= address);
        let part = behind.checked_sub(1).and_then(|part| self.parts.get(part));
        address.wrapping_add(part.and_then(|(_, shift)| *shift).unwrap_or(0))
    }
}

/// Where now is what was at an address, by the places of an earlier boot if that made it.
pub(super) fn moved(address: u64, last_boot: Option<&LastBootPlaces>) -> u64 {
    last_boot.map_or(address, |places| places.moved(address))
}

fn remark(boot: &LastBoot, found: Option<&LastBootPlaces>) -> Option<String> {
    let written = format!("the instance {} was written in an earlier boot", boot.instance);
    let Some(LastBootPlaces { kernel, parts }) = found else {
        return Some(format!(
            "{written}, and nothing tells how far its kernel lay from the one whose symbols the recording has: addresses \
             in its stacks may have wrong names"
        ));
    };
    if parts.iter().all(|(_, shift)| *shift == Some(0)) {
        return None;
    }
    let (sign, distance) = match kernel.cast_signed() {
        back @ ..0 => ("-", back.unsigned_abs()),
        _ => ("", *kernel),
    };
    let gone = parts.iter().filter(|(_, shift)| shift.is_none()).count();
    let gone = match gone {
        0 => String::new(),
        _ => format!(" (modules that are gone: {gone}; addresses in them stay, and their names mean nothing)"),
    };
    Some(format!(
        "{written}: the addresses of its stacks and probes are shown moved to where the recording's symbols are, the \
         kernel's by {sign}{distance:#x}{gone}; its records are as recorded"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_moves_by_itself() {
        let parts = vec![(0x1000, Some(0x100)), (0x8000, None), (0x9000, Some(0u64.wrapping_sub(0x8000)))];
        let places = LastBootPlaces { kernel: 0x100, parts };
        for (was, now) in
            [(0, 0), (0xfff, 0xfff), (0x1000, 0x1100), (0x7fff, 0x80ff), (0x8fff, 0x8fff), (0x9004, 0x1004)]
        {
            assert_eq!(moved(was, Some(&places)), now, "{was:#x}");
            assert_eq!(moved(was, None), was);
        }
        assert_eq!(moved(u64::MAX, Some(&places)), u64::MAX - 0x8000);
    }
}
