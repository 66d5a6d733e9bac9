//! Listening, many clients, ending in order, and what is said meanwhile.

mod support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::made::{self, Made};
use support::protocol::packet;
use support::started::eventually;
use support::{Client, DEADLINE, Server, data, run, traceframe};

/// How long a server may take to end.
const PROMPT: Duration = Duration::from_secs(2);

fn recording() -> String {
    data("tfile/04-step.tf").to_str().unwrap().to_owned()
}

/// Asks one thing over any stream; the reply with its framing.
fn ask(stream: &mut (impl Read + Write), data: &str, reply: &str) {
    stream.write_all(&packet(data)).unwrap();
    let expected = [b"+", &packet(reply)[..]].concat();
    let mut found = vec![0; expected.len()];
    stream.read_exact(&mut found).unwrap();
    assert_eq!(found, expected, "{}", found.escape_ascii());
}

fn answers(server: &Server) {
    assert_eq!(server.connect().ask("T1"), "OK");
}

/// The loopback addresses that this machine has; some containers have no IPv6.
fn loopback() -> Vec<&'static str> {
    ["127.0.0.1", "[::1]"].into_iter().filter(|host| TcpListener::bind(format!("{host}:0")).is_ok()).collect()
}

#[test]
fn both_loopback_addresses_and_the_ready_lines() {
    let server = Server::exactly(&["serve", &recording(), "--listen", ":0"]);
    let port = server.port;
    assert_ne!(port, 0);
    let output = server.output();
    let last: Vec<&str> = output.lines().rev().take(2).collect();
    let addresses: Vec<String> = loopback().iter().map(|host| format!("{host}:{port}")).collect();
    assert_eq!(last[1], format!("listening on {}", addresses.join(" and ")));
    assert_eq!(last[0], format!("in gdb: target remote :{port}"));
    assert!(output.contains("04-step.tf: TRACE0"), "{output}");
    assert!(!output.contains("frames:"), "how many frames there are is not known yet: {output}");
    for address in addresses {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        ask(&mut stream, "T1", "OK");
    }
    eventually("the summary", || server.errors().contains("indexed 40 frames"));
}

#[test]
fn one_address_or_several() {
    let server = Server::exactly(&["serve", &recording(), "--listen", "127.0.0.1:0"]);
    let port = server.port;
    let line = format!("listening on 127.0.0.1:{port}\n");
    assert!(server.output().contains(&line), "{}", server.output());
    assert!(TcpStream::connect(("::1", port)).is_err());
    answers(&server);

    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("traceframe.socket");
    let hosts: Vec<&str> = loopback().into_iter().rev().collect();
    let mut arguments = vec!["serve".to_owned(), recording()];
    for host in &hosts {
        arguments.extend(["--listen".to_owned(), format!("{host}:0")]);
    }
    arguments.extend(["--listen".to_owned(), format!("unix:{}", socket.display())]);
    let server = Server::exactly(&arguments);
    let output = server.output();
    let line = output.lines().find_map(|line| line.strip_prefix("listening on ")).unwrap();
    let names: Vec<&str> = line.split(" and ").collect();
    let (unix, tcp) = names.split_last().unwrap();
    assert_eq!(*unix, socket.to_str().unwrap());
    assert_eq!(tcp.len(), hosts.len(), "{line}");
    for (name, host) in tcp.iter().zip(hosts) {
        assert!(name.starts_with(&format!("{host}:")), "{line}");
        let mut stream = TcpStream::connect(name).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        ask(&mut stream, "T1", "OK");
    }
    ask(&mut UnixStream::connect(&socket).unwrap(), "T1", "OK");
    // The first address is the one to type.
    assert_eq!(server.target(), format!(":{}", server.port));
    assert!(tcp[0].ends_with(&server.target()));
}

#[test]
fn a_unix_socket_is_its_owners_and_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let address = format!("unix:{}", socket.display());
    let mut server = Server::exactly(&["serve", &recording(), "--listen", &address]);
    assert_eq!(server.target(), socket.to_str().unwrap());
    let found = std::fs::symlink_metadata(&socket).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    let mut client = UnixStream::connect(&socket).unwrap();
    ask(&mut client, "QTFrame:5", "F5T2");
    let (code, took) = server.end_within("TERM");
    assert_eq!(code, Some(0));
    assert!(took < PROMPT, "{took:?}");
    assert!(!socket.exists(), "the socket file was left behind");

    // The same address again; a server that was killed leaves its socket, which the next one replaces.
    let mut server = Server::exactly(&["serve", &recording(), "--listen", &address]);
    server.end_by("KILL");
    assert!(socket.exists());
    let server = Server::exactly(&["serve", &recording(), "--listen", &address]);
    ask(&mut UnixStream::connect(&socket).unwrap(), "QTFrame:pc:401131", "F0T2");
    drop(server);
}

