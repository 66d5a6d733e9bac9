//! `traceframe run`.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, FromArgMatches};

use super::failure::Failure;
use super::recording::RecordingOptions;
use crate::report;
use crate::rsp::PacketLog;
use crate::server::{self, Address, Limits, Running, ServeOptions};
use crate::session::Replay;

/// The project's gdb settings and commands.
const GDBINIT: &str = include_str!("../../gdbinit");

/// The longest path of a Unix socket, in bytes, that every system takes.
const SOCKET_PATH_LIMIT: usize = 100;

/// The file that says that the end was reached.
const DONE: &str = "done";

const UNFINISHED: &str = "the end of the script was not reached: a block in it (if, while, define, document, commands or \
                          python) has no end";

/// How long gdb has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Run gdb over a recording, without a person
///
/// Serves the recording to a gdb of its own, which does what scripts and commands say and ends. The first error ends it,
/// also one in the middle of a script, and is the exit code.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Run {
    #[command(flatten)]
    recording: RecordingOptions,
    #[command(flatten)]
    steps: Steps,
    /// The gdb to run
    #[arg(long, value_name = "PATH", default_value = "gdb")]
    gdb: PathBuf,
    /// How long all of it may take: 60s, 5m, 500ms
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// Write the conversation between gdb and the server to a file, a line a packet
    #[arg(long, value_name = "FILE")]
    packet_log: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all went well; 1 the script or an assertion failed, or gdb could not be run; 2 the command line is wrong; \
3 the recording or the program cannot be read; 4 the server could not listen; 5 the time was up.

gdb is run with -nx and this project's gdbinit, whose commands a script can use: tassert, tgrep, ttable, twatch.";

/// What gdb is to do, in the order of the command line.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Script(PathBuf),
    Command(String),
}

/// Scripts and commands, as clap sees them: it keeps no order between different options.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct StepOptions {
    /// A file of gdb commands, or of Python if it ends in .py; may be given several times
    #[arg(short = 'x', long = "command", value_name = "SCRIPT")]
    scripts: Vec<PathBuf>,
    /// A gdb command, -ex as gdb has it; may be given several times, and is done in its order with scripts
    #[arg(long = "ex", value_name = "CMD", allow_hyphen_values = true)]
    commands: Vec<String>,
}

