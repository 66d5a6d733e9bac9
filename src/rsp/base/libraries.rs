//! `qXfer:libraries-svr4` and `qXfer:libraries`: what lies in memory beside the program: the program that the recording
//! itself gives, where the user gives another, and the shared libraries that the user gives (gdb manual, "Library List
//! Format for SVR4 Targets" and "Library List Format"). gdb asks for the second where it knows of no operating system.
//!
//! A library that is not at hand is not listed: gdb places one by its section `.dynamic`, not by the load bias, and would
//! put it somewhere else (gdb/solib-svr4.c, `lm_addr_check`; seen with gdb 13.1).

use gdbstub::target::TargetResult;
use gdbstub::target::ext::libraries::{Libraries, LibrariesSvr4};

use super::target::copy_part;
use crate::rsp::client::Client;
use crate::session::Replay;

impl LibrariesSvr4 for Client {
    fn get_libraries_svr4(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(copy_part(list(self.session.replay()).as_bytes(), offset, length, buffer))
    }
}

impl Libraries for Client {
    fn get_libraries(&self, offset: u64, length: usize, buffer: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(copy_part(plain_list(self.session.replay()).as_bytes(), offset, length, buffer))
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

fn plain_list(replay: &Replay) -> String {
    let mut list = "<library-list>".to_owned();
    for library in replay.beside() {
        let places = if library.image.has_segments() {
            // Where the first lies, by which gdb moves all of them.
            format!(r#"<segment address="{:#x}"/>"#, library.bias.wrapping_add(library.image.first_address()))
        } else {
            // gdb takes these for what is to be added to each section's address (gdb/solib-target.c,
            // `relocate_section_addresses`; seen with gdb 13.1).
            format!(r#"<section address="{:#x}"/>"#, library.bias).repeat(library.image.loaded_sections())
        };
        let path = escaped(&library.image.path().display().to_string());
        list += &format!(r#"<library name="{path}">{places}</library>"#);
    }
    list + "</library-list>"
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