#[test]
fn nothing_else_at_the_path_of_a_unix_socket_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    let address = format!("unix:{}", path.display());
    let refused = |what: &str| {
        let (code, _, errors) = run(traceframe().args(["serve", &recording(), "--listen", &address]));
        assert_eq!(code, Some(4), "{what}: {errors}");
        assert!(errors.contains(&address) && errors.contains("File exists"), "{what}: {errors}");
        assert!(path.symlink_metadata().is_ok(), "{what} was removed");
    };
    std::fs::write(&path, "precious").unwrap();
    refused("a file");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused("a folder");
    std::fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/nonexistent", &path).unwrap();
    refused("a symbolic link");
    std::fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    refused("a socket that another program listens on");
    drop(listener);
    std::fs::remove_file(&path).unwrap();
    let datagrams = UnixDatagram::bind(&path).unwrap();
    refused("a socket of another kind");
    drop(datagrams);

    let server = Server::exactly(&["serve", &recording(), "--listen", &format!("{address}.2")]);
    let (code, _, errors) = run(traceframe().args(["serve", &recording(), "--listen", &format!("{address}.2")]));
    assert_eq!(code, Some(4), "{errors}");
    ask(&mut UnixStream::connect(folder.path().join("taken.2")).unwrap(), "T1", "OK");
    drop(server);
}

#[test]
fn the_port_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    std::fs::write(&file, "something old\n").unwrap();
    let file = file.to_str().unwrap();
    let server = Server::exactly(&["serve", &recording(), "--listen", ":0", "--port-file", file]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), format!("{}\n", server.port));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["port"], "nothing half written is left behind");
    answers(&server);

    let socket = format!("unix:{}", folder.path().join("socket").display());
    for (address, file, said) in [
        (":0", "/nonexistent/port", "/nonexistent/port: the port file cannot be written: No such file"),
        (socket.as_str(), file, "no address with a port"),
    ] {
        let arguments = ["serve", &recording(), "--listen", address, "--port-file", file];
        let (code, output, errors) = run(traceframe().args(arguments));
        assert_eq!(code, Some(4), "{errors}");
        assert!(errors.contains(said), "{errors}");
        assert!(!output.contains("listening"), "whoever waits for the ready line would go on: {output}");
    }
    assert!(!folder.path().join("socket").exists());
}

#[test]
fn once_means_the_first_client_and_no_other() {
    for goodbye in ["D", "k", ""] {
        let mut server = Server::serve(&[&recording(), "--once"]);
        let mut client = server.connect();
        assert_eq!(client.ask("QTFrame:5"), "F5T2");
        eventually("the port is closed to others", || TcpStream::connect(("127.0.0.1", server.port)).is_err());
        assert_eq!(client.ask("T1"), "OK");
        if !goodbye.is_empty() {
            client.send(goodbye);
        }
        drop(client);
        assert_eq!(server.wait(), Some(0), "after {goodbye:?}");
    }
    // Whoever waits does not wait for a client that never comes: a signal ends this, too.
    let mut server = Server::serve(&[&recording(), "--once"]);
    let (code, took) = server.end_within("INT");
    assert_eq!(code, Some(0));
    assert!(took < PROMPT, "{took:?}");
}

#[test]
fn a_port_in_use_is_named() {
    for address in loopback() {
        let taken = TcpListener::bind(format!("{address}:0")).unwrap();
        let port = taken.local_addr().unwrap().port();
        for listen in [format!(":{port}"), format!("localhost:{port}"), format!("{address}:{port}")] {
            let (code, output, errors) = run(traceframe().args(["serve", &recording(), "--listen", &listen]));
            assert_eq!(code, Some(4), "{listen}: {errors}");
            assert!(errors.contains(&format!("{address}:{port}: Address already in use")), "{listen}: {errors}");
            assert!(errors.contains("--listen"), "no hint: {errors}");
            assert!(!output.contains("listening"), "{output}");
        }
    }
    // Of several addresses the one that is taken is named.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = taken.local_addr().unwrap().to_string();
    let (code, _, errors) = run(traceframe().args(["serve", &recording(), "--listen", ":0", "--listen", &name]));
    assert_eq!(code, Some(4));
    assert!(errors.contains(&name), "{errors}");
    let (code, _, errors) = run(traceframe().args(["serve", &recording(), "--listen", "192.0.2.1:0"]));
    assert_eq!(code, Some(4));
    assert!(errors.contains("192.0.2.1:0: ") && errors.contains("no such address"), "{errors}");
}

