//! Snapshots that mean no good.

use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::snapshot::{CORE, INDEX, TRACE, UNIT, snapshot};
use super::*;

fn outside(file: &str, from: &str, path: &str) -> String {
    let folder = snapshot(&[(file, from, path)]);
    said(&folder, Capture::from_snapshot(folder.path()))
}

#[test]
fn no_path_leads_out_of_the_directory() {
    let copy = "what a snapshot names must lie in its own directory (copy the file there)";
    for (file, from, line) in [
        ("snapshot.ini", "cpu_0.ini", 6),
        ("snapshot.ini", "trace.ini", 10),
        ("cpu_0.ini", "code.bin", 10),
        ("trace.ini", "trace.bin", 6),
    ] {
        for (path, why) in [
            ("/etc/passwd", "is absolute"),
            ("../x", "has \"..\""),
            ("a/../../x", "has \"..\""),
            ("a\tb", "has control characters"),
            ("", "is empty"),
        ] {
            let shown = path.escape_debug().to_string();
            let error = format!("{file}:{line}: the path \"{shown}\" {why}; {copy}");
            assert_eq!(outside(file, from, path), error);
        }
    }
}

#[test]
fn no_link_leads_out_of_the_directory() {
    let secret = folder(&[("secret", "x"), ("trace.ini", TRACE)]);
    for (file, target) in [("code.bin", "secret"), ("trace.bin", "secret"), ("trace.ini", "trace.ini")] {
        let folder = snapshot(&[]);
        let link = folder.path().join(file);
        fs::remove_file(&link).unwrap();
        symlink(secret.path().join(target), &link).unwrap();
        let error = said(&folder, Capture::from_snapshot(folder.path()));
        assert!(error.contains("leads out of the directory by a symbolic link"), "{error}");
    }
    // One that stays inside, and a directory that was itself reached by a link, are as good as files.
    let folder = snapshot(&[]);
    fs::rename(folder.path().join("code.bin"), folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("code.bin")).unwrap();
    let link = secret.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert_eq!(Capture::from_snapshot(&link).unwrap().remarks, [""; 0]);
    // A directory that is a link is one too.
    symlink(secret.path(), folder.path().join("dir")).unwrap();
    fs::write(folder.path().join("cpu_0.ini"), CORE.replace("code.bin", "dir/secret")).unwrap();
    let error = said(&folder, Capture::from_snapshot(folder.path()));
    assert!(error.contains("leads out of the directory by a symbolic link"), "{error}");
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let folder = snapshot(&[]);
    fs::remove_file(folder.path().join("trace.bin")).unwrap();
    fs::create_dir(folder.path().join("trace.bin")).unwrap();
    let error = said(&folder, Capture::from_snapshot(folder.path()));
    assert!(error.starts_with("trace.bin: is a directory, not a regular file"), "{error}");
    let folder = snapshot(&[]);
    fs::remove_file(folder.path().join("cpu_0.ini")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(folder.path().join("cpu_0.ini")).status().unwrap();
    assert!(pipe.success());
    let error = said(&folder, Capture::from_snapshot(folder.path()));
    assert!(error.starts_with("cpu_0.ini: is a pipe, not a regular file"), "{error}");
}

#[test]
fn large_files_are_not_read() {
    let folder = snapshot(&[]);
    fs::write(folder.path().join("cpu_0.ini"), "#".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(
        said(&folder, Capture::from_snapshot(folder.path())),
        "cpu_0.ini: has 1048577 bytes, which is no description of a trace (at most 1 MiB is read)"
    );
    fs::write(folder.path().join("cpu_0.ini"), "[device]\0").unwrap();
    assert_eq!(
        said(&folder, Capture::from_snapshot(folder.path())),
        "cpu_0.ini: is not UTF-8 text (a zero byte is in it; save it as UTF-8)"
    );
}

#[test]
fn a_file_that_is_listed_again_and_again_is_not_read_for_ever() {
    let list: String = (0..100).map(|device| format!("d{device}=big.ini\n")).collect();
    let folder = snapshot(&[("snapshot.ini", "[device_list]\r\n", &format!("[device_list]\r\n{list}"))]);
    fs::write(folder.path().join("big.ini"), "# comment\n".repeat(100_000)).unwrap();
    assert_eq!(
        said(&folder, Capture::from_snapshot(folder.path())),
        "big.ini: the .ini files of the snapshot have more than 16 MiB together"
    );
}

#[test]
fn remarks_are_bounded() {
    let sections = "[x]\n".repeat(5000);
    let folder = snapshot(&[("trace.ini", "[trace_buffers]", &format!("{sections}[trace_buffers]"))]);
    let capture = Capture::from_snapshot(folder.path()).unwrap();
    assert_eq!(capture.remarks.len(), 1001);
    assert_eq!(capture.remarks[1000], "4000 more remarks are left out");
}

#[test]
fn many_parts_of_memory_are_compared_in_time() {
    let dumps: String = (0..20_000).map(|part| format!("[dump]\nfile=code.bin\naddress={part}\nlength=4\n")).collect();
    let folder = snapshot(&[]);
    fs::write(folder.path().join("cpu_0.ini"), format!("{CORE}{dumps}")).unwrap();
    let capture = Capture::from_snapshot(folder.path()).unwrap();
    assert_eq!((capture.all_images().count(), capture.remarks.len()), (20_001, 1001));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_change_is_read_or_refused(
        which in 0usize..4, at in 0usize..300, with in "[\\PC\n=\\[\\]]{0,8}", removed in 0usize..20,
    ) {
        let mut files = [("snapshot.ini", INDEX), ("cpu_0.ini", CORE), ("etm_0.ini", UNIT), ("trace.ini", TRACE)];
        let mut text: Vec<char> = files[which].1.chars().collect();
        let at = at.min(text.len());
        let end = (at + removed).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        files[which].1 = &text;
        let folder = folder(&files);
        fs::write(folder.path().join("trace.bin"), "x").unwrap();
        let _ = Capture::from_snapshot(folder.path());
        let _ = Capture::open(folder.path(), &Options::default());
    }
}
