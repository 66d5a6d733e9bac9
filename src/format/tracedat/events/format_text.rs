//! The text of an event's format: what an event is called, and its fields.

use std::collections::HashSet;

use super::declaration::Declaration;
use super::field::{Content, Element, Field, FieldKind};
use super::field_line::FieldLine;
use super::page_layout::LongSize;

/// The format of an event, from the kernel's file `events/SYSTEM/EVENT/format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// The system it belongs to, `sched`.
    pub system: String,
    /// Its name, `sched_switch`.
    pub name: String,
    /// The number with which its records begin.
    pub id: u16,
    /// The fields, in the order of the text; those that all events have come first.
    pub fields: Vec<Field>,
    /// How many of the fields all events have.
    pub common: usize,
    /// How the kernel prints it, from behind `print fmt:` on; empty where the text does not say.
    pub print_fmt: String,
    /// What of the text is not understood, in words; the fields concerned are not in `fields`.
    pub not_understood: Vec<String>,
    /// Which field holds the id of the process, if one does.
    pid: Option<usize>,
    /// Which field of a probe's event holds its address, and which the address to which a function returns.
    probe: [Option<usize>; 2],
}

/// How long the name of an event is at most: it is the name of a directory (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// How many fields of an event are taken. Those of kernels have some thirty.
const MOST_FIELDS: usize = 1 << 14;

/// How many fields that are not understood are named.
const MOST_NAMED: usize = 100;

/// Why a text is no format of an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatTextError {
    /// It has no name.
    #[error("a format of the system {system:?} has no line \"name:\"; its events are shown without fields")]
    Name {
        /// The system.
        system: String,
    },
    /// Its name is longer than one can be.
    #[error(
        "a format of the system {system:?} has a name of {length} bytes, expected at most 255; its events are shown \
         without fields"
    )]
    LongName {
        /// The system.
        system: String,
        /// How many bytes the name has.
        length: usize,
    },
    /// It has no number, or one that is none or too large.
    #[error(
        "the format of {system}:{name} has the number {found:?}, expected one below 65536 behind \"ID:\"; its events \
         are shown without fields"
    )]
    Id {
        /// The system.
        system: String,
        /// The event's name.
        name: String,
        /// What stands there; empty if nothing does.
        found: String,
    },
}

impl EventFormat {
    /// Reads a text. `long` is the size of the kernel's `long`.
    pub fn read(system: &str, text: &[u8], long: LongSize) -> Result<EventFormat, FormatTextError> {
        let text = String::from_utf8_lossy(text);
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let system = system.to_owned();
        let Some(name) = value("name:").filter(|name| !name.is_empty()) else {
            return Err(FormatTextError::Name { system });
        };
        if name.len() > LONGEST_NAME {
            return Err(FormatTextError::LongName { system, length: name.len() });
        }
        let name = name.to_owned();
        let found = value("ID:").unwrap_or_default();
        let Ok(id) = found.parse() else {
            let found = found.chars().take(20).collect();
            return Err(FormatTextError::Id { system, name, found });
        };
        // The last part of the text, which can go on over several lines.
        let (above, print_fmt) = text.split_once("\nprint fmt:").unwrap_or((&text, ""));
        let mut not_understood = Vec::new();
        let mut unnamed = 0;
        let mut fields: Vec<Field> = Vec::new();
        // Those of all events end with an empty line.
        let mut common = None;
        for line in above.lines() {
            match FieldLine::read(line).map(|line| line.and_then(|line| field(line, long))) {
                Some(Ok(_)) if fields.len() >= MOST_FIELDS => {
                    let what =
                        format!("{system}:{name}: it has more than {MOST_FIELDS} fields; the others are not shown");
                    not_understood.push(what);
                    break;
                }
                Some(Ok(field)) => fields.push(field),
                Some(Err(why)) if not_understood.len() < MOST_NAMED => {
                    not_understood.push(format!("{system}:{name}: {why}; the field is not shown"));
                }
                Some(Err(_)) => unnamed += 1,
                None if line.trim().is_empty() && !fields.is_empty() => {
                    common.get_or_insert(fields.len());
                }
                None => {}
            }
        }
        if unnamed > 0 {
            not_understood.push(format!("{system}:{name}: {unnamed} more fields are not understood and not shown"));
        }
        let named = fields.iter().take_while(|field| field.name.starts_with("common_")).count();
        let common = common.unwrap_or(fields.len()).min(named);
        let pid = fields.iter().take(common).position(|field| field.name == "common_pid");
        let print_fmt = print_fmt.trim().to_owned();
        let place = |name: &str| fields.iter().position(|field| field.name == name);
        let probe = [place("__probe_ip").or_else(|| place("__probe_func")), place("__probe_ret_ip")];
        let mut format = EventFormat { system, name, id, fields, common, print_fmt, not_understood, pid, probe };
        format.find_masks(long);
        format.find_counted();
        Ok(format)
    }

    /// The field of this name, the first if there are several.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The fields that all events have.
    pub fn common_fields(&self) -> &[Field] {
        self.fields.get(..self.common).unwrap_or_default()
    }

    /// The fields that only this event has.
    pub fn own_fields(&self) -> &[Field] {
        self.fields.get(self.common..).unwrap_or_default()
    }

    /// The field with the id of the process that was running.
    pub fn pid_field(&self) -> Option<&Field> {
        self.fields.get(self.pid?)
    }

    /// The field with the address at which a probe's event was made, of a return probe that of the function. `None` for
    /// what is no event of a probe.
    pub fn probe_field(&self) -> Option<&Field> {
        self.fields.get(self.probe[0]?)
    }

    /// The field with the address to which a return probe's function returns.
    pub fn return_field(&self) -> Option<&Field> {
        self.fields.get(self.probe[1]?)
    }

