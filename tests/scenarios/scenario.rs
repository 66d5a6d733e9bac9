//! The file of a scenario.
//!
//! It begins with lines that say what it is about (`#`) and what it needs:
//!
//! ```text
//! # Frames of one tracepoint at several addresses.
//! recording tfile/04-step.tf      a file of tests/data
//! exec bin/case                   the program, likewise; gdb gets it from the server
//! program bin/case                the program, known to the debugger only
//! serve --arch nios2              more arguments for the server
//! gdb debian 17 newest            who plays it; where nothing is said `debian`, `16`, `17` and `newest`, and there
//!                                 are `multiarch` and `lldb`
//! interpreter mi                  the commands are those of gdb's machine interface
//! setup set print address off     a command before connecting
//! ```
//!
//! Then, behind an empty line, each command as `(gdb) COMMAND`, or `(lldb) COMMAND`, with what must be seen below it. A
//! line that begins with `@debian ` counts for that player only, one with `@debian,16 ` for those two. `$ROOT` stands
//! for the project's folder, `:$PORT` for where the server listens.

use std::fmt::Write;
use std::path::Path;

use super::merge::merge;
use super::player::{Player, Shown};
use super::support::Gdb;

/// What is played, by whom, and what must be seen.
pub struct Scenario {
    head: String,
    pub recording: String,
    pub exec: Option<String>,
    pub program: Option<String>,
    pub serve: Vec<String>,
    pub players: Vec<Player>,
    pub machine_interface: bool,
    pub setup: Vec<String>,
    pub commands: Vec<(String, Vec<String>)>,
}

impl Scenario {
    /// Reads a file; what is not as described above fails the test.
    pub fn read(path: &Path) -> Scenario {
        let text = std::fs::read_to_string(path).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap_or_else(|| panic!("{} has no body", path.display()));
        let mut scenario = Scenario {
            head: head.to_owned(),
            recording: String::new(),
            exec: None,
            program: None,
            serve: Vec::new(),
            players: Gdb::ALL.map(Player::Gdb).to_vec(),
            machine_interface: false,
            setup: Vec::new(),
            commands: Vec::new(),
        };
        for line in head.lines().filter(|line| !line.starts_with('#')) {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "recording" => scenario.recording = value.to_owned(),
                "exec" => scenario.exec = Some(value.to_owned()),
                "program" => scenario.program = Some(value.to_owned()),
                "serve" => scenario.serve = value.split_whitespace().map(str::to_owned).collect(),
                "gdb" => {
                    let named = value.split_whitespace();
                    scenario.players = named
                        .map(|name| Player::named(name).unwrap_or_else(|| panic!("no such gdb: {name}")))
                        .collect();
                }
                "interpreter" if value == "mi" => scenario.machine_interface = true,
                "setup" => scenario.setup.push(value.to_owned()),
                _ => panic!("{}: {line}", path.display()),
            }
        }
        for line in body.lines() {
            match (line.strip_prefix(scenario.prompt()), scenario.commands.last_mut()) {
                (Some(command), _) => scenario.commands.push((command.to_owned(), Vec::new())),
                (None, Some((_, lines))) => lines.push(line.trim_end().to_owned()),
                (None, None) => panic!("{}: {line}", path.display()),
            }
        }
        assert!(!scenario.commands.is_empty(), "{} asks nothing", path.display());
        scenario
    }

    /// What stands before a command.
    pub fn prompt(&self) -> &'static str {
        if self.players.contains(&Player::Lldb) { "(lldb) " } else { "(gdb) " }
    }

    /// The text of the file if all that was shown is right.
    pub fn accepting(&self, shown: &[(Player, Shown)]) -> String {
        let mut text = format!("{}\n\n", self.head);
        for (at, (command, _)) in self.commands.iter().enumerate() {
            let _ = writeln!(text, "{}{command}", self.prompt());
            let lists: Vec<&[String]> = shown.iter().map(|(_, answers)| answers[at].as_slice()).collect();
            for (who, line) in merge(&lists) {
                if who.len() < shown.len() {
                    let names: Vec<&str> = who.iter().map(|number| shown[*number].0.name()).collect();
                    let _ = write!(text, "@{} ", names.join(","));
                }
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}
