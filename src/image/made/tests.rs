//! What is made, read back by readers that others wrote; gdb reads it in `tests/made_image.rs`.

use super::*;
use crate::source::ByteOrder;
use gimli::{EndianSlice, RunTimeEndian, UnwindSection};
use object::{Object, ObjectSection, ObjectSymbol, SymbolSection};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;

fn machine(elf_machine: u16, address_size: usize, byte_order: ByteOrder) -> Machine {
    Machine { elf_machine, elf_flags: 0, address_size, byte_order }
}

fn x86_64() -> Machine {
    machine(62, 8, ByteOrder::Little)
}

/// An image of symbols only.
fn of_symbols(symbols: Vec<MadeSymbol<'_>>) -> MadeImage<'_> {
    MadeImage { machine: x86_64(), text: 0x10000..0x20000, symbols, types: Types::new(8), frame_rule: None }
}

fn symbol(name: &str, address: u64, is_function: bool) -> MadeSymbol<'_> {
    MadeSymbol { name: name.as_bytes(), address, size: None, is_function, is_global: true }
}

/// Name, address, size and section of a symbol, and whether it is global.
type Read = (Vec<u8>, u64, u64, Option<usize>, bool);

/// What the file says: its symbols and its sections without contents.
#[derive(Debug)]
struct Found {
    symbols: Vec<Read>,
    /// First address, size, and whether it is code, by the number of the section.
    sections: Vec<(usize, u64, u64, bool)>,
}

fn read(file: &[u8]) -> Found {
    let file = object::File::parse(file).unwrap();
    let symbols = file.symbols().map(|symbol| {
        let section = match symbol.section() {
            SymbolSection::Section(index) => Some(index.0),
            other => {
                assert_eq!(other, SymbolSection::Absolute);
                None
            }
        };
        let name = symbol.name_bytes().unwrap().to_vec();
        (name, symbol.address(), symbol.size(), section, symbol.is_global())
    });
    let symbols = symbols.collect();
    let places = file.sections().filter(|section| matches!(section.name(), Ok(".text" | ".data")));
    let sections = places.map(|section| {
        assert_eq!(section.data().unwrap(), b"", "it would say what was in memory");
        (section.index().0, section.address(), section.size(), section.name() == Ok(".text"))
    });
    Found { symbols, sections: sections.collect() }
}

fn read_symbols(image: &MadeImage<'_>) -> Found {
    read(&write(image).unwrap())
}

#[test]
fn a_symbol_reaches_to_the_next_or_to_the_end_of_its_page() {
    let symbols = vec![
        symbol("far", 0x5000_0000, true),
        symbol("second", 0x10100, true),
        symbol("first", 0x10000, true),
        symbol("alias", 0x10000, true),
        symbol("data", 0x20040, false),
        symbol("behind", 0x20000, true),
        MadeSymbol { size: Some(0x1800), ..symbol("sized", 0x5000_0010, true) },
        MadeSymbol { size: Some(0), ..symbol("empty", 0x6000_0000, true) },
    ];
    let found = read_symbols(&of_symbols(symbols));
    let expected = [
        ("first", 0x10000, 0x100, 1),
        ("alias", 0x10000, 0, 1),
        ("second", 0x10100, 0xff00, 1),
        ("behind", 0x20000, 0x40, 1),
        ("data", 0x20040, 0xfc0, 2),
        ("far", 0x5000_0000, 0x10, 3),
        ("sized", 0x5000_0010, 0x1800, 3),
        ("empty", 0x6000_0000, 0, 4),
    ];
    let expected = expected.map(|(name, at, size, section)| (name.as_bytes().to_vec(), at, size, Some(section), true));
    assert_eq!(found.symbols, expected);
    assert_eq!(
        found.sections,
        [
            (1, 0x10000, 0x10040, true),
            (2, 0x20040, 0xfc0, false),
            (3, 0x5000_0000, 0x1810, true),
            (4, 0x6000_0000, 1, true)
        ]
    );
}

#[test]
fn local_symbols_come_first_and_nothing_without_a_name() {
    let local = MadeSymbol { is_global: false, ..symbol("local", 0x10010, true) };
    let cut = MadeSymbol { name: b"cut\0off", ..local };
    let symbols = vec![symbol("global", 0x10000, true), symbol("", 0x10008, true), local, cut];
    let found = read_symbols(&of_symbols(symbols));
    let names: Vec<_> = found.symbols.iter().map(|(name, .., is_global)| (name.as_slice(), *is_global)).collect();
    assert_eq!(names, [(&b"local"[..], false), (b"cut", false), (b"global", true)]);
}

