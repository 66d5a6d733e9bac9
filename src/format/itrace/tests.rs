//! What the tests of all protocols need.

use std::io::Read;
use std::path::PathBuf;

/// A file of `tests/data/itrace`.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/data/itrace/{name}", env!("CARGO_MANIFEST_DIR")))
}

/// The address of every instruction that was executed.
pub fn truth(name: &str) -> Vec<u64> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(data(name)).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect()
}
