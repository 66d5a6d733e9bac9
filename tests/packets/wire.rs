//! Framing, acknowledgement, and whatever else a stream of bytes can hold.

use std::time::Duration;

use super::steps;
use super::support::protocol::packet;
use super::support::{Client, DEADLINE, Server};

/// Asserts that all that was sent is answered: the next reply is that to the next packet.
fn in_step(client: &mut Client) {
    assert_eq!(client.ask_alone("T1"), "OK");
}

fn raw(server: &Server) -> Client {
    Client::raw(server.port)
}

#[test]
fn acknowledgement_until_it_is_turned_off() {
    let server = steps();
    let mut client = raw(&server);
    client.write(packet("T1"));
    client.expect("+$OK#9a");
    client.write("+");
    client.write(packet("vMustReplyEmpty"));
    client.expect("+$#00");
    client.write("+");
    // A client may as well never acknowledge.
    client.write(packet("T7"));
    client.expect("+$E01#a6");
    client.write(packet("QStartNoAckMode"));
    client.expect("+$OK#9a");
    client.write("+");
    client.write(packet("T1"));
    client.expect("$OK#9a");
    // Twice does no harm, and late acknowledgements neither.
    client.write(packet("QStartNoAckMode"));
    client.expect("$OK#9a");
    client.write("+++++");
    in_step(&mut client);
}

#[test]
fn a_reply_that_did_not_arrive_is_sent_again() {
    let server = steps();
    let mut client = raw(&server);
    // Before there was any reply there is nothing to send again.
    client.write("-");
    client.write(packet("qTV:1"));
    client.expect("+$U#55");
    for _ in 0..3 {
        client.write("-");
        client.expect("$U#55");
    }
    client.write("+");
    client.write(packet("QTFrame:5"));
    client.expect(["+".as_bytes(), &packet("F5T2")].concat());
    client.write("-");
    client.expect(packet("F5T2"));
    client.write("+");
    // It was not carried out again: the next search goes on from frame 5.
    client.write(packet("QTFrame:pc:401131"));
    client.expect(["+".as_bytes(), &packet("F8T2")].concat());
    client.write("-");
    client.expect(packet("F8T2"));
    // In no-ack mode `-` means nothing.
    client.write(packet("QStartNoAckMode"));
    client.expect("+$OK#9a");
    client.write("+-----");
    in_step(&mut client);
}

#[test]
fn a_packet_with_a_wrong_checksum_is_asked_for_again_and_not_carried_out() {
    let server = steps();
    let mut client = raw(&server);
    for wrong in ["$QTFrame:5#00", "$QTFrame:5#zz", "$QTFrame:5#  ", "$#01", "$QTFrame:5#\x00\x00"] {
        client.write(wrong);
        client.expect("-");
    }
    client.write(packet("qXfer:traceframe-info:read::0,10"));
    client.expect(["+".as_bytes(), &packet("E01")].concat());
    client.write(packet("QTFrame:5"));
    client.expect(["+".as_bytes(), &packet("F5T2")].concat());
    // Upper case digits are right, too.
    client.write("$QTFrame:8#");
    let sum = String::from_utf8(packet("QTFrame:8")).unwrap();
    client.write(sum.rsplit('#').next().unwrap().to_uppercase());
    client.expect(["+".as_bytes(), &packet("F8T2")].concat());
}

#[test]
fn without_acknowledgement_a_wrong_checksum_is_an_error() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:5"), "F5T2");
    for wrong in ["$QTFrame:8#00", "$QTFrame:8#zz", "$k#00", "$D#00"] {
        client.write(wrong);
        let reply = String::from_utf8(client.receive_alone()).unwrap();
        assert!(reply.starts_with("E."), "{wrong}: {reply}");
        assert!(reply.contains("checksum"), "{wrong}: {reply}");
    }
    assert_eq!(client.ask_alone("QTFrame:pc:401139"), "F7T2");
}

