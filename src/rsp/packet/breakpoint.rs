//! `Z` and `z`: breakpoints and watchpoints. gdbstub ends a session on one that is not well formed, and knows no
//! conditions.

use super::numbers::number;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::session::AgentExpression;

/// `Z0,ADDR,KIND` to `Z4,ADDR,LENGTH`, and the same with `z`; behind the first two perhaps `;X…`, conditions.
pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let mut parts = rest.splitn(2, |byte| *byte == b';');
    let (place, conditions) = (parts.next().unwrap_or_default(), parts.next());
    let mut fields = place.split(|byte| *byte == b',');
    let kind = match fields.next() {
        Some([kind @ b'0'..=b'4']) => kind - b'0',
        _ => return reply::unsupported(),
    };
    let mut field = || fields.next().and_then(number);
    let (Some(address), Some(_), None) = (field(), field(), fields.next()) else { return reply::failed() };
    match conditions {
        None => Reply::Base,
        Some(conditions) if kind <= 1 => {
            let address = client.addresses().kept(address);
            let conditions = expressions(conditions);
            let is_kept = conditions.is_some_and(|found| client.session.breakpoints.insert(address, found));
            if is_kept { reply::ok() } else { reply::failed() }
        }
        Some(_) => reply::failed(),
    }
}

/// `XLENGTH,BYTECODES`, one or more, with or without a `;` between them (gdb manual, "Packets", `Z0`).
fn expressions(mut text: &[u8]) -> Option<Vec<AgentExpression>> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let rest = text.strip_prefix(b"X")?;
        let comma = rest.iter().position(|byte| *byte == b',')?;
        let length =
            usize::try_from(number(&rest[..comma])?).ok().filter(|length| *length <= AgentExpression::LIMIT)?;
        let (digits, rest) = rest[comma + 1..].split_at_checked(2 * length)?;
        found.push(AgentExpression::new(hex::decode(digits).ok()?));
        text = rest.strip_prefix(b";").unwrap_or(rest);
    }
    Some(found)
}
