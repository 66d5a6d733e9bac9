//! Clients other than a gdb at a terminal, each as its page in `src/rsp/clients` says.

#[path = "../support/mod.rs"]
mod support;

mod debug_adapter;
mod lldb;
mod machine_interface;
mod ssh;
mod unix_socket;

use support::Server;
use support::page::demo;

/// The demo's recording, served with these options more.
fn serve(options: &[&str]) -> Server {
    let (recording, program) = (demo().join("queue.tf"), demo().join("queue"));
    Server::serve(&[&[recording.to_str().unwrap(), "--exec", program.to_str().unwrap()], options].concat())
}
