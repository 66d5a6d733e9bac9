//! What options say.

use proptest::prelude::*;

use super::*;
use crate::format::itrace::coresight::formatter;
use crate::format::itrace::etrace;
use crate::format::itrace::instruction::InstructionSet;

fn source(text: &str) -> SourceOption {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    text.parse::<SourceOption>().unwrap_err().to_string()
}

fn options(sources: &[&str], sink: Option<&str>, images: &[&str]) -> Options {
    Options {
        framing: sink.map(|sink| sink.parse().unwrap()),
        sources: sources.iter().map(|text| source(text)).collect(),
        images: images.iter().map(|text| text.parse().unwrap()).collect(),
    }
}

fn capture(sources: &[&str], sink: Option<&str>) -> Result<Capture, CaptureError> {
    Capture::from_options(Path::new("dump.bin"), &options(sources, sink, &[]))
}

fn capture_error(sources: &[&str], sink: Option<&str>) -> String {
    capture(sources, sink).unwrap_err().to_string()
}

#[test]
fn a_source_of_etmv4_has_its_registers() {
    let option = source(&format!("0x10=etm4,{REGISTERS},TRCTRACEIDR=0x10,trcdevarch=0x47724a13,TRCIDR9=5,name=core0"));
    let source = option.source();
    assert_eq!((source.id, source.name.as_str(), &source.core), (Some(0x10), "core0", &None));
    let Protocol::Etm4(configuration) = &source.protocol else { panic!("{source:?}") };
    assert_eq!(configuration.trace_id(), 0x10);
    assert!(configuration.has_return_stack());
    assert_eq!(source.protocol.name(), "ETMv4");
}

#[test]
fn the_id_is_the_register_that_was_left_out() {
    let option = source(&format!("17=etm4,{REGISTERS}"));
    let Protocol::Etm4(configuration) = option.source().protocol else { panic!("{option:?}") };
    assert_eq!((option.source().id, configuration.trace_id()), (Some(0x11), 0x11));
    assert_eq!(option.source().name, "source 0x11");
}

#[test]
fn a_source_of_etrace_has_its_parameters_and_instruction_set() {
    let option = source("0=etrace,iaddress_width_p=64,isa=rv64,core=hart0,core_type=Rocket");
    let source = option.source();
    let Protocol::ETrace { instruction_set, .. } = source.protocol else { panic!("{source:?}") };
    assert_eq!((source.id, instruction_set), (Some(0), InstructionSet::Rv64));
    let core = source.core.as_ref().unwrap();
    assert_eq!((core.name.as_str(), core.kind.as_deref()), ("hart0", Some("Rocket")));
    assert_eq!(source.name, "hart0");
}