#[test]
fn symbols_at_both_ends_of_the_address_space() {
    for size in [8, 4] {
        let last = machine(3, size, ByteOrder::Little).last_address();
        let image = MadeImage {
            machine: machine(3, size, ByteOrder::Little),
            text: 0..0,
            ..of_symbols(vec![symbol("zero", 0, true), symbol("page", last - 0xfff, true), symbol("last", last, false)])
        };
        let found = read_symbols(&image);
        let sections: Vec<_> = found.symbols.iter().map(|(_, at, size, section, _)| (*at, *size, *section)).collect();
        assert_eq!(sections, [(0, 0x1000, Some(1)), (last - 0xfff, 0xfff, Some(2)), (last, 0, None)]);
    }
    let wide = symbol("wide", 1 << 32, true);
    let narrow = MadeImage { machine: machine(3, 4, ByteOrder::Little), ..of_symbols(vec![wide]) };
    assert_eq!(read_symbols(&narrow).symbols, []);
}

#[test]
fn there_is_a_limit_to_the_sections() {
    let symbols = (0..3000).map(|number| symbol("s", 0x1_0000_0000 + (number << 25), number % 2 == 0)).collect();
    let found = read_symbols(&of_symbols(symbols));
    assert_eq!(found.sections.len(), 1000);
    assert_eq!(found.symbols.len(), 3000);
    assert_eq!(found.symbols.iter().filter(|(.., section, _)| section.is_none()).count(), 3000 - 999);
}

#[test]
fn names_become_identifiers() {
    let pairs = [
        ("sched_switch", "sched_switch"),
        ("9p-open", "_9p_open"),
        ("int", "int_"),
        ("größe", "gr__e"),
        ("a\0b", "a_b"),
        ("-", "_"),
    ];
    for (text, name) in pairs {
        assert_eq!(identifier(text).as_deref(), Some(name));
    }
    assert_eq!(identifier(""), None);
}

/// A structure or union as DWARF has it: its name, its size, and the names and offsets of its members, of a bit-field
/// in bits.
type ReadStructure = (String, u64, Vec<(String, u64)>);

fn dwarf(file: &[u8]) -> Vec<ReadStructure> {
    let elf = object::File::parse(file).unwrap();
    let order = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: gimli::SectionId| {
        let data = elf.section_by_name(id.name()).map_or(&b""[..], |section| section.data().unwrap());
        Ok::<_, gimli::Error>(EndianSlice::new(data, order))
    };
    let dwarf = gimli::Dwarf::load(load).unwrap();
    let mut found = Vec::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next().unwrap() {
        let unit = dwarf.unit(header).unwrap();
        let unit = unit.unit_ref(&dwarf);
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs().unwrap() {
            let name = entry.attr_value(gimli::DW_AT_name).map(|name| unit.attr_string(name).unwrap());
            let name = name.map(|name| name.to_string().unwrap().to_owned());
            let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
            match entry.tag() {
                gimli::DW_TAG_structure_type | gimli::DW_TAG_union_type => {
                    // One that is only declared has no size.
                    found.extend(
                        number(gimli::DW_AT_byte_size).map(|size| (name.unwrap_or_default(), size, Vec::new())),
                    );
                }
                gimli::DW_TAG_member => {
                    let offset = number(gimli::DW_AT_data_member_location);
                    let offset = offset.or_else(|| number(gimli::DW_AT_data_bit_offset)).unwrap();
                    found.last_mut().unwrap().2.push((name.unwrap_or_default(), offset));
                }
                _ => {}
            }
        }
    }
    found
}

fn structure<'a>(name: &'a str, size: u64, members: Vec<Member<'a>>) -> Type<'a> {
    Type::Compound(Compound { is_union: false, name: name.into(), size, members })
}

