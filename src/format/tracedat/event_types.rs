//! The events of a recording as tracepoints: a number, a place and a name for each.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::container::Container;
use super::events::{EventFormat, Formats, Integer};
use super::places::Places;
use super::survey::Survey;
use crate::source::ByteOrder;

/// An event that occurs in the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventType {
    /// Its number in the recording.
    pub id: u16,
    /// The number of its tracepoint, from 1 on in the order of `id`.
    pub number: i32,
    /// Its name: `sched_switch`; `event 77` where the recording has no format for it.
    pub name: String,
    /// Its address, which no other event has.
    pub address: u64,
    /// Whether the address was made.
    pub is_made: bool,
    /// See [`is_probe`].
    pub is_probe: bool,
    /// How many there are.
    pub count: u64,
}

/// The function that calls an event's users, and of which each event has one (the kernel's
/// `include/linux/tracepoint.h`).
const ITERATOR: &str = "__traceiter_";

/// The events that the survey met.
pub(super) fn event_types(container: &Container, formats: &Formats, survey: &Survey, places: Places) -> Vec<EventType> {
    let wanted: HashSet<&str> =
        survey.counts.keys().filter_map(|id| formats.get(*id)).map(|format| format.name.as_str()).collect();
    let mut iterators: HashMap<&str, u64> = HashMap::new();
    for symbol in container.kallsyms().iter().flat_map(|kallsyms| kallsyms.symbols()) {
        if let Some(name) = symbol.name.strip_prefix(ITERATOR).filter(|name| wanted.contains(name))
            && symbol.address != 0
        {
            iterators.entry(name).or_insert(symbol.address);
        }
    }
    let mut taken = HashSet::new();
    let mut types: BTreeMap<u16, EventType> = BTreeMap::new();
    // Entry probes come first: a return probe has the address of the same function.
    let is_return = |id: &u16| formats.get(*id).is_some_and(|format| format.field("__probe_func").is_some());
    let (returns, others): (Vec<u16>, Vec<u16>) = survey.counts.keys().partition(|id| is_return(id));
    for id in others.into_iter().chain(returns) {
        let format = formats.get(id);
        let name = format.map_or_else(|| format!("event {id}"), |format| format.name.clone());
        let own = survey.probes.get(&id).or_else(|| iterators.get(name.as_str())).copied();
        let own = own.filter(|address| taken.insert(*address));
        let count = survey.counts.get(&id).copied().unwrap_or(0);
        let address = own.unwrap_or(places.event(id));
        let (is_made, is_probe) = (own.is_none(), format.is_some_and(is_probe));
        types.insert(id, EventType { id, number: 0, name, address, is_made, is_probe, count });
    }
    let mut types: Vec<EventType> = types.into_values().collect();
    for (event, number) in types.iter_mut().zip(1..) {
        event.number = number;
    }
    types
}

/// Whether it was made by a probe at an address of a program or the kernel, whose fields may be registers.
pub(super) fn is_probe(format: &EventFormat) -> bool {
    format.probe_field().is_some()
}

/// The address at which a probe's event was made: of a return probe, where the function was called to.
pub(super) fn probe_address(format: &EventFormat, record: &[u8], order: ByteOrder) -> Option<u64> {
    format.probe_field()?.integer(record, order).map(Integer::bits)
}

/// The events that are not of their own but tell more of the one before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    kernel_stack: Option<u16>,
}

impl Roles {
    pub fn of(formats: &Formats) -> Roles {
        let is_stack = |format: &&EventFormat| format.system == "ftrace" && format.name == "kernel_stack";
        Roles { kernel_stack: formats.all().iter().find(is_stack).map(|format| format.id) }
    }

    /// Whether the event is the kernel's stack at the event before it, of the same CPU and task. (The program's stack,
    /// `user_stack`, begins where a probe is, and would be taken for a second hit of it.)
    pub fn is_kernel_stack(&self, id: u16) -> bool {
        self.kernel_stack == Some(id)
    }
}