#[test]
fn an_address_that_others_can_reach_is_warned_of() {
    for address in ["0.0.0.0:0", "[::]:0"].into_iter().take(loopback().len()) {
        let server = Server::exactly(&["serve", &recording(), "--listen", address, "--quiet"]);
        eventually("the warning", || server.errors().contains("WARN"));
        let errors = server.errors();
        let host = address.trim_end_matches('0');
        assert!(errors.contains(&format!("listening on {host}{}", server.port)), "{errors}");
        assert!(errors.contains("no passwords"), "{errors}");
        assert_eq!(server.target(), format!(":{}", server.port));
        answers(&server);
    }
    let server = Server::serve(&[&recording()]);
    answers(&server);
    assert!(!server.errors().contains("not loopback"), "{}", server.errors());
}

/// A client that asks for more and more and reads nothing, until the server can write no further.
fn unread(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let many = packet("g").repeat(1000);
    let began = Instant::now();
    while (&stream).write_all(&many).is_ok() {
        assert!(began.elapsed() < DEADLINE, "the server reads on and on from a client that reads nothing");
    }
    stream
}

#[test]
fn signals_end_a_server_whatever_its_clients_do() {
    for signal in ["INT", "TERM"] {
        // Nobody there.
        let mut server = Server::serve(&[&recording()]);
        let (code, took) = server.end_within(signal);
        assert_eq!(code, Some(0), "{signal}");
        assert!(took < PROMPT, "{signal} with nobody there: {took:?}");

        // A client that just connected, one in no-ack mode, one in a frame, one in the middle of a packet, one that
        // reads nothing.
        let mut server = Server::serve(&[&recording()]);
        let silent = Client::raw(server.port);
        let idle = server.connect();
        let mut busy = server.connect();
        assert_eq!(busy.ask("QTFrame:5"), "F5T2");
        let mut half = server.connect();
        half.write("$QTFra");
        let not_reading = unread(&server);
        let (code, took) = server.end_within(signal);
        assert_eq!(code, Some(0), "{signal}");
        assert!(took < PROMPT, "{signal} with clients: {took:?}");
        // Each sees its connection end, at most behind an error in words.
        let told = packet("E.the trace server is ending");
        for client in [silent, idle, busy, half] {
            let rest = client.rest();
            assert!(rest.is_empty() || rest == told, "{}", rest.escape_ascii());
        }
        drop(not_reading);

        // The port is free at once.
        let again = Server::exactly(&["serve", &recording(), "--listen", &format!(":{}", server.port)]);
        assert_eq!(again.port, server.port);
        answers(&again);
    }
}

#[test]
fn messages_as_json() {
    let mut server = Server::serve(&[&recording(), "--log-format", "json", "-v"]);
    let mut client = server.connect();
    assert_eq!(client.ask("QTFrame:5"), "F5T2");
    client.send(b"\x1b[31m\xff");
    client.receive();
    drop(client);
    eventually("the client left", || server.errors().contains(" left"));
    server.end_by("TERM");
    let errors = server.errors();
    let mut messages = Vec::new();
    for line in errors.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value["timestamp"].is_string() && value["level"].is_string(), "{line}");
        messages.push(value["fields"].to_string());
    }
    for part in ["connected", "left", "QTFrame:5", "F5T2", "indexed 40 frames", "ending"] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part} is not in {errors}");
    }
    // What ends the program is a message like any other.
    for arguments in [&["info", "/nonexistent.tf"][..], &["serve", &recording(), "--listen", "192.0.2.1:1"]] {
        let (code, _, errors) = run(traceframe().args(arguments).args(["--log-format", "json"]));
        assert_ne!(code, Some(0));
        let last = errors.lines().last().unwrap();
        let value: serde_json::Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"));
        assert_eq!(value["level"], "ERROR");
        assert!(value["fields"]["message"].as_str().unwrap().contains(arguments.last().unwrap()), "{last}");
    }
}

#[test]
fn how_much_is_said() {
    for (options, packets, left, warnings) in
        [(&[][..], false, true, true), (&["-v"], true, true, true), (&["-q"], false, false, true)]
    {
        let damaged = data("tfile/31-noend.tf").to_str().unwrap().to_owned();
        let server = Server::serve(&[&[damaged.as_str()], options].concat());
        let mut client = server.connect();
        assert_eq!(client.ask("QTFrame:5"), "F5T2");
        assert_eq!(client.ask("vMustReplyEmpty"), "");
        client.send("D");
        client.rest();
        eventually("the warning", || server.errors().contains("0x9abe") == warnings);
        if left {
            eventually("the client left", || server.errors().contains(" left"));
        }
        let errors = server.errors();
        assert_eq!(errors.contains("QTFrame:5"), packets, "{options:?}: {errors}");
        assert_eq!(errors.contains("F5T2"), packets, "{options:?}: {errors}");
        // Every gdb asks for some things that are not there, which is nobody's concern.
        assert_eq!(errors.contains("vMustReplyEmpty"), packets, "{options:?}: {errors}");
        assert_eq!(errors.contains("connected"), left, "{options:?}: {errors}");
    }
}

