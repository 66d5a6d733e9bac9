//! What the commands say of instruction traces.

use std::path::Path;

use crate::etm4;
use crate::execution::Execution;
use crate::program::Program;
use crate::support::{data, run, traceframe};

/// A command with arguments, in the folder of the cases.
fn said(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(traceframe().args(arguments).current_dir(data("itrace")))
}

const ETM: &str = "0x10=etm4,TRCCONFIGR=1,TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,TRCIDR8=0";

#[test]
fn a_dump_with_options_is_what_its_description_is() {
    let dump = "gen-etm4-one/cstrace.bin";
    let (code, with_options, errors) = said(&["frames", dump, "--source", ETM, "--exec", "prog.a64.200"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(with_options.lines().count(), 1 + 63_383);
    let (_, of_snapshot, _) = said(&["frames", "gen-etm4-one", "--exec", "prog.a64.200"]);
    let places = |text: &str| -> Vec<String> { text.lines().skip(1).map(|line| line[..60].to_owned()).collect() };
    assert!(places(&with_options) == places(&of_snapshot));
    // Memory that was read out is as good as the program, but for names.
    let (_, of_memory, errors) =
        said(&["frames", dump, "--source", ETM, "--image", "gen-etm4-one/code.bin@0x400000", "--range", "0..9"]);
    assert_eq!(of_memory.lines().count(), 11, "{errors}");
    assert!(of_memory.lines().nth(1).unwrap().starts_with("       0  0x4002d8"), "{of_memory}");
}

#[test]
fn frames_and_info_say_what_lies_between() {
    let (_, frames, _) = said(&["frames", "walk.t32.toml", "--range", "345..346"]);
    let lines: Vec<&str> = frames.lines().collect();
    assert!(lines[1].contains("0x10124             leaf_with_frame+20 walk.c:73"), "{frames}");
    assert!(lines[1].ends_with("core 0, EL0, time 1193285 to 1195955"), "{frames}");
    assert_eq!(lines[2], "          -- exception: IRQ (byte 0x4e)", "{frames}");
    assert!(lines[3].contains("handler"), "{frames}");
    let (_, json, _) = said(&["frames", "walk.t32.toml", "--range", "2522..2522", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(row["before"][0]["kind"], "gap");
    assert_eq!(row["before"][0]["what"], "the trace unit lost packets (overflow)");
    assert_eq!((row["before"][0]["last"].as_u64(), row["register_bytes"].as_u64()), (Some(2521), Some(0)));
    let (_, info, _) = said(&["info", "walk.t32.toml"]);
    assert!(
        info.contains(
            "source core 0 (thread 1): 4233 instructions, 3 gaps, 14 exceptions\n  first gap: nobody knows what was \
             executed between frame 2521 at "
        ),
        "{info}"
    );
    let (code, _, errors) = said(&["frames", "walk.t32.toml", "--range", "4233..9999"]);
    assert_eq!(code, Some(0));
    assert!(errors.contains("there is no frame 4233 (--range): the last is 4232"), "{errors}");
}

/// What an encoder keeps over a synchronization is found out, or asked for; options that say it are believed.
#[test]
fn what_an_encoder_keeps_is_said_where_nobody_named_it() {
    let info = |sink: &str, named: &str| {
        let source = format!("0=etrace,isa=rv64,iaddress_width_p=64,{named}");
        said(&["info", sink, "--source", &source, "--exec", "prog.rv64.200", "--strict"])
    };
    let (code, text, errors) = info("rv64.200.ir.te_inst", "return_stack_size_p=8,call_counter_size_p=8");
    assert_eq!(code, Some(0), "{errors}");
    assert!(text.contains("63108 instructions, 0 gaps"), "{text}");
    assert!(text.contains("its trace fits an encoder that keeps calls (as keeps_returns=1 would say)"), "{text}");
    let modes = "call_counter_size_p=9,bpred_size_p=7,cache_size_p=7,f0s_width_p=1";
    let (code, _, errors) = info("rv64.loops.te_inst", modes);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("hart 0: keeps_predictions must be named"), "{errors}");
    let (code, text, errors) = info("rv64.loops.te_inst", &format!("{modes},keeps_predictions=1"));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(text.contains("97181 instructions, 0 gaps"), "{text}");
}

/// A description whose program must have a build ID.
fn description(folder: &Path, build_id: &str) -> String {
    let text = std::fs::read_to_string(data("itrace/lost.toml")).unwrap();
    let at = text.find("build_id").unwrap();
    let text = format!("{}build_id = \"{build_id}\"\n", &text[..at]);
    let path = |name: &str| data(&format!("itrace/{name}")).display().to_string();
    let text = text.replace("lost.bin", &path("lost.bin")).replace("prog.a64.200", &path("prog.a64.200"));
    std::fs::write(folder.join("capture.toml"), text).unwrap();
    folder.join("capture.toml").display().to_string()
}

#[test]
fn a_program_of_another_build_is_refused_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "00112233445566778899aabbccddeeff00112233";
    let capture = description(folder.path(), wrong);
    for command in ["info", "frames", "serve"] {
        let (code, shown, errors) = said(&[command, &capture]);
        assert_eq!((code, shown.as_str()), (Some(3), ""), "{command}");
        for part in ["prog.a64.200: has the build ID 7134491d", wrong, "--allow-mismatch"] {
            assert!(errors.contains(part), "{command}: {errors}");
        }
    }
    let (code, info, _) = said(&["info", &capture, "--allow-mismatch"]);
    assert_eq!(code, Some(0));
    assert!(info.contains("is not the build that ran, which has the build ID 0011"), "{info}");
    let (code, _, errors) = said(&["info", &capture, "--allow-mismatch", "--strict"]);
    assert_eq!(code, Some(3), "{errors}");
}

#[test]
fn what_is_missing_is_asked_for() {
    let dump = "gen-etm4-one/cstrace.bin";
    for (arguments, code, parts) in [
        (&["info", dump][..], 3, &["--source says what is in it"][..]),
        (&["info", dump, "--image", "prog.a64.200"], 2, &["nothing says which trace sources", "--source"]),
        (&["info", dump, "--source", ETM], 3, &["nothing is known of what lay in memory", "--exec"]),
        (&["info", dump, "--source", "0x10=etm4,TRCCONFIGR=1"], 2, &["TRCIDR1", "/sys/bus/coresight"]),
        (&["info", dump, "--source", "0=etrace,isa=rv64"], 2, &["iaddress_width_p"]),
        (&["info", dump, "--source", "0=ntrace"], 2, &["N-Trace", "not read"]),
        (
            &["info", dump, "--source", ETM, "--exec", "prog.rv64.200"],
            3,
            &["prog.rv64.200", "another machine", "ETMv4"],
        ),
        (&["info", "lost.toml", "--source", ETM], 3, &["lost.toml", "--source"]),
        (&["info", "nothing.bin", "--source", ETM, "--exec", "prog.a64.200"], 3, &["nothing.bin: No such file"]),
    ] {
        let (found, shown, errors) = said(arguments);
        assert_eq!((found, shown.as_str()), (Some(code), ""), "{arguments:?}: {errors}");
        for part in parts {
            assert!(errors.contains(part), "{arguments:?}: {part} in {errors}");
        }
    }
}

#[test]
fn a_trace_with_gaps_is_refused_under_strict() {
    let (code, shown, errors) = said(&["info", "lost.toml", "--strict"]);
    assert_eq!((code, shown.as_str()), (Some(3), ""), "{errors}");
    assert!(errors.contains("gap: nobody knows what was executed between frame 9777"), "{errors}");
    let (code, _, errors) = said(&["info", "gen-etm4-one", "--exec", "prog.a64.200", "--strict"]);
    assert_eq!(code, Some(0), "{errors}");
}

/// The program that a description names may be given as well: it is the same one, opened once.
#[test]
fn the_program_of_a_description_may_be_given_again() {
    let (_, alone, _) = said(&["info", "gen-etm4-one", "--exec", "prog.a64.200"]);
    assert!(!alone.contains("warnings:"), "{alone}");
    let (_, twice, _) = said(&["info", "lost.toml", "--exec", "../itrace/prog.a64.200"]);
    let (_, once, _) = said(&["info", "lost.toml"]);
    assert_eq!(twice, once);
    let (code, _, errors) = said(&["info", "walk.a64.toml", "--exec", "walk.t32"]);
    assert_eq!(code, Some(3));
    assert!(errors.contains("another machine"), "{errors}");
}

/// Exceptions have the names of the processor's profile, which the program's build attributes tell.
#[test]
fn exceptions_of_the_m_profile_have_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = std::fs::read(data("itrace/walk.t32")).unwrap();
    let attributes = program.windows(6).position(|bytes| bytes == b"aeabi\0").unwrap();
    // Tag_CPU_arch_profile: Application.
    let profile = program[attributes..].windows(2).position(|bytes| bytes == [7, b'A']).unwrap();
    program[attributes + profile + 1] = b'M';
    std::fs::write(folder.path().join("walk.t32"), program).unwrap();
    std::fs::copy(data("itrace/walk.t32.bin"), folder.path().join("walk.t32.bin")).unwrap();
    std::fs::copy(data("itrace/walk.t32.toml"), folder.path().join("walk.t32.toml")).unwrap();
    let exceptions = |capture: &str| -> Vec<String> {
        let (_, frames, _) = said(&["frames", capture]);
        let lines = frames.lines().filter_map(|line| line.trim().strip_prefix("-- exception: "));
        lines.map(|line| line.split(" (").next().unwrap().to_owned()).collect()
    };
    let (of_a, of_m) = (exceptions("walk.t32.toml"), exceptions(folder.path().join("walk.t32.toml").to_str().unwrap()));
    let pairs: std::collections::BTreeSet<_> = of_a.into_iter().zip(of_m).collect();
    let expected = [("IRQ", "PendSV"), ("call", "NMI")].map(|(a, m)| (a.to_owned(), m.to_owned()));
    assert_eq!(pairs.into_iter().collect::<Vec<_>>(), expected);
}

/// The description of a sink of one hart, taken for one of a program, in a folder of its own.
fn of_hart(sink: &[u8], program: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rv64.200.te_inst"), sink).unwrap();
    let description = std::fs::read_to_string(data("itrace/rv64.toml")).unwrap();
    let program = format!("{:?}", data(&format!("itrace/{program}")));
    let capture = folder.path().join("rv64.toml");
    std::fs::write(&capture, description.replace("\"prog.rv64.200\"", &program)).unwrap();
    let capture = capture.display().to_string();
    (folder, capture)
}

/// A buffer that is not full ends in zeros: they cost nothing of what was told before, and no gaps.
#[test]
fn zeros_behind_the_end_are_no_packets() {
    let mut sink = std::fs::read(data("itrace/rv64.200.te_inst")).unwrap();
    sink.resize(sink.len() + 100_000, 0);
    // Other bytes that are no packets are one gap.
    sink.extend([0x05; 1000]);
    let (_folder, capture) = of_hart(&sink, "prog.rv64.200");
    let (_, info, errors) = said(&["info", &capture]);
    assert!(info.contains("63108 instructions, 1 gap,"), "{info}{errors}");
}

/// In a long sink, too, a program that was not traced is not shown, wherever parts of the sink begin.
#[test]
fn another_program_is_contradicted_in_every_part() {
    let sink = std::fs::read(data("itrace/rv64.200.te_inst")).unwrap().repeat(40);
    let (_folder, capture) = of_hart(&sink, "walk-rebuilt.rv64");
    let (_, frames, errors) = said(&["frames", &capture]);
    assert!(errors.contains("nothing of it is certain enough to be shown"), "{errors}");
    let lines: Vec<&str> = frames.lines().skip(1).collect();
    assert!(lines.len() == 21 && lines[..20].iter().all(|line| line.contains("-- gap: ")), "{frames}");
    assert_eq!(lines[20].trim(), "-- … there may be more here");
}

/// The state of execution is shown with each instruction, with the IDs that are traced.
#[test]
fn the_context_of_an_instruction_is_shown() {
    let program = Program::open("walk.a64");
    let folder = tempfile::tempdir().unwrap();
    let options = etm4::Options { has_contexts: true, ..etm4::Options::default() };
    let (sink, description) = etm4::made(&program, &Execution::of(&program), &options, 1);
    let capture = folder.path().join("capture.toml");
    std::fs::write(folder.path().join("walk.a64.bin"), sink).unwrap();
    std::fs::write(&capture, description.replace("\"walk.a64\"", &format!("{:?}", data("itrace/walk.a64")))).unwrap();
    let (_, frames, errors) = said(&["frames", capture.to_str().unwrap()]);
    let (mut contexts, mut shown) = (std::collections::BTreeSet::new(), 0);
    for line in frames.lines().skip(1).filter(|line| !line.contains(" -- ")) {
        let (_, context) = line.split_once("core 0, EL0, context 0x").unwrap_or_else(|| panic!("{line}"));
        contexts.insert(context.to_owned());
        shown += 1;
    }
    assert!(contexts.len() > 5 && shown > 5000, "{contexts:?} {shown} {errors}");
}

/// A position-independent program lies where the addresses of the trace fit it: where Linux puts it without
/// randomisation, or where it was linked. Elsewhere its place is asked for.
#[test]
fn a_position_independent_program_is_placed_by_what_was_executed() {
    let program = Program::open("walk.a64");
    let execution = Execution::of(&program);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut file = std::fs::read(data("itrace/walk.a64")).unwrap();
    // e_type: ET_DYN.
    file[16] = 3;
    std::fs::write(path("walk.a64"), file).unwrap();
    for (bias, said_of_it) in [
        (0, Some("at its linked addresses, which every recorded address fits")),
        (0xaaaa_aaaa_a000, Some("usual base, which every recorded address fits")),
        (0x1234_5678_9000, None),
    ] {
        let (sink, description) =
            etm4::made(&program.at_bias(bias), &execution.at_bias(bias), &etm4::Options::default(), 1);
        std::fs::write(path("walk.a64.bin"), sink).unwrap();
        std::fs::write(path("capture.toml"), description).unwrap();
        let (code, info, errors) = said(&["info", &path("capture.toml")]);
        match said_of_it {
            Some(words) => assert!(info.contains(words), "{bias:#x}: {info}{errors}"),
            None => {
                assert_eq!((code, info.as_str()), (Some(3), ""));
                assert!(errors.contains("is position-independent") && errors.contains("--image FILE@ADDR"), "{errors}");
            }
        }
        let (_, frames, errors) = match said_of_it {
            Some(_) => said(&["frames", &path("capture.toml")]),
            None => {
                let bias = format!("{bias:#x}");
                said(&["frames", &path("capture.toml"), "--exec", &path("walk.a64"), "--load-bias", &bias])
            }
        };
        let addresses = frames.lines().skip(1).filter(|line| !line.contains(" -- "));
        let addresses: Vec<u64> = addresses
            .map(|line| u64::from_str_radix(line[10..].split_whitespace().next().unwrap().trim_start_matches("0x"), 16))
            .collect::<Result<_, _>>()
            .unwrap();
        let expected = execution.at_bias(bias).list;
        let missing = expected.len() - addresses.len();
        assert!(expected.starts_with(&addresses) && missing < 20, "{bias:#x}: {missing} {errors}");
    }
    // The last one, where the description says it, and where no instruction can begin.
    let description = std::fs::read_to_string(path("capture.toml")).unwrap();
    let said_at = |address: u64| {
        let image = "file = \"walk.a64\"\n";
        assert!(description.contains(image), "{description}");
        let text = description.replace(image, &format!("{image}address = {address:#x}\n"));
        std::fs::write(path("capture.toml"), text).unwrap();
        said(&["info", &path("capture.toml")])
    };
    let (_, info, errors) = said_at(0x1234_5678_9000 + 0x40_0000);
    assert!(info.contains("walk.a64, load bias 0x123456789000, as the description says"), "{info}{errors}");
    let (code, info, errors) = said_at(0x1234_5678_9000 + 0x40_0001);
    assert_eq!((code, info.as_str()), (Some(3), ""));
    assert!(
        errors.contains("0x123456789001 would be added to its addresses") && errors.contains("no multiple of 4"),
        "{errors}"
    );
}

/// A program that was rebuilt is contradicted by the trace, and the first place is named.
#[test]
fn another_program_is_contradicted() {
    let description = std::fs::read_to_string(data("itrace/walk.a64.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| data(&format!("itrace/{name}")).display().to_string();
    let text = description.replace("\"walk.a64.bin\"", &format!("{:?}", path("walk.a64.bin")));
    let text = text.replace("\"walk.a64\"", &format!("{:?}", path("walk-rebuilt.a64")));
    let capture = folder.path().join("capture.toml");
    std::fs::write(&capture, text).unwrap();
    let capture = capture.to_str().unwrap();
    // It is contradicted before anything that it shows is certain.
    let reason = "no exception is told that the instruction at 0x400434 causes";
    for command in ["info", "frames"] {
        let (code, shown, errors) = said(&[command, capture]);
        assert_eq!(code, Some(0));
        let all = shown.clone() + &errors;
        assert!(all.contains("nothing of it is certain enough to be shown (is it the program"), "{all}");
        assert!(all.contains(reason) && all.contains("(byte 0x2c)"), "{all}");
    }
    let (_, info, _) = said(&["info", capture]);
    assert!(info.contains("0 instructions, 8 gaps, 0 exceptions"), "{info}");
    let (code, _, errors) = said(&["frames", capture, "--strict"]);
    assert_eq!(code, Some(3));
    assert!(errors.contains(reason), "{errors}");
}

/// What is made for gdb to unwind by is in no file: an instruction has its program counter, and nothing else.
#[test]
fn a_conversion_has_what_was_traced_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.tf").display().to_string();
    let (code, _, errors) = said(&["convert", "walk.t32.toml", &out]);
    assert_eq!(code, Some(0), "{errors}");
    let frames = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let (_, shown, _) = said(&[&["frames", "--json"], arguments].concat());
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (traced, converted) = (frames(&["walk.t32.toml"]), frames(&[&out]));
    assert_eq!((traced.len(), converted.len()), (4233, 4233));
    for (traced, converted) in traced.iter().zip(&converted) {
        assert_eq!(traced["pc"], converted["pc"], "{converted}");
        assert_eq!((converted["register_bytes"].as_u64(), &converted["memory"]), (Some(4), &serde_json::json!([])));
    }
}

/// Of what nothing can be read every command says so, and why; what begins late is remarked.
#[test]
fn a_source_that_is_not_in_its_sink_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        std::fs::write(folder.path().join(name), content).unwrap();
        folder.path().join(name).display().to_string()
    };
    let read = |name: &str| std::fs::read(data(&format!("itrace/{name}"))).unwrap();
    file("walk.a64", &read("walk.a64"));
    file("prog.rv64.200", &read("prog.rv64.200"));
    let description = |name: &str| String::from_utf8(read(name)).unwrap();
    let (arm, risc_v) = (description("walk.a64.toml"), description("rv64.toml"));
    let (sink, packets) = (read("walk.a64.bin"), read("rv64.200.te_inst"));
    let garbage = vec![0xff; 1 << 17];
    // Data of the source 0x10, which say nothing.
    let frame = [[0x21, 2].as_slice(), &[2; 13], &[0]].concat();
    let other_id = arm.replace("id = 0x10", "id = 0x12").replace("TRCTRACEIDR = 0x10", "");
    let other_hart = risc_v.replace("id = 0", "id = 1").replace("format = \"smi\"", "format = \"smi\"\nhart_bits = 1");
    for (description, sink_name, bytes, words) in [
        (&arm, "walk.a64.bin", Vec::new(), "nothing can be read of core 0: its sink is empty"),
        (
            &other_id,
            "walk.a64.bin",
            sink.clone(),
            "core 0: its sink has no bytes of 0x12, which is its ID, but of 0x10",
        ),
        (&arm, "walk.a64.bin", frame.repeat(9), "nothing can be read of core 0: its bytes have no synchronization"),
        (
            &arm,
            "walk.a64.bin",
            sink[3..].to_vec(),
            "which is no multiple of the 16 of a frame (does it begin with one?)",
        ),
        (
            &risc_v,
            "rv64.200.te_inst",
            packets[20..80].to_vec(),
            "nothing can be read of hart 0: its bytes have no sync",
        ),
        (&risc_v, "rv64.200.te_inst", packets[20..].to_vec(), "hart 0: no packet before it tells how addresses"),
        (&other_hart, "rv64.200.te_inst", [0x41, 0, 7].repeat(9), "no bytes of 0x1, which is its ID, but of 0x0"),
    ] {
        file(sink_name, &bytes);
        let capture = file("capture.toml", description.as_bytes());
        let (code, info, errors) = said(&["info", &capture]);
        assert_eq!(code, Some(0), "{errors}");
        assert!(info.contains(words), "{words}: {info}");
        let (code, _, errors) = said(&["frames", &capture, "--strict"]);
        assert!(code == Some(3) && errors.contains("(refused under --strict)"), "{errors}");
    }
    let risc_v = risc_v.replace("iaddress_width_p", "full_address = 0, iaddress_width_p");
    for (description, sink_name, bytes, words) in [
        (&arm, "walk.a64.bin", sink, "core 0 is read from byte 0x2000"),
        (&risc_v, "rv64.200.te_inst", packets, "hart 0 is read from byte 0x20002 of its sink on"),
    ] {
        let capture = file("capture.toml", description.as_bytes());
        file(sink_name, &bytes);
        let (_, at_once, _) = said(&["info", &capture]);
        assert!(!at_once.contains("is read from byte"), "{at_once}");
        file(sink_name, &[garbage.as_slice(), &bytes].concat());
        let (_, late, _) = said(&["info", &capture]);
        assert!(late.contains(words), "{words}: {late}");
    }
}