#[test]
fn wherever_writes_happen_to_end() {
    let server = steps();
    let mut client = server.connect();
    // Byte by byte.
    for byte in [packet("QTFrame:5"), packet("T1")].concat() {
        client.write([byte]);
    }
    client.expect([packet("F5T2"), packet("OK")].concat());
    // Many in one write, answered in order, with noise between them.
    let packets = ["QTFrame:1", "qTV:1", "T1", "T7", "QTFrame:28", "QTFrame:2", "vMustReplyEmpty"];
    let all: Vec<u8> = packets.iter().flat_map(|data| [&b"noise\r\n+"[..], &packet(data)].concat()).collect();
    client.write(all);
    let replies = ["F1T2", "U", "OK", "E01", "F-1", "F2T2", ""];
    client.expect(replies.iter().flat_map(packet).collect::<Vec<u8>>());
    // Half a packet, and the rest after a while, cut at every place.
    let whole = packet("QTFrame:3");
    for at in 1..whole.len() {
        client.write(&whole[..at]);
        std::thread::sleep(Duration::from_millis(2));
        client.write(&whole[at..]);
        client.expect(packet("F3T2"));
    }
    // A packet that lost its end, and another one.
    client.write("$QTFrame:9");
    client.write(packet("qTV:1"));
    client.expect(packet("U"));
    in_step(&mut client);
}

#[test]
fn pipelined_packets_are_each_acknowledged_in_order() {
    let server = steps();
    let mut client = raw(&server);
    client.write([packet("T1"), packet("qTV:1"), b"$T1#00".to_vec(), packet("T7")].concat());
    client.expect([&b"+"[..], &packet("OK"), b"+", &packet("U"), b"-+", &packet("E01")].concat());
    client.write([packet("QStartNoAckMode"), packet("T1"), packet("qTV:1")].concat());
    client.expect([&b"+"[..], &packet("OK"), &packet("OK"), &packet("U")].concat());
}

#[test]
fn a_packet_of_the_announced_size_passes_and_a_longer_one_is_refused() {
    let server = steps();
    for acknowledge in [false, true] {
        let mut client = if acknowledge { raw(&server) } else { server.connect() };
        let sign = if acknowledge { &b"+"[..] } else { b"" };
        let answered = |client: &mut Client, data: Vec<u8>, reply: &str| {
            client.write(packet(data));
            client.expect([sign, &packet(reply)].concat());
        };
        let padded = |size: usize| format!("QTFrame:{}5", "0".repeat(size - "QTFrame:5".len())).into_bytes();
        answered(&mut client, padded(0x4000), "F5T2");
        for size in [0x4001, 0x4002, 0x8000, 0x10_0000] {
            answered(&mut client, padded(size), "E.packet longer than 0x4000 bytes");
            answered(&mut client, b"QTFrame:pc:401139".to_vec(), "F7T2");
            answered(&mut client, b"QTFrame:5".to_vec(), "F5T2");
        }
        // Monitor commands and writes fill such packets as well.
        client.write(packet(format!("M4040c0,1ff0:{}", "00".repeat(0x1ff0))));
        client.expect([sign, &packet("E01")].concat());
        answered(&mut client, b"T1".to_vec(), "OK");
    }
}

#[test]
fn a_long_packet_with_a_wrong_checksum_is_asked_for_again() {
    let server = steps();
    let mut client = raw(&server);
    client.write([b"$", &[b'q'; 0x9000][..], b"#01"].concat());
    client.expect("-");
    client.write(packet("T1"));
    client.expect("+$OK#9a");
}

#[test]
fn interrupts_do_no_harm_at_any_time() {
    let server = steps();
    let mut client = raw(&server);
    client.write("\x03\x03");
    client.write(packet("T1"));
    client.expect("+$OK#9a");
    client.write("\x03+\x03");
    client.write(packet("QStartNoAckMode"));
    client.expect("+$OK#9a");
    client.write([b"\x03", &packet("QTFrame:5")[..], b"\x03\x03", &packet("T1"), b"\x03"].concat());
    client.expect([packet("F5T2"), packet("OK")].concat());
    // In a packet it is data: here the checksum counts it, and the packet is not known.
    client.write(packet("qT\x03"));
    client.expect("$#00");
    client.write("$T1#\x03\x03");
    let reply = client.receive_alone();
    assert!(reply.starts_with(b"E."), "{}", reply.escape_ascii());
    client.write(vec![3; 100_000]);
    assert_eq!(client.ask_alone("QTFrame:pc:401139"), "F7T2");
}

