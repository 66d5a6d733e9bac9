//! What is no recording: one line says what it is, what was expected, and what to do.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use super::support::{data, run, traceframe};

/// Runs a command that must refuse a file, and gives what it says.
fn refusal(command: &mut Command, named: &Path) -> String {
    let (code, out, err) = run(command);
    assert_eq!(code, Some(3), "{command:?}\n{err}");
    assert_eq!(out, "", "{command:?}");
    assert_eq!(err.lines().count(), 1, "{command:?}\n{err}");
    let begin = format!("traceframe: {}: ", named.display());
    assert!(err.starts_with(&begin), "{command:?}\n{err}");
    err[begin.len()..].trim_end().to_owned()
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(inside(name), bytes).unwrap();
    write("empty", b"");
    std::fs::create_dir(inside("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(inside("pipe")).status().unwrap().success());
    let _listener = UnixListener::bind(inside("socket")).unwrap();
    symlink("nowhere", inside("dangling")).unwrap();
    symlink("loop", inside("loop")).unwrap();
    // Deterministic noise.
    let noise: Vec<u8> = (1..100_000_u32).map(|number| (number.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    write("noise", &noise);
    write("magic", b"\x7fTRACE0");
    let mut core = std::fs::read(data("bin/case")).unwrap();
    core[16] = 4;
    write("core", &core);
    let at = |name: &str| (inside(name), name.to_owned());
    for ((path, name), found, hint) in [
        (at("empty"), "is empty, not a recording", "was it copied whole?"),
        (at("folder"), "is a directory, not a regular file", "name a file"),
        (at("pipe"), "is a pipe, not a regular file", "copy it to one first"),
        (at("socket"), "is a socket, not a regular file", "name a file"),
        (("/dev/zero".into(), "zero".to_owned()), "is a device, not a regular file", "name a file"),
        (("/dev/null".into(), "null".to_owned()), "is a device, not a regular file", "name a file"),
        (at("dangling"), "No such file", ""),
        (at("missing"), "No such file", ""),
        (at("loop"), "symbolic links", ""),
        (at("noise"), "begins with the bytes 9e 3c da 78", "expected a gdb trace file, which begins with 7f 54"),
        (at("magic"), "is a gdb trace file that is cut inside its first line", "copy it again"),
        (at("core"), "is an ELF file", "--exec"),
        ((data("bin/case"), "case".to_owned()), "is an ELF file", "--exec"),
    ] {
        for subcommand in ["info", "frames", "serve"] {
            let said = refusal(traceframe().arg(subcommand).arg(&path), &path);
            assert!(said.contains(found) && said.contains(hint), "{name}: {said}");
        }
        // The same file for the program and for the target description.
        if name != "core" && name != "case" {
            let recording = data("tfile/02-mem.tf");
            let said = refusal(traceframe().arg("info").arg(&recording).arg("--exec").arg(&path), &path);
            assert!(!said.is_empty(), "{name}");
        }
        let said = refusal(traceframe().arg("info").arg(data("tfile/02-mem.tf")).arg("--tdesc").arg(&path), &path);
        assert!(!said.is_empty(), "{name}");
    }
    let said = refusal(
        traceframe().arg("info").arg(data("tfile/02-mem.tf")).arg("--exec").arg(inside("core")),
        &inside("core"),
    );
    assert!(said.contains("a core dump, expected an executable"), "{said}");
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret");
    std::fs::write(&path, b"\x7fTRACE0\n\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    let program = traceframe().get_program().to_owned();
    // The superuser may read everything, and then another one must try, with a copy of the program that it may run.
    let is_superuser = std::fs::read(&path).is_ok();
    let mut command = if is_superuser {
        let copy = folder.path().join("traceframe");
        std::fs::copy(program, &copy).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(copy);
        command
    } else {
        Command::new(program)
    };
    let said = refusal(command.arg("info").arg(&path), &path);
    assert!(said.contains("Permission denied"), "{said}");
}