impl Args for Steps {
    fn augment_args(command: clap::Command) -> clap::Command {
        StepOptions::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        StepOptions::augment_args_for_update(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Steps, clap::Error> {
        let options = StepOptions::from_arg_matches(matches)?;
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let scripts = places("scripts").zip(options.scripts.into_iter().map(Step::Script));
        let commands = places("commands").zip(options.commands.into_iter().map(Step::Command));
        let mut steps: Vec<(usize, Step)> = scripts.chain(commands).collect();
        steps.sort_by_key(|(place, _)| *place);
        for (_, step) in &steps {
            if let Some(wrong) = step.wrong() {
                return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{wrong}\n")));
            }
        }
        Ok(Steps(steps.into_iter().map(|(_, step)| step).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Steps::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Step {
    /// Why it cannot be done.
    fn wrong(&self) -> Option<String> {
        match self {
            Step::Script(path) => {
                let name = report::printable(&path.display().to_string());
                // What gdb cannot read it only warns of. A pipe could be read once, and by one.
                match std::fs::File::open(path).and_then(|file| file.metadata()) {
                    Ok(found) if found.is_file() => None,
                    Ok(_) => Some(format!("the script {name} is no regular file")),
                    Err(cause) => Some(format!("the script {name} cannot be read: {cause}")),
                }
            }
            Step::Command(command) if command.contains('\n') => Some("a command is one line".to_owned()),
            Step::Command(command) if command.ends_with('\\') => {
                Some("a command that ends in a backslash goes on in the next line, and there is none".to_owned())
            }
            Step::Command(_) => None,
        }
    }

    /// The line of a gdb script that does it; in `folder` it may make a file of this name.
    fn line(&self, folder: &Path, name: &str) -> std::io::Result<String> {
        Ok(match self {
            // An error in a sourced file of Python would not end gdb.
            Step::Script(path) if path.extension().is_some_and(|extension| extension == "py") => {
                let path = hex::encode(std::path::absolute(path)?.as_os_str().as_encoded_bytes());
                let path = format!("__import__('os').fsdecode(bytes.fromhex('{path}'))");
                format!("python __file__ = {path}; exec(compile(open(__file__).read(), __file__, 'exec'))")
            }
            Step::Script(path) => {
                let path = std::path::absolute(path)?;
                match path.to_str().filter(|text| !text.contains('\n') && text.trim_end() == *text) {
                    Some(text) => format!("source {text}"),
                    // gdb would read another name.
                    None => {
                        let link = folder.join(name);
                        std::os::unix::fs::symlink(path, &link)?;
                        format!("source {}", link.display())
                    }
                }
            }
            Step::Command(command) => command.clone(),
        })
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').len();
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a number with s, m, h or ms".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a number with s, m, h or ms".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

impl Run {
    /// Runs gdb and ends with it.
    pub fn run(self) -> Result<(), Failure> {
        let began = Instant::now();
        let replay = self.recording.open()?;
        let packet_log = self.packet_log.as_deref().map(|path| self.create_log(path)).transpose()?;
        let folder = folder().map_err(Failure::Folder)?;
        let socket = folder.path().join("socket");
        let options = ServeOptions {
            addresses: vec![Address::Unix(socket.clone())],
            limits: Limits::default(),
            packet_log,
            ..ServeOptions::default()
        };
        let program = self.program(&replay, folder.path())?;
        let setup = setup(&replay, folder.path())?;
        let server = server::start(replay, options)?;
        let script = self.write_script(folder.path(), &setup, &socket)?;
        let mut gdb = self
            .command(&script, program.as_deref())
            .spawn()
            .map_err(|cause| Failure::Gdb { what: format!("sh, which starts gdb, cannot be run: {cause}") })?;
        let ended = watch(&mut gdb, &server, began + self.timeout);
        server.stop();
        match ended {
            Ended::Itself(status) if status.success() && folder.path().join(DONE).exists() => Ok(()),
            Ended::Itself(status) if status.success() => Err(Failure::Gdb { what: UNFINISHED.to_owned() }),
            Ended::Itself(status) => Err(Failure::Gdb { what: in_words(status) }),
            Ended::Deadline => Err(Failure::Deadline(self.timeout)),
            Ended::Signal => Err(Failure::Gdb { what: "interrupted".to_owned() }),
        }
    }

    /// The program for gdb, so that it need not read it through the server: that of the command line, or the one that
    /// the recording itself gives.
    fn program(&self, replay: &Replay, folder: &Path) -> Result<Option<PathBuf>, Failure> {
        let Some(image) = replay.image() else { return Ok(None) };
        // One that the recording contradicts is not used.
        let used = |program: &&Path| program.canonicalize().is_ok_and(|path| path == image.image.path());
        if let Some(program) = self.recording.program().filter(used) {
            return Ok(Some(program.to_owned()));
        }
        let path = folder.join("symbols");
        std::fs::write(&path, image.image.file().bytes())?;
        Ok(Some(path))
    }

    /// A log, which must not be written over what is to be read.
    fn create_log(&self, path: &Path) -> Result<PacketLog, Failure> {
        let failed = |cause| Failure::PacketLog { path: path.to_owned(), cause };
        if self.recording.reads(path) {
            return Err(failed(std::io::Error::other("it is the recording or the program")));
        }
        PacketLog::create(path).map_err(failed)
    }

    /// One script that does everything: gdb ends at the first error in one, and goes on behind an -ex that fails. Its
    /// last line, and `quit` before it, leave a mark: what begins a block and does not end it swallows the rest in
    /// silence.
    fn write_script(&self, folder: &Path, setup: &str, socket: &Path) -> Result<PathBuf, Failure> {
        let init = folder.join("gdbinit");
        std::fs::write(&init, GDBINIT)?;
        // The folder's path may have anything in it; in its name there is nothing odd.
        let mark = format!("shell : >\"$TRACEFRAME_RUN/{DONE}\"");
        let mut text = format!("source {}\ndefine hook-quit\n{mark}\nend\n", init.display());
        let _ = writeln!(text, "{setup}target remote {}", socket.display());
        for (number, step) in self.steps.0.iter().enumerate() {
            let _ = writeln!(text, "{}", step.line(folder, &format!("script-{number}"))?);
        }
        let _ = writeln!(text, "{mark}");
        let script = folder.join("commands");
        std::fs::write(&script, text)?;
        Ok(script)
    }

    fn command(&self, script: &Path, program: Option<&Path>) -> Command {
        // In a group of its own gdb is in the background, where a terminal with `stty tostop` stops who writes to it,
        // unless that signal is ignored: which the shell can say for what it becomes.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TTOU; exec \"$0\" \"$@\""]).arg(&self.gdb);
        command.args(["-nx", "-q", "-batch"]).arg("-x").arg(script);
        command.args(program);
        command.stdin(Stdio::null()).env("TRACEFRAME_RUN", script.parent().unwrap_or(Path::new("")));
        // A group of its own, with whatever gdb starts: all of it can be ended.
        command.process_group(0);
        command
    }
}

/// What tells gdb where to find files beside the program. The one that the recording itself gives is put into the folder.
fn setup(replay: &Replay, folder: &Path) -> std::io::Result<String> {
    // There are no files where the recording was made.
    let mut text = "set sysroot\n".to_owned();
    if let Some(own) = replay.own_program() {
        std::fs::write(folder.join(own.image.path().file_name().unwrap_or_default()), own.image.file().bytes())?;
        let _ = writeln!(text, "set solib-search-path {}", folder.display());
    }
    Ok(text)
}

/// A folder that nobody else can look into, with a path short enough for a socket.
fn folder() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("traceframe-");
    let usual = std::env::temp_dir();
    // gdb takes what has a colon for an address with a port.
    match usual.as_os_str().len() > SOCKET_PATH_LIMIT - 40 || usual.to_str().is_none_or(|path| path.contains(':')) {
        true => builder.tempdir_in("/tmp"),
        false => builder.tempdir(),
    }
}

/// How gdb ended.
enum Ended {
    Itself(ExitStatus),
    Deadline,
    Signal,
}

/// Waits for gdb; ends it when the time is up, or when a signal has ended the server.
fn watch(gdb: &mut Child, server: &Running, deadline: Instant) -> Ended {
    loop {
        if let Ok(Some(status)) = gdb.try_wait() {
            return Ended::Itself(status);
        }
        let is_late = Instant::now() >= deadline;
        if is_late || server.has_ended() {
            end(gdb);
            return if is_late { Ended::Deadline } else { Ended::Signal };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends gdb and what it started: politely, then at once.
fn end(gdb: &mut Child) {
    let group = gdb.id();
    for signal in ["TERM", "KILL"] {
        // The shell has it built in; the program of this name need not be installed.
        let kill = format!("kill -s {signal} -- -{group}");
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
        // What gdb started may outlive it: it gets the second signal, too.
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(gdb.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    match status.code() {
        // Of the shell (POSIX, Shell Command Language, 2.8.2), or of a script that chose the same.
        Some(code @ (126 | 127)) => {
            format!("gdb cannot be run, or ended with code {code}: what failed is said above (name another with --gdb)")
        }
        Some(code) => format!("gdb ended with code {code}: what failed is said above"),
        None => format!("gdb was ended by a signal ({status})"),
    }
}