#[test]
fn the_members_within_a_structure() {
    let mut types = Types::new(8);
    let long = types.integer(8, true, None);
    let byte = types.integer(1, true, None);
    let pointer = types.pointer();
    let none = types.add(Type::Array(pointer, 0));
    let endless = types.add(Type::Array(long, u64::MAX));
    let unknown = types.add(Type::Declared(Keyword::Struct, "unknown".into()));
    let inner = Member { name: "inner".into(), place: Place::Byte(0), member_type: byte };
    let inner = types.add(structure("", 1, vec![inner]));
    let byte_at =
        |name: &'static str, offset, member_type| Member { name: name.into(), place: Place::Byte(offset), member_type };
    let bits = |name: &'static str, offset, width| Member {
        name: name.into(),
        place: Place::Bits { offset, width },
        member_type: byte,
    };
    let members = vec![
        byte_at("fits", 1, long),
        byte_at("beyond", 2, long),
        byte_at("flexible", 9, none),
        byte_at("endless", 1, endless),
        byte_at("far", u64::MAX, byte),
        byte_at("", 0, byte),
        byte_at("", 8, inner),
        byte_at("unknown", 0, unknown),
        bits("last", 69, 3),
        bits("behind", 70, 3),
        bits("larger", 0, 9),
        bits("wide", u64::MAX, 3),
    ];
    types.add(structure("a-b", 9, members));
    let file = write(&MadeImage { types, ..of_symbols(Vec::new()) }).unwrap();
    let named = |name: &str, at| (name.to_owned(), at);
    let members = vec![named("fits", 1), named("flexible", 9), named("", 8), named("last", 69)];
    assert_eq!(dwarf(&file), [(String::new(), 1, vec![named("inner", 0)]), ("a_b".to_owned(), 9, members)]);
}

#[test]
fn a_type_has_one_number() {
    let mut types = Types::new(4);
    assert!(types.is_empty());
    let pid = types.integer(4, true, Some("pid_t"));
    assert_eq!(types.integer(4, true, Some("pid_t")), pid);
    // Of a name that means two things the first counts, and the other is what it is.
    assert_eq!(types.integer(8, true, Some("pid_t")), types.integer(8, true, None));
    assert_eq!(types.integer(4, true, Some("long")), types.integer(4, true, Some("signed long int")));
    assert_ne!(types.integer(4, true, Some("long")), types.integer(4, true, Some("int")));
    let pointer = types.pointer();
    assert_eq!((types.size(pointer), types.pointer()), (Some(4), pointer));
    let pair = types.add(Type::Array(pid, 2));
    let constant = types.add(Type::Qualified(Qualifier::Const, pair));
    assert_eq!(types.size(constant), Some(8));
    let void = types.add(Type::Void);
    assert_eq!(types.size(void), None);
}

/// The first address of each frame description entry, its length, and whether its return address is undefined.
fn frames(file: &[u8]) -> Vec<(u64, u64, bool)> {
    let elf = object::File::parse(file).unwrap();
    let order = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let Some(section) = elf.section_by_name(".debug_frame") else { return Vec::new() };
    let table = gimli::DebugFrame::new(section.data().unwrap(), order);
    let bases = gimli::BaseAddresses::default();
    let mut entries = table.entries(&bases);
    let mut found = Vec::new();
    while let Some(entry) = entries.next().unwrap() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let entry = partial.parse(|section, bases, offset| section.cie_from_offset(bases, offset)).unwrap();
        let mut context = gimli::UnwindContext::new();
        let row = entry.unwind_info_for_address(&table, &bases, &mut context, entry.initial_address()).unwrap();
        let rule = row.register(entry.cie().return_address_register());
        let undefined = matches!(rule, Some(gimli::RegisterRule::Undefined));
        found.push((entry.initial_address(), entry.len(), undefined));
    }
    found
}

#[test]
fn the_rule_covers_all_code_and_ends_where_a_stack_does() {
    let rule = FrameRule {
        outermost: vec![0x5000_0000..0x6000_0000, 0x10100..0x10200, 0x10180..0x10300, 7..7],
        ..FrameRule::default()
    };
    let symbols =
        vec![symbol("main", 0x10000, true), symbol("module", 0x5000_0800, true), symbol("data", 0x90000, false)];
    let file = write(&MadeImage { frame_rule: Some(rule), ..of_symbols(symbols) }).unwrap();
    let expected = [
        (0x10000, 0x100, false),
        (0x10100, 0x100, true),
        (0x10200, 0x100, true),
        (0x10300, 0xfd00, false),
        (0x5000_0800, 0x800, true),
    ];
    assert_eq!(frames(&file), expected);
}

#[test]
fn a_chain_names_each_return_address_and_the_last_one_twice() {
    let chain = frame_chain(&machine(3, 4, ByteOrder::Little), 0x1000, &[0xa, 0xb, 0xc]).unwrap();
    assert_eq!(chain.registers, [("eip", 0xa), ("ebp", 0x1000)]);
    let words: Vec<_> = chain.memory.1.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(chain.memory.0, 0x1000);
    assert_eq!(words, [0x100c, 0x1008, 0xb, 0x1018, 0x1014, 0xc, 0x1018, 0x1014]);
    assert_eq!(unknown_code(&machine(3, 4, ByteOrder::Little), &[0xa, 0xb, 0xc]), []);
}