#[test]
fn what_a_source_lacks_is_asked_for() {
    for (register, file) in [
        ("TRCCONFIGR", "mgmt/trcconfig"),
        ("TRCIDR0", "trcidr/trcidr0"),
        ("TRCIDR1", "trcidr/trcidr1"),
        ("TRCIDR2", "trcidr/trcidr2"),
        ("TRCIDR8", "trcidr/trcidr8"),
    ] {
        let rest: Vec<&str> = REGISTERS.split(',').filter(|said| !said.starts_with(&format!("{register}="))).collect();
        assert_eq!(
            refused(&format!("0x10=etm4,{}", rest.join(","))),
            format!(
                "the trace unit's register {register} is missing; without it the trace cannot be read \
                 (on Linux: cat /sys/bus/coresight/devices/etm0/{file})"
            )
        );
    }
    assert_eq!(
        refused(&format!("0x10=ete,{}", REGISTERS.replace("0x4100f403", "0x4100fff0"))),
        "the trace unit's register TRCDEVARCH is missing; without it the trace cannot be read \
         (on Linux: cat /sys/bus/coresight/devices/ete0/mgmt/trcdevarch)"
    );
    assert_eq!(
        refused("0x10=etm4,TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488"),
        "the trace unit's registers TRCCONFIGR, TRCIDR8 are missing; without them the trace cannot be read \
         (on Linux: cd /sys/bus/coresight/devices/etm0; grep . mgmt/trcconfig trcidr/trcidr8)"
    );
    assert_eq!(
        refused(&format!("0x10=etm4,{}", REGISTERS.replace("TRCCONFIGR", "TRCCONFIG"))),
        "\"TRCCONFIG\" is nothing of a source of protocol etm4; expected a register of its trace unit, as TRCCONFIGR"
    );
    assert_eq!(
        refused("0=etrace,isa=rv64"),
        "the parameter iaddress_width_p of the trace encoder is missing: its documentation, or a discovery of its \
         parameters, has it"
    );
    assert_eq!(
        refused("0=etrace,iaddress_width_p=64"),
        "isa is missing: say rv32 or rv64, which the hart's documentation has, and readelf -h of its program (Class)"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let cases = [
        ("", "\"\" names no source, expected ID=PROTOCOL, as in 0x10=etm4 or 0=etrace (read are etm4, ete, etrace)"),
        ("x=etm4", "the ID of the source is \"x\", expected a number (0x… for hexadecimal)"),
        ("1=foo", "\"foo\" is no protocol that is known; read are ETMv4 (etm4), ETE (ete) and RISC-V E-Trace (etrace)"),
        ("1=ptm", "PTM is not read yet; read are ETMv4 (etm4), ETE (ete) and RISC-V E-Trace (etrace)"),
        ("1=etm4,TRCIDR0", "\"TRCIDR0\" has no value, expected NAME=VALUE, with commas between them"),
        ("1=etm4,TRCIDR0=0xg", "TRCIDR0 is \"0xg\", expected a number (0x… for hexadecimal)"),
        ("1=etm4,TRCIDR0=1,trcidr0=1", "trcidr0 is given twice, expected one value"),
        ("1=etm4,name=a,name=b", "name is given twice, expected one value"),
        (
            "1=etm4,idr0=1",
            "\"idr0\" is nothing of a source of protocol etm4; expected a register of its trace unit, as TRCCONFIGR",
        ),
        ("0=etrace,iaddress_width_p=64,isa=rv128", "isa is \"rv128\", expected rv32 or rv64"),
        ("0=etrace,iaddress_width_p=0,isa=rv64", "the parameter iaddress_width_p is 0, expected 1 to 64"),
    ];
    for (text, error) in cases {
        assert_eq!(refused(text), error, "{text}");
    }
    assert_eq!(
        refused(&format!("0x10=etm4,{REGISTERS},TRCTRACEIDR=0x11")),
        "the ID of the source is 0x10, but its TRCTRACEIDR is 0x11 (leave out one of them)"
    );
    assert_eq!(
        refused(&format!("0x10=ete,{REGISTERS}")),
        "the protocol is ete, but the registers are those of an ETMv4 of version 4.0 (TRCDEVARCH and TRCIDR1 tell it)"
    );
    assert_eq!(
        refused(&format!("0x10=etm4,{REGISTERS},TRCDEVARCH=0x47705a13")),
        "the protocol is etm4, but the registers are those of an ETE (TRCDEVARCH and TRCIDR1 tell it)"
    );
    assert!(refused("0=etrace,width=64").starts_with("\"width\" is no parameter of a trace encoder"));
    for protocol in ["ntrace", "etm3", "intel-pt", "stm", "itm"] {
        assert!(
            refused(&format!("1={protocol}"))
                .ends_with("is not read yet; read are ETMv4 (etm4), ETE (ete) and RISC-V E-Trace (etrace)")
        );
    }
}

#[test]
fn a_sink_is_what_its_sources_usually_write() {
    let etm = format!("0x10=etm4,{REGISTERS}");
    let sink = &capture(&[&etm], None).unwrap().sinks[0];
    assert_eq!(
        (sink.path.as_path(), sink.framing),
        (Path::new("dump.bin"), Framing::CoreSight(formatter::Framing::Aligned))
    );
    let etrace = "0=etrace,iaddress_width_p=64,isa=rv64";
    let sink = &capture(&[etrace], None).unwrap().sinks[0];
    assert_eq!(sink.framing, Framing::RiscV(etrace::Framing::Siemens { hart_bits: 0 }));
    let sink = &capture(&[&etm], Some("unformatted")).unwrap().sinks[0];
    assert_eq!((sink.sources[0].id, sink.sources[0].name.as_str()), (None, "source 0x10"));
    let three = "3=etrace,iaddress_width_p=64,isa=rv64";
    let sink = &capture(&[etrace, three], Some("smi,hart_bits=2")).unwrap().sinks[0];
    assert_eq!(sink.sources.iter().map(|source| source.id).collect::<Vec<_>>(), [Some(0), Some(3)]);
}

#[test]
fn framings_are_read_as_they_are_written() {
    for text in ["coresight", "tpiu", "unformatted", "smi,hart_bits=3", "encapsulation,source_bits=4,timestamp_bytes=8"]
    {
        assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
    }
    assert_eq!("hsync".parse::<Framing>().unwrap().to_string(), "tpiu");
    assert_eq!("smi".parse::<Framing>().unwrap().to_string(), "smi,hart_bits=0");
    let refused = |text: &str| text.parse::<Framing>().unwrap_err().to_string();
    assert_eq!(
        refused("etb"),
        "\"etb\" is no kind of sink, expected coresight, tpiu, unformatted, smi or encapsulation"
    );
    assert_eq!(
        refused("tpiu,hart_bits=1"),
        "tpiu takes no \"hart_bits\" (smi takes hart_bits, encapsulation source_bits and timestamp_bytes)"
    );
    assert_eq!(
        refused("smi,bits=1"),
        "smi takes no \"bits\" (smi takes hart_bits, encapsulation source_bits and timestamp_bytes)"
    );
    assert_eq!(refused("smi,hart_bits=65"), "hart_bits is 65, expected 0 to 64");
    assert_eq!(refused("smi,hart_bits=1,hart_bits=1"), "hart_bits is given twice, expected one value");
    assert_eq!(
        refused("encapsulation,source_bits=1"),
        "encapsulation needs timestamp_bytes, which the documentation of the trace encoder has"
    );
}

#[test]
fn sources_fit_their_sink() {
    let etm = format!("0x10=etm4,{REGISTERS}");
    let etrace = "3=etrace,iaddress_width_p=64,isa=rv64";
    assert_eq!(
        capture_error(&[], Some("coresight")),
        "dump.bin: has no source: name each that is to be read, as in --source \
         0x10=etm4,TRCCONFIGR=0x1,TRCIDR0=0x28000ea1,… or --source 0=etrace,iaddress_width_p=64,isa=rv64"
    );
    assert_eq!(
        capture_error(&[&etm, &etm], None),
        "dump.bin: the ID 0x10 is that of two sources in one sink, expected one each"
    );
    assert_eq!(
        capture_error(&[&etm, &format!("0x11=etm4,{REGISTERS}")], Some("unformatted")),
        "dump.bin: the sink is not formatted and so has one source, but 2 are named (is it coresight or tpiu?)"
    );
    assert_eq!(
        capture_error(&[&etm], Some("smi")),
        "dump.bin: the sink is smi, which no source of ETMv4 writes (coresight, tpiu and unformatted are of ETMv4 and \
         ETE, smi and encapsulation of E-Trace)"
    );
    assert!(capture_error(&[&etm, etrace], None).contains("the sink is coresight, which no source of E-Trace writes"));
    assert_eq!(
        capture_error(&[&format!("0x70=etm4,{REGISTERS}")], None),
        "dump.bin: the ID of the source is 0x70, expected 0x1 to 0x6f (TRCTRACEIDR has it)"
    );
    assert_eq!(
        capture_error(&[etrace], Some("smi,hart_bits=1")),
        "dump.bin: the ID of the source is 3, but hart_bits is 1, so that no packet has it (say how many \
         bits there are)"
    );
    assert!(capture(&[&format!("{}=etrace,iaddress_width_p=64,isa=rv64", u64::MAX)], Some("smi,hart_bits=64")).is_ok());
}

#[test]
fn images_are_programs_or_memory() {
    let folder = folder(&[("rom.bin", "rom")]);
    fs::write(folder.path().join("lib@1.so"), elf(None)).unwrap();
    let at = |name: &str| format!("{}/{name}", folder.path().display());
    let images = [at("lib@1.so"), at("lib@1.so@0x7f0000000000"), at("rom.bin@4096")];
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let options = options(&[&format!("0x10=etm4,{REGISTERS}")], None, &images);
    let capture = Capture::open(Path::new("dump.bin"), &options).unwrap().unwrap();
    let library = |load| ImageAt::Elf(ElfAt { path: at("lib@1.so").into(), load, build_id: None });
    let rom = MemoryAt { path: at("rom.bin").into(), offset: 0, address: 4096, length: None, space: Space::Any };
    assert_eq!(capture.images, [library(None), library(Some(Load::Address(0x7f00_0000_0000))), ImageAt::Memory(rom)]);
}

#[test]
fn memory_needs_an_address() {
    let folder = folder(&[("rom.bin", "rom")]);
    let path = format!("{}/rom.bin", folder.path().display());
    let options = options(&[&format!("0x10=etm4,{REGISTERS}")], None, &[&path]);
    assert_eq!(
        said(&folder, Capture::from_options(Path::new("dump.bin"), &options)),
        "rom.bin: is no ELF file, so it is taken for bytes of memory, and these need an address (as in FILE@0x8000)"
    );
    let refused = |text: &str| text.parse::<ImageOption>().unwrap_err().to_string();
    assert_eq!(refused("@0x10"), "names no file, expected FILE or FILE@ADDRESS");
    assert_eq!(refused(""), "names no file, expected FILE or FILE@ADDRESS");
    assert_eq!(refused("a@0xg"), "the address is \"0xg\", expected a number (0x… for hexadecimal)");
    assert_eq!(refused("a@"), "the address is \"\", expected a number (0x… for hexadecimal)");
    let plain = ImageOption { path: "me@home".into(), address: None };
    assert_eq!("me@home".parse::<ImageOption>().unwrap(), plain);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}", id in "[0-9x]{0,4}", protocol in "etm4|ete|etrace|\\PC{0,5}",
        rest in "((,)(TRC[A-Z0-9]{0,8}|[a-z_]{0,17})=(0x)?[0-9a-f]{0,20}){0,6}")
    {
        let structured = format!("{id}={protocol}{rest}");
        for text in [&text, &structured] {
            let _ = text.parse::<SourceOption>();
            let _ = text.parse::<Framing>();
            let _ = text.parse::<ImageOption>();
            let _ = text.parse::<BuildId>();
        }
        let _ = format!("smi{rest}").parse::<Framing>();
    }
}
