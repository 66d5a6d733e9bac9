//! What the tests of all three ways need.

mod description;
mod hostile;
mod opening;
mod options;
mod reading;
mod snapshot;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

/// A directory with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What an error says, with the name of the directory left out.
fn said<T: std::fmt::Debug>(folder: &TempDir, result: Result<T, CaptureError>) -> String {
    result.unwrap_err().to_string().replace(&format!("{}/", folder.path().display()), "")
}

/// What is remarked, likewise.
fn remarks(folder: &TempDir, capture: &Capture) -> Vec<String> {
    capture.remarks.iter().map(|remark| remark.replace(&format!("{}/", folder.path().display()), "")).collect()
}

/// The smallest ELF file that can be opened, for AArch64, with a build ID if there is one.
fn elf(build_id: Option<&[u8]>) -> Vec<u8> {
    let note = build_id.map(|id| {
        let words = [4, id.len() as u32, 3].map(u32::to_le_bytes).concat();
        [&words[..], b"GNU\0", id].concat()
    });
    let note = note.unwrap_or_default();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let segments = u16::from(!note.is_empty());
    file.extend([2u16, 183].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    file.extend([0u64, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, segments, 64, 0, 0].map(u16::to_le_bytes).concat());
    if segments == 1 {
        file.extend([4u32, 4].map(u32::to_le_bytes).concat());
        let size = note.len() as u64;
        file.extend([120u64, 0, 0, size, size, 4].map(u64::to_le_bytes).concat());
    }
    file.extend(note);
    file
}

const REGISTERS: &str = "TRCCONFIGR=0x1001,TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,TRCIDR8=0";
