//! `qXfer:libraries-svr4`: what lies in memory beside the program: the program that the recording itself gives, where the
//! user gives another, and the shared libraries that the user gives (gdb manual, "Library List Format for SVR4 Targets").
//!
//! A library that is not at hand is not listed: gdb places one by its section `.dynamic`, not by the load bias, and would
//! put it somewhere else (gdb/solib-svr4.c, `lm_addr_check`; seen with gdb 13.1).

use gdbstub::target::TargetResult;
use gdbstub::target::ext::libraries::LibrariesSvr4;

use super::target::copy_part;
use crate::rsp::client::Client;
use crate::session::Replay;

impl LibrariesSvr4 for Client {
    fn get_libraries_svr4(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(copy_part(list(self.session.replay()).as_bytes(), offset, length, buffer))
    }
}

impl Client {
    /// Whether there is anything to list.
    pub fn has_libraries(&self) -> bool {
        self.session.replay().beside().next().is_some()
    }
}

fn list(replay: &Replay) -> String {
    let mut list = r#"<library-list-svr4 version="1.0">"#.to_owned();
    // gdb tells libraries apart by where the loader keeps what it knows of them; here there is no loader.
    for (library, number) in replay.beside().zip(1..) {
        let path = escaped(&library.image.path().display().to_string());
        let dynamic = library.image.dynamic().map_or(0, |dynamic| dynamic.wrapping_add(library.bias));
        list += &format!(
            r#"<library name="{path}" lm="{number:#x}" l_addr="{:#x}" l_ld="{dynamic:#x}" lmid="0x0"/>"#,
            library.bias
        );
    }
    list + "</library-list-svr4>"
}

/// Text as an attribute of XML holds it. What no XML can hold (other control characters) is left out: there is no such file
/// for gdb.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped += &format!("&#{};", u32::from(letter)),
            '\0'..='\x1f' => {}
            _ => escaped.push(letter),
        }
    }
    escaped
}
