//! A Unix socket instead of a port.

use super::serve;
use crate::support::page::{self, Names, Page, demo};
use crate::support::{Gdb, lldb};

#[test]
fn the_page_is_as_it_shows_it() {
    let page = Page::of_client("unix_socket");
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("app.sock");
    let socket = socket.to_str().unwrap();
    // Beside it a port, as the page says is possible.
    let server = serve(&["--listen", &format!("unix:{socket}")]);
    assert!(page.block("sh").contains("--listen unix:/tmp/app.sock"));
    let names = Names::new(&[("/home/me", demo().to_str().unwrap()), ("/tmp/app.sock", socket)]);
    let setup = [
        "set sysroot".to_owned(),
        format!("file {}", demo().join("queue").display()),
        format!("directory {}", demo().display()),
    ];

    let typed = page.typed("(gdb) ");
    for gdb in [Gdb::Debian, Gdb::Newest] {
        let seen = names.shown(&gdb.transcript(&setup, &names.commands(&typed)));
        assert!(page::fits(&seen, &page::transcript(&typed, "(gdb) ")), "{gdb:?}: {seen}\n{}", server.errors());
    }

    let typed = page.typed("(lldb) ");
    let seen = lldb::answers(&[], &names.commands(&typed));
    let seen = seen.iter().map(|lines| lines.iter().map(|line| names.shown(line)).collect());
    let seen: Vec<_> = page::commands(&typed).into_iter().zip(seen).collect();
    assert_eq!(page::transcript(&seen, "(lldb) "), page::transcript(&typed, "(lldb) "));
}

#[test]
fn a_front_end_connects_too() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("app.sock").display().to_string();
    let _server = serve(&["--listen", &format!("unix:{socket}")]);
    for gdb in [Gdb::Debian, Gdb::Newest] {
        for kind in ["remote", "extended-remote"] {
            let setup = [format!("-target-select {kind} {socket}")];
            let answers = gdb.machine_answers(&setup, &["-trace-find frame-number 45".to_owned()]);
            assert!(answers[0][0].starts_with("^done,found=\"1\""), "{gdb:?}: {answers:?}");
        }
    }
}
