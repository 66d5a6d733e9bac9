//! Which way a capture is described is told by content.

use super::*;
use crate::format::itrace::tests::data;

fn kind(content: &[u8]) -> Option<Kind> {
    let folder = folder(&[]);
    let path = folder.path().join("file");
    fs::write(&path, content).unwrap();
    Kind::of(&path)
}

#[test]
fn descriptions_are_known_by_content() {
    assert_eq!(kind(b"[capture]\n"), Some(Kind::Description));
    assert_eq!(kind(b"\xef\xbb\xbf# words\r\ntitle = 1\r\n [ capture ] # more\r\n"), Some(Kind::Description));
    assert_eq!(kind(b"; DS-5\n[snapshot]\nversion=1.0"), Some(Kind::Snapshot));
    assert_eq!(kind(b"[captures]\n"), None);
    assert_eq!(kind(b"capture"), None);
    assert_eq!(kind(b""), None);
    assert_eq!(kind(b"\x7fTRACE0\n[capture]\n"), None);
    assert_eq!(kind(b"[capture]\n\0"), None);
    assert_eq!(kind(&[b' '; 1 << 17]), None);
    assert_eq!(Kind::of(Path::new("/nonexistent")), None);
    assert_eq!(Kind::of(Path::new("/dev/zero")), None);
    assert_eq!(Kind::of(Path::new("/")), None);
}

#[test]
fn a_large_dump_is_not_read() {
    let folder = folder(&[]);
    let path = folder.path().join("dump");
    let file = fs::File::create(&path).unwrap();
    // No disk has so much.
    file.set_len(1 << 42).unwrap();
    assert_eq!(Kind::of(&path), None);
}

#[test]
fn any_other_file_is_some_other_recording() {
    let folder = folder(&[("x", "\u{7f}TRACE0\n")]);
    let nothing = Capture::open(&folder.path().join("x"), &Options::default()).unwrap();
    assert!(nothing.is_none());
}

#[test]
fn a_capture_is_described_once() {
    let options = Options { sources: vec![format!("0x10=etm4,{REGISTERS}").parse().unwrap()], ..Options::default() };
    let folder: PathBuf = data("gen-etm4-one");
    let error = Capture::open(&folder, &options).unwrap_err().to_string();
    assert_eq!(
        error.replace(&folder.display().to_string(), "DIR"),
        "DIR: is a snapshot, which says itself which sources there are (leave out --source and --sink)"
    );
}

#[test]
fn images_of_options_are_believed_first() {
    let program = data("prog.a64.200").display().to_string();
    let options = Options { images: vec![program.parse().unwrap()], ..Options::default() };
    let capture = Capture::open(&data("gen-etm4-one"), &options).unwrap().unwrap();
    assert_eq!(capture.images, [ImageAt::Elf(ElfAt { path: program.into(), load: None, build_id: None })]);
    assert_eq!(capture.mismatches().unwrap(), []);
}
