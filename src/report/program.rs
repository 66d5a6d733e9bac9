//! What a person must do where the program is not served.

use crate::session::Replay;

/// What gdb must be told before it connects, as one sentence; nothing where the program is served.
pub fn without_program(replay: &Replay) -> Option<String> {
    if replay.image().is_some() {
        return None;
    }
    // Without it gdb asks for code here, gets none, and on ARM and AArch64 unwinds wrongly (gdb 13.1, 18.1).
    let mut text =
        "program: none (--exec gives one); a gdb that has its own needs `set trust-readonly-sections on`".to_owned();
    let settings = replay.recording().target().settings_for_gdb();
    if !settings.is_empty() {
        let settings: Vec<_> = settings.iter().map(|setting| format!("`{setting}`")).collect();
        text.push_str(&format!(", one without needs {}", settings.join(" and ")));
    }
    Some(text)
}
