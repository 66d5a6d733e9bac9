//! The types of records: of each event a structure, by which gdb shows `*(struct trace_event_raw_sched_switch *) $rec`.
//!
//! It is made of the event's format, and where the file has the kernel's BTF with a structure of the same fields, it is
//! that: with the names of types, and of values, that the kernel's own source has.

mod btf_structures;
mod format_structure;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::btf_structures::BtfStructures;
use super::btf::{Btf, Fault, Translation};
use super::container::Container;
use super::event_types::EventType;
use super::events::Formats;
use crate::image::made::{self, Compound, Type, Types};
use crate::trace::DamageList;

/// What the type of an event's record is called: this and the event's name, as in the kernel's own source.
const STRUCTURE: &str = "trace_event_raw_";

/// The types, for a machine with addresses of so many bytes.
pub(super) fn record_types<'a>(
    container: &'a Container,
    formats: &'a Formats,
    events: &[EventType],
    address_size: usize,
    damage: &mut DamageList,
) -> Types<'a> {
    let mut types = Types::new(address_size);
    let mut damaged = |Fault { at, what }, lost: &str| {
        let found = container.btf_damage(at, format!("the kernel's BTF: {what}; {lost}"));
        found.into_iter().for_each(|found| damage.push(found));
    };
    let (btf, fault) = container.btf().map_or((Btf::none(), None), |text| Btf::read(text.bytes));
    if let Some(fault) = fault {
        damaged(fault, "only what comes before is used");
    }
    let structures = BtfStructures::new(&btf, address_size, |fault| damaged(fault, "a structure is not used"));
    let mut translation = Translation::new(&btf);
    let mut names = HashSet::new();
    let mut classes = Vec::new();
    for event in events {
        let Some(format) = formats.get(event.id) else { continue };
        let name = format!("{STRUCTURE}{}", event.name);
        // The first of a name: gdb knows no other.
        if !names.insert(made::identifier(&name).unwrap_or_default().into_owned()) {
            continue;
        }
        let of_kernel = structures.of(format, &name).and_then(|number| {
            let found = translation.structure(&mut types, number);
            found.map_err(|fault| damaged(fault, &format!("{name} is as the event's format has it"))).ok()
        });
        match of_kernel {
            Some(structure) => {
                classes.push(structure.clone());
                types.add(Type::Compound(Compound { name: name.into(), ..structure }));
            }
            None => format_structure::add(&mut types, name, format),
        }
    }
    // A structure that events share is there under its own name too.
    for class in classes {
        if names.insert(class.name.clone().into_owned()) {
            types.add(Type::Compound(class));
        }
    }
    types
}
