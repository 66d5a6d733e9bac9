//! Writing the format, so that gdb's own `target tfile` reads it back.

use std::io::{self, Write};

use super::{Description, status, tracepoint, variable};
use crate::source::ByteOrder;
use crate::trace::Frame;

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output refused.
    #[error("cannot write the trace file: {0}")]
    Io(#[from] io::Error),
    /// A line of the description that would become several, or none.
    #[error("the description line {line:?} is empty or holds a line feed, expected one line")]
    Line {
        /// The line.
        line: String,
    },
    /// A tracepoint number that the format has no room for.
    #[error("the tracepoint number {number} does not fit, expected a 16-bit number other than 0")]
    TracepointNumber {
        /// The number.
        number: i32,
    },
    /// A register block that is not what the description promises. The format has no word for registers that were
    /// not collected, and nothing is invented for them.
    #[error(
        "the register block has {available} recorded bytes, expected all {declared} that the description declares \
         (leave the block out of the frame)"
    )]
    Registers {
        /// Bytes that were recorded.
        available: usize,
        /// The size of all register blocks.
        declared: usize,
    },
    /// More static tracepoint data than the format's 16-bit length can say.
    #[error("the static tracepoint data has {length} bytes, expected 65535 at most")]
    StaticData {
        /// Its length in bytes.
        length: usize,
    },
    /// More bytes in one frame than the format's 32-bit size can say.
    #[error("the frame has {size} bytes, expected 4294967295 at most")]
    FrameSize {
        /// Its size in bytes.
        size: usize,
    },
}

/// The most bytes that one memory block holds.
const MEMORY_BLOCK: usize = 0xffff;

/// Writes a gdb trace file: the description when it is made, then frame after frame, and the end mark last.
///
/// gdb's own reader refuses a description that declares no register block size or 0, and lines of 1000 bytes and
/// more (gdb's tracefile-tfile.c, `tfile_target_open`), though gdb writes both; so does this.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: W,
    order: ByteOrder,
    register_block_size: usize,
    /// The blocks of the frame being written.
    body: Vec<u8>,
}

/// The bytes of one frame, as [`Writer::frame`] writes it in a file without registers.
pub fn encode_frame(frame: &Frame<'_>, order: ByteOrder) -> Result<Vec<u8>, WriteError> {
    let mut writer = Writer { output: Vec::new(), order, register_block_size: 0, body: Vec::new() };
    writer.frame(frame)?;
    Ok(writer.output)
}

impl<W: Write> Writer<W> {
    /// Writes the header and the description. Pieces and status fields that were recorded are written as they are;
    /// where there are none, they are made from the model.
    ///
    /// `order` is the target's byte order, in which the frames are written.
    pub fn new(mut output: W, order: ByteOrder, description: &Description) -> Result<Writer<W>, WriteError> {
        let register_block_size = description.register_block_size.unwrap_or(0);
        output.write_all(super::MAGIC)?;
        let mut line = |keyword: &str, text: &str| match (keyword.is_empty() && text.is_empty()) || text.contains('\n')
        {
            true => Err(WriteError::Line { line: format!("{keyword}{text}") }),
            false => Ok(writeln!(output, "{keyword}{text}")?),
        };
        if let Some(size) = description.register_block_size {
            line("R ", &format!("{size:x}"))?;
        }
        if let Some(xml) = &description.target_description {
            for xml in xml.strip_suffix('\n').unwrap_or(xml).split('\n') {
                line("tdesc ", xml)?;
            }
        }
        if description.status.known {
            line("status ", &status::line(&description.status))?;
        }
        for defined in &description.variables {
            match defined.piece.as_str() {
                "" => line("tsv ", &variable::piece(defined))?,
                piece => line("tsv ", piece)?,
            }
        }
        for defined in &description.tracepoints {
            let made = if defined.pieces.is_empty() { tracepoint::pieces(defined) } else { Vec::new() };
            for piece in defined.pieces.iter().chain(&made) {
                line("tp ", piece)?;
            }
        }
        for unknown in &description.unknown_lines {
            line("", unknown)?;
        }
        output.write_all(b"\n")?;
        Ok(Writer { output, order, register_block_size, body: Vec::new() })
    }

    /// Writes a frame: registers, memory, variables and static data, in this order. A memory block that is longer
    /// than the format allows becomes several. Thread and time have no place in the format.
    ///
    /// After an error nothing of the frame has been written, unless it was the output that refused.
    pub fn frame(&mut self, frame: &Frame<'_>) -> Result<(), WriteError> {
        let number = i16::try_from(frame.tracepoint).ok().filter(|number| *number != 0);
        let number = number.ok_or(WriteError::TracepointNumber { number: frame.tracepoint })?;
        self.body.clear();
        if let Some(registers) = &frame.registers {
            let declared = self.register_block_size;
            let hidden: usize = registers.unavailable.iter().map(ExactSizeIterator::len).sum();
            if registers.bytes.len() != declared || hidden != 0 {
                let available = registers.bytes.len().saturating_sub(hidden);
                return Err(WriteError::Registers { available, declared });
            }
            self.body.push(b'R');
            self.body.extend_from_slice(&registers.bytes);
        }
        for block in &frame.memory {
            // An empty block stays one.
            let pieces = block.bytes.chunks(MEMORY_BLOCK).chain(block.bytes.is_empty().then_some(&[][..]));
            let mut address = block.address;
            for bytes in pieces {
                self.body.push(b'M');
                self.integer(address, 8);
                self.integer(bytes.len() as u64, 2);
                self.body.extend_from_slice(bytes);
                address = address.wrapping_add(bytes.len() as u64);
            }
        }
        for (number, value) in &frame.variables {
            self.body.push(b'V');
            self.integer(u64::from(number.cast_unsigned()), 4);
            self.integer(value.cast_unsigned(), 8);
        }
        if let Some(data) = &frame.static_data {
            let length = u16::try_from(data.len()).map_err(|_| WriteError::StaticData { length: data.len() })?;
            self.body.push(b'S');
            self.integer(length.into(), 2);
            self.body.extend_from_slice(data);
        }
        let size = u32::try_from(self.body.len()).map_err(|_| WriteError::FrameSize { size: self.body.len() })?;
        let mut header = [0; 6];
        let (number_bytes, size_bytes) = header.split_at_mut(2);
        self.order.store(u64::from(number.cast_unsigned()), number_bytes);
        self.order.store(size.into(), size_bytes);
        self.output.write_all(&header)?;
        self.output.write_all(&self.body)?;
        Ok(())
    }

    /// Writes the end mark and gives the output back.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.output.write_all(&[0; 4])?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn integer(&mut self, value: u64, width: usize) {
        let mut bytes = [0; 8];
        if let Some(bytes) = bytes.get_mut(..width) {
            self.order.store(value, bytes);
            self.body.extend_from_slice(bytes);
        }
    }
}
