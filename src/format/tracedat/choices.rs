//! What of a file was chosen, and whether there is such a thing: a name with a typing error chooses nothing, and nobody is
//! told so by an empty table.

use std::collections::HashSet;
use std::fmt;

use super::container::Container;
use super::container::options::Value;
use super::events::Formats;
use super::probe::{Mapping, MappingError};
use super::programs_place;
use crate::arch::Layout;

/// How many names are told.
const NAMES: usize = 20;

/// How many letters of a name are compared.
const LETTERS: usize = 64;

/// What of a file is shown, and what a person knows about it.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The tracing instances, by name, the top one having none; all if there are none here.
    pub instances: Vec<String>,
    /// The CPUs; all if there are none here.
    pub cpus: Vec<u32>,
    /// The events, as `NAME` or `SYSTEM:NAME`; all if there are none here.
    pub events: Vec<String>,
    /// What fields of probes are.
    pub mappings: Vec<Mapping>,
    /// The process whose maps tell where a program and its libraries lay; all that ran it if there is none here.
    pub process: Option<u32>,
}

/// Something was chosen that a file does not have.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// An event of which there is no format.
    #[error("there is no event {wanted:?} (--event); there are: {there}")]
    Event {
        /// Its name.
        wanted: String,
        /// What there is.
        there: Names,
    },
    /// A CPU that the machine did not have.
    #[error("there is no CPU {wanted} (--cpu); there are: {there}")]
    Cpu {
        /// Its number.
        wanted: u32,
        /// What there is.
        there: Names,
    },
    /// A tracing instance.
    #[error("there is no instance {wanted:?} (--instance, '' for the top one); there are: {there}")]
    Instance {
        /// Its name.
        wanted: String,
        /// What there is.
        there: Names,
    },
    /// A process whose maps are not in the file.
    #[error("there are no maps of a process {wanted} (--process); there are of: {there}")]
    Process {
        /// Its number.
        wanted: u32,
        /// What there is.
        there: Names,
    },
    /// What a field of a probe is said to be, and cannot be.
    #[error("{mapping} (--map): {cause}")]
    Mapping {
        /// What was said.
        mapping: Mapping,
        /// Why not.
        cause: Box<MappingError>,
    },
}

/// Names that there are, those that look like a wrong one first.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    shown: Vec<String>,
    more: usize,
}

impl Names {
    /// In their order, but for those that look like `wanted`, and each once.
    pub(super) fn like(wanted: &str, mut names: Vec<String>) -> Names {
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names.sort_by_cached_key(|name| {
            let differing = differing(wanted, name);
            // What looks like nothing that was meant stays in its order.
            if differing <= wanted.chars().count() / 2 { differing } else { usize::MAX }
        });
        Names::first(names)
    }

    /// In their order.
    pub(super) fn first(mut names: Vec<String>) -> Names {
        let more = names.len().saturating_sub(NAMES);
        names.truncate(NAMES);
        Names { shown: names, more }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &String| if name.is_empty() { "''".to_owned() } else { name.escape_debug().to_string() };
        let names: Vec<String> = self.shown.iter().map(shown).collect();
        match (names.is_empty(), self.more) {
            (true, _) => f.write_str("none"),
            (false, 0) => f.write_str(&names.join(", ")),
            (false, more) => write!(f, "{} and {more} more", names.join(", ")),
        }
    }
}

/// How many letters are to be put in, taken out or changed to make one name of another (the Levenshtein distance).
fn differing(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(LETTERS).collect();
    // From the letters of `one` so far to each beginning of `other`.
    let mut distances: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().take(LETTERS).enumerate() {
        let mut left = row + 1;
        let mut next = vec![left];
        for (found, pair) in other.iter().zip(distances.windows(2)) {
            let &[above_left, above] = pair else { continue };
            left = (above_left + usize::from(*found != letter)).min(left + 1).min(above + 1);
            next.push(left);
        }
        distances = next;
    }
    distances.last().copied().unwrap_or_default()
}

