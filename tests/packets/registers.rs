//! `g` and `p`.

use super::serve;
use super::support::made::{self, Made};
use super::support::{Client, Server};

/// The numbers and sizes in bytes of the registers, in the order of their numbers, as the description that gdb gets
/// has them.
fn described(description: &str) -> Vec<(usize, usize)> {
    let attribute = |element: &str, name: &str| {
        let (_, rest) = element.split_once(&format!(" {name}=\""))?;
        rest.split('"').next().map(str::to_owned)
    };
    let mut registers: Vec<(usize, usize)> = Vec::new();
    for element in description.split("<reg ").skip(1) {
        let element = format!(" {}", element.split('>').next().unwrap());
        let next = registers.last().map_or(0, |(number, _)| number + 1);
        let number = attribute(&element, "regnum").map_or(next, |number| number.parse().unwrap());
        let bits: usize = attribute(&element, "bitsize").unwrap().parse().unwrap();
        registers.push((number, bits / 8));
    }
    registers.sort_unstable();
    registers
}

/// Every `p` is a slice of `g`, and `g` ends where the last register does.
fn each_register_is_a_slice(client: &mut Client, what: &str) -> String {
    let registers = described(&client.text_object("features", "target.xml"));
    assert!(registers.len() > 16);
    let whole = client.ask_alone("g");
    assert_eq!(whole.len(), 2 * registers.iter().map(|(_, size)| size).sum::<usize>(), "{what}");
    let mut at = 0;
    for (number, size) in &registers {
        let slice = &whole[2 * at..2 * (at + size)];
        assert_eq!(client.ask_alone(format!("p{number:x}")), slice, "register {number} {what}");
        at += size;
    }
    let (last, _) = registers.last().unwrap();
    for beyond in [last + 1, last + 2, 0x7fff_ffff, usize::MAX] {
        assert_eq!(client.ask_alone(format!("p{beyond:x}")), "E01", "register {beyond} {what}");
    }
    whole
}

#[test]
fn registers_of_every_machine_are_slices_of_the_whole() {
    for (recording, program) in [
        ("tfile/01-regs.tf", Some("bin/case")),
        ("tfile/15-i386.tf", Some("bin/case32")),
        ("tfile/42-noR.tf", None),
        ("tfile/60-be-ppc64.tf", Some("bin/be-ppc64")),
        ("nios2/seq.tr", Some("bin/seq.elf")),
    ] {
        let server = serve(recording, program);
        let mut client = server.connect();
        let outside = each_register_is_a_slice(&mut client, &format!("outside the frames of {recording}"));
        assert!(!outside.contains("xx"), "gdb needs a whole register set outside frames: {recording}");
        assert!(client.ask("QTFrame:0").starts_with("F0T"));
        each_register_is_a_slice(&mut client, &format!("in a frame of {recording}"));
    }
}

#[test]
fn a_whole_register_block_is_given_as_it_was_recorded() {
    let server = serve("tfile/01-regs.tf", None);
    let mut client = server.connect();
    for (number, (_, blocks)) in made::frames(&super::bytes("tfile/01-regs.tf")).iter().enumerate() {
        assert!(client.ask(format!("QTFrame:{number:x}")).starts_with('F'));
        assert_eq!(client.ask_alone("g"), super::support::protocol::hex(&blocks[1..]));
    }
}

#[test]
fn registers_behind_the_end_of_a_short_block_are_unavailable() {
    // 24 general registers of x86-64 take 164 bytes with eflags and segments; a cut one counts as not collected.
    let block: Vec<u8> = (1..=0x8a).collect();
    let mut made = Made::new(&["R 8a"]);
    made.frame(1, &[made::registers(&block)]);
    let (_folder, file) = made.save("short.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    let whole = each_register_is_a_slice(&mut client, "in a frame with a short block");
    let recorded = super::support::protocol::hex(&block[..0x88]);
    assert!(whole.starts_with(&recorded), "{whole}");
    assert!(whole[recorded.len()..].bytes().all(|digit| digit == b'x'), "{whole}");
    // eflags, of which the block has two bytes of four.
    assert_eq!(client.ask_alone("p11"), "xxxxxxxx");
}

#[test]
fn an_unavailable_register_is_an_error_to_lldb() {
    let server = serve("architectures/x86-64.tf", Some("architectures/x86-64.elf"));
    let (mut gdb, mut lldb) = (server.connect(), server.connect());
    assert_eq!(lldb.ask_alone("QThreadSuffixSupported"), "");
    for client in [&mut gdb, &mut lldb] {
        // Its pc is inferred, and it has no other registers.
        assert_eq!(client.ask_alone("QTFrame:1"), "F1T2");
        assert_eq!(client.ask_alone("p10"), "0601400000000000");
    }
    assert_eq!(gdb.ask_alone("p0"), "xxxxxxxxxxxxxxxx");
    assert_eq!(lldb.ask_alone("p0"), "E01");
}

#[test]
fn without_a_description_p_is_not_supported() {
    // gdb then takes an error for a failure, and asks for every register behind the end of `g`.
    let server = serve("nios2/seq-bare.tr", None);
    let mut client = server.connect();
    assert!(client.ask("QTFrame:0").starts_with("F0T"));
    let whole = client.ask_alone("g");
    assert_eq!(whole.len(), 2 * 0xc4);
    assert!(!whole.contains("xx"));
    assert_eq!(client.ask_alone("p0"), "");
}
