//! LLDB beside gdb: neither is touched by what the other does.

mod support;

use support::{Gdb, Server, data, lldb};

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
