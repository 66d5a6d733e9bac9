//! Frames, as a formatter makes them of the bytes of several sources (Arm IHI 0029, chapter D4).

use traceframe::format::itrace::coresight::formatter::Framing;

use crate::random::Random;
use crate::stream::Sink;

/// How a trace port is kept busy.
const HALFWORD: [u8; 2] = [0xff, 0x7f];
const FRAME: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];

/// Mixes sources, each with its ID, as a funnel does: now of the one, now of the other. Each byte has the number of its
/// packet; those of frames have that of the byte before.
pub fn format(sources: &[(u8, &Sink)], framing: Framing, random: &mut Random) -> Sink {
    if framing == Framing::Unformatted {
        return sources[0].1.clone();
    }
    let mut queue = Vec::new();
    let mut next = vec![0; sources.len()];
    while next.iter().zip(sources).any(|(next, (_, sink))| *next < sink.bytes.len()) {
        let which = random.below(sources.len());
        let (id, sink) = sources[which];
        for _ in 0..1 + random.below(40) {
            if let Some(byte) = sink.bytes.get(next[which]) {
                queue.push((id, *byte, sink.packets[next[which]]));
                next[which] += 1;
            }
        }
    }
    Frames { queue, next: 0, id: 0, packet: 0, sink: Sink::default() }.all(framing, random)
}

struct Frames {
    /// ID, byte, and packet.
    queue: Vec<(u8, u8, usize)>,
    next: usize,
    id: u8,
    packet: usize,
    sink: Sink,
}

impl Frames {
    fn all(mut self, framing: Framing, random: &mut Random) -> Sink {
        let is_port = framing == Framing::Synchronized;
        let mut frames = 0;
        while self.next < self.queue.len() {
            if is_port && frames % 7 == 0 {
                self.sink.push(&FRAME, self.packet);
            }
            if frames % 7 == 0 {
                // The ID is told again, for those who have lost what was before.
                self.id = 0;
            }
            frames += 1;
            let frame = self.frame();
            for pair in frame.chunks(2) {
                if is_port && random.below(20) == 0 {
                    self.sink.push(&HALFWORD, self.packet);
                }
                for (byte, packet) in pair {
                    self.sink.push(&[*byte], *packet);
                }
            }
        }
        if is_port {
            self.sink.push(&FRAME, self.packet);
        }
        self.sink
    }

    fn take(&mut self) -> Option<u8> {
        let (_, byte, packet) = *self.queue.get(self.next)?;
        self.next += 1;
        self.packet = packet;
        Some(byte)
    }

    fn id_at(&self, ahead: usize) -> u8 {
        self.queue.get(self.next + ahead).map_or(0, |(id, ..)| *id)
    }

    fn frame(&mut self) -> Vec<(u8, usize)> {
        let mut frame = Vec::new();
        let mut flags = 0;
        for pair in 0..8 {
            let (first, second) = (self.id_at(0), self.id_at(1));
            let is_last = pair == 7;
            if first != self.id {
                // The ID counts from the next byte on.
                self.id = first;
                frame.push(((first << 1) | 1, self.packet));
                if !is_last {
                    let byte = self.take().unwrap_or(0);
                    frame.push((byte, self.packet));
                }
            } else if second != first && !is_last {
                // The next byte is still of the ID before.
                flags |= 1 << pair;
                self.id = second;
                frame.push(((second << 1) | 1, self.packet));
                let byte = self.take().unwrap_or(0);
                frame.push((byte, self.packet));
            } else {
                let byte = self.take().unwrap_or(0);
                flags |= (byte & 1) << pair;
                frame.push((byte & !1, self.packet));
                if !is_last {
                    let byte = self.take().unwrap_or(0);
                    frame.push((byte, self.packet));
                }
            }
        }
        frame.push((flags, self.packet));
        frame
    }
}
