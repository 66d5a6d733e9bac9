//! `m ADDR,LENGTH`: memory in hexadecimal.

use super::numbers::pair;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    match read(rest, client) {
        Some(bytes) => reply::text(hex::encode(bytes)),
        None => reply::failed(),
    }
}

/// What is known from the address on, without a hole; `None` where not even the first byte is known. A client that
/// gets less than it asked for asks for the rest, and only then learns that it is not there.
///
/// A reply is no longer than a packet, if each byte takes two.
pub fn read(rest: &[u8], client: &Client) -> Option<Vec<u8>> {
    let (address, length) = pair(rest, b',')?;
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(client.packet_size / 2);
    let bytes = client.session.memory(client.asked_thread(), client.addresses().kept(address), length);
    if bytes.is_empty() && length > 0 { None } else { Some(bytes) }
}
