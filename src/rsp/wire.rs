//! Packets on the wire (gdb manual, "Overview" of the remote protocol and "Packet Acknowledgment").
//!
//! `$data#cc`, where `cc` is the sum of the data bytes modulo 256 in two hexadecimal digits; in data, `}` and the
//! byte after it XOR 0x20 stand for one byte. Outside packets come `+`, `-` and 0x03.

/// The longest packet a client may send where nothing else is said, in bytes between `$` and `#`.
pub const PACKET_SIZE: usize = 0x4000;

/// What a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet with the right checksum: its data, escapes kept.
    Packet(Vec<u8>),
    /// A packet whose checksum is wrong.
    BadChecksum,
    /// A packet that is too long; it was skipped.
    TooLong,
    /// `+`: the last reply arrived whole.
    Ack,
    /// `-`: the last reply did not arrive whole.
    Nack,
    /// 0x03: the user typed ^C.
    Interrupt,
}

#[derive(Debug)]
enum State {
    Between,
    Data,
    Checksum(Option<u8>),
}

/// Cuts a stream of bytes into [`Event`]s, wherever reads happen to end.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    data: Vec<u8>,
    sum: u8,
    too_long: bool,
    longest: usize,
}

impl Decoder {
    /// Before the first byte. `longest` is the length of the longest packet that is taken, in bytes of data.
    pub fn new(longest: usize) -> Decoder {
        Decoder { state: State::Between, data: Vec::new(), sum: 0, too_long: false, longest }
    }

    /// Takes one byte; an event where it completes one.
    pub fn push(&mut self, byte: u8) -> Option<Event> {
        match self.state {
            State::Between => match byte {
                b'$' => self.begin(),
                b'+' => return Some(Event::Ack),
                b'-' => return Some(Event::Nack),
                0x03 => return Some(Event::Interrupt),
                // Noise, which gdb and gdbserver skip as well.
                _ => {}
            },
            State::Data => match byte {
                b'#' => self.state = State::Checksum(None),
                // A new packet inside one: what came before lost its end.
                b'$' => self.begin(),
                _ => {
                    self.sum = self.sum.wrapping_add(byte);
                    if self.data.len() < self.longest {
                        self.data.push(byte);
                    } else {
                        self.too_long = true;
                    }
                }
            },
            State::Checksum(None) => self.state = State::Checksum(Some(byte)),
            State::Checksum(Some(high)) => {
                self.state = State::Between;
                let mut sum = [0];
                let right = hex::decode_to_slice([high, byte], &mut sum).is_ok() && sum == [self.sum];
                let data = std::mem::take(&mut self.data);
                return Some(match (right, self.too_long) {
                    (false, _) => Event::BadChecksum,
                    (true, true) => Event::TooLong,
                    (true, false) => Event::Packet(data),
                });
            }
        }
        None
    }

    fn begin(&mut self) {
        self.state = State::Data;
        self.data.clear();
        self.sum = 0;
        self.too_long = false;
    }
}

/// A packet around `data`, which is already escaped where it has to be.
pub fn encode(data: &[u8]) -> Vec<u8> {
    let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let mut packet = Vec::with_capacity(data.len() + 4);
    packet.push(b'$');
    packet.extend_from_slice(data);
    packet.extend_from_slice(format!("#{sum:02x}").as_bytes());
    packet
}

/// Escapes binary data for a reply. `*` is escaped too: a reply may be run-length encoded, and it would announce that.
pub fn escape(data: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(data.len());
    for byte in data {
        if matches!(byte, b'$' | b'#' | b'}' | b'*') {
            escaped.extend_from_slice(&[b'}', byte ^ 0x20]);
        } else {
            escaped.push(*byte);
        }
    }
    escaped
}

/// The data of every packet in `bytes`, which this program wrote: whole packets with right checksums.
pub fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut decoder = Unbounded::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

/// [`Decoder`] without its limit and its suspicion, for our own packets.
#[derive(Default)]
struct Unbounded {
    data: Option<Vec<u8>>,
}

impl Unbounded {
    fn push(&mut self, byte: u8) -> Option<Vec<u8>> {
        match (byte, &mut self.data) {
            (b'$', _) => self.data = Some(Vec::new()),
            (b'#', data) => return data.take(),
            (_, Some(data)) => data.push(byte),
            (_, None) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Vec<Event> {
        let mut decoder = Decoder::new(PACKET_SIZE);
        bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    #[test]
    fn packets_in_one_read_and_noise_between_them() {
        assert_eq!(
            decode(b"+$g#67junk+$qC#b4\x03-"),
            [
                Event::Ack,
                Event::Packet(b"g".to_vec()),
                Event::Ack,
                Event::Packet(b"qC".to_vec()),
                Event::Interrupt,
                Event::Nack
            ]
        );
    }

    #[test]
    fn wrong_checksums_and_cut_packets() {
        assert_eq!(decode(b"$g#68"), [Event::BadChecksum]);
        assert_eq!(decode(b"$g#zz"), [Event::BadChecksum]);
        assert_eq!(decode(b"$qTSta$g#67"), [Event::Packet(b"g".to_vec())]);
        assert_eq!(decode(b"$g#6"), []);
    }

    #[test]
    fn a_packet_of_the_announced_size_passes_and_a_longer_one_is_skipped_without_being_kept() {
        let fits = encode(&vec![b'a'; PACKET_SIZE]);
        assert_eq!(decode(&fits), [Event::Packet(vec![b'a'; PACKET_SIZE])]);
        let long = [encode(&vec![b'a'; 10 * PACKET_SIZE]), encode(b"g")].concat();
        let mut decoder = Decoder::new(PACKET_SIZE);
        let events: Vec<Event> = long.iter().filter_map(|byte| decoder.push(*byte)).collect();
        assert_eq!(events, [Event::TooLong, Event::Packet(b"g".to_vec())]);
        assert!(decoder.data.capacity() <= 2 * PACKET_SIZE);
    }

    #[test]
    fn an_interrupt_byte_inside_a_packet_is_data() {
        assert_eq!(decode(&encode(b"X0,1:\x03")), [Event::Packet(b"X0,1:\x03".to_vec())]);
    }

    #[test]
    fn what_is_encoded_splits_again() {
        let data = escape(b"a$b#c}d*e");
        assert_eq!(data, b"a}\x04b}\x03c}]d}\x0ae");
        assert_eq!(split(&[encode(&data), encode(b"OK")].concat()), [data, b"OK".to_vec()]);
    }
}
