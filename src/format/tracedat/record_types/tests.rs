//! Which structure of BTF is that of an event.

use super::*;
use crate::format::tracedat::btf::tests::Made;
use crate::format::tracedat::events::{EventFormat, LongSize};
use crate::source::ByteOrder;

const COMMON: &str = "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/// A format with fields of a declaration, an offset and a size.
fn format(name: &str, fields: &[(&str, u32, u32)]) -> EventFormat {
    let lines = fields
        .iter()
        .map(|(declared, offset, size)| format!("\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:0;\n"));
    let text = format!("name: {name}\nID: 7\n{COMMON}{}", lines.collect::<String>());
    EventFormat::read("sys", text.as_bytes(), LongSize::Eight).unwrap()
}

/// BTF with the types of fields, by number: 1 `int`, 2 `unsigned long`, 3 `pid_t`, 4 `char`, 5 `char[16]`, 6
/// `char[0]`, 7 `struct trace_entry`, 8 `struct file *`, 9 `u32`.
fn base() -> Made {
    let mut made = Made::new(ByteOrder::Big);
    let int = made.integer("int", 4, true);
    made.integer("long unsigned int", 8, false);
    made.plain(8, "pid_t", int);
    let char = made.integer("char", 1, true);
    made.array(char, 16);
    made.array(char, 0);
    let short = 12;
    made.structure("trace_entry", 8, &[("type", short, 0), ("pid", int, 4)]);
    made.plain(2, "", 10);
    made.plain(8, "u32", 11);
    made.plain(7, "file", 0);
    made.integer("unsigned int", 4, false);
    assert_eq!(made.integer("unsigned short", 2, false), short);
    made
}

/// The names of the structures that are found for formats.
fn found(made: &Made, formats: &[EventFormat]) -> Vec<Option<String>> {
    let bytes = made.bytes(0);
    let (btf, fault) = Btf::read(&bytes);
    assert_eq!(fault, None);
    let structures = BtfStructures::new(&btf, 8, |fault| panic!("{fault}"));
    let name = |format: &EventFormat| {
        let number = structures.of(format, &format!("{STRUCTURE}{}", format.name))?;
        Some(btf.get(number).unwrap().name.strip_prefix(STRUCTURE).unwrap().to_owned())
    };
    formats.iter().map(name).collect()
}

#[test]
fn an_event_has_the_structure_of_its_name_or_of_its_class() {
    let mut made = base();
    let mut add = |name: &str, members: &[(&str, u32, u32)], size| {
        let all = [&[("ent", 7, 0)], members, &[("__data", 6, size)]].concat();
        made.structure(&format!("{STRUCTURE}{name}"), size, &all);
    };
    add("wake", &[("comm", 5, 8), ("pid", 3, 24)], 28);
    add("numbers", &[("comm", 5, 8), ("pid", 1, 24)], 28);
    add("opened", &[("__data_loc_name", 9, 8), ("file", 8, 16)], 24);
    let wake = [("char comm[16]", 8, 16), ("pid_t pid", 24, 4)];
    let numbers = [("char comm[TASK_COMM_LEN]", 8, 16), ("int pid", 24, 4)];
    let other = [("char comm[16]", 8, 16), ("enum who pid", 24, 4)];
    let opened = [("__data_loc char[] name", 8, 4), ("const struct file *file", 16, 8)];
    let formats = [
        format("wake", &wake),
        format("woken", &wake),
        format("numbered", &numbers),
        // Of its own name whatever the types are called, of another not.
        format("wake", &other),
        format("waker", &other),
        format("open", &opened),
    ];
    let names = [Some("wake"), Some("wake"), Some("numbers"), Some("wake"), None, Some("opened")];
    assert_eq!(found(&made, &formats), names.map(|name| name.map(str::to_owned)));
}

#[test]
fn each_field_is_a_member_and_each_member_a_field() {
    let mut made = base();
    let (entry, x, c) = (("ent", 7, 0), ("x", 2, 8), ("c", 4, 16));
    let mut add = |name: &str, size, members: &[(&str, u32, u32)]| {
        made.structure(&format!("{STRUCTURE}{name}"), size, members);
    };
    add("same", 16, &[entry, x]);
    add("more", 24, &[entry, x, ("y", 2, 16)]);
    add("less", 8, &[entry]);
    add("renamed", 16, &[entry, ("z", 2, 8)]);
    add("smaller", 16, &[entry, ("x", 1, 8)]);
    add("moved", 24, &[entry, ("x", 2, 16)]);
    add("unnamed", 24, &[entry, x, ("", 2, 16)]);
    add("no_entry", 16, &[("ent", 1, 0), ("pid", 1, 4), x]);
    add("unsized", 16, &[entry, x, ("f", 10, 16)]);
    // What is behind the last field is as much as a compiler puts there, or it is more.
    add("padded", 24, &[entry, x, c]);
    add("longer", 32, &[entry, x, c]);
    add("odd", 18, &[entry, x]);
    let [ent, state] = ["ent", "state"].map(|name| made.string(name.as_bytes()));
    made.add(4, &format!("{STRUCTURE}bits"), (true, 2), 16, &[ent, 7, 0, state, 2, 64 << 24 | 64]);

    let names = ["same", "more", "renamed", "smaller", "moved", "unnamed", "no_entry", "unsized", "odd"];
    let formats = names.map(|name| format(name, &[("unsigned long x", 8, 8)]));
    // Each finds the one that is the same, if not its own.
    assert_eq!(found(&made, &formats), [(); 9].map(|()| Some("same".to_owned())));
    let formats = ["padded", "longer"].map(|name| format(name, &[("unsigned long x", 8, 8), ("char c", 16, 1)]));
    assert_eq!(found(&made, &formats), [(); 2].map(|()| Some("padded".to_owned())));
    assert_eq!(found(&made, &[format("bits", &[("unsigned long state", 8, 8)])]), [None]);
}
