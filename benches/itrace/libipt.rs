//! libipt, which decodes Intel PT of x86-64: how fast the best known decoder of another trace is in the same run. A little C
//! program is built for it, with Debian's `libipt-dev`.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSegment};

/// How it decodes.
#[derive(Clone, Copy, Debug)]
pub enum By {
    Instruction,
    Block,
}

/// How many instructions are decoded of a trace of a program, and in how many seconds.
pub fn decode(trace: &Path, program: &Path, by: By) -> (u64, f64) {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libipt");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/itrace/libipt.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&built).args([source, "-lipt"]).status();
    assert!(compiled.is_ok_and(|status| status.success()), "a C compiler and libipt-dev are needed");
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let code =
        file.segments().find(|segment| (segment.address()..segment.address() + segment.size()).contains(&file.entry()));
    let code = code.expect("the program begins in a segment");
    // libipt reads instructions of 15 bytes, even at the end.
    let (offset, size) = (code.file_range().0, code.size() + 16);
    let how = match by {
        By::Instruction => "insn",
        By::Block => "block",
    };
    let numbers = [offset, size, code.address()].map(|number| number.to_string());
    let output = Command::new(&built).arg(how).arg(trace).arg(program).args(numbers).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (count, nanoseconds) = text.trim().split_once(' ').unwrap();
    (count.parse().unwrap(), nanoseconds.parse::<f64>().unwrap() / 1e9)
}
