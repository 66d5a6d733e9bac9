//! Streams of packets, of which is known what each of them proves.

use std::ops::Range;

/// A packet.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    pub bytes: Vec<u8>,
    /// The numbers of the instructions that were executed and that it proves.
    pub proves: Range<usize>,
    /// Whether reading can begin here: it is the first of a synchronization.
    pub is_synchronization: bool,
}

/// The bytes of a sink, each with the number of the packet that it is of.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    pub bytes: Vec<u8>,
    pub packets: Vec<usize>,
}

impl Sink {
    /// Packets one behind the other, those of these numbers.
    pub fn of(packets: &[Packet], numbers: impl IntoIterator<Item = usize>) -> Sink {
        let mut sink = Sink::default();
        for number in numbers {
            sink.push(&packets[number].bytes, number);
        }
        sink
    }

    pub fn push(&mut self, bytes: &[u8], packet: usize) {
        self.bytes.extend(bytes);
        self.packets.resize(self.bytes.len(), packet);
    }

    /// A part of it.
    pub fn part(&self, range: Range<usize>) -> Sink {
        Sink { bytes: self.bytes[range.clone()].to_vec(), packets: self.packets[range].to_vec() }
    }

    /// Puts bytes in between, or takes some away.
    pub fn splice(&mut self, range: Range<usize>, bytes: &[u8]) {
        let packet = self.packets.get(range.start).or(self.packets.last()).copied().unwrap_or(0);
        self.bytes.splice(range.clone(), bytes.iter().copied());
        self.packets.splice(range, bytes.iter().map(|_| packet));
    }
}

/// The first packet from this one on at which reading can begin.
pub fn next_synchronization(packets: &[Packet], from: usize) -> Option<usize> {
    (from..packets.len()).find(|number| packets[*number].is_synchronization)
}

/// Of what a list of packets proves, the numbers of the instructions, in order.
pub fn proven(packets: &[Packet]) -> Vec<usize> {
    packets.iter().flat_map(|packet| packet.proves.clone()).collect()
}
