//! What the fields of a probe are: registers, and memory at an address that a register holds.
//!
//! A probe's definition says what it fetches (the kernel's Documentation/trace/uprobetracer.rst), the recording only
//! what the user called it. So fields that have the name of a register are that register, and `stk` and `stack` are
//! what lay at the stack pointer; everything else the user says ([`Mapping`]).

use std::fmt;
use std::str::FromStr;

use super::choices::Names;
use super::event_types::is_probe;
use super::events::{EventFormat, Field, FieldKind, Formats};
use crate::arch::{Layout, Register};

/// What the user says that a field is: `FIELD=REGISTER`, or `FIELD=+OFFSET(%REGISTER)` as in the probe's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    field: String,
    register: String,
    /// Of memory, what is added to the register.
    offset: Option<i64>,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Mapping, String> {
        let wrong = || "expected FIELD=REGISTER, or FIELD=+OFFSET(%REGISTER) as a probe's definition has it".to_owned();
        let (field, what) = text.split_once('=').filter(|(field, _)| !field.is_empty()).ok_or_else(wrong)?;
        // The type that follows in a definition is in the recording.
        let what = what.split(':').next().unwrap_or(what);
        let (register, offset) = match what.strip_suffix(')') {
            Some(memory) => {
                let (offset, register) = memory.split_once('(').ok_or_else(wrong)?;
                let magnitude = offset.trim_start_matches(['+', '-']);
                let magnitude = match magnitude.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => magnitude.parse(),
                };
                let magnitude = magnitude.map_err(|_| wrong())?;
                (register, Some(if offset.starts_with('-') { -magnitude } else { magnitude }))
            }
            None => (what, None),
        };
        let register = register.trim_start_matches(['%', '$']);
        if register.is_empty() || !register.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return Err(wrong());
        }
        Ok(Mapping { field: field.to_owned(), register: register.to_owned(), offset })
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mapping { field, register, offset } = self;
        match offset {
            Some(offset) => write!(f, "{}={offset:+}(%{register})", field.escape_debug()),
            None => write!(f, "{}={register}", field.escape_debug()),
        }
    }
}

/// Why a field of a probe is not what the user says.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// There is no such field.
    #[error("no probe has a field {field:?}; there are: {there}")]
    NoField {
        /// Its name.
        field: String,
        /// The fields of probes.
        there: Names,
    },
    /// There is no such register.
    #[error("the machine has no register {register}; there are: {there}")]
    NoRegister {
        /// Its name.
        register: String,
        /// The registers.
        there: Names,
    },
    /// The machine is not known.
    #[error("registers cannot be told apart here (--arch or --tdesc says what they are)")]
    UnknownRegisters,
    /// The field cannot be that register.
    #[error("the field is no number as wide as the register, or another field is that register")]
    NotTheRegister,
    /// A number is no memory.
    #[error("the field is a number, which is no memory")]
    NoMemory,
    /// Nobody knows where the memory lay.
    #[error("no field of the probe is the register, so that nothing tells where the memory lay")]
    UnknownAddress,
}

impl Mapping {
    /// Refuses what is true of no probe, whether it occurs or not. `all` are the mappings of which this is one.
    pub(super) fn check(
        &self,
        all: &[Mapping],
        formats: &Formats,
        layout: Option<&Layout>,
    ) -> Result<(), MappingError> {
        let layout = layout.ok_or(MappingError::UnknownRegisters)?;
        let probes = || formats.all().iter().filter(|format| is_probe(format));
        let fields =
            || probes().flat_map(|format| placed_fields(format).map(move |(place, field)| (format, place, field)));
        let named = || fields().filter(|(_, _, field)| field.name == self.field);
        if named().next().is_none() {
            let there = fields().map(|(_, _, field)| field.name.clone()).filter(|name| !name.starts_with("__probe_"));
            let there = Names::like(&self.field, there.collect());
            return Err(MappingError::NoField { field: self.field.clone(), there });
        }
        if register(layout, &self.register).is_none() {
            let there = layout.registers().iter().map(|register| register.name.clone()).collect();
            let there = Names::like(&self.register, there);
            return Err(MappingError::NoRegister { register: self.register.clone(), there });
        }
        let holds = |(format, place, _): (&EventFormat, usize, &Field)| {
            let probe = Probe::new(format, layout, all);
            match self.offset {
                None => probe.has_register(place),
                Some(_) => probe.memory.iter().any(|(memory, ..)| *memory == place),
            }
        };
        match self.offset {
            _ if named().any(holds) => Ok(()),
            None => Err(MappingError::NotTheRegister),
            Some(_) if named().all(|(_, _, field)| field.kind.content().is_none()) => Err(MappingError::NoMemory),
            Some(_) => Err(MappingError::UnknownAddress),
        }
    }
}

