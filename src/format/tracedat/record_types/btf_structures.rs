//! The structures of the kernel's BTF that are records of events, by their fields.
//!
//! A structure is called by the event's class, which no format names: `trace_event_raw_softirq` is that of three
//! events. So it is found by its fields, which begin with those of all events in a structure of their own (the kernel's
//! `include/trace/stages/stage1_struct_define.h`):
//!
//! ```c
//! struct trace_event_raw_NAME {
//!     struct trace_entry ent;         // common_type is its type
//!     int prev_prio;
//!     u32 __data_loc_filename;        // __data_loc char[] filename
//!     char __data[];                  // what the others lead to; no field
//! };
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use super::STRUCTURE;
use super::format_structure::member_name;
use crate::format::tracedat::btf::{self, Btf, Fault, Kind, List};
use crate::format::tracedat::events::{EventFormat, FieldKind};

/// How many fields of structures are looked at. Those of a kernel have some ten thousand.
const MOST_FIELDS: u32 = 1 << 16;

/// The largest alignment, in bytes, of what records are made of.
const ALIGNMENT: u64 = 8;

/// A field: where it is, its size, and its name.
type Field<'a> = (u64, u64, Cow<'a, str>);

/// The fields of a record, in the order of their places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Record<'a> {
    fields: Vec<Field<'a>>,
    /// What the type of each is called, as [`words`] has it; empty where a format does not say.
    called: Vec<String>,
}

/// The structures, by their numbers.
#[derive(Debug)]
pub(super) struct BtfStructures<'b, 'a> {
    btf: &'b Btf<'a>,
    address_size: usize,
    by_name: HashMap<(&'a str, Vec<Field<'a>>), u32>,
    by_types: HashMap<Record<'a>, u32>,
    /// How many more fields are looked at.
    left: u32,
}

impl<'b, 'a> BtfStructures<'b, 'a> {
    /// Finds all, on a machine with addresses of so many bytes. `damaged` is told what is wrong with any.
    pub fn new(btf: &'b Btf<'a>, address_size: usize, mut damaged: impl FnMut(Fault)) -> BtfStructures<'b, 'a> {
        let (by_name, by_types) = (HashMap::new(), HashMap::new());
        let mut structures = BtfStructures { btf, address_size, by_name, by_types, left: MOST_FIELDS };
        for number in btf.structures(STRUCTURE) {
            match structures.record(number) {
                Ok(Some((name, record))) => {
                    structures.by_name.entry((name, record.fields.clone())).or_insert(number);
                    structures.by_types.entry(record).or_insert(number);
                }
                Ok(None) => {}
                Err(fault) => damaged(fault),
            }
        }
        structures
    }

    /// The structure of the records of an event: the one of this name, else one whose members' types are called as
    /// those of the fields. Either has a member at the place of each field, and no other.
    pub fn of(&self, format: &EventFormat, name: &str) -> Option<u32> {
        let fields = format.fields.iter().enumerate().map(|(place, field)| {
            let called = match field.kind {
                FieldKind::DataLoc(_) | FieldKind::RelLoc(_) => String::new(),
                _ if place < format.common => String::new(),
                _ => words(&field.declared),
            };
            ((field.offset as u64, field.size as u64, member_name(field)), called)
        });
        let record = Record::of(fields.collect());
        let own = self.by_name.get(&(name, record.fields.clone()));
        own.or_else(|| self.by_types.get(&record)).copied()
    }

    /// The name of a structure, and the record that it is; `None` if it is none.
    fn record(&mut self, number: u32) -> Result<Option<(&'a str, Record<'a>)>, Fault> {
        let found = self.btf.get(number)?;
        let Kind::Compound { size, members, .. } = found.kind else { return Ok(None) };
        let Some(members) = self.fields(&members)? else { return Ok(None) };
        let mut fields = Vec::new();
        for member in members {
            match member.name {
                "ent" => {
                    let Kind::Compound { members, .. } = self.btf.resolved(member.field_type)? else { return Ok(None) };
                    let Some(common) = self.fields(&members)? else { return Ok(None) };
                    fields.extend(common.into_iter().map(|field| {
                        let name = format!("common_{}", field.name).into();
                        ((member.offset.saturating_add(field.offset), field.size, name), String::new())
                    }));
                }
                "__data" if member.size == 0 => {}
                name => {
                    let is_place = name.starts_with("__data_loc_") || name.starts_with("__rel_loc_");
                    let called = if is_place { String::new() } else { words(&self.btf.called(member.field_type)?) };
                    fields.push(((member.offset, member.size, name.into()), called));
                }
            }
        }
        let end = fields.iter().map(|((offset, size, _), _)| offset.saturating_add(*size)).max().unwrap_or(0);
        // What is behind is in the records, as long as no compiler would put more there.
        let alignment = 1 << size.trailing_zeros().min(ALIGNMENT.trailing_zeros());
        let is_tail = u64::from(size).checked_sub(end).is_some_and(|tail| tail < alignment);
        Ok(is_tail.then(|| (found.name, Record::of(fields))))
    }

    fn fields(&mut self, members: &List<'a>) -> Result<Option<Vec<btf::Field<'a>>>, Fault> {
        match self.left.checked_sub(members.count) {
            Some(left) => self.left = left,
            None => return Ok(None),
        }
        self.btf.fields(members, self.address_size)
    }
}

impl<'a> Record<'a> {
    fn of(mut fields: Vec<(Field<'a>, String)>) -> Record<'a> {
        fields.sort();
        let (fields, called) = fields.into_iter().unzip();
        Record { fields, called }
    }
}

/// A type in words and stars that are the same however it is written: without qualifiers, the lengths of arrays, and
/// what C has of an integer without its being said.
fn words(declared: &str) -> String {
    let spaced = declared.split('[').next().unwrap_or_default().replace('*', " * ");
    let unsaid = ["int", "signed", "const", "volatile", "__user"];
    let mut words: Vec<_> = spaced.split_whitespace().filter(|word| !unsaid.contains(word)).collect();
    words.sort_unstable();
    words.join(" ")
}
