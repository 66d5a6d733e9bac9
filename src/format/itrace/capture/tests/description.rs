//! What a TOML file says.

use proptest::prelude::*;

use super::*;
use crate::format::itrace::instruction::InstructionSet;

const ETM4: &str = include_str!("../etm4.toml");
const ETRACE: &str = include_str!("../etrace.toml");

/// The sinks that the examples name.
const SINKS: [(&str, &str); 2] = [("cstrace.bin", ""), ("trace.te_inst", "")];

/// What a file is refused for.
fn refused(text: &str) -> String {
    let folder = folder(&[("x.toml", text), ("rom.bin", "rom"), ("code.bin", "code"), SINKS[0], SINKS[1]]);
    fs::write(folder.path().join("app"), elf(Some(&[1, 2]))).unwrap();
    said(&folder, Capture::from_description(&folder.path().join("x.toml")))
}

/// The example of ETMv4 with a change.
fn changed(from: &str, to: &str) -> String {
    assert!(ETM4.contains(from), "{from}");
    refused(&ETM4.replacen(from, to, 1))
}

#[test]
fn the_example_of_etmv4_is_read() {
    let folder = folder(&[("board.txt", ETM4), ("code.bin", "code"), SINKS[0]]);
    fs::write(folder.path().join("app"), elf(None)).unwrap();
    let path = folder.path().join("board.txt");
    assert_eq!(Kind::of(&path), Some(Kind::Description));
    let capture = Capture::from_description(&path).unwrap();
    assert_eq!(capture.remarks, [""; 0]);
    let [sink] = &capture.sinks[..] else { panic!("{capture:?}") };
    assert_eq!(
        (sink.path.as_path(), sink.framing.to_string().as_str()),
        (folder.path().join("cstrace.bin").as_path(), "coresight")
    );
    let sources: Vec<_> = sink.sources.iter().map(|source| (source.id, source.name.as_str())).collect();
    assert_eq!(sources, [(Some(0x10), "cpu0"), (Some(0x11), "ETM_1")]);
    let cores: Vec<&Core> = sink.sources.iter().map(|source| source.core.as_deref().unwrap()).collect();
    assert_eq!(cores[0], &Core { name: "cpu0".to_owned(), kind: Some("Cortex-A53".to_owned()), images: Vec::new() });
    let code = MemoryAt {
        path: folder.path().join("code.bin"),
        offset: 0x40,
        address: 0xffff_ffc0_0008_1000,
        length: Some(0x100),
        space: Space::El1NonSecure,
    };
    assert_eq!(cores[1].images, [ImageAt::Memory(code)]);
    let [ImageAt::Elf(app)] = &capture.images[..] else { panic!("{capture:?}") };
    assert_eq!(app.load, Some(Load::Bias(0x55_0000_0000)));
    assert_eq!(app.build_id.as_ref().unwrap().to_string(), "0102030405060708090a0b0c0d0e0f1011121314");
}

#[test]
fn the_example_of_etrace_is_read() {
    let folder = folder(&[("x", ETRACE), SINKS[1]]);
    fs::write(folder.path().join("app"), elf(None)).unwrap();
    let capture = Capture::from_description(&folder.path().join("x")).unwrap();
    let [sink] = &capture.sinks[..] else { panic!("{capture:?}") };
    assert_eq!(sink.framing.to_string(), "smi,hart_bits=2");
    let [source] = &sink.sources[..] else { panic!("{sink:?}") };
    assert_eq!((source.id, source.name.as_str()), (Some(3), "hart 3"));
    assert!(matches!(source.protocol, Protocol::ETrace { instruction_set: InstructionSet::Rv64, .. }));
    assert_eq!(capture.images.len(), 1);
}

