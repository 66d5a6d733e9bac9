//! Recordings of other machines: their kernels' stacks in gdb-multiarch, and what trace-cmd reads of them.

use std::path::Path;
use std::process::Command;

use traceframe::format::tracedat::Choices;

use super::conversions::report;
use super::frames::{fixture, open, shown};
use super::made_file::{FUNCTIONS, Made, TIME};
use super::order::assert_same;
use super::support::{Gdb, Server, data, run, traceframe};

const MACHINES: [Made; 8] = [
    Made { uname: "x86_64", long: 8, is_big: false, base: 0xffff_ffff_8100_0000 },
    Made { uname: "aarch64", long: 8, is_big: false, base: 0xffff_8000_8000_0000 },
    Made { uname: "riscv64", long: 8, is_big: false, base: 0xffff_ffff_8000_0000 },
    Made { uname: "i686", long: 4, is_big: false, base: 0xc100_0000 },
    Made { uname: "armv7l", long: 4, is_big: false, base: 0xc010_0000 },
    Made { uname: "ppc64", long: 8, is_big: true, base: 0xc000_0000_0000_0000 },
    Made { uname: "ppc", long: 4, is_big: true, base: 0xc000_0000 },
    Made { uname: "s390x", long: 8, is_big: true, base: 0x3_ffe0_0000 },
];

#[test]
fn trace_cmd_reads_the_same_of_recordings_of_other_machines() {
    let folder = tempfile::tempdir().unwrap();
    for machine in MACHINES {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.bytes()).unwrap();
        let shown = shown(&*open(&path, Choices::default()));
        assert_same(&shown, &report(&path, &[]), machine.uname);
        let times: Vec<i64> = shown.iter().map(|event| event.time - TIME as i64).collect();
        assert_eq!(times, [0, 500, 1000], "{machine:?}");
        let [switch, other, stack] = &shown[..] else { panic!("{machine:?}") };
        assert_eq!((switch.variable("prev_state"), switch.variable("next_pid")), (-2, 11), "{machine:?}");
        assert_eq!((other.variable("next_pid"), other.variable("next_prio")), (0, 98), "{machine:?}");
        assert_eq!(stack.variable("size"), 6, "{machine:?}");
    }
}

#[test]
fn stacks_are_addresses_whatever_their_size() {
    let folder = tempfile::tempdir().unwrap();
    for machine in MACHINES {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.bytes()).unwrap();
        let (code, table, errors) = run(traceframe().arg("frames").arg(&path));
        assert_eq!(code, Some(0), "{errors}");
        let entries: Vec<String> = (1..7).map(|number| format!("{:#x}", machine.entry(number))).collect();
        assert!(table.contains(&format!(" kernel_stack           size=6 caller=[{}]", entries.join(" "))), "{table}");
    }
}

/// Of the recording whose conversation with gdb is in `tests/scenarios/tracedat/aarch64.txt`.
#[test]
fn the_recording_of_another_machine_that_is_kept_is_one_of_these() {
    assert!(std::fs::read(fixture("aarch64-v6")).unwrap() == MACHINES[1].bytes());
}

#[test]
fn gdb_unwinds_the_stacks_of_other_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        "tfind 0",
        "backtrace",
        "print $next_pid",
        "x/s $next_comm",
        "print *(struct trace_event_raw_sched_switch *)$rec",
        "tfind 2",
        "backtrace",
        "tfind 1",
        "backtrace",
    ]
    .map(str::to_owned);
    for machine in MACHINES {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.bytes()).unwrap();
        let server = Server::serve(&[path.to_str().unwrap()]);
        let answers = Gdb::Multiarch.answers(&[format!("target remote :{}", server.port)], &commands);
        let [_, switch, next, name, record, _, stack, _, alone] = &answers[..] else { panic!("{answers:?}") };
        let width = 2 * machine.long;
        let called = |number: usize, place: usize| {
            format!("#{number}  0x{:0width$x} in {} ()", machine.entry(place), FUNCTIONS[place])
        };
        let outer = (1..5).map(|number| called(number, number + 2));
        let own = format!("#0  0x{:0width$x} in __traceiter_sched_switch ()", machine.base + 0x2000);
        assert_eq!(*switch, std::iter::once(own.clone()).chain(outer).collect::<Vec<_>>(), "{machine:?}");
        assert_eq!(*stack, (0..6).map(|number| called(number, number + 1)).collect::<Vec<_>>(), "{machine:?}");
        // With what gdb says of registers that are not there.
        assert!(alone.contains(&own) && !alone.iter().any(|line| line.starts_with("#1")), "{machine:?}: {alone:?}");
        assert_eq!((next[0].as_str(), name[0].ends_with("\"task11\"")), ("$1 = 11", true), "{machine:?} {name:?}");
        for fields in ["prev_pid = 10, prev_prio = 120, prev_state = -2, next_comm = \"task11", "next_prio = 98}"] {
            assert!(record[0].contains(fields), "{machine:?}: {record:?}");
        }
    }
}

