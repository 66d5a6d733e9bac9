//! LLDB.

use std::collections::BTreeSet;

use super::serve;
use crate::support::page::{self, Names, Page, demo};

use crate::support::{Gdb, Server, data, lldb};

/// Neither is touched by what the other does.
#[test]
fn an_lldb_and_gdbs_at_one_server() {
    let recording = data("architectures/x86-64.tf");
    let program = data("architectures/x86-64.elf").display().to_string();
    let mut server = Server::serve(&[recording.to_str().unwrap(), "--exec", &program]);
    let mut beside = server.connect();
    assert_eq!(beside.ask("QTFrame:2"), "F2T3");
    let program_counter = beside.ask("p10");

    let setup = [
        "settings set target.process.disable-memory-cache true".to_owned(),
        format!("target create {program}"),
        format!("gdb-remote {}", server.port),
    ];
    let leave = ["process plugin packet send QTFrame:0", "thread step-inst"];
    let commands: [&[&str]; 4] = [&["process detach"], &leave, &["process kill"], &[]];
    for commands in commands {
        lldb::answers(&setup, &commands.iter().map(|command| (*command).to_owned()).collect::<Vec<_>>());
        assert_eq!(beside.ask("p10"), program_counter, "{commands:?}");
        let shown = Gdb::Debian
            .answers(&[format!("target remote :{}", server.port)], &["tfind 1", "print counter"].map(str::to_owned));
        assert_eq!(shown, [["Found trace frame 1, tracepoint 2"], ["$1 = 8"]], "{commands:?}");
    }
    assert_eq!(beside.ask("QTFrame:ffffffff"), "OK");
    assert!(server.is_running());
}

/// What packets of one kind have in common.
fn kind(packet: &str) -> &str {
    if packet.starts_with("qXfer:") {
        let mut colons = packet.match_indices(':').map(|(at, _)| at);
        return &packet[..colons.nth(2).unwrap_or(packet.len())];
    }
    let name = packet.split([':', ';', ',']).next().unwrap();
    match name.as_bytes().first() {
        Some(b'Z' | b'z' | b'H') => &name[..2],
        Some(b'm' | b'p' | b'x') => &name[..1],
        _ => name,
    }
}

#[test]
fn the_page_is_as_it_shows_it() {
    let page = Page::of_client("lldb");
    let typed = page.typed("(lldb) ");
    let server = serve(&["-v"]);
    let names = Names::new(&[
        ("/home/me", demo().to_str().unwrap()),
        ("gdb-remote 1234", &format!("gdb-remote {}", server.port)),
    ]);
    let mut commands = names.commands(&typed);
    commands.push("process detach".to_owned());
    let shown = lldb::answers(&[], &commands);
    let shown: Vec<Vec<String>> =
        shown.iter().map(|lines| lines.iter().map(|line| names.shown(line)).collect()).collect();
    let shown: Vec<_> = page::commands(&typed).into_iter().zip(shown).collect();
    assert_eq!(page::transcript(&shown, "(lldb) "), page::transcript(&typed, "(lldb) "));

    // Nothing was lost of what the page says LLDB asks for.
    let (mut answered, mut in_vain) = (BTreeSet::new(), BTreeSet::new());
    let mut asked = None;
    let log = server.errors();
    for line in log.lines() {
        if let Some((_, packet)) = line.split_once("received packet=") {
            asked = Some(kind(packet));
        } else if let (Some((_, reply)), Some(asked)) = (line.split_once("sent packets="), asked) {
            if reply == "$#00" {
                in_vain.insert(asked)
            } else {
                answered.insert(asked)
            };
        }
    }
    let lists = page.blocks("text");
    let listed: Vec<BTreeSet<&str>> = lists.iter().map(|list| list.split_whitespace().collect()).collect();
    assert_eq!([answered, in_vain].to_vec(), listed);
}
