//! `qTV:NUMBER`: the value of a trace state variable, or `U` where it has none here.

use super::numbers::signed;
use crate::index::Answer;
use crate::rsp::client::Client;
use crate::rsp::reply::{self, Reply};

pub fn answer(rest: &[u8], client: &mut Client) -> Reply {
    let Some(number) = signed(rest) else { return reply::text("U") };
    match client.session.variable(number) {
        Answer::Found(value) => reply::text(format!("V{value:x}")),
        Answer::Nothing => reply::text("U"),
        Answer::NotYet => Reply::Later,
    }
}
