//! Sessions: each begins fresh, none affects another, and each ends when its client leaves.

use super::support::protocol::packet;
use super::support::{Client, Server};
use super::{open_program, steps};

/// A client that has just connected: acknowledgement is on, no frame is selected, no file is open.
fn is_fresh(server: &Server) {
    let mut client = Client::raw(server.port);
    client.write(packet("vFile:fstat:0"));
    client.expect([&b"+"[..], &packet("F-1,09")].concat());
    client.write(packet("qXfer:traceframe-info:read::0,1000"));
    client.expect([&b"+"[..], &packet("E01")].concat());
    client.write(packet("QTFrame:pc:401131"));
    client.expect([&b"+"[..], &packet("F0T2")].concat());
    client.write(packet("qTsV"));
    client.expect([&b"+"[..], &packet("1:0:1:74726163655f74696d657374616d70")].concat());
}

/// A client that has moved, has no acknowledgement, holds a file, and is in the middle of a list.
fn busy(server: &Server) -> Client {
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:9"), "F9T2");
    open_program(&mut client);
    client.ask_alone("qTfV");
    client
}

#[test]
fn leaving_ends_the_connection_and_nothing_else() {
    let mut server = steps();
    let mut other = busy(&server);
    for (goodbye, reply) in [
        ("k", &b""[..]),
        ("vKill;a410", b"$OK#9a"),
        ("vKill;1", b"$OK#9a"),
        ("D", b"$OK#9a"),
        ("D;1", b"$OK#9a"),
        ("D;a410", b"$OK#9a"),
    ] {
        let mut client = busy(&server);
        client.send(goodbye);
        assert_eq!(client.rest(), reply, "{goodbye}");
        assert!(server.is_running(), "{goodbye}");
        is_fresh(&server);
        assert_eq!(other.ask_alone("QTFrame:9"), "F9T2", "{goodbye}");
    }
    // The same with acknowledgement.
    let mut client = Client::raw(server.port);
    client.write(packet("D"));
    assert_eq!(client.rest(), b"+$OK#9a");
    let mut client = Client::raw(server.port);
    client.write(packet("k"));
    assert_eq!(client.rest(), b"+");
}

#[test]
fn what_comes_behind_a_goodbye_is_not_answered() {
    let server = steps();
    let mut client = server.connect();
    client.write([packet("T1"), packet("D"), packet("T1"), packet("g")].concat());
    assert_eq!(client.rest(), [packet("OK"), packet("OK")].concat());
}

#[test]
fn a_connection_that_just_ends() {
    let server = steps();
    for sent in [&b""[..], b"+", b"$", b"$g", b"$g#", b"$g#6", b"\x03", b"-", b"$QTFrame:5#1e"] {
        let mut client = Client::raw(server.port);
        client.write(sent);
        drop(client);
        is_fresh(&server);
    }
}

#[test]
fn two_clients_stand_in_different_frames() {
    let server = steps();
    let mut clients: Vec<Client> = (0..4).map(|_| server.connect()).collect();
    let mut registers = Vec::new();
    for (at, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.ask_alone(format!("QTFrame:{at:x}")), format!("F{at:x}T2"));
        registers.push(client.ask_alone("g"));
    }
    assert_eq!(registers.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    // One goes on, one leaves its frame, one disconnects, one asks nonsense: the others stay where they are.
    assert_eq!(clients[0].ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(clients[1].ask_alone("QTFrame:pc:401139"), "F3T2");
    assert_eq!(clients[1].ask_alone("QTFrame:1"), "F1T2");
    clients[3].ask_alone("Hg-1");
    for (at, client) in clients.iter_mut().enumerate().skip(1) {
        assert_eq!(client.ask_alone("g"), registers[at], "client {at}");
        let map = client.text_object("traceframe-info", "");
        assert!(map.contains("0x4040c0"), "client {at}: {map}");
    }
    drop(clients.remove(2));
    assert_eq!(clients[2].ask_alone("g"), registers[3]);
    // Lists are uploaded side by side.
    let [first, second, ..] = &mut clients[..] else { panic!() };
    let list = first.list("qTfP", "qTsP");
    let mut found = vec![first.ask_alone("qTfP")];
    assert_eq!(second.list("qTfP", "qTsP"), list);
    while found.last().is_some_and(|entry| entry != "l") {
        found.push(first.ask_alone("qTsP"));
        second.ask_alone("qTsP");
    }
    assert_eq!(found[..found.len() - 1], list);
}

#[test]
fn breakpoints_are_taken_and_given_back() {
    let server = steps();
    let mut client = server.connect();
    for packet in ["Z0,401131,1", "Z0,401131,1", "Z1,401131,1", "z0,401131,1", "z0,401131,1", "z1,401131,1"] {
        assert_eq!(client.ask_alone(packet), "OK", "{packet}");
    }
    // The kind is the machine's.
    for packet in ["Z0,401131,4", "Z0,ffffffffffffffff,2", "Z0,0,0", "Z0,401131,1;X3,220027", "z0,401131,4"] {
        assert_eq!(client.ask_alone(packet), "OK", "{packet}");
    }
    for packet in ["Z2,4040c0,4", "Z3,4040c0,4", "Z4,4040c0,4", "Z2,4040c0,4", "z2,4040c0,4", "z2,4040c0,4", "z4,1,1"] {
        assert_eq!(client.ask_alone(packet), "OK", "{packet}");
    }
    // Memory is not changed by them.
    assert_eq!(client.ask_alone("Z0,401131,1"), "OK");
    assert_eq!(client.ask_alone("m401131,1"), "8b");
}

#[test]
fn breakpoints_without_number_are_refused_and_cost_little() {
    let server = steps();
    let mut client = server.connect();
    let before = server.peak_memory();
    let mut batch = Vec::new();
    for address in 0..70_000 {
        batch.extend(packet(format!("Z0,{address:x},1")));
    }
    let mut writer = client.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || std::io::Write::write_all(&mut writer, &batch).unwrap());
    let replies: Vec<Vec<u8>> = (0..70_000).map(|_| client.receive_alone()).collect();
    sending.join().unwrap();
    let refused = replies.iter().position(|reply| reply != b"OK").unwrap();
    assert!(replies[refused..].iter().all(|reply| reply.starts_with(b"E")), "from {refused} on");
    assert!(server.peak_memory() - before < 32 << 20);
    assert_eq!(client.ask_alone("z0,0,1"), "OK");
    assert_eq!(client.ask_alone("Z0,fffff,1"), "OK");
}
