//! Storms of bytes: what a stream can hold, and where its pieces can end.

use std::io;
use std::thread;
use std::time::Duration;

use super::link::{Link, at_once, wrong};
use super::place::{Place, Questions};
use super::size;
use super::support::protocol::packet;

/// How many clients storm at a time.
const CLIENTS: usize = 4;

/// Deterministic noise; another for each client.
fn noise(client: usize) -> impl Iterator<Item = u8> {
    let mut state = 1 + client as u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
}

/// Noise rich in what begins and ends something, from clients that also go on to something sound.
pub fn garbage(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let link = place.raw(at)?;
        let reader = link.drain()?;
        let length = size(128 << 10, 16 << 20);
        let noise = noise(at).enumerate().map(|(at, byte)| if at % 7 == 0 { b"$-\x03#+}"[at % 6] } else { byte });
        link.write(noise.take(length).collect::<Vec<_>>())?;
        link.finish()?;
        reader.join().unwrap();
        // Noise that begins nothing is passed over.
        let link = place.link(at)?;
        link.write(self::noise(at).filter(|byte| !b"$-\x03".contains(byte)).take(length).collect::<Vec<_>>())?;
        link.ask_all(&place.visit(at))
    })
}

/// Packets that are cut anywhere, and go on after a silence.
pub fn halves(place: &Place) -> io::Result<()> {
    at_once(size(16, 64), |at| {
        let link = place.link(at)?;
        let frame = at % place.frames();
        let question = packet(format!("QTFrame:{frame:x}"));
        let (first, second) = question.split_at(1 + at % (question.len() - 1));
        for _ in 0..size(2, 10) {
            link.write(first)?;
            thread::sleep(Duration::from_millis(size(50, 1000) as u64));
            link.write(second)?;
            link.expect(packet(place.found(frame)))?;
        }
        Ok(())
    })
}

/// Packets that go on and on, with and without a `$` in between.
pub fn endless(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let link = place.link(at)?;
        link.write("$")?;
        let piece = vec![if at < 2 { b'q' } else { b'}' }; 1 << 16];
        for _ in 0..size(4, 2048) {
            link.write(&piece)?;
        }
        // Ended at last, it is refused in words; begun anew, it is forgotten.
        if at.is_multiple_of(2) {
            let sum = piece.len() * size(4, 2048) * usize::from(piece[0]);
            link.write(format!("#{:02x}", sum % 256))?;
            link.expect(packet("E.packet longer than 0x4000 bytes"))?;
        }
        link.ask_all(&place.visit(at))
    })
}

/// Sends packets without waiting for the answers, which must be these.
fn sends(link: &Link, sent: &[u8], answers: &[u8]) -> io::Result<()> {
    thread::scope(|scope| {
        let sending = scope.spawn(|| link.write(sent));
        link.expect(answers)?;
        sending.join().unwrap()
    })
}

/// With acknowledgement they are asked for again, without they are errors; none is carried out.
pub fn wrong_checksums(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let count = size(2_000, 200_000);
        let damaged = ["$k#00", "$D#zz", "$QTFrame:1#00", "$g#  "].concat().repeat(count / 4);
        let link = place.raw(at)?;
        sends(&link, damaged.as_bytes(), &vec![b'-'; count])?;
        let link = link.without_acknowledgement()?;
        link.ask_all(&place.visit(at))?;
        sends(&link, damaged.as_bytes(), &packet("E.wrong checksum").repeat(count))?;
        link.ask_all(&place.state(at))
    })
}

/// Each `-` asks for the last reply, which is long: it comes again a few times, and not a hundred thousand times.
pub fn nacks(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let (frame, question, answer) = place.longest();
        let link = place.raw(at)?;
        link.write(packet(format!("QTFrame:{frame:x}")))?;
        link.expect([b"+", &packet(place.found(frame))[..]].concat())?;
        link.write(packet(&question))?;
        link.expect([b"+", &packet(&answer)[..]].concat())?;
        link.write("-")?;
        link.expect(packet(&answer))?;
        let reader = link.drain()?;
        let count = size(50_000, 2_000_000);
        link.write(vec![b'-'; count])?;
        link.write(packet("D"))?;
        link.finish()?;
        let total = reader.join().unwrap();
        // At most once for each 16 kB that are read, or each time the socket takes the last one.
        if total > count * 64 { Err(wrong(format!("{total} bytes for {count} nacks"))) } else { Ok(()) }
    })
}

/// ^C between packets, in packets, and in the midst of searches for what is not there.
pub fn interrupts(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let link = place.link(at)?;
        let search = [&packet("QTFrame:tdp:7fff")[..], &[3; 100]].concat();
        let count = size(100, 2_000);
        sends(&link, &search.repeat(count), &packet("F-1").repeat(count))?;
        link.write(vec![3; size(100_000, 10_000_000)])?;
        link.ask_all(&place.visit(at))?;
        // In a packet it is data.
        link.ask("qT\x03", "")
    })
}

/// A conversation in which each byte is written by itself.
pub fn single_bytes(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let link = place.link(at)?;
        for frame in 0..size(4, 40) {
            for (question, answer) in place.visit(at + frame % 30) {
                packet(question).iter().try_for_each(|byte| link.write([*byte]))?;
                link.expect(packet(answer))?;
            }
        }
        Ok(())
    })
}

/// A walk from one end to the other in one write.
pub fn pipelined(place: &Place) -> io::Result<()> {
    at_once(CLIENTS, |at| {
        let link = place.link(at)?;
        let frames = (0..size(100, 5_000)).map(|step| (at * 7 + step * 13) % place.frames());
        let walk: Questions = frames.flat_map(|frame| place.visit(frame)).collect();
        let sent: Vec<u8> = walk.iter().flat_map(|(question, _)| packet(question)).collect();
        let answers: Vec<u8> = walk.iter().flat_map(|(_, answer)| packet(answer)).collect();
        sends(&link, &sent, &answers)
    })
}
