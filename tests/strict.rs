//! `--strict` refuses what is damaged or contradicts the program, and nothing else.

mod support;

use support::made::{self, Made};
use support::{data, run, traceframe};

/// The exit code of `info --strict`, and what it says.
fn strict(recording: &str, exec: Option<&str>) -> (Option<i32>, String) {
    let mut command = traceframe();
    command.args(["info", "--strict", recording]);
    if let Some(exec) = exec {
        command.arg("--exec").arg(data(exec));
    }
    let (code, out, err) = run(&mut command);
    (code, out + &err)
}

fn strict_with(recording: &str, exec: &str) -> (Option<i32>, String) {
    strict(data(recording).to_str().unwrap(), Some(exec))
}

#[test]
fn tracepoints_in_a_library_speak_against_no_program() {
    for (recording, exec) in [
        ("library/called.tf", "library/borrower"),
        ("library/condition.tf", "library/borrower"),
        ("library/only.tf", "library/borrower"),
        ("library/both.tf", "library/borrower"),
        ("library/both-pie.tf", "library/borrower-pie"),
        ("library/own.tf", "library/borrower-without-debug"),
        ("library/own.tf", "library/borrower-stripped"),
        ("tfile/error.tf", "bin/case"),
    ] {
        let (code, said) = strict_with(recording, exec);
        assert_eq!(code, Some(0), "{recording} with {exec}: {said}");
    }
}

#[test]
fn another_program_is_found_by_tracepoints_inside_its_span_and_by_places_that_it_has() {
    for (recording, exec, found) in [
        ("library/own.tf", "bin/case", "tracepoint 3 is at 0x4002bd, where there is no code"),
        ("library/own.tf", "partial/entry", "tracepoint 3 is at 0x4002bd, where there is no code"),
        ("tfile/01-regs.tf", "library/borrower", "tracepoint 2 is at 0x401131, where there is no code"),
        (
            "library/both-pie.tf",
            "bin/casepie",
            "is position-independent and nothing recorded tells the one place where it lay",
        ),
    ] {
        let (code, said) = strict_with(recording, exec);
        assert_eq!(code, Some(3), "{recording} with {exec}: {said}");
        assert!(said.contains(found), "{recording} with {exec}: {said}");
    }
}

#[test]
fn an_end_mark_is_2_or_4_zero_bytes_or_a_whole_header_of_them() {
    let mut recording = Made::new(&["R 8", "status 0;tstop::0"]);
    recording.frame(1, &[made::registers(&[7; 8])]);
    let bytes = recording.bytes();
    let frames = bytes.strip_suffix(&[0; 4]).unwrap();
    for (zeros, code) in [(2, 0), (3, 0), (4, 0), (5, 3), (6, 0), (7, 3), (600, 3)] {
        let (_folder, file) = made::save("end.tf", [frames, &vec![0; zeros]].concat());
        let (found, said) = strict(&file, None);
        assert_eq!(found, Some(code), "{zeros} zero bytes: {said}");
    }
}
