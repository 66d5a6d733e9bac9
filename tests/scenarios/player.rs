//! Who plays a scenario, and how.

use super::ROOT;
use super::scenario::Scenario;
use super::support::{Gdb, Server, data, lldb};

/// A debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    Gdb(Gdb),
    Lldb,
}

/// What a debugger shows, a list of lines a command.
pub type Shown = Vec<Vec<String>>;

const NAMES: [(&str, Player); 6] = [
    ("debian", Player::Gdb(Gdb::Debian)),
    ("16", Player::Gdb(Gdb::Sixteen)),
    ("17", Player::Gdb(Gdb::Seventeen)),
    ("newest", Player::Gdb(Gdb::Newest)),
    ("multiarch", Player::Gdb(Gdb::Multiarch)),
    ("lldb", Player::Lldb),
];

impl Player {
    /// Who has this name in a scenario.
    pub fn named(name: &str) -> Option<Player> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, player)| *player)
    }

    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, player)| *player == self).unwrap().0
    }

    /// The lines that count for it, without their marks.
    pub fn share(self, lines: &[String]) -> Vec<String> {
        let share = lines.iter().filter_map(|line| match marked(line) {
            Some((players, line)) => players.contains(&self).then_some(line),
            None => Some(line.as_str()),
        });
        share.map(str::to_owned).collect()
    }
}

/// Whom a line's mark names, and what follows it.
fn marked(line: &str) -> Option<(Vec<Player>, &str)> {
    let (names, line) = line.strip_prefix('@')?.split_once(' ')?;
    Some((names.split(',').map(Player::named).collect::<Option<_>>()?, line))
}

/// Plays a scenario.
pub fn play(scenario: &Scenario, player: Player) -> Shown {
    let recording = data(&scenario.recording);
    let exec = scenario.exec.as_ref().map(|exec| data(exec));
    let mut arguments = vec![recording.to_str().unwrap().to_owned()];
    if let Some(exec) = &exec {
        arguments.extend(["--exec".to_owned(), exec.to_str().unwrap().to_owned()]);
    }
    arguments.extend(scenario.serve.iter().cloned());
    let server = Server::serve(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let port = format!(":{}", server.port);
    let program = scenario.program.as_ref().map(|program| data(program).display().to_string());
    let setup = match player {
        Player::Gdb(_) => [
            vec![format!("directory {ROOT}/tests/data/bin")],
            program.map(|program| format!("file {program}")).into_iter().collect(),
            scenario.setup.iter().map(|command| command.replace("$ROOT", ROOT)).collect(),
            vec![format!("target remote {port}")],
        ],
        Player::Lldb => [
            Vec::new(),
            program.map(|program| format!("target create {program}")).into_iter().collect(),
            scenario.setup.clone(),
            vec![format!("gdb-remote {}", server.port)],
        ],
    }
    .concat();
    let commands = scenario.commands.iter().map(|(command, _)| command.replace("$ROOT", ROOT).replace(":$PORT", &port));
    let commands: Vec<String> = commands.collect();
    let shown = match player {
        Player::Gdb(gdb) if scenario.machine_interface => gdb.machine_answers(&setup, &commands),
        Player::Gdb(gdb) => gdb.answers(&setup, &commands),
        Player::Lldb => lldb::answers(&setup, &commands),
    };
    let named = |line: &String| line.replace(ROOT, "$ROOT").replace(&port, ":$PORT");
    shown.into_iter().map(|lines| lines.iter().map(named).collect()).collect()
}
