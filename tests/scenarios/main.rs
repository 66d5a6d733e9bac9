//! Every scenario, a text file in a folder here, played by every debugger that it names: what a person types, and what
//! must be shown. `scenario.rs` tells what such a file says.
//!
//! With `TRACEFRAME_ACCEPT=1` in the environment the files are written anew from what was seen, and
//! `TRACEFRAME_SCENARIO=TEXT` plays those only whose path contains the text.

mod merge;
mod player;
mod scenario;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use player::{Player, Shown, play};
use scenario::Scenario;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// How many debuggers run at a time for a test.
const AT_ONCE: usize = 2;

/// The scenarios of a folder, by path: at least so many, where all are played.
fn scenarios(folder: &str, least: usize) -> BTreeMap<PathBuf, Scenario> {
    let only = std::env::var("TRACEFRAME_SCENARIO").ok();
    let found: BTreeMap<_, _> = std::fs::read_dir(Path::new(ROOT).join("tests/scenarios").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| only.as_ref().is_none_or(|only| path.to_str().unwrap().contains(only)))
        .map(|path| (path.clone(), Scenario::read(&path)))
        .collect();
    assert!(only.is_some() || found.len() >= least, "{folder}: only {} scenarios", found.len());
    found
}

/// What everybody showed in all scenarios, in their order.
fn shown(scenarios: &BTreeMap<PathBuf, Scenario>) -> Vec<Vec<(Player, Shown)>> {
    let plays: Vec<_> = scenarios.values().flat_map(|it| it.players.iter().map(move |player| (it, *player))).collect();
    let (next, shown) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((scenario, player)) = plays.get(at) else { break };
                    let answers = play(scenario, *player);
                    shown.lock().unwrap().insert(at, (*player, answers));
                }
            });
        }
    });
    let mut shown = shown.into_inner().unwrap().into_values();
    scenarios.values().map(|scenario| shown.by_ref().take(scenario.players.len()).collect()).collect()
}

/// Plays the scenarios of a folder.
fn play_all(folder: &str, least: usize) {
    let accepting = std::env::var_os("TRACEFRAME_ACCEPT").is_some();
    let scenarios = scenarios(folder, least);
    let mut wrong = String::new();
    for ((path, scenario), shown) in scenarios.iter().zip(shown(&scenarios)) {
        if accepting {
            std::fs::write(path, scenario.accepting(&shown)).unwrap();
            continue;
        }
        for (player, answers) in &shown {
            for ((command, lines), found) in scenario.commands.iter().zip(answers) {
                let wanted = player.share(lines);
                if wanted != *found {
                    let _ = writeln!(
                        wrong,
                        "{} on {}: {}{command}\n--- expected\n{}\n--- seen\n{}\n",
                        path.file_name().unwrap().to_str().unwrap(),
                        player.name(),
                        scenario.prompt(),
                        wanted.join("\n"),
                        found.join("\n")
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn tracefiles() {
    play_all("tfile", 20);
}

#[test]
fn other_architectures() {
    play_all("architectures", 60);
}

#[test]
fn shared_libraries_and_stripped_programs() {
    play_all("library", 11);
}

#[test]
fn values_in_part() {
    play_all("partial", 3);
}

#[test]
fn run_control() {
    play_all("run", 17);
}

#[test]
fn steps_with_few_registers() {
    play_all("stepped", 9);
}

#[test]
fn recordings_of_trace_cmd() {
    play_all("tracedat", 10);
}

#[test]
fn instruction_traces() {
    play_all("itrace", 3);
}

#[test]
fn lldb() {
    play_all("lldb", 3);
}

#[test]
fn machine_interface() {
    play_all("mi", 6);
}