/// The fields that not all events have, with their places.
fn placed_fields(format: &EventFormat) -> impl Iterator<Item = (usize, &Field)> {
    format.fields.iter().enumerate().skip(format.common)
}

/// What of a probe's fields is registers and memory; places in [`EventFormat::fields`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    /// Fields that are registers, and where these lie in a register block.
    pub registers: Vec<(usize, usize, usize)>,
    /// Fields that are memory at the value of a field and an offset.
    pub memory: Vec<(usize, usize, i64)>,
}

impl Probe {
    /// What a probe's fields are on a machine with these registers.
    pub fn new(format: &EventFormat, layout: &Layout, mappings: &[Mapping]) -> Probe {
        let mapping = |field: &Field| mappings.iter().find(|mapping| mapping.field == field.name);
        let mut probe = Probe::default();
        let mut holders: Vec<(usize, &Register)> = Vec::new();
        for (place, field) in placed_fields(format) {
            if !matches!(field.kind, FieldKind::Integer | FieldKind::Pointer) {
                continue;
            }
            let named = match mapping(field) {
                Some(mapping) if mapping.offset.is_none() => &mapping.register,
                Some(_) => continue,
                None => &field.name,
            };
            if let Some(register) = register(layout, named).filter(|register| holds(field, register))
                && holders.iter().all(|(_, held)| *held != register)
            {
                holders.push((place, register));
                probe.registers.push((place, register.offset, register.size));
            }
        }
        for (place, field) in placed_fields(format) {
            if field.kind.content().is_none() {
                continue;
            }
            let (named, offset) = match mapping(field) {
                Some(Mapping { register, offset: Some(offset), .. }) => (register.as_str(), *offset),
                None if matches!(field.name.as_str(), "stk" | "stack") => ("sp", 0),
                _ => continue,
            };
            let wanted = register(layout, named);
            if let Some((holder, _)) = holders.iter().find(|(_, held)| Some(*held) == wanted) {
                probe.memory.push((place, *holder, offset));
            }
        }
        probe
    }

    /// Whether the field at a place is a register.
    pub fn has_register(&self, place: usize) -> bool {
        self.registers.iter().any(|(register, ..)| *register == place)
    }
}

/// Whether a field has all of a register. Probes fetch words, also of registers that have fewer bytes to gdb, as the flags.
fn holds(field: &Field, register: &Register) -> bool {
    field.size >= register.size && register.size <= 8
}

/// Whether a field of a probe is shown as the register that it has the name of.
pub(super) fn is_register(field: &Field, layout: &Layout) -> bool {
    register(layout, &field.name).is_some_and(|register| holds(field, register))
}

/// The register of a name as gdb has it, or as a probe's definition (`di` for `rdi`).
fn register<'a>(layout: &'a Layout, name: &str) -> Option<&'a Register> {
    let by_role = match name {
        "pc" | "ip" => Some(layout.pc()),
        "sp" => layout.sp(),
        "flags" => layout.by_name("eflags"),
        _ => None,
    };
    let wide = |prefix: &str| layout.by_name(&format!("{prefix}{name}"));
    by_role.or_else(|| layout.by_name(name)).or_else(|| wide("r")).or_else(|| wide("e"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_read_as_probe_definitions_do() {
        let mapping = |text: &str| text.parse::<Mapping>();
        let is = |field: &str, register: &str, offset| {
            Ok(Mapping { field: field.to_owned(), register: register.to_owned(), offset })
        };
        assert_eq!(mapping("arg1=rip"), is("arg1", "rip", None));
        assert_eq!(mapping("stk=+0(%sp):x64[48]"), is("stk", "sp", Some(0)));
        assert_eq!(mapping("o=-0x10(%di)"), is("o", "di", Some(-16)));
        for wrong in [
            "",
            "a",
            "=rip",
            "a=",
            "a=+x(%di)",
            "a=+0(%)",
            "a=+0 %di)",
            "a=+0(+8(%di))",
            "a=+99999999999999999999(%di)",
        ] {
            assert!(mapping(wrong).is_err(), "{wrong}");
        }
    }
}