#[test]
fn a_chain_needs_an_address_a_rule_and_room() {
    assert_eq!(frame_chain(&x86_64(), 0x1000, &[]), None);
    assert_eq!(frame_chain(&machine(8, 4, ByteOrder::Big), 0x1000, &[1]), None);
    assert_eq!(frame_chain(&machine(3, 4, ByteOrder::Little), 0xffff_fff0, &[1, 2]), None);
    assert_eq!(frame_chain(&x86_64(), u64::MAX, &[1, 2]), None);
    let aarch64 = machine(183, 8, ByteOrder::Little);
    let one = frame_chain(&aarch64, 0x1000, &[7]).unwrap();
    assert_eq!((one.registers, one.memory.1), (vec![("pc", 7)], Vec::new()));
    assert_eq!(unknown_code(&aarch64, &[7]), vec![(7, [0; 4])]);
}

/// A type, made of those before it.
#[derive(Clone, Debug)]
enum Step {
    Integer(u8, bool, Option<&'static str>),
    Character(bool),
    Pointer(usize),
    Array(usize, u64),
    Typedef(String, usize),
    Constant(usize),
    Declared(String),
    Enumeration(String, u64, bool, Vec<(String, u64)>),
    Function(usize, Vec<usize>, bool),
    Compound(bool, String, u64, Vec<(String, Place, usize)>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let names =
        prop::sample::select(vec!["u32", "unsigned long", "bool", "char", "void", "enum x", "", "long int", "x"]);
    let size = || prop_oneof![0..64u64, any::<u64>()];
    let place = prop_oneof![
        size().prop_map(Place::Byte),
        (size(), size()).prop_map(|(offset, width)| Place::Bits { offset, width }),
    ];
    let of = any::<usize>;
    let one = prop_oneof![
        (any::<u8>(), any::<bool>(), prop::option::of(names))
            .prop_map(|(size, sign, name)| Step::Integer(size, sign, name)),
        any::<bool>().prop_map(Step::Character),
        of().prop_map(Step::Pointer),
        (of(), size()).prop_map(|(of, count)| Step::Array(of, count)),
        (".{0,3}", of()).prop_map(|(name, of)| Step::Typedef(name, of)),
        of().prop_map(Step::Constant),
        ".{0,3}".prop_map(Step::Declared),
        (".{0,3}", size(), any::<bool>(), vec((".{0,3}", any::<u64>()), 0..4))
            .prop_map(|(name, size, sign, values)| Step::Enumeration(name, size, sign, values)),
        (of(), vec(of(), 0..3), any::<bool>()).prop_map(|(of, taken, more)| Step::Function(of, taken, more)),
        (any::<bool>(), ".{0,6}", size(), vec((".{0,3}", place, of()), 0..6))
            .prop_map(|(is_union, name, size, members)| Step::Compound(is_union, name, size, members)),
    ];
    vec(one, 0..12)
}

fn types(steps: &[Step], address_size: usize) -> Types<'_> {
    let mut types = Types::new(address_size);
    let mut known = vec![types.add(Type::Void)];
    for step in steps {
        let of = |number: &usize| known[number % known.len()];
        let added = match step {
            Step::Integer(size, is_signed, declared) => types.integer(*size, *is_signed, *declared),
            Step::Character(is_signed) => types.character(*is_signed),
            Step::Pointer(to) => types.add(Type::Pointer(of(to))),
            Step::Array(element, count) => types.add(Type::Array(of(element), *count)),
            Step::Typedef(name, other) => types.add(Type::Typedef(name.into(), of(other))),
            Step::Constant(other) => types.add(Type::Qualified(Qualifier::Const, of(other))),
            Step::Declared(name) => types.add(Type::Declared(Keyword::Struct, name.into())),
            Step::Enumeration(name, size, is_signed, values) => {
                let values = values.iter().map(|(name, bits)| (name.into(), *bits)).collect();
                types.add(Type::Enumeration { name: name.into(), size: *size, is_signed: *is_signed, values })
            }
            Step::Function(result, taken, is_variadic) => {
                let parameters = taken.iter().map(of).collect();
                types.add(Type::Function { result: of(result), parameters, is_variadic: *is_variadic })
            }
            Step::Compound(is_union, name, size, members) => {
                let member = |(name, place, number): &'_ (String, Place, usize)| Member {
                    name: name.clone().into(),
                    place: *place,
                    member_type: of(number),
                };
                let members = members.iter().map(member).collect();
                types.add(Type::Compound(Compound { is_union: *is_union, name: name.into(), size: *size, members }))
            }
        };
        known.push(added);
    }
    types
}

