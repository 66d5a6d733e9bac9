//! Made program images, as gdb reads them.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Gdb, Server, made, run};
use traceframe::arch::{BuiltIn, Machine, built_in};
use traceframe::image::made::{
    Chain, Compound, FrameRule, MadeImage, MadeSymbol, Member, Place, Type, TypeId, Types, frame_chain, identifier,
    unknown_code, write,
};
use traceframe::source::ByteOrder::{self, Big, Little};

/// A machine with a frame rule, and the name of its built-in description.
#[derive(Clone, Copy)]
struct Case {
    architecture: &'static str,
    machine: Machine,
}

const X86_64: Case = case("x86-64", 62, 0, 8, Little);

const CASES: [Case; 12] = [
    X86_64,
    case("i386", 3, 0, 4, Little),
    case("aarch64", 183, 0, 8, Little),
    case("aarch64", 183, 0, 8, Big),
    case("arm", 40, 0x0500_0000, 4, Little),
    case("arm", 40, 0x0500_0000, 4, Big),
    case("riscv64", 243, 0, 8, Little),
    case("riscv32", 243, 0, 4, Little),
    case("powerpc", 20, 0, 4, Big),
    case("powerpc64", 21, 1, 8, Big),
    case("powerpc64", 21, 2, 8, Little),
    case("s390x", 22, 0, 8, Big),
];

const fn case(
    architecture: &'static str,
    elf_machine: u16,
    elf_flags: u32,
    address_size: usize,
    byte_order: ByteOrder,
) -> Case {
    Case { architecture, machine: Machine { elf_machine, elf_flags, address_size, byte_order } }
}

impl Case {
    fn gdbs(&self) -> &'static [Gdb] {
        if self.architecture == "x86-64" { &Gdb::ALL } else { &[Gdb::Multiarch, Gdb::Newest] }
    }

    fn description(&self) -> BuiltIn {
        built_in().find(|one| one.architecture == self.architecture).unwrap()
    }

    /// The first address of the code.
    fn text(&self) -> u64 {
        if self.machine.address_size == 8 { 0xffff_ffff_8100_0000 } else { 0xc010_0000 }
    }

    /// An address as gdb shows it.
    fn shown(&self, address: u64) -> String {
        format!("0x{address:0width$x}", width = 2 * self.machine.address_size)
    }

    fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        self.machine.byte_order.store(value, &mut bytes);
        bytes
    }

    fn registers(&self, values: &[(&str, u64)]) -> Vec<u8> {
        let layout = self.description().layout;
        let mut block = vec![0; layout.size()];
        for (name, value) in values {
            let register = layout.registers().iter().find(|register| register.name == *name).unwrap();
            self.machine.byte_order.store(*value, &mut block[register.offset..register.end()]);
        }
        made::registers(&block)
    }

    fn memory(&self, address: u64, bytes: &[u8]) -> Vec<u8> {
        [&b"M"[..], &self.number(address, 8), &self.number(bytes.len() as u64, 2), bytes].concat()
    }

    /// A stack, and code at its addresses.
    fn chain(&self, chain: &Chain, addresses: &[u64]) -> Vec<u8> {
        let (address, bytes) = &chain.memory;
        let code = unknown_code(&self.machine, addresses);
        let code = code.iter().flat_map(|(address, bytes)| self.memory(*address, bytes));
        self.registers(&chain.registers).into_iter().chain(self.memory(*address, bytes)).chain(code).collect()
    }

    /// A trace file of these frames, all of one tracepoint.
    fn recording(&self, frames: &[Vec<u8>]) -> Vec<u8> {
        let size = self.description().layout.size();
        let lines = format!("\x7fTRACE0\nR {size:x}\nstatus 0;tstop::0\ntp T1:{:x}:E:0:0\n\n", self.text());
        let mut file = lines.into_bytes();
        for blocks in frames {
            file.extend([self.number(1, 2), self.number(blocks.len() as u64, 4), blocks.clone()].concat());
        }
        file.extend([0; 4]);
        file
    }
}

