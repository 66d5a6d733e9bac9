//! Nothing needs a privilege, a home, or a place to write to.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::path;
use super::support::started::eventually;
use super::support::{Client, DEADLINE, Killed, run, wait};

/// The user with the fewest rights, under which a test runs that is itself run by root.
const NOBODY: &str = "65534";

/// A folder that nobody may write to, with what is needed in it.
struct Sealed {
    folder: tempfile::TempDir,
}

impl Sealed {
    fn new() -> Sealed {
        let folder = tempfile::tempdir().unwrap();
        for (from, name) in [
            (env!("CARGO_BIN_EXE_traceframe").to_owned(), "traceframe"),
            (path("tfile/04-step.tf"), "recording.tf"),
            (path("bin/case"), "program"),
        ] {
            std::fs::copy(from, folder.path().join(name)).unwrap();
        }
        set_mode(folder.path(), 0o555);
        Sealed { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program as an ordinary user who has nothing: no home, no place for temporary files, no folder of their own.
    fn traceframe(&self, arguments: &[&str]) -> Command {
        let program = self.path().join("traceframe");
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
        let mut command = if is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"]);
            command.args(["--bounding-set=-all", "--inh-caps=-all"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir(self.path()).env_clear().env("TMPDIR", self.path());
        command
    }

    fn contents(&self) -> Vec<PathBuf> {
        let mut found: Vec<_> = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        set_mode(self.path(), 0o755);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A server that is not left behind.
struct Running {
    child: Killed,
    said: tempfile::NamedTempFile,
}

impl Running {
    fn new(mut command: Command) -> (Running, u16) {
        let said = tempfile::NamedTempFile::new().unwrap();
        let file = || said.reopen().map(Stdio::from).unwrap();
        let mut out = tempfile::NamedTempFile::new().unwrap();
        command.stdin(Stdio::null()).stdout(out.reopen().unwrap()).stderr(file());
        let child = command.spawn().unwrap();
        let mut running = Running { child: Killed(child), said };
        let mut port = None;
        eventually("the ready line", || {
            assert!(running.child.try_wait().unwrap().is_none(), "it ended: {}", running.said());
            let mut text = String::new();
            std::io::Seek::rewind(&mut out).unwrap();
            std::io::Read::read_to_string(&mut out, &mut text).unwrap();
            port = text.lines().find_map(|line| line.strip_prefix("in gdb: target remote :")?.parse().ok());
            port.is_some()
        });
        (running, port.unwrap())
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.said.path()).unwrap()
    }

    fn end(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let status = wait(&mut self.child, DEADLINE).expect("the server does not end");
        (status.code(), self.said())
    }
}

#[test]
fn recordings_are_looked_at() {
    let sealed = Sealed::new();
    let before = sealed.contents();
    for (arguments, shown) in [
        (&["info", "recording.tf", "--exec", "program"][..], "frames: 40"),
        (&["frames", "recording.tf", "--exec", "program"], "step+11 case.c:19"),
        (&["frames", "recording.tf", "--json"], "\"frame\":39"),
        (&["--version"], "traceframe"),
    ] {
        let (code, output, errors) = run(&mut sealed.traceframe(arguments));
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(output.contains(shown), "{arguments:?}: {output}");
    }
    assert_eq!(sealed.contents(), before);
}

#[test]
fn recordings_are_served() {
    let sealed = Sealed::new();
    let before = sealed.contents();
    let arguments = ["serve", "recording.tf", "--exec", "program", "--listen", ":0"];
    let (running, port) = Running::new(sealed.traceframe(&arguments));
    let mut client = Client::connect(port);
    assert_eq!(client.ask("QTFrame:5"), "F5T2");
    assert_eq!(
        client.text_object("exec-file", ""),
        sealed.path().canonicalize().unwrap().join("program").to_str().unwrap()
    );
    drop(client);
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("WARN"), "{said}");
    assert_eq!(sealed.contents(), before);
}

/// gdb reads sources itself, and for the demo's there is no place: all the rest of it is there.
#[test]
fn the_demo_works_without_its_source() {
    let sealed = Sealed::new();
    let before = sealed.contents();
    let (running, port) = Running::new(sealed.traceframe(&["demo", "--listen", ":0"]));
    let mut client = Client::connect(port);
    assert_eq!(client.ask("QTFrame:2d"), "F2dT2");
    assert!(client.monitor("frames range 45..45").contains("submit"));
    drop(client);
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the demo goes on without its source file: Permission denied") && said.contains("TMPDIR"),
        "{said}"
    );
    assert_eq!(sealed.contents(), before);
}

/// What does need a place to write to says which.
#[test]
fn a_socket_and_a_port_file_need_a_place() {
    let sealed = Sealed::new();
    for (arguments, named) in [
        (["serve", "recording.tf", "--listen", "unix:socket"].to_vec(), "unix:socket: "),
        (["serve", "recording.tf", "--listen", ":0", "--port-file", "port"].to_vec(), "port: the port file cannot"),
    ] {
        let (code, _, errors) = run(&mut sealed.traceframe(&arguments));
        assert_eq!(code, Some(4), "{errors}");
        assert!(errors.contains(named) && errors.contains("Permission denied"), "{errors}");
        assert!(!errors.contains("ports below 1024"), "that has nothing to do with it: {errors}");
    }
}
