//! `QThreadSuffixSupported`: LLDB asks so whether packets may name their thread. They may not; but it is LLDB that asks.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], client: &mut Client) -> Reply {
    client.is_lldb = true;
    reply::unsupported()
}
