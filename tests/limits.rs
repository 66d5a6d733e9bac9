//! What clients may take of a server, and what a server may take of the system.

mod support;

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::started::eventually;
use support::{Client, Server, data, run, traceframe, wait};

fn serve(options: &[&str]) -> Server {
    Server::serve(&[&[data("tfile/04-step.tf").to_str().unwrap()], options].concat())
}

#[test]
fn one_client_too_many_is_told_so_and_costs_the_others_nothing() {
    let server = serve(&["--max-clients", "2"]);
    let mut first = server.connect();
    let mut second = server.connect();
    assert_eq!(first.ask("QTFrame:1"), "F1T2");
    for _ in 0..3 {
        let mut third = Client::raw(server.port);
        assert_eq!(
            third.ask("qSupported:xmlRegisters=i386"),
            "E.this trace server takes no more clients, 2 connected is its limit"
        );
        assert_eq!(third.stream.read(&mut [0]).unwrap(), 0, "the connection ends");
    }
    // One that says nothing is not waited for.
    let mut silent = Client::raw(server.port);
    assert_eq!(silent.stream.read(&mut [0]).unwrap(), 0);
    assert_eq!((first.ask("QTFrame:2"), second.ask("QTFrame:1")), ("F2T2".to_owned(), "F1T2".to_owned()));
    eventually("the server says so", || {
        server.errors().contains("was turned away: 2 connected is the limit (--max-clients)")
    });
    drop(first);
    eventually("a place is free", || Client::raw(server.port).ask("qTStatus").starts_with("T0"));
}

#[test]
fn a_client_that_is_silent_for_too_long_is_ended() {
    let server = serve(&["--idle-timeout", "1"]);
    let mut silent = server.connect();
    let mut busy = server.connect();
    let mut deaf = server.connect();
    // It asks for more than its socket takes, and reads nothing.
    deaf.stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while deaf.stream.write_all(&b"$g#67".repeat(1000)).is_ok() {}
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        assert_eq!(busy.ask("QTFrame:1"), "F1T2");
        std::thread::sleep(Duration::from_millis(100));
    }
    let said = "left: it was silent for 1 s (--idle-timeout)";
    eventually("both are ended", || server.errors().matches(said).count() == 2);
    assert_eq!(silent.stream.read(&mut [0]).unwrap(), 0);
    assert_eq!(busy.ask("QTFrame:2"), "F2T2");
}

#[test]
fn nobody_is_ended_for_thinking_where_nothing_is_said() {
    let server = serve(&[]);
    let mut client = server.connect();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(client.ask("QTFrame:1"), "F1T2");
}

#[test]
fn packets_are_as_long_as_the_server_is_told() {
    for (size, digits) in [("1024", "400"), ("65536", "10000")] {
        let server = serve(&["--packet-size", size, "--exec", data("bin/case").to_str().unwrap()]);
        let mut client = server.connect();
        assert!(client.ask("qSupported").starts_with(&format!("PacketSize={digits};")));
        let size: usize = size.parse().unwrap();
        let padded = |length: usize| format!("QTFrame:{:0>1$}", 1, length - "QTFrame:".len());
        assert_eq!(client.ask(padded(size)), "F1T2");
        assert_eq!(client.ask(padded(size + 1)), format!("E.packet longer than 0x{digits} bytes"));
        assert_eq!(client.ask("m400000,ffffff").len() % 2, 0);
        assert!(client.ask("m400000,ffffff").len() <= size);
    }
}

#[test]
fn odd_limits_are_refused() {
    let file = data("tfile/04-step.tf");
    for (option, value, said) in [
        ("--max-clients", "0", "a server without clients is none"),
        ("--max-clients", "many", "expected a number"),
        ("--packet-size", "100", "1024"),
        ("--packet-size", "9999999", "1048576"),
        ("--idle-timeout", "soon", "--idle-timeout"),
    ] {
        let (code, _, errors) = run(traceframe().arg("serve").arg(&file).args([option, value]));
        assert_eq!(code, Some(2), "{option} {value}: {errors}");
        assert!(errors.contains(said), "{option} {value}: {errors}");
    }
}

#[test]
fn nobody_need_read_what_the_server_says() {
    // With -vv each packet is worth some lines, and a pipe holds 64 KiB.
    let mut command = traceframe();
    command.args(["serve", data("tfile/04-step.tf").to_str().unwrap(), "--listen", ":0", "-vv"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 2048];
    let mut said = String::new();
    while !said.contains("target remote :") || !said.ends_with('\n') {
        let length = child.stdout.as_mut().unwrap().read(&mut ready).unwrap();
        said.push_str(std::str::from_utf8(&ready[..length]).unwrap());
    }
    let port = said.lines().last().unwrap().rsplit(':').next().unwrap().parse().unwrap();
    let mut client = Client::connect(port);
    for _ in 0..2000 {
        assert_eq!(client.ask("QTFrame:1"), "F1T2");
    }
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert_eq!(wait(&mut child, support::DEADLINE).and_then(|status| status.code()), Some(0));
}

#[test]
fn without_file_descriptors_the_server_says_so() {
    let file = data("tfile/04-step.tf");
    let (code, output, errors) = run(std::process::Command::new("sh")
        .args(["-c", "ulimit -n 8; exec \"$0\" serve \"$1\" --listen :0"])
        .arg(env!("CARGO_BIN_EXE_traceframe"))
        .arg(&file));
    assert_eq!((code, output.as_str()), (Some(4), ""), "{errors}");
    assert!(errors.contains("Too many open files") && errors.contains("ulimit -n"), "{errors}");
}

#[test]
fn when_file_descriptors_run_out_the_clients_stay() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 40; exec \"$0\" serve \"$1\" --listen :0"]);
    shell.arg(env!("CARGO_BIN_EXE_traceframe")).arg(data("tfile/04-step.tf"));
    let server = Server::start(shell);
    let mut first = server.connect();
    let crowd: Vec<_> = (0..60).map(|_| Client::raw(server.port)).collect();
    eventually("descriptors run out", || server.errors().contains("a connection was lost before it was accepted"));
    assert_eq!(first.ask("QTFrame:1"), "F1T2");
    drop(crowd);
    eventually("a newcomer is served", || {
        let mut late = Client::raw(server.port);
        late.stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        late.ask("qTStatus").starts_with("T0")
    });
    assert_eq!(first.ask("QTFrame:2"), "F2T2");
    let said = server.errors().matches("was lost before it was accepted").count();
    assert!(said < 10, "once each time, and not for every try: {said}");
}
