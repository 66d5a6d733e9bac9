//! gdb trace files made for a test, and the parts of one that is at hand.
//!
//! Written from the gdb manual ("Trace File Format") and not with the program's own reader and writer, so that both
//! are tested. Little-endian.

use std::path::PathBuf;

/// A trace file in the making.
pub struct Made {
    description: Vec<u8>,
    frames: Vec<u8>,
}

impl Made {
    /// A file with these lines of description.
    pub fn new(lines: &[&str]) -> Made {
        let mut made = Made { description: b"\x7fTRACE0\n".to_vec(), frames: Vec::new() };
        for line in lines {
            made.line(line);
        }
        made
    }

    /// Adds a line to the description; it may hold any bytes.
    pub fn line(&mut self, line: impl AsRef<[u8]>) -> &mut Made {
        self.description.extend_from_slice(line.as_ref());
        self.description.push(b'\n');
        self
    }

    /// Adds a frame of these blocks.
    pub fn frame(&mut self, tracepoint: i16, blocks: &[Vec<u8>]) -> &mut Made {
        let size: usize = blocks.iter().map(Vec::len).sum();
        self.frames.extend(tracepoint.to_le_bytes());
        self.frames.extend(u32::try_from(size).unwrap().to_le_bytes());
        for block in blocks {
            self.frames.extend_from_slice(block);
        }
        self
    }

    /// The whole file.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.description[..], b"\n", &self.frames, &[0; 4]].concat()
    }

    /// Saves it under a name, in a folder that goes with the first value.
    pub fn save(&self, name: &str) -> (tempfile::TempDir, String) {
        save(name, self.bytes())
    }
}

/// Saves bytes under a name, in a folder that goes with the first value.
pub fn save(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

/// A register block.
pub fn registers(bytes: &[u8]) -> Vec<u8> {
    [b"R", bytes].concat()
}

/// A block of memory.
pub fn memory(address: u64, bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    [&b"M"[..], &address.to_le_bytes(), &length.to_le_bytes(), bytes].concat()
}

/// The value of a trace state variable.
pub fn variable(number: i32, value: i64) -> Vec<u8> {
    [&b"V"[..], &number.to_le_bytes(), &value.to_le_bytes()].concat()
}

/// The lines of a file's description, without the first line of the file.
pub fn description(file: &[u8]) -> Vec<String> {
    let end = file.windows(2).position(|pair| pair == b"\n\n").unwrap();
    let lines = file[..end].split(|byte| *byte == b'\n').skip(1);
    lines.map(|line| String::from_utf8(line.to_vec()).unwrap()).collect()
}

/// What follows a keyword on the lines of a file's description that begin with it.
pub fn lines_of(file: &[u8], keyword: &str) -> Vec<String> {
    description(file).iter().filter_map(|line| line.strip_prefix(keyword).map(str::to_owned)).collect()
}

/// Everything behind the description.
pub fn frame_section(file: &[u8]) -> &[u8] {
    let end = file.windows(2).position(|pair| pair == b"\n\n").unwrap();
    &file[end + 2..]
}

/// The whole frames of a little-endian file: tracepoint and blocks.
pub fn frames(file: &[u8]) -> Vec<(i16, &[u8])> {
    let mut rest = frame_section(file);
    let mut found = Vec::new();
    while let Some((head, behind)) = rest.split_at_checked(6) {
        let tracepoint = i16::from_le_bytes(head[..2].try_into().unwrap());
        let size = u32::from_le_bytes(head[2..].try_into().unwrap()) as usize;
        let Some((body, behind)) = behind.split_at_checked(size) else { break };
        if tracepoint == 0 {
            break;
        }
        found.push((tracepoint, body));
        rest = behind;
    }
    found
}
