//! Packets over a socket: what each is answered, and that none of them ends a session or leaves traces in it.

mod changed;
mod ends;
mod features;
mod files;
mod find;
mod inferred;
mod lists;
mod malformed;
mod memory;
mod monitor;
mod monitor_events;
mod monitor_moves;
mod nios2;
mod registers;
mod run_control;
mod sessions;
#[path = "../support/mod.rs"]
mod support;
mod traceframe_info;
mod variables;
mod wire;

use support::{Client, Server, data};

/// A server for a recording of `tests/data` and a program.
fn serve(recording: &str, program: Option<&str>) -> Server {
    let recording = path(recording);
    let server = match program.map(path) {
        Some(program) => Server::serve(&[&recording, "--exec", &program]),
        None => Server::serve(&[&recording]),
    };
    // That there is none is known once all is indexed.
    assert_eq!(server.connect().ask("QTFrame:tdp:7fff"), "F-1");
    server
}

/// The path of a file of `tests/data` as text.
fn path(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

/// The bytes of a file of `tests/data`.
fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(data(name)).unwrap()
}

/// A recording of while-stepping frames at four program counters, with its program.
fn steps() -> Server {
    serve("tfile/04-step.tf", Some("bin/case"))
}

/// Opens the program under its announced path; the descriptor.
fn open_program(client: &mut Client) -> u32 {
    let path = client.text_object("exec-file", "");
    let reply = client.ask(format!("vFile:open:{},0,0", support::protocol::hex(path)));
    u32::from_str_radix(reply.strip_prefix('F').unwrap(), 16).unwrap()
}