#[test]
fn beside_a_program_of_another_machine_the_kernel_has_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let commands = ["tfind 2", "backtrace", "info symbol _start"].map(str::to_owned);
    let programs = ["x86-64", "aarch64", "riscv64", "i386", "arm", "powerpc64", "powerpc", "s390x"];
    for (machine, program) in MACHINES.into_iter().zip(programs) {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.bytes()).unwrap();
        let program = data(&format!("architectures/{program}.elf"));
        let server = Server::serve(&[path.to_str().unwrap(), "--exec", program.to_str().unwrap()]);
        let answers = Gdb::Multiarch.answers(&[format!("target remote :{}", server.port)], &commands);
        let [_, stack, start] = &answers[..] else { panic!("{answers:?}") };
        let width = 2 * machine.long;
        let called = |number: usize| {
            let (address, name) = (machine.entry(number + 1), FUNCTIONS[number + 1]);
            format!("#{number}  0x{address:0width$x} in {name} () from target:{}.symbols", path.display())
        };
        assert_eq!(*stack, (0..6).map(called).collect::<Vec<_>>(), "{machine:?}");
        assert!(start[0].contains("_start in section .text"), "{machine:?}: {start:?}");
    }
}

#[test]
fn stacks_of_an_earlier_boot_are_shown_by_the_kernel_whose_symbols_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let commands =
        ["tfind 0", "backtrace", "tfind 1", "backtrace", "output/x ((long *) $caller)[0]"].map(str::to_owned);
    let machine = Made { base: 0xffff_ffff_8120_0000, ..MACHINES[0] };
    let (told, unknown) = ("are shown moved to where", "may have wrong names");
    for (lower, said, remark) in [
        (0x20_0000, "ffffffff81000000\t[kernel]\nffffffffc0000000\tgone", Some(told)),
        // As the first kernels said it: how far it was moved from where it is linked.
        (0x20_0000, "0\t[kernel]", Some(told)),
        (0, "ffffffff81200000\t[kernel]", None),
        (0, "# Current", None),
    ] {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.of_earlier_boot(lower, said)).unwrap();
        let server = Server::serve(&[path.to_str().unwrap(), "--instance", "before"]);
        let answers = Gdb::Newest.answers(&[format!("target remote :{}", server.port)], &commands);
        let [_, switch, _, stack, recorded] = &answers[..] else { panic!("{answers:?}") };
        let called = |number: usize, place: usize| {
            format!("#{number}  {:#018x} in {} ()", machine.entry(place), FUNCTIONS[place])
        };
        let own = "#0  0xffffffff81202000 in __traceiter_sched_switch ()".to_owned();
        let outer = (1..5).map(|number| called(number, number + 2));
        assert_eq!(*switch, std::iter::once(own).chain(outer).collect::<Vec<_>>(), "{said}");
        assert_eq!(*stack, (0..6).map(|number| called(number, number + 1)).collect::<Vec<_>>(), "{said}");
        assert_eq!(*recorded, [format!("{:#x}", machine.entry(1) - lower)], "{said}: what was recorded stays");
        let errors = server.errors();
        assert_eq!(errors.contains(told), remark == Some(told), "{said}: {errors}");
        assert!(!errors.contains(unknown), "{said}: {errors}");
        assert_eq!(errors.contains("modules that are gone: 1;"), said.contains("gone"), "{said}: {errors}");
    }
    // Words that are none, and a place where no kernel can be.
    for said in ["zzzz\t[kernel]", "ffffffffffffffff\t[kernel]"] {
        let path = folder.path().join("made.dat");
        std::fs::write(&path, machine.of_earlier_boot(0, said)).unwrap();
        let recording = open(&path, Choices::default());
        assert!(recording.remarks().iter().any(|remark| remark.contains(unknown)), "{:?}", recording.remarks());
    }
    // Of a machine whose kernel is linked to nobody knows where.
    let machine = Made { base: 0xffff_8000_8000_0000, ..MACHINES[1] };
    let path = folder.path().join("made.dat");
    std::fs::write(&path, machine.of_earlier_boot(0x1000, "1000\t[kernel]")).unwrap();
    let recording = open(&path, Choices::default());
    assert!(recording.remarks().iter().any(|remark| remark.contains(unknown)), "{:?}", recording.remarks());
}