/// What gdb shows that is connected to a server of these frames and this image.
fn answers(gdb: Gdb, case: &Case, image: &MadeImage<'_>, frames: &[Vec<u8>], commands: &[&str]) -> Vec<Vec<String>> {
    answers_with(gdb, &[], image, &case.recording(frames), commands)
}

fn answers_with(
    gdb: Gdb,
    options: &[&str],
    image: &MadeImage<'_>,
    recording: &[u8],
    commands: &[&str],
) -> Vec<Vec<String>> {
    let (folder, recording) = made::save("stack.tf", recording);
    let program = save(folder.path(), image);
    let server = Server::serve(&[&[&recording, "--exec", &program], options].concat());
    let commands: Vec<_> = commands.iter().map(|command| (*command).to_owned()).collect();
    gdb.answers(&[format!("target remote :{}", server.port)], &commands)
}

fn save(folder: &Path, image: &MadeImage<'_>) -> String {
    let path = folder.join("made.elf");
    std::fs::write(&path, write(image).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What gdb shows of an image alone.
fn alone(gdb: Gdb, image: &MadeImage<'_>, commands: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let setup = [format!("file {}", save(folder.path(), image))];
    let commands: Vec<_> = commands.iter().map(|command| (*command).to_owned()).collect();
    gdb.answers(&setup, &commands).into_iter().map(|lines| lines.join("\n")).collect()
}

fn function(name: &str, address: u64) -> MadeSymbol<'_> {
    MadeSymbol { name: name.as_bytes(), address, size: None, is_function: true, is_global: true }
}

/// Functions of 0x100 bytes each in the main code, and one of a module far away.
fn image(case: &Case) -> MadeImage<'static> {
    let names = ["tracer", "schedule", "do_wait", "kernel_wait4", "do_syscall", "entry", "fork", "halt"];
    let addresses = (0..).map(|number| case.text() + 0x100 * number);
    let mut symbols: Vec<_> = names.iter().zip(addresses).map(|(name, address)| function(name, address)).collect();
    symbols.push(function("in_module", case.text() + 0x1000_0000));
    let entry = case.text() + 0x500..case.text() + 0x600;
    MadeImage {
        machine: case.machine,
        text: case.text()..case.text() + 0x800,
        symbols,
        types: Types::new(case.machine.address_size),
        frame_rule: Some(FrameRule { outermost: vec![entry], ..FrameRule::default() }),
    }
}

#[test]
fn recorded_stacks_are_shown_and_end_where_they_end() {
    // The offset of each address in the code, and its function.
    let known_end = [
        (0x10, "tracer"),
        (0x110, "schedule"),
        (0x210, "do_wait"),
        // The call is the function's last instruction.
        (0x400, "kernel_wait4"),
        (0x410, "do_syscall"),
        (0x510, "entry"),
    ];
    let recursion =
        [(0x10, "tracer"), (0x1000_0010, "in_module"), (0x110, "schedule"), (0x110, "schedule"), (0x110, "schedule")];
    let two = [(0x10, "tracer"), (0x710, "halt")];
    let at_known_end = [(0x510, "entry")];
    let stacks = [&known_end[..], &recursion, &two, &at_known_end];
    for case in CASES {
        let base = case.text() + 0x2000_0000;
        let frames = stacks.map(|stack| {
            let addresses: Vec<_> = stack.iter().map(|(offset, _)| case.text() + offset).collect();
            case.chain(&frame_chain(&case.machine, base, &addresses).unwrap(), &addresses)
        });
        let commands =
            ["tfind 0", "bt", "tfind 1", "bt", "tfind 2", "bt", "up", "p $sp", "tfind none", "bt", "tfind 3", "bt"];
        for gdb in case.gdbs() {
            let what = format!("{gdb:?}, {}, {}", case.architecture, case.machine.byte_order);
            let lines_of = |stack: &[(u64, &str)]| -> Vec<String> {
                let lines = stack.iter().enumerate().map(|(level, (offset, name))| {
                    format!("#{level}  {} in {name} ()", case.shown(case.text() + offset))
                });
                lines.collect()
            };
            let told = match case.architecture {
                "s390x" => "Backtrace stopped: previous frame identical to this frame (corrupt stack?)",
                _ => "Backtrace stopped: frame did not save the PC",
            };
            let unknown_end = |stack| [lines_of(stack), vec![told.to_owned()]].concat();
            let shown = answers(*gdb, &case, &image(&case), &frames, &commands);
            assert_eq!(shown[1], lines_of(&known_end), "{what}");
            assert_eq!(shown[3], unknown_end(&recursion), "{what}");
            assert_eq!(shown[5], unknown_end(&two), "{what}");
            assert_eq!(shown[7], ["$1 = <not saved>"], "{what}");
            // Outside a frame the registers and the memory are those of the last one.
            assert_eq!(shown[9], unknown_end(&two), "{what}");
            assert_eq!(shown[11], lines_of(&at_known_end), "{what}");
        }
    }
}

