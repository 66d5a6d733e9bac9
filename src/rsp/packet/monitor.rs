//! `qRcmd,HEX`: monitor commands. gdbstub would have the whole answer at once, and a search takes its time.

use crate::rsp::client::Client;
use crate::rsp::monitor::{self, Answer};
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Ok(line) = hex::decode(rest) else { return reply::failed() };
    match monitor::answer(&String::from_utf8_lossy(&line), &mut client.session) {
        Answer::Text(text) => Reply::Console(text),
        Answer::Later => Reply::Later,
        Answer::Search(finding) => {
            client.finding = Some(finding);
            Reply::Silence
        }
    }
}
