//! A frame in words: what a tracer calls an event.

/// An event that a frame was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name (`sched_switch`).
    pub name: String,
    /// The name of the task that made it, where it is known.
    pub task: Option<String>,
    /// The number of that task; `None` where the event has none.
    pub pid: Option<i32>,
    /// The CPU on which it was made.
    pub cpu: u32,
    /// The tracing instance that recorded it; `None` for the top one, which has no name.
    pub instance: Option<String>,
    /// When it was made, as the tracer's own tool writes it.
    pub time: String,
    /// How many events of its CPU were lost before it: -1 where nobody counted them, `None` where none was.
    pub lost_before: Option<i64>,
    /// Its fields, by the names of the trace state variables that hold them, in the order of the event.
    pub fields: Vec<(String, FieldValue)>,
}

/// The value of a field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number.
    Number(i128),
    /// A number that is an address.
    Address(u64),
    /// Text, without the zero byte that ends it. It may be none of UTF-8.
    Text(Vec<u8>),
    /// Several numbers.
    Numbers(Vec<i64>),
    /// Several numbers that are addresses.
    Addresses(Vec<u64>),
    /// Several bytes.
    Bytes(Vec<u8>),
}

impl Event {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// The task, as the tracer's own tool writes it: `bash-1543`.
    pub fn task(&self) -> Option<String> {
        Some(format!("{}-{}", self.task.as_deref().unwrap_or("<...>"), self.pid?))
    }

    /// How many events of its CPU were lost before it, if any: `3 events lost before`.
    pub fn lost(&self) -> Option<String> {
        Some(match self.lost_before? {
            -1 => "events lost before".to_owned(),
            count => format!("{count} events lost before"),
        })
    }

    /// Who made it, where: `bash-1543, CPU 1`.
    pub fn maker(&self) -> Option<String> {
        Some(format!("{}, CPU {}", self.task()?, self.cpu))
    }

    /// Who made it: `bash-1543, CPU 1, sched_switch, 3 events lost before`; `bash-1543, CPU 1, instance foo, sched_switch`.
    pub fn label(&self) -> Option<String> {
        let lost = self.lost().map_or_else(String::new, |lost| format!(", {lost}"));
        let instance = self.instance.as_ref().map_or_else(String::new, |name| format!(", instance {name}"));
        Some(format!("{}{instance}, {}{lost}", self.maker()?, self.name))
    }
}