#[test]
fn a_stack_of_one_address_has_one_frame() {
    // A block of the program counter alone: all other registers are unavailable.
    let xml = X86_64.description().xml;
    let line = |name: &str| xml.lines().find(|line| line.contains(&format!("name=\"{name}\""))).unwrap();
    let (first, program_counter) = (line("rax"), line("rip"));
    let xml = xml.replace(program_counter, "").replace(first, &format!("{program_counter}\n{first}"));
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("description.xml");
    std::fs::write(&description, xml).unwrap();

    let chain = frame_chain(&X86_64.machine, 0x1000, &[X86_64.text() + 0x10]).unwrap();
    let [("rip", at)] = chain.registers[..] else { panic!("{:?}", chain.registers) };
    let mut recording = made::Made::new(&["R 8", "status 0;tstop::0", "tp T1:ffffffff81000000:E:0:0"]);
    recording.frame(1, &[made::registers(&at.to_le_bytes())]);
    for gdb in Gdb::ALL {
        let options = ["--tdesc", description.to_str().unwrap()];
        let shown = answers_with(gdb, &options, &image(&X86_64), &recording.bytes(), &["tfind 0", "bt"]);
        let stopped = "Backtrace stopped: not enough registers or memory available to unwind further";
        assert_eq!(shown[1], ["#0  0xffffffff81000010 in tracer ()", stopped], "{gdb:?}");
    }
}

#[test]
fn symbols_are_found_by_name_and_by_address() {
    let mut made = image(&X86_64);
    let data = |name, address| MadeSymbol { is_function: false, ..function(name, address) };
    let symbols = [
        data("jiffies", 0xffff_ffff_8200_0000),
        MadeSymbol { size: Some(0x10), ..function("short", 0xffff_ffff_8300_0000) },
        function("alias", 0xffff_ffff_8100_0100),
        MadeSymbol { is_global: false, ..function("worker", 0xffff_ffff_9200_0000) },
        MadeSymbol { is_global: false, ..function("worker", 0xffff_ffff_9200_0100) },
        data("module_data", 0xffff_ffff_9200_0200),
        MadeSymbol { is_global: false, ..function("a_first", 0xffff_ffff_8400_0000) },
        function("z_second", 0xffff_ffff_8400_0000),
    ];
    made.symbols.extend(symbols);
    let questions = [
        ("info symbol 0xffffffff81000000", "tracer in section .text"),
        ("info symbol 0xffffffff810007ff", "halt + 255 in section .text"),
        ("info symbol 0xffffffff81000800", "No symbol matches 0xffffffff81000800."),
        // Of two names the first that was given.
        ("info symbol 0xffffffff81000110", "schedule + 16 in section .text"),
        ("info symbol 0xffffffff84000004", "a_first + 4 in section .text"),
        ("info address alias", "Symbol \"alias\" is at 0xffffffff81000100 in a file compiled without debugging."),
        ("info symbol 0xffffffff82000004", "jiffies + 4 in section .data"),
        ("info symbol 0xffffffff8300000f", "short + 15 in section .text"),
        ("info symbol 0xffffffff83000010", "No symbol matches 0xffffffff83000010."),
        ("info symbol 0xffffffff91000004", "in_module + 4 in section .text"),
        ("info symbol 0xffffffff92000104", "worker + 4 in section .text"),
        ("info symbol 0xffffffff92000204", "module_data + 4 in section .data"),
        ("info symbol 0xffffffff92001000", "No symbol matches 0xffffffff92001000."),
        ("print in_module", "$1 = {<text variable, no debug info>} 0xffffffff91000000 <in_module>"),
        ("print &jiffies", "$2 = (<data variable, no debug info> *) 0xffffffff82000000 <jiffies>"),
        ("break *schedule", "Breakpoint 1 at 0xffffffff81000100"),
        ("break in_module", "Breakpoint 2 at 0xffffffff91000000"),
        ("break worker", "Breakpoint 3 at 0xffffffff92000000 (2 locations)"),
    ];
    for gdb in Gdb::ALL {
        let shown = alone(gdb, &made, &questions.map(|(question, _)| question));
        for ((question, answer), shown) in questions.iter().zip(shown) {
            assert_eq!(shown, *answer, "{gdb:?}: {question}");
        }
    }
}