impl Choices {
    /// Refuses what the file does not have. What it tells of, and has no events of, may be chosen.
    pub(super) fn check(&self, container: &Container, formats: &Formats) -> Result<(), ChoiceError> {
        for wanted in &self.instances {
            let buffers = container.buffers().iter().map(|buffer| buffer.name.as_str());
            let texts = container.texts().map(|text| text.name);
            let names: Vec<String> = buffers.chain(texts).map(str::to_owned).collect();
            if !names.contains(wanted) {
                return Err(ChoiceError::Instance { wanted: wanted.clone(), there: Names::like(wanted, names) });
            }
        }
        // CPUs that made no event may be left out of the file.
        let count = container.options().iter().find_map(|option| match option.value {
            Value::CpuCount(count) => Some(count),
            _ => None,
        });
        let cpus = container.buffers().iter().flat_map(|buffer| buffer.cpus.iter().map(|cpu| cpu.id));
        for wanted in &self.cpus {
            if count.is_some_and(|count| *wanted < count) || cpus.clone().any(|cpu| cpu == *wanted) {
                continue;
            }
            let mut there: Vec<u32> = cpus.clone().collect();
            there.sort_unstable();
            there.dedup();
            let there = Names::first(there.iter().map(u32::to_string).collect());
            return Err(ChoiceError::Cpu { wanted: *wanted, there });
        }
        if let Some(wanted) = self.process {
            let there: Vec<u32> = programs_place::maps(container, None).map(|map| map.pid).collect();
            if !there.contains(&wanted) {
                let there = Names::first(there.iter().map(u32::to_string).collect());
                return Err(ChoiceError::Process { wanted, there });
            }
        }
        for wanted in &self.events {
            if formats.all().iter().any(|format| is_event(wanted, &format.system, &format.name)) {
                continue;
            }
            let named = |system: &str, name: &str| match wanted.contains(':') {
                true => format!("{system}:{name}"),
                false => name.to_owned(),
            };
            // Those of ftrace itself are in every file, and few are recorded.
            let mut there: Vec<_> = formats.all().iter().collect();
            there.sort_by_key(|format| (format.system == "ftrace", &format.system, &format.name));
            let names = there.into_iter().map(|format| named(&format.system, &format.name)).collect();
            return Err(ChoiceError::Event { wanted: wanted.clone(), there: Names::like(wanted, names) });
        }
        Ok(())
    }

    /// Refuses fields and registers that there are not.
    pub(super) fn check_mappings(&self, formats: &Formats, layout: Option<&Layout>) -> Result<(), ChoiceError> {
        for mapping in &self.mappings {
            let wrong = |cause| ChoiceError::Mapping { mapping: mapping.clone(), cause: Box::new(cause) };
            mapping.check(&self.mappings, formats, layout).map_err(wrong)?;
        }
        Ok(())
    }

    /// The numbers of the events that were chosen.
    pub(super) fn chosen(&self, formats: &Formats) -> Chosen {
        if self.events.is_empty() {
            return Chosen::All;
        }
        let mut chosen = vec![false; 1 << 16];
        for format in formats.all() {
            if self.events.iter().any(|wanted| is_event(wanted, &format.system, &format.name)) {
                chosen[usize::from(format.id)] = true;
            }
        }
        Chosen::Some(chosen)
    }
}

/// Whether an event is meant by `NAME` or `SYSTEM:NAME`.
fn is_event(wanted: &str, system: &str, name: &str) -> bool {
    wanted == name || wanted.split_once(':') == Some((system, name))
}

/// The numbers of the events that were chosen.
pub(super) enum Chosen {
    /// All there are.
    All,
    /// For each number whether it was.
    Some(Vec<bool>),
}

impl Chosen {
    /// Whether an event was.
    pub fn has(&self, id: u16) -> bool {
        match self {
            Chosen::All => true,
            Chosen::Some(chosen) => chosen.get(usize::from(id)).copied().unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_name_comes_first() {
        for (one, other, count) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("a", "a", 0)]
        {
            assert_eq!(differing(one, other), count, "{one} {other}");
        }
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let there = Names::like("sched_swich", names(&["sys_exit", "irq", "sched_wakeup", "sched_switch", "irq"]));
        assert_eq!(there.to_string(), "sched_switch, sys_exit, irq, sched_wakeup");
        assert_eq!(Names::like("x", Vec::new()).to_string(), "none");
        assert_eq!(Names::like("x", names(&["", "\x1b[31m"])).to_string(), "'', \\u{1b}[31m");
        let many = (0..25).map(|number| format!("event{number:02}")).collect();
        assert!(Names::like("x", many).to_string().ends_with("event18, event19 and 5 more"));
    }
}