    /// Masks are declared as arrays of `unsigned long`; how they are printed tells them apart.
    fn find_masks(&mut self, long: LongSize) {
        let printed_as_mask: HashSet<&str> = ["bitmask(", "cpumask("]
            .into_iter()
            .flat_map(|by| self.print_fmt.split(by).skip(1))
            .filter_map(|behind| behind.split(')').next())
            .collect();
        for field in &mut self.fields {
            let (FieldKind::DataLoc(content) | FieldKind::RelLoc(content)) = &mut field.kind else { continue };
            if printed_as_mask.contains(field.name.as_str()) {
                *content = Content::Mask(Element { size: long.bytes(), signed: false });
            }
        }
    }

    /// `kernel_stack` is declared with eight entries and holds as many as its field `size` says (`struct stack_entry`
    /// in the kernel's `kernel/trace/trace_entries.h`). Old kernels have no `size`, and eight entries.
    fn find_counted(&mut self) {
        if (self.system.as_str(), self.name.as_str()) != ("ftrace", "kernel_stack") {
            return;
        }
        let Some(&Field { offset: at, size, kind: FieldKind::Integer, .. }) = self.field("size") else { return };
        for field in self.fields.iter_mut().filter(|field| field.name == "caller") {
            if let FieldKind::Array(content) | FieldKind::Tail(content) = field.kind {
                field.kind = FieldKind::Counted { content, at, size };
            }
        }
    }
}

fn field(line: FieldLine<'_>, long: LongSize) -> Result<Field, String> {
    let FieldLine { declaration, offset, size, signed } = line;
    let Some(declaration) = Declaration::read(declaration) else {
        let shown: String = declaration.chars().take(80).collect();
        return Err(format!("the field {shown:?} is no declaration of a type and a name"));
    };
    let signed = signed.unwrap_or_else(|| declaration.is_signed(long));
    if declaration.name.len() > LONGEST_NAME {
        return Err(format!("a field has a name of {} bytes, expected at most 255", declaration.name.len()));
    }
    let kind = declaration.kind(size, signed, long);
    if matches!(kind, FieldKind::DataLoc(_) | FieldKind::RelLoc(_)) && size != 4 {
        return Err(format!("the field {} says in {size} bytes where its content is, expected 4", declaration.name));
    }
    Ok(Field { name: declaration.name.to_owned(), declared: declaration.declared(), offset, size, signed, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

    fn read(head: &str, own: &str) -> EventFormat {
        EventFormat::read("sys", format!("{head}{COMMON}{own}").as_bytes(), LongSize::Eight).unwrap()
    }

    #[test]
    fn common_fields_are_those_of_each_format() {
        // A kernel with the real-time patches has more of them, and a hole behind.
        let more = "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n\n";
        let own = "\tfield:int common_end;\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\", 1\n  go on\n";
        let common = COMMON.trim_end().to_owned() + "\n";
        let text = format!("name: a b\nID: 65535\n{common}{more}{own}");
        let format = EventFormat::read("sys", text.as_bytes(), LongSize::Eight).unwrap();
        assert_eq!((format.name.as_str(), format.id, format.common), ("a b", 65535, 3));
        assert_eq!(format.pid_field().unwrap().offset, 4);
        assert_eq!(format.own_fields().len(), 1);
        assert_eq!(format.print_fmt, "\"x\", 1\n  go on");
    }

    #[test]
    fn a_field_that_is_not_understood_costs_itself() {
        let format = read(
            "name: a\nID: 1\n",
            "\tfield:int;\toffset:8;\tsize:4;\n\tfield:__data_loc char[] s;\toffset:12;\tsize:8;\tsigned:0;\n\
             \tfield:int x;\toffset:12;\n\tfield:int y;\toffset:20;\tsize:4;\n",
        );
        assert_eq!(format.own_fields().len(), 1);
        assert!(format.field("y").unwrap().signed, "an int has a sign where the text is silent");
        let why = &format.not_understood;
        assert_eq!(why[0], "sys:a: the field \"int\" is no declaration of a type and a name; the field is not shown");
        assert!(why[1].contains("the field s says in 8 bytes where its content is, expected 4"), "{}", why[1]);
        assert!(why[2].contains("has no declaration, offset and size"), "{}", why[2]);
        assert_eq!(why.len(), 3);
    }

    #[test]
    fn a_text_without_name_or_number_is_no_format() {
        let error = |text: &str| EventFormat::read("sys", text.as_bytes(), LongSize::Eight).unwrap_err().to_string();
        assert!(error("ID: 3\n").contains("a format of the system \"sys\" has no line \"name:\""));
        assert!(error("name: a\n").contains("the format of sys:a has the number \"\""));
        assert!(error("name: a\nID: 65536\n").contains("\"65536\", expected one below 65536"));
        assert!(error("name: a\nID: -1\n").contains("\"-1\""));
    }

    #[test]
    fn masks_are_told_by_how_they_are_printed() {
        let format = read(
            "name: a\nID: 1\n",
            "\tfield:__data_loc unsigned long[] cpus;\toffset:8;\tsize:4;\tsigned:0;\n\
             \tfield:__data_loc unsigned long[] args;\toffset:12;\tsize:4;\tsigned:0;\n\n\
             print fmt: \"%s %s\", __get_bitmask(cpus), __print_array(__get_dynamic_array(args))\n",
        );
        let element = Element { size: 8, signed: false };
        assert_eq!(format.field("cpus").unwrap().kind, FieldKind::DataLoc(Content::Mask(element)));
        assert_eq!(format.field("args").unwrap().kind, FieldKind::DataLoc(Content::Integers(element)));
    }
}