#[test]
fn clients_that_say_nothing_or_half_a_packet_hold_nobody_up() {
    let server = Server::serve(&[&recording()]);
    let silent: Vec<Client> = (0..20).map(|_| Client::raw(server.port)).collect();
    for half in ["$", "$QTFrame", "$QTFrame:5#", "$QTFrame:5#1"] {
        let mut client = Client::raw(server.port);
        client.write(half);
        client.stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.rest(), b"", "{half}");
        answers(&server);
    }
    for mut client in silent {
        client.write(packet("T1"));
        client.expect("+$OK#9a");
    }
}

#[test]
fn connections_that_come_and_go_leave_nothing_behind() {
    let server = Server::serve(&[&recording()]);
    answers(&server);
    eventually("the first client left", || server.errors().contains(" left"));
    let before = server.descriptors();
    let memory = server.own_memory();
    for cycle in 0..200 {
        let mut client = Client::raw(server.port);
        match cycle % 4 {
            0 => {}
            1 => client.write("$g"),
            2 => client.write(packet("QTFrame:5")),
            _ => {
                client.write(packet("QTFrame:5"));
                client.expect(["+".as_bytes(), &packet("F5T2")].concat());
            }
        }
    }
    eventually("their descriptors are closed", || server.descriptors() <= before);
    answers(&server);
    let grown = server.own_memory().saturating_sub(memory);
    assert!(grown < 8 << 20, "{grown} bytes for 200 connections");
}