#[test]
fn the_usual_framing_takes_its_numbers() {
    let folder = folder(&[("x", &ETRACE.replace("format = \"smi\"\n", "")), SINKS[1]]);
    fs::write(folder.path().join("app"), elf(None)).unwrap();
    let capture = Capture::from_description(&folder.path().join("x")).unwrap();
    assert_eq!(capture.sinks[0].framing.to_string(), "smi,hart_bits=2");
}

#[test]
fn what_is_not_known_is_refused_with_what_is() {
    assert_eq!(
        changed("description = ", "descripton = "),
        "x.toml:3: unknown field `descripton`, expected `version` or `description`"
    );
    let error = changed("[[image]]", "[[imag]]");
    assert!(error.starts_with("x.toml:") && error.contains("expected one of `capture`, `sink`, `image`"), "{error}");
    assert_eq!(
        changed("version = 1", "version = 2"),
        "x.toml:2: the version is 2, expected 1 (this file needs another traceframe)"
    );
    assert_eq!(changed("version = 1\n", ""), "x.toml:1: missing field `version`");
    assert_eq!(changed("TRCCONFIGR = 0x1001", "TRCCONFIGR = -1"), "x.toml:16: the number is -1, expected none below 0");
    assert_eq!(
        changed("TRCCONFIGR = 0x1001", "TRCCONFIGR = \"x\""),
        "x.toml:16: the number is \"x\", expected a number (0x… for hexadecimal)"
    );
    assert_eq!(
        changed("TRCCONFIGR = 0x1001", "TRCCONFIGR = true"),
        "x.toml:16: invalid type: boolean `true`, expected a number, or one as text (0x… for hexadecimal)"
    );
    assert!(changed("[capture]", "[capture").starts_with("x.toml:1: "), "{}", changed("[capture]", "[capture"));
    assert_eq!(
        refused("[capture]\nversion = 1"),
        "x.toml:1: no sink is named, expected a table [[sink]] with file = \"…\""
    );
}

#[test]
fn numbers_may_be_text() {
    let folder =
        folder(&[("x", &ETM4.replace("0xffffffc000081000", "\"0xffffffc000081000\"")), ("code.bin", "code"), SINKS[0]]);
    fs::write(folder.path().join("app"), elf(None)).unwrap();
    let capture = Capture::from_description(&folder.path().join("x")).unwrap();
    let address = capture.all_images().find_map(|image| match image {
        ImageAt::Memory(memory) => Some(memory.address),
        ImageAt::Elf(_) => None,
    });
    assert_eq!(address, Some(0xffff_ffc0_0008_1000));
}

#[test]
fn what_a_source_lacks_is_asked_for_with_its_line() {
    assert_eq!(
        changed("TRCIDR2 = 0x488\n", ""),
        "x.toml:9: the trace unit's register TRCIDR2 is missing; without it the trace cannot be read \
         (on Linux: cat /sys/bus/coresight/devices/etm0/trcidr/trcidr2)"
    );
    assert!(changed("TRCTRACEIDR = 0x11\n", "").contains("register TRCTRACEIDR is missing"));
    assert!(changed("id = 0x10", "id = 0x11").contains("x.toml:5: the ID 0x11 is that of two sources in one sink"));
    assert!(changed("protocol = \"etm4\"", "protocol = \"ptm\"").starts_with("x.toml:9: PTM is not read yet"));
    assert!(changed("[sink.source.registers]", "[sink.source.parameters]").contains("\"parameters\" is nothing of"));
    assert!(changed("\"coresight\"", "\"etb\"").starts_with("x.toml:5: \"etb\" is no kind of sink"));
    assert!(changed("core = \"cpu0\"", "isa = \"rv64\"").contains("\"isa\" is nothing of a source of protocol etm4"));
}

