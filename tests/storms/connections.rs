//! Storms of connections: what a client can do with one, and what it can leave undone.

use std::io;
use std::thread;
use std::time::Duration;

use super::link::{Link, at_once};
use super::place::Place;
use super::size;
use super::support::protocol::packet;

/// A client in the frame with the longest answer: the question, and the answer as it comes.
fn at_the_longest(place: &Place, at: usize) -> io::Result<(Link, Vec<u8>, Vec<u8>)> {
    let (frame, question, answer) = place.longest();
    let link = place.link(at)?;
    link.ask(&format!("QTFrame:{frame:x}"), &place.found(frame))?;
    Ok((link, packet(question), packet(answer)))
}

/// They ask until the server takes no more, since nothing is read; some read a part at last, and it is right.
pub fn never_read(place: &Place) -> io::Result<()> {
    at_once(size(3, 40), |at| {
        let (link, question, answer) = at_the_longest(place, at)?;
        link.narrow()?;
        let taken = link.write_until_stuck(&question, Duration::from_millis(300))?;
        thread::sleep(Duration::from_millis(size(100, 3_000) as u64));
        if at.is_multiple_of(3) {
            let answers = (taken / question.len()).min(size(50, 1_000));
            (0..answers).try_for_each(|_| link.expect(&answer))?;
        }
        Ok(())
    })
}

/// They connect and say nothing, or no more than a byte.
pub fn never_write(place: &Place) -> io::Result<()> {
    let silent: Vec<Link> = (0..size(50, 1_000)).map(|at| place.raw(at)).collect::<io::Result<_>>()?;
    for link in silent.iter().step_by(5) {
        link.write("$")?;
    }
    thread::sleep(Duration::from_millis(size(100, 5_000) as u64));
    // Whoever says something at last is answered.
    for link in silent.iter().step_by(7) {
        link.write(packet("T1"))?;
        link.expect("+$OK#9a")?;
    }
    Ok(())
}

/// They ask for much, read a little of it, and are gone.
pub fn reset(place: &Place) -> io::Result<()> {
    at_once(size(4, 16), |at| {
        for cycle in 0..size(10, 200) {
            let (link, question, answer) = at_the_longest(place, at + cycle % 2)?;
            link.write(question.repeat(200))?;
            link.expect(&answer[..=cycle % 100])?;
            link.reset()?;
        }
        Ok(())
    })
}

/// They connect and go: at once, behind a part of a packet, without waiting for the answer, or with it.
pub fn come_and_go(place: &Place) -> io::Result<()> {
    at_once(2, |half| {
        for cycle in 0..size(150, 5_000) {
            let link = place.raw(half + cycle / 5)?;
            match cycle % 5 {
                0 => {}
                1 => link.write("$QTFr")?,
                2 => link.write(packet("T1"))?,
                3 => {
                    link.write(packet("T1"))?;
                    link.expect("+$OK#9a")?;
                }
                _ => link.reset()?,
            }
        }
        Ok(())
    })
}
