//! `Z0`, `Z1`, `z0`, `z1`: breakpoints, kept but not written into anything.

use super::numbers::number;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

/// `Z0,ADDR,KIND`, perhaps with conditions behind it.
pub fn insert(rest: &[u8], client: &mut Client) -> Reply {
    match address(rest, client) {
        Some(address) if client.session.breakpoints.insert(address) => reply::ok(),
        _ => reply::failed(),
    }
}

/// `z0,ADDR,KIND`.
pub fn remove(rest: &[u8], client: &mut Client) -> Reply {
    match address(rest, client) {
        Some(address) => {
            client.session.breakpoints.remove(address);
            reply::ok()
        }
        None => reply::failed(),
    }
}

/// The kind says how the breakpoint would be written into memory; it is only checked for its form.
fn address(rest: &[u8], client: &Client) -> Option<u64> {
    let mut fields = rest.split(|byte| matches!(byte, b',' | b';'));
    let address = number(fields.next()?)?;
    number(fields.next()?).map(|_| client.addresses().kept(address))
}
