//! `p NUMBER`: one register. gdbstub cannot say that a register of a size known only at run time is not available.

use super::numbers::number;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Some(number) = number(rest).and_then(|number| usize::try_from(number).ok()) else { return reply::failed() };
    // Without a description gdb asks for every register behind the end of `g`, and takes an error for a failure.
    let Some(layout) = &client.session.replay().recording().target().layout else { return reply::unsupported() };
    let Some(register) = layout.by_number(number) else { return reply::failed() };
    if !client.session.is_settled() {
        return Reply::Later;
    }
    let bytes = client.session.registers(client.asked_thread());
    let value = bytes.get(register.offset..register.offset + register.size).unwrap_or(&[]);
    // gdb knows `x` for a digit that is not available. LLDB would show bytes that it makes of it, and knows an error.
    if client.is_lldb && value.contains(&None) {
        return reply::failed();
    }
    reply::text(
        value.iter().map(|byte| byte.map_or_else(|| "xx".to_owned(), |byte| format!("{byte:02x}"))).collect::<String>(),
    )
}
