//! The built-in target descriptions, as gdb reads them, and what gdb must be told besides.

mod support;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use support::{DEADLINE, Server, data};
use traceframe::arch::{self, BuiltIn, Known, Layout};

/// Number of a register in the protocol to its name, its offset in `g` and its size.
type Places = BTreeMap<usize, (String, usize, usize)>;

const MARK: &str = "--- next";

/// What gdb says of its registers after each of these commands. gdb must have nothing to complain of.
fn as_gdb_has_them(commands: &[String]) -> Vec<Places> {
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch"]);
    for command in commands {
        gdb.args(["-ex", command, "-ex", &format!("echo {MARK}\\n"), "-ex", "maint print remote-registers"]);
    }
    let output = gdb.output().expect("gdb-multiarch runs (Debian package gdb-multiarch)");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let tables = String::from_utf8(output.stdout).unwrap();
    let tables: Vec<_> = tables.split(MARK).skip(1).map(|table| table.lines().filter_map(row).collect()).collect();
    assert_eq!(tables.len(), commands.len());
    tables
}

/// A line of the table: name, gdb's number, relative number, offset, size, type (of several words), and for registers
/// of the protocol their number and offset there.
fn row(line: &str) -> Option<(usize, (String, usize, usize))> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [name, _, _, _, size, _, .., number, offset] = words.as_slice() else {
        return None;
    };
    Some((number.parse().ok()?, ((*name).to_owned(), offset.parse().ok()?, size.parse().ok()?)))
}

/// Compares. gdb shows registers without a name that it has under another number for the user, as those of MIPS.
fn assert_same(of_gdb: &Places, ours: &Layout, what: &str) {
    let numbers: Vec<_> = ours.registers().iter().map(|register| register.number).collect();
    assert_eq!(of_gdb.keys().copied().collect::<Vec<_>>(), numbers, "{what}");
    for register in ours.registers() {
        let (name, offset, size) = &of_gdb[&register.number];
        let name = if name == "''" { &register.name } else { name };
        assert_eq!((name, *offset, *size), (&register.name, register.offset, register.size), "{what}");
    }
}

/// Debian's gdb-multiarch has no Nios II.
fn built_in() -> impl Iterator<Item = BuiltIn> {
    arch::built_in().filter(|one| one.architecture != "nios2")
}

#[test]
fn gdb_lays_the_registers_of_each_description_out_as_we_do() {
    let directory = tempfile::tempdir().unwrap();
    let commands: Vec<_> = built_in()
        .zip(1..)
        .map(|(one, number)| {
            let file = directory.path().join(format!("{number}.xml"));
            std::fs::write(&file, &one.xml).unwrap();
            format!("set tdesc filename {}", file.display())
        })
        .collect();
    for (one, of_gdb) in built_in().zip(as_gdb_has_them(&commands)) {
        assert_same(&of_gdb, &one.layout, &format!("{} {}", one.architecture, one.variant));
    }
}

#[test]
fn without_a_size_the_layout_is_the_one_that_gdb_takes_without_a_description() {
    // gdb's own layout of MIPS has places that have no names, it knows Cortex-M by its description only, and
    // complains of AArch64 with short pointers.
    let architectures: Vec<_> =
        arch::names().filter(|name| !["mips", "mips64", "arm-m", "aarch64-ilp32", "nios2"].contains(name)).collect();
    let choices: Vec<_> = architectures
        .iter()
        .map(|name| arch::resolve(&Known { name: Some(name), ..Known::default() }).unwrap())
        .collect();
    let commands: Vec<_> = choices.iter().map(|choice| format!("set architecture {}", choice.architecture)).collect();
    for ((name, choice), of_gdb) in architectures.iter().zip(&choices).zip(as_gdb_has_them(&commands)) {
        assert_same(&of_gdb, choice.layout.as_ref().unwrap(), name);
    }
}

/// What a server of a recording of 64-bit MIPS says before a client can come.
fn ready_lines(arguments: &[&str]) -> String {
    let recording = data("architectures/mips64.tf");
    let server = Server::serve(&[&[recording.to_str().unwrap()], arguments].concat());
    let began = Instant::now();
    loop {
        let output = server.output();
        if output.contains("in gdb: target remote :") {
            return output;
        }
        assert!(began.elapsed() < DEADLINE, "no ready line:\n{output}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn without_a_program_the_server_says_what_gdb_must_be_told() {
    let said = ready_lines(&["--arch", "mips64", "--endian", "big"]);
    assert!(said.contains("one without needs `set endian big` and `set mips abi n64`\n"), "{said}");
    assert!(said.contains("a gdb that has its own needs `set trust-readonly-sections on`,"), "{said}");
    let said = ready_lines(&["--exec", data("architectures/mips64.elf").to_str().unwrap()]);
    assert!(!said.contains("needs"), "{said}");
}
