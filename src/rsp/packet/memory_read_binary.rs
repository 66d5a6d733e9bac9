//! `x ADDR,LENGTH`: memory as bytes (gdb manual, `x`; asked for by gdb 16 and later where `binary-upload+` is
//! announced). LLDB has another reply for the same letter and asks with `x0,0` which one it is: to that, this is none.

use super::memory_read::read;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};
use crate::rsp::wire::escape;

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    match read(rest, client) {
        Some(bytes) => {
            let mut data = vec![b'b'];
            data.extend(escape(&bytes));
            Reply::Data(data)
        }
        None => reply::failed(),
    }
}