#[test]
fn images_say_what_can_be_said_of_them() {
    let image = |text: &str| refused(&format!("{}\n[[image]]\n{text}", ETRACE.split("[[image]]").next().unwrap()));
    let error = image("file = \"nowhere\"");
    assert!(error.starts_with("x.toml:19: names nowhere, which is not there"), "{error}");
    let error = refused(&ETRACE.replace("trace.te_inst", "nowhere"));
    assert!(error.starts_with("x.toml:4: names nowhere, which is not there"), "{error}");
    assert_eq!(
        image("file = \"rom.bin\""),
        "x.toml:19: is no ELF file, so it is taken for bytes of memory, and these need an address (as in FILE@0x8000)"
    );
    assert_eq!(
        image("file = \"rom.bin\"\naddress = 0\nbuild_id = \"00\""),
        "x.toml:19: build_id is not said of bytes of memory, which any file is that is no ELF file; expected are \
         address, offset, length, space and core"
    );
    assert_eq!(
        image("file = \"app\"\noffset = 0"),
        "x.toml:19: offset is not said of an ELF file; expected are address or load_bias, build_id and core (raw = \
         true for bytes of memory)"
    );
    assert_eq!(
        image("file = \"app\"\naddress = 0\nload_bias = 0"),
        "x.toml:19: both load_bias and address are given, expected one (address is that of the first page, as in \
         /proc/PID/maps)"
    );
    assert_eq!(
        image("file = \"app\"\nbuild_id = \"xy\""),
        "x.toml:19: the build ID is \"xy\", expected hexadecimal digits, two a byte (readelf -n shows it)"
    );
    assert_eq!(
        image("file = \"app\"\ncore = \"cpu9\""),
        "x.toml:19: the core is \"cpu9\", which no source watches (give the source the same core)"
    );
    assert!(image("file = \"app\"\nraw = true").contains("need an address"));
    assert!(image("file = \"app\"\nraw = true\naddress = 0\nspace = \"X\"").contains("the space is \"X\""));
}

#[test]
fn another_build_is_refused() {
    let folder = folder(&[("x", &ETM4.replace("0102030405060708090a0b0c0d0e0f1011121314", "0102")), SINKS[0]]);
    fs::write(folder.path().join("code.bin"), "code").unwrap();
    let app = folder.path().join("app");
    let mismatches = |program: &[u8]| {
        fs::write(&app, program).unwrap();
        let capture = Capture::from_description(&folder.path().join("x")).unwrap();
        capture.mismatches().unwrap()
    };
    assert_eq!(mismatches(&elf(Some(&[1, 2]))), []);
    let error = |found: Vec<Mismatch>| found.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n");
    let path = folder.path().canonicalize().unwrap().join("app").display().to_string();
    assert_eq!(
        error(mismatches(&elf(Some(&[1, 3])))),
        format!(
            "{path}: has the build ID 0103, but what ran has 0102: the trace would be read wrongly (give the program \
             that ran, or, if you know better, --allow-mismatch)"
        )
    );
    assert!(error(mismatches(&elf(None))).contains(": has no build ID, but what ran has 0102: "));
}

#[test]
fn a_program_lies_where_it_was_said() {
    let folder = folder(&[]);
    let path = folder.path().join("app");
    fs::write(&path, elf(None)).unwrap();
    let image = Image::open(&path).unwrap();
    let bias = |load| ElfAt { path: path.clone(), load, build_id: None }.bias(&image);
    assert_eq!(bias(None), Some(0));
    assert_eq!(bias(Some(Load::Bias(5))), Some(5));
    assert_eq!(bias(Some(Load::Address(0x1000))), Some(0x1000 - image.first_page()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_change_is_read_or_refused(at in 0usize..900, with in "\\PC{0,8}", removed in 0usize..40) {
        let mut text: Vec<char> = ETM4.chars().collect();
        let at = at.min(text.len());
        let end = (at + removed).min(text.len());
        text.splice(at..end, with.chars());
        let folder = folder(&[("x", &text.into_iter().collect::<String>()), ("code.bin", ""), ("app", "\u{7f}ELF")]);
        let _ = Capture::from_description(&folder.path().join("x"));
        let _ = Capture::open(&folder.path().join("x"), &Options::default());
    }
}