#[test]
fn running_out_of_descriptors_costs_nobody_but_those_who_wait() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let script = format!(
        "ulimit -n 32; exec {} serve {} --listen :0 --port-file {}",
        env!("CARGO_BIN_EXE_traceframe"),
        recording(),
        file.display()
    );
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the port file", || file.exists());
    let port = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let mut first = Client::connect(port);
    assert_eq!(first.ask("QTFrame:5"), "F5T2");
    // The system accepts them for the server, which has no descriptors left for some of them.
    let many: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(first.ask("QTFrame:pc:401131"), "F8T2");
    let mut waiting = Client { stream: TcpStream::connect(("127.0.0.1", port)).unwrap() };
    waiting.stream.set_read_timeout(Some(DEADLINE)).unwrap();
    waiting.write(packet("T1"));
    drop(many);
    waiting.expect("+$OK#9a");
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn small_packets_are_not_held_back() {
    let server = Server::serve(&[&recording()]);
    let mut client = Client::raw(server.port);
    // With acknowledgement, sign and reply must not wait for one another: 40 ms each time where they do.
    client.stream.set_nodelay(false).unwrap();
    let began = Instant::now();
    for _ in 0..100 {
        client.write(packet("T1"));
        client.expect("+$OK#9a");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn standard_output_and_standard_error_may_be_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let (out, writer) = std::io::pipe().unwrap();
    let (err, errors) = std::io::pipe().unwrap();
    drop((out, err));
    let mut child = traceframe()
        .args(["serve", &recording(), "--listen", ":0", "-v", "--port-file", file.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .spawn()
        .unwrap();
    eventually("the port file", || file.exists());
    let port = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    for _ in 0..3 {
        let mut client = Client::connect(port);
        assert_eq!(client.ask("QTFrame:5"), "F5T2");
    }
    let sent = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = support::wait(&mut child, DEADLINE).expect("the server does not end");
    assert_eq!(status.code(), Some(0));
}

/// Two million small frames of tracepoint 1, and one of tracepoint 2: a hundred megabytes.
fn huge() -> (tempfile::TempDir, String) {
    let blocks = [made::variable(1, 5), made::memory(0x1000, &[b'x'; 20])];
    let one = frame_bytes(1, &blocks);
    let last = frame_bytes(2, &blocks);
    let head = Made::new(&["R 0", "tp T1:401131:E:0:0"]).bytes();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.tf");
    let mut file = std::fs::File::create(&path).unwrap();
    let end = head.len() - 4;
    file.write_all(&head[..end]).unwrap();
    let many = one.repeat(20_000);
    for _ in 0..100 {
        file.write_all(&many).unwrap();
    }
    file.write_all(&last).unwrap();
    file.write_all(&head[end..]).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn frame_bytes(tracepoint: i16, blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut made = Made::new(&[]);
    made.frame(tracepoint, blocks);
    let bytes = made.bytes();
    made::frame_section(&bytes)[..made::frame_section(&bytes).len() - 4].to_vec()
}

/// Whatever is answered while a recording is indexed, which takes as long as it takes: nothing here depends on it.
#[test]
fn a_huge_recording_is_served_while_it_is_still_indexed() {
    let (_folder, file) = huge();
    let began = Instant::now();
    let mut server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert!(client.ask("qSupported:swbreak+").starts_with("PacketSize="));
    assert_eq!(client.ask("?"), "T05thread:01;");
    assert_eq!(client.ask("QTFrame:0"), "F0T1");
    assert_eq!(client.ask("m1000,4"), "78787878");
    assert_eq!(client.ask("qTV:1"), "V5");
    assert_eq!(client.ask("QTFrame:pc:401131"), "F1T1");
    let first = began.elapsed();
    // Either it is indexed or it is said not to be.
    let status = client.monitor("status");
    let complete = status.contains("\nframes: 2000001\n");
    assert_ne!(complete, status.contains("\nindexing: "), "{status}");
    assert!(client.monitor("frames range 0..3").contains("0x1000+20"));

    // A search for the last frame: other clients are served meanwhile, and each wait is interrupted by a line.
    let mut other = server.connect();
    let mut interrupted = server.connect();
    client.send("QTFrame:tdp:2");
    interrupted.write([&packet("QTFrame:tdp:2")[..], b"\x03", &packet("QTFrame:2")].concat());
    assert_eq!(other.ask("QTFrame:3"), "F3T1");
    let mut last_heard = Instant::now();
    loop {
        let data = String::from_utf8(client.receive()).unwrap();
        assert!(last_heard.elapsed() < Duration::from_secs(6), "gdb would have given up");
        last_heard = Instant::now();
        let Some(line) = data.strip_prefix('O') else {
            assert_eq!(data, "F1e8480T2");
            break;
        };
        let line = String::from_utf8(support::protocol::from_hex(line)).unwrap();
        assert!(line.starts_with("still indexing: ") && line.ends_with(" frames\n"), "{line}");
    }
    assert_eq!(client.ask("m1000,4"), "78787878");
    let (_, reply) = interrupted.console_and_reply();
    assert!(reply == "E.interrupted" || reply == "F1e8480T2", "{reply}");
    assert_eq!(interrupted.ask("QTFrame:2"), "F2T1");
    assert_eq!(interrupted.receive(), b"F2T1");

    // Now all is known, and nothing else changed.
    let status = client.monitor("status");
    assert!(status.contains("\nframes: 2000001\n") && !status.contains("indexing: "), "{status}");
    assert_eq!(other.ask("QTFrame:tdp:3"), "F-1");
    assert_eq!(other.ask("QTFrame:tdp:2"), "F1e8480T2");
    assert_eq!(other.ask("QTFrame:ffffffff"), "OK");
    assert_eq!(other.ask("qTV:1"), "V5");
    let all = began.elapsed();
    assert!(first <= all);
    assert_eq!(server.end_by("TERM"), Some(0));
}

#[test]
fn a_server_that_still_indexes_ends_as_promptly() {
    let (_folder, file) = huge();
    let mut server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask("QTFrame:0"), "F0T1");
    client.send("QTFrame:tdp:2");
    let (code, took) = server.end_within("INT");
    assert_eq!(code, Some(0));
    assert!(took < PROMPT, "{took:?}");
    // The client was told, or it got its reply before.
    let rest = client.rest();
    let told = packet("E.the trace server is ending");
    let answered = packet("F1e8480T2");
    let holds = |part: &[u8]| rest.windows(part.len()).any(|window| window == part);
    assert!(holds(&told) || holds(&answered), "{}", rest.escape_ascii());
    assert!(Path::new(&file).exists());
}

/// The usual port may be taken on the machine that tests: then that is said, and with it how to choose another.
#[test]
fn the_usual_port() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let mut child = traceframe()
        .args(["serve", &recording(), "--port-file", file.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ended = None;
    eventually("it listens or is refused", || {
        ended = child.try_wait().unwrap();
        ended.is_some() || file.exists()
    });
    match ended {
        Some(status) => {
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            assert_eq!(status.code(), Some(4), "{errors}");
            assert!(errors.contains(":1234: Address already in use"), "{errors}");
        }
        None => {
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "1234\n");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
