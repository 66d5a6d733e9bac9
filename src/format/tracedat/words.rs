//! An event in words.

use super::TraceDat;
use super::container::Buffer;
use super::container::options::Value;
use super::event_types::EventType;
use super::events::{Field, FieldKind, Integer};
use super::variables::{LOST, number};
use crate::source::ByteOrder;
use crate::trace::{Event, FieldValue, Frame};

/// The clocks of the kernel that count nanoseconds (its `Documentation/trace/ftrace.rst`, "trace_clock"). Times of others
/// are counts that trace-cmd writes as they are.
const NANOSECONDS: [&str; 8] = ["local", "global", "uptime", "perf", "mono", "mono_raw", "boot", "tai"];

impl TraceDat {
    /// The kind of event that a tracepoint stands for.
    pub(super) fn kind_of_tracepoint(&self, tracepoint: i32) -> Option<&EventType> {
        let place = usize::try_from(tracepoint).ok()?.checked_sub(1)?;
        self.types.get(place).filter(|kind| kind.number == tracepoint)
    }

    /// The event of a frame that [`TraceDat::read`] made.
    pub(super) fn in_words(&self, frame: &Frame<'_>) -> Option<Event> {
        let kind = self.kind_of_tracepoint(frame.tracepoint)?;
        let [cpu, pid] = ["cpu", "pid"].map(|name| frame.variable(number(name)));
        let pid = pid.and_then(|pid| i32::try_from(pid).ok());
        let time = frame.time?;
        let buffer = self.buffer_of(frame);
        let record = frame.memory.iter().find(|block| block.address == self.places.record)?;
        let mut fields = Vec::new();
        if let Some(format) = self.formats.get(kind.id) {
            let variables = self.variables.fields(kind.id);
            let order = self.formats.order();
            let (probe, places) = (self.probes.get(&kind.id), [format.probe_field(), format.return_field()]);
            for (place, field) in format.fields.iter().enumerate().skip(format.common) {
                let variable = variables.iter().find(|(other, _)| *other == place);
                let name = variable.map_or(&field.name[..], |(_, number)| self.variables.name(*number));
                let is_register = probe.is_some_and(|probe| probe.has_register(place));
                let is_address = is_register || places.contains(&Some(field));
                fields.extend(value(field, is_address, &record.bytes, order).map(|value| (name.to_owned(), value)));
            }
        }
        Some(Event {
            name: kind.name.clone(),
            task: pid.and_then(|pid| self.names.name_at(pid, time)).map(str::to_owned),
            pid,
            cpu: u32::try_from(cpu?).ok()?,
            instance: buffer.map(|buffer| &buffer.name).filter(|name| !name.is_empty()).cloned(),
            time: self.written(time, buffer),
            lost_before: frame.variable(number(LOST)),
            fields,
        })
    }

    /// The buffer that a frame was in.
    fn buffer_of(&self, frame: &Frame<'_>) -> Option<&Buffer> {
        let stream = self.positions.get(frame.location.0)?.stream;
        self.container.buffers().get(self.streams.all().get(stream)?.buffer)
    }

    /// A time of a buffer as `trace-cmd report -t` writes it.
    fn written(&self, time: u64, buffer: Option<&Buffer>) -> String {
        let clock = buffer.and_then(|buffer| buffer.clock.as_deref());
        let are_converted =
            || self.container.options().iter().any(|option| matches!(option.value, Value::TscToNanoseconds(_)));
        if clock.is_none_or(|clock| NANOSECONDS.contains(&clock)) || are_converted() {
            format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
        } else {
            time.to_string()
        }
    }
}

/// The name of the type that the kernel has addresses in.
const ADDRESS: &str = "unsigned long";

fn value(field: &Field, is_address: bool, record: &[u8], order: ByteOrder) -> Option<FieldValue> {
    if let Some(value) = field.integer(record, order) {
        return Some(match value {
            Integer::Unsigned(address) if is_address || field.kind == FieldKind::Pointer => {
                FieldValue::Address(address)
            }
            value => plain(value),
        });
    }
    if let Some(text) = field.text(record, order) {
        return Some(FieldValue::Text(text.to_vec()));
    }
    if let Some(elements) = field.integers(record, order) {
        let bits = elements.clone().map(Integer::bits);
        let element = field.declared.split('[').next().unwrap_or_default().trim_end();
        return Some(match (elements.element_size(), elements.clone().next()) {
            (4, Some(Integer::Unsigned(_))) if element.ends_with(ADDRESS) => FieldValue::Addresses(bits.collect()),
            (8, Some(Integer::Unsigned(_))) => FieldValue::Addresses(bits.collect()),
            (1, Some(Integer::Unsigned(_))) => FieldValue::Bytes(bits.map(|byte| byte as u8).collect()),
            _ => FieldValue::Numbers(bits.map(u64::cast_signed).collect()),
        });
    }
    field.bytes(record, order).map(|bytes| FieldValue::Bytes(bytes.to_vec()))
}

fn plain(value: Integer) -> FieldValue {
    FieldValue::Number(match value {
        Integer::Unsigned(value) => value.into(),
        Integer::Signed(value) => value.into(),
    })
}
