//! What gdb's disassembler shows, against what is said here.

use std::process::Command;

use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionKind};

use super::{Flow, Instruction, InstructionSet, Random, decode};

/// An instruction as gdb shows it.
pub(super) struct Shown<'a> {
    /// `b.ne`
    pub(super) mnemonic: &'a str,
    /// `x0, 0x1000`, without a comment.
    pub(super) operands: &'a str,
    /// What stands behind them.
    pub(super) comment: &'a str,
}

impl Shown<'_> {
    /// The last operand, an address.
    pub(super) fn target(&self) -> u64 {
        let last = self.operands.rsplit(',').next().unwrap().trim();
        u64::from_str_radix(last.strip_prefix("0x").unwrap(), 16).unwrap()
    }
}

/// What follows from that.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It leads there.
    Flow(Flow),
    /// It cannot be executed.
    NoInstruction,
    /// gdb knows no such instruction: no branch may be seen in it.
    Unknown,
    /// gdb knows less of it than we do, or says that anything may happen.
    Open,
}

/// Encodings of an instruction: the bits that are fixed, and which they are.
pub(super) type Pattern = (u32, u32);

/// So many of each pattern are compared.
const EACH: usize = 100;

/// So many that are anything are compared.
const ANY: usize = 3000;

/// Compares encodings of each pattern, and any others, with what gdb shows. `bytes` are those of an encoding.
pub(super) fn compare(
    instruction_set: InstructionSet,
    patterns: &[Pattern],
    bytes: fn(u32) -> [u8; 4],
    verdict: fn(&Shown<'_>, u32) -> Verdict,
) {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut encodings = Vec::new();
    for (value, fixed) in patterns {
        assert_eq!(value & !fixed, 0, "{value:#x}");
        encodings.extend((0..EACH).map(|_| value | random.next() & !fixed));
    }
    encodings.extend((0..ANY).map(|_| random.next()));
    let mut found = Vec::new();
    for (encoding, (address, size, line)) in encodings.iter().zip(shown(instruction_set, &encodings, bytes)) {
        let ours = decode(instruction_set, address, &bytes(*encoding));
        let text = shown_of(&line);
        let verdict = verdict(&text, *encoding);
        let agrees = match verdict {
            Verdict::Flow(flow) => ours == Some(Instruction { size, flow }),
            Verdict::NoInstruction => ours.is_none(),
            Verdict::Unknown => ours.is_none_or(|ours| ours.flow == Flow::Next),
            Verdict::Open => ours.is_none_or(|ours| ours.size == size),
        };
        if !agrees {
            found.push(format!(
                "{encoding:#010x} at {address:#x}: gdb shows {line:?}, which is {verdict:x?}, we {ours:x?}"
            ));
        }
    }
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), encodings.len(), found.join("\n"));
}

fn shown_of(line: &str) -> Shown<'_> {
    let comments = ["\t;", "\t@", "\t//", " // ", " @ ", " # "];
    let comment = comments.iter().filter_map(|mark| line.find(mark)).min();
    let (text, comment) = line.split_at(comment.unwrap_or(line.len()));
    let (mnemonic, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    Shown { mnemonic, operands: operands.trim(), comment }
}

/// Bytes from one encoding to the next: an IT instruction does not reach that far.
const STRIDE: usize = 24;

/// The address, the size and the text of each encoding.
fn shown(instruction_set: InstructionSet, encodings: &[u32], bytes: fn(u32) -> [u8; 4]) -> Vec<(u64, u8, String)> {
    let (architecture, commands) = match instruction_set {
        InstructionSet::A64 => (Architecture::Aarch64, "set architecture aarch64"),
        InstructionSet::A32 => (Architecture::Arm, "set architecture arm_any\nset arm force-mode arm"),
        InstructionSet::T32 => (Architecture::Arm, "set architecture arm_any\nset arm force-mode thumb"),
        InstructionSet::Rv32 => {
            (Architecture::Riscv32, "set architecture riscv:rv32\nset disassembler-options no-aliases")
        }
        InstructionSet::Rv64 => {
            (Architecture::Riscv64, "set architecture riscv:rv64\nset disassembler-options no-aliases")
        }
    };
    let mut code = Vec::new();
    for encoding in encodings {
        code.extend(bytes(*encoding));
        code.resize(code.len().next_multiple_of(STRIDE), 0);
    }
    let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    let section = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
    object.append_section_data(section, &code, 4);
    let folder = tempfile::tempdir().unwrap();
    let (file, script) = (folder.path().join("code.o"), folder.path().join("script"));
    std::fs::write(&file, object.write().unwrap()).unwrap();
    let addresses = (0..encodings.len()).map(|number| number * STRIDE);
    let show: String = addresses.map(|address| format!("x/2i {address}\n")).collect();
    std::fs::write(&script, format!("set width 0\n{commands}\n{show}")).unwrap();
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-nh", "-q", "-batch", "-x"]).arg(&script).arg(&file);
    let output = gdb.env("LC_ALL", "C.UTF-8").output().expect("gdb-multiarch runs (Debian package gdb-multiarch)");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().filter_map(|line| {
        let (address, text) = line.trim_start().strip_prefix("0x")?.split_once(':')?;
        let address = address.split(' ').next()?;
        Some((u64::from_str_radix(address, 16).ok()?, text.trim().to_owned()))
    });
    let mut found = Vec::new();
    while let (Some((address, line)), Some((next, _))) = (lines.next(), lines.next()) {
        found.push((address, (next - address) as u8, line));
    }
    assert_eq!(found.len(), encodings.len(), "{}", String::from_utf8_lossy(&output.stderr));
    found
}