#[test]
fn a_kernel_of_many_symbols_and_structures() {
    let names: Vec<_> = (0..122_000).map(|number| format!("function_number_{number}")).collect();
    let symbols = names.iter().zip(0..).map(|(name, number)| function(name, X86_64.text() + 0x40 * number)).collect();
    let formats: Vec<_> = (0..2300).map(|number| format!("format_{number}")).collect();
    let mut types = Types::new(8);
    let (structure, _) = odd(&X86_64, &mut types);
    for name in &formats {
        types.add(Type::Compound(Compound { name: name.into(), ..structure.clone() }));
    }
    let text = X86_64.text()..X86_64.text() + 0x40 * 122_000;
    let made = MadeImage { symbols, types, text, ..image(&X86_64) };
    let questions = [
        ("info symbol 0xffffffff81000041", "function_number_1 + 1 in section .text"),
        ("info symbol function_number_121999", "function_number_121999 in section .text"),
        ("print sizeof(struct format_0) == sizeof(struct format_2299)", "$1 = 1"),
    ];
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let shown = alone(gdb, &made, &questions.map(|(question, _)| question));
        assert_eq!(shown, questions.map(|(_, answer)| answer), "{gdb:?}");
    }
    let given: usize = names.iter().map(String::len).sum();
    let size = write(&made).unwrap().len();
    // A symbol takes 24 bytes and its name; a member about 12.
    assert!(size < given + 26 * names.len() + 2300 * 16 * 12, "{size} bytes");
}

#[test]
fn the_file_says_nothing_of_memory() {
    for case in [X86_64, CASES[6]] {
        let addresses = [0x10, 0x110].map(|offset| case.text() + offset);
        let chain = frame_chain(&case.machine, case.text() + 0x2000_0000, &addresses).unwrap();
        let commands = ["x/i $pc", "x/xb schedule", "tfind 0", "x/i $pc", "x/xb schedule", "x/xb in_module"];
        for gdb in case.gdbs() {
            let shown = answers(*gdb, &case, &image(&case), &[case.chain(&chain, &addresses)], &commands);
            let refused = |offset| format!("Cannot access memory at address {:#x}", case.text() + offset);
            let unavailable = "<unavailable>".to_owned();
            let expected = [(0, refused(0x10)), (1, refused(0x100)), (3, refused(0x10))];
            for (answer, end) in expected.into_iter().chain([(4, unavailable.clone()), (5, unavailable)]) {
                let last = shown[answer].last().unwrap();
                assert!(last.ends_with(&end), "{gdb:?}, {}: {:?}", commands[answer], shown[answer]);
            }
        }
    }
}

