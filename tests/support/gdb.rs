//! The gdbs that the tests talk to, and both of the languages that they speak.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{below_commands, transcript};

/// A gdb to test with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gdb {
    /// gdb 13.1, as Debian 12 has it.
    Debian,
    /// gdb 16.3, as `scripts/test` installs it.
    Sixteen,
    /// gdb 17.2, likewise.
    Seventeen,
    /// gdb 18.1, likewise.
    Newest,
    /// gdb-multiarch 13.1, for other architectures.
    Multiarch,
}

impl Gdb {
    /// Every gdb that knows this machine: all but the one for other architectures.
    pub const ALL: [Gdb; 4] = [Gdb::Debian, Gdb::Sixteen, Gdb::Seventeen, Gdb::Newest];

    /// The program, with nothing of the user's own setup, which does what its arguments say and ends.
    pub fn command(self) -> Command {
        let mut command = self.program();
        command.args(["-batch", "-ex", "set debuginfod enabled off", "-ex", "set width 0"]);
        command
    }

    /// Where it is, or its name.
    pub fn path(self) -> PathBuf {
        match self {
            Gdb::Debian => PathBuf::from("gdb"),
            Gdb::Sixteen => installed("gdb-16"),
            Gdb::Seventeen => installed("gdb-17"),
            Gdb::Newest => installed("gdb-18"),
            Gdb::Multiarch => PathBuf::from("gdb-multiarch"),
        }
    }

    fn program(self) -> Command {
        let mut command = Command::new(self.path());
        command.args(["-nx", "-nh", "-q"]);
        command.env("HOME", "/nonexistent").env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
        command
    }

    /// Runs commands, errors and all; what gdb shows, each command under a line `(gdb) COMMAND`.
    pub fn transcript(self, setup: &[String], commands: &[String]) -> String {
        let mut command = self.command();
        for line in setup {
            command.arg("-ex").arg(line);
        }
        command.args(["-ex", "echo (gdb) \\n"]);
        for line in commands {
            command.arg("-ex").arg(format!("echo (gdb) {}\\n", line.replace('\\', "\\\\"))).arg("-ex").arg(line);
        }
        // What leaving says belongs to no command.
        command.args(["-ex", "echo (gdb) \\n"]);
        let text = transcript(command, "");
        // What the setup said comes before the first mark.
        match text.split_once("(gdb) \n").and_then(|(_, shown)| shown.rsplit_once("(gdb) \n")) {
            Some((shown, _)) => shown.to_owned(),
            None => panic!("{self:?} ended in its setup:\n{text}"),
        }
    }

    /// What gdb shows, a list of lines a command.
    pub fn answers(self, setup: &[String], commands: &[String]) -> Vec<Vec<String>> {
        below_commands(&self.transcript(setup, commands), "(gdb) ", commands)
    }

    /// What gdb says in its machine interface, a list of lines a command: the records before its result, the result,
    /// and those behind it up to the prompt. A record is broken behind each element of its lists.
    pub fn machine_answers(self, setup: &[String], commands: &[String]) -> Vec<Vec<String>> {
        let before = ["-gdb-set debuginfod enabled off".to_owned(), "-gdb-set width 0".to_owned()];
        let asked = [&before, setup, commands].concat();
        // A token before each command says which result is whose.
        let input: String = asked.iter().enumerate().map(|(token, command)| format!("{token}{command}\n")).collect();
        let mut command = self.program();
        command.arg("-i=mi3");
        let text = transcript(command, &input);
        let mut answers = Vec::new();
        let (mut records, mut answered) = (Vec::new(), false);
        for line in text.lines().map(str::trim_end) {
            let result = line.strip_prefix(&answers.len().to_string()).filter(|rest| rest.starts_with('^'));
            answered |= result.is_some();
            match line {
                "(gdb)" if answered => {
                    answers.push(std::mem::take(&mut records));
                    answered = false;
                }
                "(gdb)" => {}
                _ => records.extend(elements(result.unwrap_or(line))),
            }
        }
        assert_eq!(answers.len(), asked.len(), "{self:?} did not come through:\n{text}");
        answers.split_off(before.len() + setup.len())
    }
}

/// A record in lines that end behind an element of a list.
fn elements(record: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for character in record.chars() {
        let line = lines.last_mut().unwrap();
        line.push(character);
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        if !quoted && line.ends_with("},") {
            lines.push("  ".to_owned());
        }
    }
    lines
}

/// A program that `scripts/test` installs.
fn installed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools").join(name)
}
