//! Tells the program of which commit it was built, where that is known.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=scripts/build.rs");
    // Every commit and checkout adds a line there.
    if std::path::Path::new(".git/logs/HEAD").exists() {
        println!("cargo::rerun-if-changed=.git/logs/HEAD");
    }
    let output = Command::new("git").args(["rev-parse", "--short=9", "HEAD"]).output().ok();
    let commit = output.filter(|output| output.status.success()).map(|output| output.stdout);
    let commit = commit.and_then(|commit| String::from_utf8(commit).ok()).unwrap_or_default();
    let suffix = if commit.is_empty() { String::new() } else { format!(" ({})", commit.trim()) };
    println!("cargo::rustc-env=TRACEFRAME_COMMIT={suffix}");
}
