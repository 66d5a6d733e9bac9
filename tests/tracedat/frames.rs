//! A recording as the library shows it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use traceframe::format::tracedat::Choices;
use traceframe::format::{self, OpenOptions};
use traceframe::index::Index;
use traceframe::source::Source;
use traceframe::trace::{Frame, Item, Location, Recording};

use super::support::data;

/// An event, by what gdb would see of its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// In nanoseconds.
    pub time: i64,
    /// The name of the event.
    pub event: String,
    /// The record, as memory at `$rec`.
    pub record: Vec<u8>,
    /// The name and the number of its task.
    pub task: String,
    /// What registers it holds whole, by name.
    pub registers: BTreeMap<String, u64>,
    /// What trace state variables it has, by name.
    pub variables: BTreeMap<String, i64>,
}

impl Shown {
    /// A variable that it must have.
    pub fn variable(&self, name: &str) -> i64 {
        self.variables.get(name).copied().unwrap_or_else(|| panic!("{}: no ${name}", self.event))
    }

    /// The bytes of the record from an address on.
    pub fn memory(&self, address: i64) -> &[u8] {
        usize::try_from(address - self.variable("rec")).ok().and_then(|at| self.record.get(at..)).unwrap_or(&[])
    }
}

/// A recording of `tests/data/tracedat`.
pub fn fixture(name: &str) -> std::path::PathBuf {
    data(&format!("tracedat/{name}.dat"))
}

/// Opens a recording; what of it is shown is chosen.
pub fn open(path: &Path, choices: Choices) -> Arc<dyn Recording> {
    let source = Source::open(path).unwrap();
    let options = OpenOptions { tracedat: choices, ..OpenOptions::default() };
    format::open(source, &options).unwrap()
}

/// The events of a recording, in its order.
pub fn shown(recording: &dyn Recording) -> Vec<Shown> {
    let index = Index::build(recording, None);
    let mut walked = Vec::new();
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => walked.push((frame.location, frame.tracepoint, frame.thread, frame.time, frame.pc)),
            Item::Damage(damage) => panic!("{}: damage in a whole file: {}", recording.name().display(), damage.what),
            Item::Instructions(_) | Item::Interruption(_) => panic!("{item:?}"),
        }
        ControlFlow::Continue(())
    });
    assert_eq!(index.progress().frames, walked.len() as u64);
    assert_eq!(recording.status().frames, Some(walked.len() as u64));
    let mut shown = Vec::new();
    for (number, (location, tracepoint, thread, time, pc)) in (0..).zip(walked) {
        assert_eq!(index.locate(number).found(), Some(location));
        assert_eq!(index.tracepoint(number).found(), Some(tracepoint));
        let frame = recording.frame(location);
        assert_eq!((frame.tracepoint, frame.thread, frame.time), (tracepoint, thread, time));
        assert_eq!((frame.pc, index.pc(number).found()), (pc, Some(pc.address())));
        shown.push(one(recording, &frame));
    }
    assert!(recording.frame(Location(shown.len() as u64)).variables.is_empty());
    shown
}

/// One frame.
pub fn one(recording: &dyn Recording, frame: &Frame<'_>) -> Shown {
    let name = |number: i32| recording.variables().iter().find(|found| found.number == number).unwrap().name.clone();
    let values = frame.variable_values().into_iter();
    let variables: BTreeMap<String, i64> = values.map(|(number, value)| (name(number), value)).collect();
    let record = frame.read_memory(variables["rec"].cast_unsigned(), usize::MAX);
    assert_eq!(record.len() as i64, variables["rec_size"]);
    assert_eq!(frame.time.map(u64::cast_signed), Some(variables["timestamp"]));
    let mut registers = BTreeMap::new();
    if let (Some(layout), Some(block)) = (&recording.target().layout, &frame.registers) {
        for register in layout.registers() {
            let bytes = block.get(register.offset..register.end());
            let value = bytes.and_then(|bytes| recording.target().byte_order.unsigned(bytes));
            registers.extend(value.map(|value| (register.name.clone(), value)));
        }
    }
    let label = recording.label(frame).unwrap();
    let (task, rest) = label.split_once(", CPU ").unwrap();
    let mut behind_cpu = rest.split(", ").skip(1);
    let event = behind_cpu.find(|part| !part.starts_with("instance ")).unwrap();
    Shown { time: variables["timestamp"], event: event.to_owned(), record, task: task.to_owned(), registers, variables }
}
