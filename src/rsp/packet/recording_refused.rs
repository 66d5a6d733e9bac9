//! `QTinit`, `QTDP`, `QTStart` and their like: a recording is finished, and no other can be made here.

use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(_rest: &[u8], _client: &mut Client) -> Reply {
    reply::error("this is a recording: tracepoints cannot be set, run or saved here")
}
