//! The server at the other end of ssh, with a real OpenSSH at both.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::made::{self, Made};
use crate::support::page::{self, Names, Page, demo};
use crate::support::started::eventually;
use crate::support::{DEADLINE, Gdb, Killed, run, wait};

const DAEMON: &str = "/usr/sbin/sshd";

const GDBS: [Gdb; 2] = [Gdb::Debian, Gdb::Newest];

/// Another machine, which ssh reaches as `machine`: an sshd of its own keys that ssh starts for each connection and talks
/// to through a pipe, so that there is no port and no daemon. It lets in who runs the tests.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        assert!(Path::new(DAEMON).exists(), "{DAEMON} is needed (scripts/test installs it)");
        let machine = Machine { folder: tempfile::tempdir().unwrap() };
        let at = |name: &str| machine.at(name).display().to_string();
        for name in ["host", "user"] {
            let mut keys = Command::new("ssh-keygen");
            let (code, _, errors) = run(keys.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(name)]));
            assert_eq!(code, Some(0), "{errors}");
        }
        let public = |name: &str| std::fs::read_to_string(machine.at(&format!("{name}.pub"))).unwrap();
        let write = |name: &str, text: String| std::fs::write(machine.at(name), text).unwrap();
        write("known", format!("machine {}", public("host")));
        // ssh would start in the home directory; this machine's is a folder with a PATH of its own.
        std::fs::create_dir(machine.home()).unwrap();
        symlink(env!("CARGO_BIN_EXE_traceframe"), machine.home().join("traceframe")).unwrap();
        for name in ["queue", "queue.tf"] {
            std::fs::copy(demo().join(name), machine.home().join(name)).unwrap();
        }
        let home = machine.home().display().to_string();
        write("shell", format!("cd '{home}' && PATH='{home}':$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"));
        let daemon = [
            format!("HostKey {}", at("host")),
            format!("AuthorizedKeysFile {}", at("user.pub")),
            format!("ForceCommand exec sh {}", at("shell")),
            "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no".to_owned(),
        ];
        write("sshd_config", daemon.join("\n") + "\n");
        let daemon = format!("{DAEMON} -i -e -f {} 2>>{}", at("sshd_config"), at("sshd.log"));
        let client = [
            format!("Host slow\nHostKeyAlias machine\nProxyCommand sh -c \"sleep 4; exec {daemon}\""),
            // `stranger` is a name that nobody has confirmed.
            format!("Host machine stranger\nProxyCommand {daemon}\nHost *"),
            format!("IdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none", at("user")),
            "GlobalKnownHostsFile none".to_owned(),
            format!("UserKnownHostsFile {}", at("known")),
        ];
        write("ssh_config", client.join("\n") + "\n");
        write("ssh", format!("#!/bin/sh\nexec ssh -F '{}' \"$@\"\n", at("ssh_config")));
        std::fs::set_permissions(machine.at("ssh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        // What Debian's service makes when it starts; only root's sshd needs it.
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            let _ = std::fs::create_dir("/run/sshd");
        }
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// `ssh` as the pages name it, and what it is here.
    fn names(&self) -> Names {
        Names::new(&[("| ssh ", &format!("| {} ", self.at("ssh").display()))])
    }

    /// The servers that run in its home directory.
    fn servers(&self) -> Vec<u32> {
        let home = self.home();
        processes(|process| {
            std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder == home) && name(process) == "traceframe"
        })
    }

    /// The ssh that leads to it.
    fn connections(&self) -> Vec<u32> {
        let config = self.at("ssh_config").display().to_string();
        processes(|process| {
            std::fs::read(process.join("cmdline"))
                .is_ok_and(|line| line.split(|byte| *byte == 0).any(|word| word == config.as_bytes()))
        })
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.at("sshd.log")).unwrap_or_default()
    }
}