/// Reads all that comes in the background, so that the server is never held up by a client that does not read; how
/// many bytes that were by the end.
fn drain(client: &Client) -> std::thread::JoinHandle<usize> {
    let mut stream = client.stream.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut total = 0;
        let mut part = vec![0; 1 << 16];
        loop {
            match std::io::Read::read(&mut stream, &mut part) {
                Ok(0) | Err(_) => return total,
                Ok(count) => total += count,
            }
        }
    })
}

#[test]
fn a_storm_of_nacks_does_not_multiply_the_last_reply() {
    let server = steps();
    let mut client = raw(&server);
    client.write(packet("g"));
    let length = client.receive().len();
    assert!(length > 4000);
    let before = server.peak_memory();
    let reader = drain(&client);
    client.write(vec![b'-'; 10_000]);
    client.write(vec![b'-'; 1 << 20]);
    client.write(packet("D"));
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let total = reader.join().unwrap();
    assert!(total >= length, "it was asked for again");
    assert!(total < 20_000_000, "{total} bytes for a storm of a megabyte");
    let grown = server.peak_memory() - before;
    assert!(grown < 16 << 20, "{grown} bytes of memory for a storm of a megabyte");
    in_step(&mut server.connect());
}

#[test]
fn garbage_is_skipped() {
    let server = steps();
    let before = server.peak_memory();
    // Deterministic noise without the bytes that begin something.
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .filter(|byte| !matches!(byte, b'$' | b'-' | 3))
    .take(1 << 20)
    .collect();
    let mut client = server.connect();
    client.write(&noise);
    in_step(&mut client);
    // And with all of them: whatever is answered, the server lives and so does the client's next packet.
    let mut client = server.connect();
    let reader = drain(&client);
    let any: Vec<u8> =
        noise.iter().enumerate().map(|(at, byte)| if at % 9 == 0 { b"$-\x03#"[at % 4] } else { *byte }).collect();
    client.write(&any);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    reader.join().unwrap();
    in_step(&mut server.connect());
    // A packet that never ends.
    let mut client = server.connect();
    client.write("$");
    client.write(vec![b'q'; 1 << 20]);
    client.write("$");
    client.write("T1#85");
    assert_eq!(client.receive_alone(), b"OK");
    assert!(server.peak_memory() - before < 16 << 20);
}

#[test]
fn a_client_that_stops_sending_still_gets_its_replies() {
    let server = steps();
    let client = server.connect();
    let mut writer = client.stream.try_clone().unwrap();
    std::io::Write::write_all(&mut writer, &[packet("QTFrame:5"), packet("T1"), packet("g")].concat()).unwrap();
    writer.shutdown(std::net::Shutdown::Write).unwrap();
    client.stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let replies = client.rest();
    assert!(replies.starts_with(&[packet("F5T2"), packet("OK")].concat()), "{}", replies.escape_ascii());
    assert!(replies.len() > 4000);
}

/// Over a pipe that takes long to open gdb asks its first question several times, and would be out of step for good if
/// each was answered.
#[test]
fn the_first_question_asked_again_before_an_answer_is_answered_once() {
    let server = steps();
    let mut client = raw(&server);
    let question = packet("qSupported:xmlRegisters=i386");
    client.write([b"+", &question[..], &question, &question].concat());
    assert!(client.receive().starts_with(b"PacketSize="));
    client.write("+");
    client.write(packet("T7"));
    assert_eq!(client.receive(), b"E01");
    // Whoever has the answer and asks again gets another.
    for _ in 0..2 {
        client.write("+");
        client.write(&question);
        assert!(client.receive().starts_with(b"PacketSize="));
    }
}
