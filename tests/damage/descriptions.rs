//! Target descriptions (`--tdesc`) that are cut, changed, or made to cost their reader time or memory.

use traceframe::arch::{self, MAXIMUM_DESCRIPTION_LENGTH};
use traceframe::format::OpenOptions;
use traceframe::source::ByteOrder;

use super::case::{Cases, sample, turn};
use super::fixtures::small;
use super::questions::{ask, open};
use super::support::{data, made};

/// What a description may take of memory besides twice its length. Measured are 11 MB, for 20000 registers: the XML
/// parser keeps a hundred bytes for each element and each attribute, of which there may be 100000 each, and registers
/// of 1 MB in all are copied several times on their way to a client.
const ROOM: usize = 24 << 20;

/// The recording and the description in it.
fn recorded(name: &str) -> (Vec<u8>, String) {
    let bytes = std::fs::read(data(name)).unwrap();
    let xml = made::lines_of(&bytes, "tdesc ").join("\n");
    (bytes, xml)
}

/// Opens a recording with a description and asks everything; whether it was taken.
fn examine(cases: &mut Cases, name: String, room: usize, xml: &str, recording: &[u8]) -> bool {
    let length = recording.len();
    let recording = recording.to_vec();
    cases.run(name, room, || {
        // As the command line does, with a folder in which every file is this one.
        let whole = match arch::with_includes(xml, &mut |_| Some(xml.to_owned())) {
            Ok(whole) => whole,
            Err(refused) => {
                assert!(!refused.to_string().contains('\n'), "{refused}");
                return false;
            }
        };
        let options = OpenOptions { description: Some(&whole), ..OpenOptions::default() };
        match open(recording, &options, None) {
            Ok(replay) => {
                ask(&replay, length);
                true
            }
            Err(refused) => {
                assert!(refused.contains("--tdesc: ") && refused.len() < 400, "{refused:.400}");
                false
            }
        }
    })
}

#[test]
fn cut_and_changed_at_every_byte() {
    let mut cases = Cases::of("target descriptions cut and changed at every byte");
    for name in ["architectures/arm-tdesc.tf", "architectures/riscv32-tdesc.tf", "architectures/s390x-tdesc.tf"] {
        let (recording, xml) = recorded(name);
        let room = 16 * xml.len() + (1 << 20);
        assert!(examine(&mut cases, name.to_owned(), room, &xml, &recording));
        for at in sample(xml.len(), 60) {
            examine(&mut cases, format!("{name} cut to {at} bytes"), room, &xml[..at], &recording);
            for value in turn(vec!['\0', '\x7f', '<', '9', '"', '&', '\u{fffd}'], at, false) {
                let changed = format!("{}{value}{}", &xml[..at], &xml[at + 1..]);
                examine(&mut cases, format!("{name} with {value:?} at byte {at:#x}"), room, &changed, &recording);
            }
        }
    }
}

/// A description around elements.
fn target(body: &str) -> String {
    format!("<target><architecture>arm</architecture><feature name=\"f\">{body}</feature></target>")
}

#[test]
fn made_to_cost_time_or_memory() {
    let mut cases = Cases::of("target descriptions made to cost time or memory");
    let recording = small(ByteOrder::Little);
    let full = |piece: &str| piece.repeat(MAXIMUM_DESCRIPTION_LENGTH / piece.len() - 100);
    let pc = "<reg name=\"pc\" bitsize=\"32\"/>";
    let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let flat =
        |count: usize| (0..count).map(|number| format!("<reg name=\"r{number}\" bitsize=\"8\"/>")).collect::<String>();
    let entities: String = (1..30).map(|number| format!("<!ENTITY e{number} \"&e{0};&e{0};\">", number - 1)).collect();
    let include = "<xi:include href=\"arm.xml\"/>";
    for (name, xml) in [
        ("nothing", String::new()),
        ("a deep nest", target(&format!("{}{pc}", deep(1000)))),
        ("a nest as deep as it can be", target(&deep(MAXIMUM_DESCRIPTION_LENGTH / 7 - 100))),
        ("a nest that is never closed", full("<a>")),
        ("nothing but elements", target(&full("<a/>"))),
        ("nothing but comments", target(&full("<!---->"))),
        ("nothing but text", target(&full("x&lt;"))),
        ("as many registers as there can be", target(&flat(70_000)[..MAXIMUM_DESCRIPTION_LENGTH - 1000])),
        ("many registers", target(&format!("{}{pc}", flat(20_000)))),
        (
            "registers of the greatest size",
            target(&format!("{}{pc}", "<reg name=\"v\" bitsize=\"524288\"/>".repeat(15))),
        ),
        (
            "registers beyond all size",
            target(&format!("{}{pc}", "<reg name=\"v\" bitsize=\"524288\"/>".repeat(60_000))),
        ),
        ("a size beyond all numbers", target(&pc.replace("32", &"9".repeat(1_000_000)))),
        ("a number beyond all numbers", target(&pc.replace("/>", &format!(" regnum=\"{}\"/>", "9".repeat(1_000_000))))),
        ("the greatest register number", target(&pc.replace("/>", " regnum=\"2147483646\"/>"))),
        ("a vector beyond all counts", target(&format!("<vector id=\"v\" type=\"v\" count=\"4294967295\"/>{pc}"))),
        ("a name of a million letters", target(&pc.replace("pc", &"p".repeat(1_000_000)))),
        ("entities that multiply", format!("<!DOCTYPE target [<!ENTITY e0 \"x\">{entities}]>{}", target("&e29;"))),
        (
            "many attributes",
            target(&format!("<reg {}/>", (0..100_000).map(|n| format!("a{n}=\"\" ")).collect::<String>())),
        ),
        ("many namespaces", target(&full("<a xmlns:a=\"b\"/>"))),
        ("a file that includes itself", target(include)),
        ("a file that includes itself twice", target(&include.repeat(2))),
        ("a file that includes itself a thousand times", target(&include.repeat(1000))),
        ("too long a file", "x".repeat(MAXIMUM_DESCRIPTION_LENGTH + 1)),
    ] {
        let taken = examine(&mut cases, name.to_owned(), 2 * xml.len() + ROOM, &xml, &recording);
        println!("{name}: {}", if taken { "taken" } else { "refused" });
        // The same in a recording costs its registers at most.
        let mut described = made::Made::new(&["R 0"]);
        for line in xml.lines() {
            described.line(format!("tdesc {line}"));
        }
        let bytes = described.bytes();
        let length = bytes.len();
        cases.run(format!("{name}, in a recording"), 2 * length + ROOM, || {
            ask(&open(bytes, &OpenOptions::default(), None).unwrap(), length);
        });
    }
}