/// Processes of whose folder under `/proc` something is so.
fn processes(is_so: impl Fn(&Path) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let found = entries.filter(|entry| is_so(&entry.path()));
    found.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn name(process: &Path) -> String {
    std::fs::read_to_string(process.join("comm")).unwrap_or_default().trim_end().to_owned()
}

/// The sshd under which a process runs.
fn daemon_of(process: u32) -> u32 {
    let folder = PathBuf::from(format!("/proc/{process}"));
    if name(&folder).starts_with("sshd") {
        return process;
    }
    let status = std::fs::read_to_string(folder.join("status")).unwrap();
    daemon_of(status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap())
}

fn send(signal: &str, process: &str) {
    assert!(Command::new("kill").args([&format!("-{signal}"), "--", process]).status().unwrap().success());
}

/// A gdb that waits for what is typed.
struct Waiting {
    gdb: Killed,
    input: ChildStdin,
    shown: tempfile::NamedTempFile,
}

impl Waiting {
    /// One that has connected.
    fn new(gdb: Gdb, machine: &Machine, command: &str) -> Waiting {
        let shown = tempfile::NamedTempFile::new().unwrap();
        let output = || File::options().append(true).open(shown.path()).unwrap();
        let mut program = Command::new(gdb.path());
        program.args(["-nx", "-nh", "-q", "-ex", "set debuginfod enabled off", "-ex", "set confirm off"]);
        program.args(["-ex", "set width 0", "-ex", "set sysroot"]).env("HOME", "/nonexistent").env("TERM", "dumb");
        // Its group gets what a terminal would send for Ctrl-C.
        program.process_group(0).stdin(Stdio::piped()).stdout(output()).stderr(output());
        let mut gdb = program.spawn().expect("gdb is needed (scripts/test installs it)");
        let mut waiting = Waiting { input: gdb.stdin.take().unwrap(), gdb: Killed(gdb), shown };
        waiting.types(&format!("target remote | {} machine {command}", machine.at("ssh").display()));
        waiting.types("echo connected\\n");
        waiting.shows("connected\n");
        assert_eq!(machine.servers().len(), 1, "{}\n{}", waiting.shown(), machine.log());
        waiting
    }

    fn types(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn shown(&self) -> String {
        std::fs::read_to_string(self.shown.path()).unwrap()
    }

    fn shows(&self, text: &str) {
        let began = Instant::now();
        while !self.shown().contains(text) {
            assert!(began.elapsed() < DEADLINE, "never: {text}\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

const SERVE: &str = "traceframe serve --stdio queue.tf --exec queue";

#[test]
fn the_page_is_as_it_shows_it() {
    let machine = Machine::new();
    let names = machine.names();
    let typed = Page::of_client("ssh").typed("(gdb) ");
    for gdb in GDBS {
        let seen = names.shown(&gdb.transcript(&["set sysroot".to_owned()], &names.commands(&typed)));
        let expected = page::transcript(&typed, "(gdb) ");
        assert!(page::fits(&seen, &expected), "{gdb:?}: {seen}\n{expected}\n{}", machine.log());
        eventually("the server's end", || machine.servers().is_empty());
    }
}

#[test]
fn a_slow_login_is_waited_for() {
    let machine = Machine::new();
    for gdb in GDBS {
        let target = format!("target remote | {} slow {SERVE}", machine.at("ssh").display());
        let setup = ["set sysroot", &target].map(str::to_owned);
        let answers = gdb.answers(&setup, &["tfind 45".to_owned()]);
        assert_eq!(answers[0][0], "Found trace frame 45, tracepoint 2", "{gdb:?}: {answers:?}\n{}", machine.log());
    }
}

#[test]
fn ssh_that_cannot_ask_says_so() {
    let machine = Machine::new();
    for gdb in GDBS {
        let target = format!("target remote | {} stranger {SERVE}", machine.at("ssh").display());
        let answers = gdb.answers(&[], &[target]);
        // Whether ssh's own words come through is a matter of luck, as the page says.
        assert!(answers[0].iter().any(|line| line.starts_with("Remote co")), "{answers:?}");
    }
    let (code, _, errors) = run(Command::new(machine.at("ssh")).args(["-o", "BatchMode=yes", "stranger", "true"]));
    assert_eq!(code, Some(255), "{errors}");
    assert!(errors.contains("Host key verification failed."), "{errors}");
    assert_eq!(machine.log(), "", "it was let in");
}

#[test]
fn the_server_ends_with_gdb() {
    let machine = Machine::new();
    for gdb in GDBS {
        let mut waiting = Waiting::new(gdb, &machine, SERVE);
        waiting.types("quit");
        assert!(wait(&mut waiting.gdb, DEADLINE).is_some_and(|status| status.success()), "{gdb:?}");
        eventually("the server's end", || machine.servers().is_empty());

        let mut waiting = Waiting::new(gdb, &machine, SERVE);
        waiting.gdb.kill().unwrap();
        eventually("the server's end", || machine.servers().is_empty());
    }
}

#[test]
fn the_server_ends_with_the_connection() {
    let machine = Machine::new();
    for gdb in GDBS {
        for side in ["here", "there"] {
            let mut waiting = Waiting::new(gdb, &machine, SERVE);
            let killed = match side {
                "here" => machine.connections(),
                _ => vec![daemon_of(machine.servers()[0])],
            };
            assert!(!killed.is_empty());
            killed.iter().for_each(|process| send("KILL", &process.to_string()));
            eventually("the server's end", || machine.servers().is_empty());
            waiting.types("tfind 45");
            // Remote connection closed, or: Remote communication error. Target disconnected.
            waiting.shows("Remote co");
            // And once more.
            waiting.types(&format!("target remote | {} machine {SERVE}", machine.at("ssh").display()));
            waiting.types("tfind 45");
            waiting.shows("Found trace frame 45, tracepoint 2");
        }
    }
}

#[test]
fn an_interrupt_ends_a_search_and_nothing_else() {
    let machine = Machine::new();
    let mut long = Made::new(&["R 0", "status 0;tstop::0", "tp T1:1000:E:0:0"]);
    for _ in 0..300_000 {
        long.frame(1, &[made::memory(0x1000, &[7; 16])]);
    }
    std::fs::write(machine.home().join("long.tf"), long.bytes()).unwrap();
    for gdb in GDBS {
        let mut waiting = Waiting::new(gdb, &machine, "traceframe serve -v --stdio long.tf --arch x86-64");
        waiting.types("python [gdb.execute(f'watch *(char *) {at:#x}') for at in range(0x1000, 0x1004)]");
        waiting.types("echo go on\\n");
        waiting.shows("go on\n");
        waiting.types("continue");
        waiting.shows("Continuing.");
        // gdb passes over a signal that comes before it waits for the server. When it shows what the server logs, it does.
        waiting.shows("packet=vCont;c");
        send("INT", &format!("-{}", waiting.gdb.id()));
        waiting.shows("SIGINT");
        waiting.types("monitor status");
        waiting.shows("you are: ");
        assert_eq!(machine.servers().len(), 1, "{}", waiting.shown());
    }
}

#[test]
fn a_port_comes_through_a_tunnel() {
    let machine = Machine::new();
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let command = Page::of_client("ssh").block("sh").trim().to_owned();
    let socket = machine.at("socket").display().to_string();
    // There it listens at a socket, since both machines are this one and have a port once. The terminal is forced, as
    // there is none here.
    let command = command
        .replace("ssh -t -L 1234:localhost:1234", &format!("{} -tt -L {port}:{socket}", machine.at("ssh").display()));
    let command = format!("exec {command} --listen unix:{socket}");
    assert!(command.contains(&port.to_string()), "{command}");
    let output = tempfile::NamedTempFile::new().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).stdin(Stdio::piped()).stdout(output.reopen().unwrap());
    let shown = || std::fs::read_to_string(output.path()).unwrap();
    for end in ["what Ctrl-C sends", "a signal"] {
        output.as_file().set_len(0).unwrap();
        let mut ssh = shell.spawn().unwrap();
        eventually("the ready line", || {
            // An ordinary user's sshd can hand over a terminal where terminals belong to the group `tty`, as usual.
            assert!(ssh.try_wait().unwrap().is_none(), "{}{}", shown(), machine.log());
            shown().contains("in gdb: ")
        });
        let setup = ["set sysroot".to_owned(), format!("target remote :{port}")];
        let answers = Gdb::Debian.answers(&setup, &["tfind 45".to_owned()]);
        assert_eq!(answers[0][0], "Found trace frame 45, tracepoint 2", "{answers:?}");
        match end {
            "a signal" => send("TERM", &ssh.id().to_string()),
            _ => ssh.stdin.as_mut().unwrap().write_all(b"\x03").unwrap(),
        }
        assert!(wait(&mut ssh, DEADLINE).is_some(), "{end}: {}", shown());
        eventually("the server's end", || machine.servers().is_empty());
    }
}
