//! What is in a trace file, read from the gdb manual ("Trace File Format") and not with the program's own reader.

use std::ops::Range;

use traceframe::source::ByteOrder;

/// A trace file, taken apart.
pub struct Anatomy<'a> {
    pub bytes: &'a [u8],
    pub order: ByteOrder,
    /// Where the frames begin; `None` where the description has no end.
    pub frames_at: Option<usize>,
    /// The whole frames, up to the first end mark.
    pub frames: Vec<Body<'a>>,
    /// Whether nothing follows the last frame but an end mark: 2 to 4 zero bytes, or a whole header of them.
    pub ends_properly: bool,
    /// Every binary number that a reader may take for a size, a place or a kind.
    pub numbers: Vec<Range<usize>>,
    /// What was collected: the bytes of blocks that decide nothing about where others lie.
    pub collected: Vec<Range<usize>>,
}

/// A whole frame.
pub struct Body<'a> {
    pub at: usize,
    pub end: usize,
    pub tracepoint: i16,
    /// The blocks up to the first that is damaged.
    pub blocks: Vec<Block<'a>>,
    /// Where the first block lies that cannot be read, and its kind.
    pub damaged: Option<(usize, u8)>,
}

/// A block of a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Block<'a> {
    Registers(&'a [u8]),
    Memory(u64, &'a [u8]),
    Variable(i32, i64),
    Static(&'a [u8]),
}

impl<'a> Anatomy<'a> {
    /// Takes a file apart whose frames are in this order.
    pub fn of(bytes: &'a [u8], order: ByteOrder) -> Anatomy<'a> {
        let frames_at = bytes.windows(2).position(|pair| pair == b"\n\n").map(|at| at + 2);
        let mut anatomy = Anatomy {
            bytes,
            order,
            frames_at,
            frames: Vec::new(),
            ends_properly: false,
            numbers: Vec::new(),
            collected: Vec::new(),
        };
        if let Some(at) = frames_at {
            let block_size = block_size(&bytes[..at]);
            anatomy.read_frames(at, block_size);
        }
        anatomy
    }

    fn number(&mut self, at: usize, width: usize, end: usize) -> Option<u64> {
        let range = at..at + width;
        let bytes = self.bytes[..end].get(range.clone())?;
        self.numbers.push(range);
        self.order.unsigned(bytes)
    }

    fn read_frames(&mut self, mut at: usize, block_size: usize) {
        let file = self.bytes.len();
        while let Some(tracepoint) = self.number(at, 2, file) {
            if tracepoint == 0 {
                self.ends_properly = matches!(self.bytes[at..], [_, _] | [_, _, 0] | [_, _, 0, 0] | [_, _, 0, 0, 0, 0]);
                return;
            }
            let Some(size) = self.number(at + 2, 4, file) else { return };
            let end = at + 6 + size as usize;
            if end > file {
                return;
            }
            let mut body = Body { at, end, tracepoint: tracepoint as u16 as i16, blocks: Vec::new(), damaged: None };
            self.read_blocks(&mut body, block_size);
            self.frames.push(body);
            at = end;
        }
    }

    fn read_blocks(&mut self, body: &mut Body<'a>, block_size: usize) {
        let bytes = self.bytes;
        let mut at = body.at + 6;
        while at < body.end {
            let kind = bytes[at];
            let Some((block, end)) = self.block(at, body.end, block_size) else {
                body.damaged = Some((at, kind));
                return;
            };
            if let Block::Registers(bytes) | Block::Memory(_, bytes) | Block::Static(bytes) = block {
                self.collected.push(end - bytes.len()..end);
            }
            body.blocks.push(block);
            at = end;
        }
    }

    fn block(&mut self, at: usize, end: usize, block_size: usize) -> Option<(Block<'a>, usize)> {
        let bytes = &self.bytes[..end];
        let piece = |from: usize, length: usize| Some((bytes.get(from..from.checked_add(length)?)?, from + length));
        match bytes[at] {
            b'R' => piece(at + 1, block_size).map(|(bytes, behind)| (Block::Registers(bytes), behind)),
            b'M' => {
                let address = self.number(at + 1, 8, end)?;
                let length = self.number(at + 9, 2, end)?;
                piece(at + 11, length as usize).map(|(bytes, behind)| (Block::Memory(address, bytes), behind))
            }
            b'V' => {
                let number = self.number(at + 1, 4, end)?;
                let value = self.number(at + 5, 8, end)?;
                Some((Block::Variable(number as u32 as i32, value as i64), at + 13))
            }
            b'S' => {
                let length = self.number(at + 1, 2, end)?;
                piece(at + 3, length as usize).map(|(bytes, behind)| (Block::Static(bytes), behind))
            }
            _ => None,
        }
    }
}

/// The size of register blocks, as the last `R` line says it.
fn block_size(description: &[u8]) -> usize {
    let lines = description.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"R "));
    let mut sizes = lines.filter_map(|digits| usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
    sizes.next_back().unwrap_or(0)
}

/// Every hexadecimal number of the description's lines, counts and strings too: sizes of register blocks, numbers of
/// tracepoints and variables, addresses, lengths, starts of parts, times.
pub fn digits(file: &[u8]) -> Vec<Range<usize>> {
    let end = file.windows(2).position(|pair| pair == b"\n\n").unwrap();
    let mut found = Vec::new();
    let mut line_at = 0;
    for line in file[..=end].split_inclusive(|byte| *byte == b'\n') {
        let numbered = [&b"R "[..], b"status ", b"tsv ", b"tp "].iter().any(|keyword| line.starts_with(keyword));
        let mut at = line_at;
        for word in line.split_inclusive(|byte| b" :;,-\n".contains(byte)) {
            let bare = &word[..word.len() - 1];
            // The kind of a piece, a field or an action stands right before its first number.
            let kind = bare.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let kind = if bare.iter().all(u8::is_ascii_hexdigit) { 0 } else { kind };
            if numbered && bare.len() > kind && bare[kind..].iter().all(u8::is_ascii_hexdigit) {
                found.push(at + kind..at + bare.len());
            }
            at += word.len();
        }
        line_at += line.len();
    }
    found
}
