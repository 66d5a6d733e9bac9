//! LLDB 14, as Debian 12 has it.

use std::io::Write;
use std::process::Command;

use super::{below_commands, transcript};

/// What LLDB shows, a list of lines a command. The setup must not fail.
pub fn answers(setup: &[String], commands: &[String]) -> Vec<Vec<String>> {
    // Commands on the command line end at the first that fails, those of a file need not.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", commands.join("\n")).unwrap();
    let mut command = Command::new("lldb-14");
    command.args(["--no-lldbinit", "--no-use-colors", "--batch"]);
    command.env("HOME", "/nonexistent").env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
    for line in setup {
        command.arg("-o").arg(line);
    }
    command.arg("-o").arg(format!("command source --stop-on-error false {}", file.path().display()));
    below_commands(&transcript(command, ""), "(lldb) ", commands)
}
