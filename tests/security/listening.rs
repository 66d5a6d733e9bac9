//! Who can reach a server.

use std::collections::BTreeSet;
use std::process::Stdio;

use super::path;
use super::support::started::eventually;
use super::support::{Killed, Server, traceframe};

/// The addresses at which a process listens for TCP, as the kernel writes them (Linux).
fn listening(process: u32) -> BTreeSet<String> {
    let sockets: BTreeSet<String> = std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        // A machine without IPv6 has no such table.
        let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/net/{table}")) else { continue };
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            const LISTENING: &str = "0A";
            if columns[3] == LISTENING && sockets.contains(columns[9]) {
                found.insert(columns[1].split(':').next().unwrap().to_owned());
            }
        }
    }
    found
}

/// 127.0.0.1 and ::1.
const LOOPBACK: [&str; 2] = ["0100007F", "00000000000000000000000001000000"];

fn only_on_loopback(process: u32) {
    let found = listening(process);
    assert!(found.contains(LOOPBACK[0]), "{found:?}");
    assert!(found.iter().all(|address| LOOPBACK.contains(&address.as_str())), "{found:?}");
}

/// The usual port may be taken on the machine that tests: then there is nothing to be reached.
#[test]
fn without_a_word_it_listens_on_loopback_only() {
    for arguments in [vec!["serve".to_owned(), path("tfile/04-step.tf")], vec!["demo".to_owned()]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("port");
        let mut command = traceframe();
        command.args(arguments).arg("--port-file").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = Killed(command.spawn().unwrap());
        eventually("it listens or is refused", || file.exists() || child.try_wait().unwrap().is_some());
        match child.try_wait().unwrap() {
            Some(status) => assert_eq!(status.code(), Some(4)),
            None => only_on_loopback(child.id()),
        }
    }
}

#[test]
fn any_free_port_is_one_of_loopback() {
    only_on_loopback(Server::serve(&[&path("tfile/04-step.tf")]).id());
    only_on_loopback(Server::command("demo", &[]).id());
    // The test sees what is not loopback.
    let open = Server::exactly(&["serve", &path("tfile/04-step.tf"), "--listen", "0.0.0.0:0"]);
    assert_eq!(listening(open.id()).into_iter().collect::<Vec<_>>(), ["00000000"]);
}

#[test]
fn a_unix_socket_opens_no_port() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("unix:{}", folder.path().join("socket").display());
    let server = Server::exactly(&["serve", &path("tfile/04-step.tf"), "--listen", &listen]);
    assert_eq!(listening(server.id()), BTreeSet::new());
}