#[test]
fn a_program_that_cannot_have_run_there_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.dat");
    std::fs::write(&path, MACHINES[0].bytes()).unwrap();
    // A kernel with functions of the recorded one, 0x200000 lower; where they are moved, not all by the same.
    let kernel = |moved: u64| {
        let function = |name: &&str| {
            format!(
                ".section .kernel.{name}, \"ax\"\n.globl {name}\n.type {name}, @function\n{name}: ret\n.size {name}, 1\n"
            )
        };
        let functions: String = FUNCTIONS[2..6].iter().map(function).collect();
        let source = folder.path().join("kernel.S");
        std::fs::write(&source, functions).unwrap();
        let place = |name: &str, place: u64| {
            let moved = if name == "schedule" { moved } else { moved / 2 };
            format!("-Wl,--section-start=.kernel.{name}={:#x}", MACHINES[0].base + 0x1000 * place - 0x20_0000 + moved)
        };
        let places = FUNCTIONS[2..6].iter().zip(2..).map(|(name, number)| place(name, number));
        let output = folder.path().join("vmlinux");
        let mut gcc = Command::new("gcc");
        gcc.args(["-nostdlib", "-static", "-no-pie", "-Wl,-e,schedule"])
            .args(places)
            .arg(&source)
            .arg("-o")
            .arg(&output);
        let (code, _, errors) = run(&mut gcc);
        assert_eq!(code, Some(0), "{errors}");
        output
    };
    let info = |program: &Path| run(traceframe().arg("info").arg(&path).arg("--strict").arg("--exec").arg(program));
    let (code, output, errors) = info(&kernel(0));
    assert!(code == Some(0) && output.contains("load bias 0x200000, as the recording says"), "{output}{errors}");
    let (code, _, errors) = info(&kernel(0x40));
    assert!(code == Some(3) && errors.contains("is not the kernel that was recorded"), "{errors}");
    let (code, _, errors) = info(&data("architectures/aarch64.elf"));
    assert!(code == Some(3) && errors.contains("is for aarch64, and the recording is of i386:x86-64"), "{errors}");
    // Machines of 64 bits run programs of 32.
    assert_eq!(info(&data("architectures/i386.elf")).0, Some(0));
    // It is not given to gdb either, which finds the names in the recording.
    let program = kernel(0x40);
    let mut command = traceframe();
    command.arg("run").arg(&path).arg("--exec").arg(program).args(["--ex", "tfind 2", "--ex", "backtrace"]);
    let (code, output, errors) = run(&mut command);
    assert!(
        code == Some(0) && output.contains("in schedule ()") && output.contains("in system_call ()"),
        "{output}{errors}"
    );
}

#[test]
fn a_pc_of_an_earlier_boot_is_said_to_be_moved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.dat");
    let machine = Made { base: 0xffff_ffff_8120_0000, ..MACHINES[0] };
    std::fs::write(&path, machine.of_earlier_boot(0x20_0000, "ffffffff81000000\t[kernel]")).unwrap();
    let server = Server::serve(&[path.to_str().unwrap(), "--instance", "before"]);
    let mut client = server.connect();
    for (frame, pc) in [
        (
            "QTFrame:0",
            "pc: 0xffffffff81202000, inferred: the frame's registers do not hold it, this is its tracepoint's address\n",
        ),
        (
            "QTFrame:1",
            "pc: 0xffffffff81201010, inferred: an earlier boot recorded it, and it is moved to where this one's",
        ),
    ] {
        client.ask(frame);
        let status = client.monitor("status");
        assert!(status.contains(pc), "{status}");
        assert!(status.contains("CPU 0, instance before, "), "{status}");
        assert!(status.contains("after it each thread's are those of the last frame that it made"), "{status}");
    }
    let (code, output, errors) = run(traceframe().arg("info").arg(&path));
    assert_eq!(code, Some(0), "{errors}");
    let clocks =
        "(the top one: an unknown clock, before: an unknown clock of an earlier boot): their times do not compare";
    assert!(output.contains(clocks), "{output}");
}