fn addresses() -> impl Strategy<Value = u64> {
    prop_oneof![0..0x3000u64, 0xffff_e000..=0xffff_ffffu64, u64::MAX - 0x3000..=u64::MAX, any::<u64>()]
}

type Symbols = Vec<(Vec<u8>, u64, Option<u64>, bool, bool)>;

fn symbols() -> impl Strategy<Value = Symbols> {
    let one = (vec(any::<u8>(), 0..5), addresses(), prop::option::of(any::<u64>()), any::<bool>(), any::<bool>());
    vec(one, 0..40)
}

fn machines() -> impl Strategy<Value = Machine> {
    let numbers = prop::sample::select(vec![3, 62, 183, 40, 243, 20, 21, 22, 8, 0xffff]);
    (numbers, prop::sample::select(vec![4, 8]), any::<bool>()).prop_map(|(number, size, little)| {
        machine(number, size, if little { ByteOrder::Little } else { ByteOrder::Big })
    })
}

proptest! {
    #[test]
    fn anything_given_is_written_and_read_back(
        machine in machines(), start in addresses(), end in addresses(), symbols in symbols(),
        steps in steps(), outermost in vec((addresses(), addresses()), 0..4),
    ) {
        let image = MadeImage {
            machine,
            text: start..end,
            symbols: symbols.iter().map(|(name, address, size, is_function, is_global)| MadeSymbol {
                name, address: *address, size: *size, is_function: *is_function, is_global: *is_global,
            }).collect(),
            types: types(&steps, machine.address_size),
            frame_rule: Some(FrameRule { outermost: outermost.iter().map(|(start, end)| *start..*end).collect(), ..FrameRule::default() }),
        };
        let file = write(&image).unwrap();
        let found = read(&file);

        let mut given: Vec<_> = symbols.iter().filter_map(|(name, address, ..)| {
            let name = name.split(|byte| *byte == 0).next().unwrap();
            (!name.is_empty() && *address <= machine.last_address()).then(|| (name.to_vec(), *address))
        }).collect();
        let mut written: Vec<_> = found.symbols.iter().map(|(name, address, ..)| (name.clone(), *address)).collect();
        given.sort();
        written.sort();
        prop_assert_eq!(given, written);

        let mut places = found.sections.clone();
        places.sort_by_key(|(_, address, ..)| *address);
        for pair in places.windows(2) {
            prop_assert!(pair[0].1 + pair[0].2 <= pair[1].1, "{:x?}", pair);
        }
        for (name, address, _, section, _) in &found.symbols {
            let Some(section) = section else { continue };
            let (_, start, size, _) = found.sections.iter().find(|(number, ..)| number == section).unwrap();
            prop_assert!((*start..start + size).contains(address), "{}", name.escape_ascii());
        }
        for (start, length, _) in frames(&file) {
            let holds = |place: &&(usize, u64, u64, bool)| place.1 <= start && start + length <= place.1 + place.2;
            prop_assert!(places.iter().find(holds).is_some_and(|place| place.3));
        }

        let mut named = HashSet::new();
        for (name, size, members) in dwarf(&file) {
            prop_assert!(name.is_empty() || identifier(&name).as_deref() == Some(&name));
            prop_assert!(members.iter().all(|(_, offset)| offset / 8 <= size));
            named.insert(name);
        }
        let given: HashSet<_> = steps.iter().filter_map(|step| match step {
            Step::Compound(_, name, ..) => Some(identifier(name).unwrap_or_default().into_owned()),
            _ => None,
        }).collect();
        prop_assert_eq!(given, named);
    }

    #[test]
    fn any_name_becomes_one_that_stays(text in ".{1,20}") {
        let name = identifier(&text).unwrap();
        prop_assert_eq!(identifier(&name), Some(name.clone()));
        prop_assert!(!name.starts_with(|first: char| first.is_ascii_digit()));
    }

    #[test]
    fn any_stack_has_a_chain_or_none(machine in machines(), base in addresses(), stack in vec(any::<u64>(), 0..20)) {
        if let Some(chain) = frame_chain(&machine, base, &stack) {
            let end = chain.memory.0.checked_add(chain.memory.1.len() as u64);
            prop_assert!(end.is_some_and(|end| end <= machine.last_address()));
        }
    }
}