/// A structure with members of every kind that formats have, at odd offsets, and its bytes.
fn odd<'a>(case: &Case, types: &mut Types<'a>) -> (Compound<'a>, Vec<u8>) {
    let pointer = case.machine.address_size;
    let members = [
        ("common_type", types.integer(2, false, Some("unsigned short")), 2, 0x1234),
        ("common_flags", types.integer(1, false, Some("unsigned char")), 1, 0x41),
        ("common_pid", types.integer(4, true, None), 4, -2),
        ("pid", types.integer(4, true, Some("pid_t")), 4, 0x0102_0304),
        ("call", types.integer(8, true, Some("int")), 8, -0x0102_0304_0506_0708),
        ("time", types.integer(8, false, Some("u64")), 8, 0x0807_0605_0403_0201),
        ("word", types.integer(pointer as u8, false, Some("long unsigned int")), pointer, 0x0a0b_0c0d),
        ("flag", types.integer(1, false, Some("bool")), 1, 1),
        ("state", types.integer(4, false, Some("enum state")), 4, 7),
        ("again", types.integer(8, false, Some("pid_t")), 8, 9),
        ("where", types.pointer(), pointer, case.text() as i64 + 0x104),
    ];
    let mut bytes = Vec::new();
    let mut found = Vec::new();
    let mut place = |name: &'static str, member_type: TypeId, content: &[u8]| {
        found.push(Member { name: name.into(), place: Place::Byte(bytes.len() as u64), member_type });
        bytes.extend(content);
    };
    for (name, member_type, size, value) in members {
        place(name, member_type, &case.number(value as u64, size));
    }
    let (short, character, byte) =
        (types.integer(2, true, None), types.character(false), types.integer(1, false, None));
    let pair = [case.number(5, 2), case.number(6, 2)].concat();
    place("pair", types.add(Type::Array(short, 2)), &pair);
    place("comm", types.add(Type::Array(character, 6)), b"gdb\0\0\0");
    place("address", types.add(Type::Array(byte, 3)), &[0x41, 0, 255]);
    place("triple", types.integer(3, false, None), &[1, 2, 3]);
    // A hole, and what follows the structure in the recording.
    bytes.extend([0xee; 5]);
    let rest = types.add(Type::Array(character, 0));
    found.push(Member { name: "rest".into(), place: Place::Byte(bytes.len() as u64), member_type: rest });
    let size = bytes.len() as u64;
    (Compound { is_union: false, name: "sched:odd".into(), size, members: found }, bytes)
}

/// The types of [`odd`] alone, and its bytes.
fn odd_types(case: &Case) -> (Types<'static>, Vec<u8>) {
    let mut types = Types::new(case.machine.address_size);
    let (structure, bytes) = odd(case, &mut types);
    types.add(Type::Compound(structure));
    (types, bytes)
}

