//! Sound streams, and a program that is not the one that was traced.
//!
//! A reader cannot know that: the right instructions before the first that differs are shown as they are. But the stream
//! must contradict the program somewhere, and be said to.

use traceframe::format::itrace::coresight::formatter::Framing;

use crate::etm4;
use crate::etrace;
use crate::execution::Execution;
use crate::program::Program;
use crate::shown::Shown;

/// Instructions that do nothing, by the extension of the program's name: 4 bytes.
fn padding(program: &Program) -> &'static [u8] {
    match program.name.split('.').nth(1).unwrap() {
        "a64" => &[0x1f, 0x20, 0x03, 0xd5],
        "a32" => &[0x00, 0xf0, 0x20, 0xe3],
        "t32" => &[0x00, 0xbf, 0x00, 0xbf],
        _ => &[0x13, 0x00, 0x00, 0x00],
    }
}

fn show(program: &Program, wrong: &Program, execution: &Execution, has_returns: bool) -> Shown {
    if program.is_riscv() {
        return etrace::show_with(program, wrong, execution);
    }
    etm4::show_with(program, wrong, execution, has_returns, Framing::Aligned)
}

#[test]
fn another_program_is_noticed() {
    println!(
        "program     wrong                     returns |  shown of executed | true at the beginning | discontinuities"
    );
    for name in ["walk.a64", "walk.a32", "walk.t32", "walk.rv64", "walk.rv32"] {
        let program = Program::open(name);
        let execution = Execution::of(&program);
        let moved = |function: &str| (format!("{function} moved by 4"), program.moved(function, padding(&program)));
        let mut wrongs = vec![moved("collatz"), moved("leaf"), moved("fibonacci"), moved("choose")];
        match name {
            "walk.a64" => wrongs.push(("rebuilt".to_owned(), Program::open("walk-rebuilt.a64"))),
            "walk.rv64" => wrongs.push(("rebuilt".to_owned(), Program::open("walk-rebuilt.rv64"))),
            _ => {}
        }
        for (what, wrong) in &wrongs {
            for has_returns in [false, true].into_iter().take(if program.is_riscv() { 1 } else { 2 }) {
                let shown = show(&program, wrong, &execution, has_returns);
                shown.check_ways(wrong, &format!("{name}, {what}"));
                let list = shown.list();
                let same = list.iter().zip(&execution.list).take_while(|(shown, executed)| shown == executed).count();
                println!(
                    "{name:10}  {what:24}  {has_returns:7} | {:8} of {:6} | {same:21} | {:6}",
                    list.len(),
                    execution.list.len(),
                    shown.discontinuities.len()
                );
                assert!(!shown.discontinuities.is_empty(), "{name}, {what}: nothing was noticed");
            }
        }
    }
}