#[test]
fn structures_have_the_layout_that_was_given() {
    for case in [X86_64, CASES[1], CASES[9], CASES[11]] {
        let (types, bytes) = odd_types(&case);
        let at = case.text() + 0x2000_0001;
        let commands = [
            "tfind 0".to_owned(),
            format!("p *(struct sched_odd *){at:#x}"),
            format!("p ((struct sched_odd *){at:#x})->time"),
            "ptype struct sched_odd".to_owned(),
            "p sizeof(struct sched_odd)".to_owned(),
            "ptype/o struct sched_odd".to_owned(),
            "whatis (pid_t) 1".to_owned(),
            "p sizeof(int)".to_owned(),
        ];
        let commands: Vec<_> = commands.iter().map(String::as_str).collect();
        let size = bytes.len();
        let made = MadeImage { types, ..image(&case) };
        let frames = [[case.registers(&[]), case.memory(at, &bytes)].concat()];
        let (long, wide) = match case.machine.address_size {
            8 => ("long", "unsigned long"),
            _ => ("long long", "unsigned long long"),
        };
        let values = format!(
            "$1 = {{common_type = 4660, common_flags = 65 'A', common_pid = -2, pid = 16909060, \
             call = -72623859790382856, time = 578437695752307201, word = 168496141, flag = true, state = 7, \
             again = 9, where = {:#x} <schedule+4>, pair = {{5, 6}}, comm = \"gdb\\000\\000\", \
             address = \"A\\000\\377\", triple = \"\\001\\002\\003\", \
             rest = {end:#x} <error: Cannot access memory at address {end:#x}>}}",
            case.text() + 0x104,
            end = at + size as u64,
        );
        let members = [
            "unsigned short common_type;",
            "unsigned char common_flags;",
            "int common_pid;",
            "pid_t pid;",
            &format!("{long} call;"),
            "u64 time;",
            "unsigned long word;",
            "bool flag;",
            "unsigned int state;",
            &format!("{wide} again;"),
            "void *where;",
            "short pair[2];",
            "char comm[6];",
            "unsigned char address[3];",
            "unsigned char triple[3];",
            "char rest[0];",
        ];
        for gdb in case.gdbs() {
            let what = format!("{gdb:?}, {}", case.architecture);
            let shown = answers(*gdb, &case, &made, &frames, &commands);
            assert_eq!(shown[1], [values.as_str()], "{what}");
            assert_eq!(shown[2], ["$2 = 578437695752307201"], "{what}");
            let listed: Vec<_> = shown[3].iter().map(|line| line.trim()).collect();
            let braced = [&["type = struct sched_odd {"], &members[..], &["}"]].concat();
            assert_eq!(listed, braced, "{what}");
            assert_eq!(shown[4], [format!("$3 = {size}")], "{what}");
            let offsets: Vec<_> = shown[5].iter().filter_map(|line| line.strip_prefix("/* ")).collect();
            assert_eq!(offsets.iter().filter(|line| line.contains("XXX")).count(), 1, "{what}: {offsets:#?}");
            assert_eq!(shown[6], ["type = pid_t"], "{what}");
            assert_eq!(shown[7], ["$4 = 4"], "{what}");
        }
    }
}

#[test]
fn every_name_can_be_typed() {
    // The keywords of C, and what gdb takes for one.
    let words = "auto break case char const continue default do double else enum extern float for goto if inline int \
                 long register restrict return short signed sizeof static struct switch typedef union unsigned void \
                 volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert \
                 _Thread_local bool true false class template operator new delete this and or not xor typeof decltype \
                 alignof __alignof__ __typeof__ __typeof __complex__ __restrict __restrict__ __attribute__ 9p a-b é";
    let words: Vec<_> = words.split_whitespace().collect();
    let names: Vec<_> = words.iter().map(|word| identifier(word).unwrap().into_owned()).collect();
    let mut types = Types::new(8);
    let integer = types.integer(4, true, None);
    let member = |name: &&'static str| Member { name: (*name).into(), place: Place::Byte(1), member_type: integer };
    let mut add = |name: &'static str, members| {
        types.add(Type::Compound(Compound { is_union: false, name: name.into(), size: 40, members }));
    };
    words.iter().for_each(|name| add(name, Vec::new()));
    add("all", words.iter().map(member).collect());
    let made = MadeImage { types, ..image(&X86_64) };
    let sizes = names.iter().map(|name| format!("print sizeof (struct {name})"));
    let offsets = names.iter().map(|name| format!("print (long) &((struct all *) 0)->{name}"));
    let questions: Vec<_> = sizes.chain(offsets).collect();
    let asked: Vec<_> = questions.iter().map(String::as_str).collect();
    for gdb in Gdb::ALL {
        for (number, shown) in alone(gdb, &made, &asked).into_iter().enumerate() {
            let value = if number < names.len() { 40 } else { 1 };
            assert_eq!(shown, format!("${} = {value}", number + 1), "{gdb:?}: {}", questions[number]);
        }
    }
}

#[test]
fn readelf_has_nothing_to_complain_of() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = save(folder.path(), &MadeImage { types: odd_types(&case).0, ..image(&case) });
        let mut readelf = Command::new("readelf");
        let (code, shown, errors) = run(readelf.args(["--all", "--wide", "--debug-dump", &path]));
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{}", case.architecture);
        assert!(shown.contains("DW_TAG_structure_type") && shown.contains("DW_CFA_expression"), "{shown}");
    }
}
