//! GDB trace files, format TRACE0: read and written.
//!
//! A file is the line `\x7fTRACE0`, a description in lines of text, an empty line, and frames in the target's byte
//! order (gdb manual, "Trace File Format"; gdb's tracefile-tfile.c). gdb's `tsave` writes such files, and so do
//! simulators, which often leave most of the description out.
//!
//! Owns: [`TraceFile`], which reads one; [`Writer`], which writes one; [`Conversion`], what becomes of other formats.
//! Invariant: whatever the bytes are, what is whole is served, and what is not is named with its offset.

mod byte_order;
mod chain;
mod conversion;
mod description;
mod frame;
mod lines;
mod register_order;
mod status;
mod text;
mod tracepoint;
mod variable;
mod wrapped;
mod writer;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use self::chain::{Chain, Link};
use self::description::Section;
use self::frame::FrameReader;
use super::{FormatError, OpenOptions};
use crate::arch::{self, Choice, Known, Target};
use crate::source::{ByteOrder, Change, Source};
use crate::trace::{Damage, Frame, Item, Location, Recording, RunStatus, TraceStateVariable, Tracepoint};

pub use self::conversion::{Conversion, Survey};
pub use self::description::Description;
pub use self::status::made_fields;
pub use self::tracepoint::{pieces, pieces_with_source};
pub use self::variable::piece as variable_piece;
pub use self::writer::{WriteError, Writer, encode_frame};

/// The first line of a file, line feed included.
pub const MAGIC: &[u8] = b"\x7fTRACE0\n";

/// An open gdb trace file.
#[derive(Debug)]
pub struct TraceFile {
    source: Source,
    target: Target,
    description: Description,
    damage: Vec<Damage>,
    remarks: Vec<String>,
    counts_may_be_decimal: bool,
    /// Offset of the first frame; `None` where the file is cut before it.
    frames_at: Option<u64>,
    reader: FrameReader,
}

impl TraceFile {
    /// Reads the description of a file that begins with [`MAGIC`], and chooses a target description.
    pub fn open(source: Source, options: &OpenOptions<'_>) -> Result<TraceFile, FormatError> {
        let section = section(&source);
        let known = Known {
            recorded: section.description.target_description.as_deref(),
            given: options.description,
            name: options.architecture,
            machine: options.image.map(crate::image::Image::machine),
            byte_order: options.byte_order,
            block_size: section.description.register_block_size,
        };
        match arch::resolve(&known) {
            Ok(choice) => Ok(TraceFile::assemble(source, section, choice, options.byte_order)),
            Err(cause) => {
                let at = section.register_block_size_at.filter(|_| cause.is_about_block_size());
                Err(FormatError::Arch { name: source.name().to_owned(), at, cause })
            }
        }
    }

    fn assemble(source: Source, section: Section, mut choice: Choice, byte_order: Option<ByteOrder>) -> TraceFile {
        let Section { mut description, mut damage, target_description_at, frames_at, .. } = section;
        if let Some((what, at)) = choice.unusable.take().zip(target_description_at) {
            damage.push(Damage { at, frame: None, what });
        }
        if let Some((cause, compression)) = source.cut().zip(source.compression()) {
            let what = format!("the {compression} data cannot be expanded beyond here: {cause}");
            damage.push(Damage { at: source.length(), frame: None, what });
        }
        let mut remarks = std::mem::take(&mut choice.remarks);
        if let Some(compression) = source.compression() {
            let length = source.length();
            remarks.push(format!(
                "the file is {compression} data, expanded in memory to {length} bytes, which offsets count"
            ));
        }
        let stated = byte_order.or(choice.byte_order);
        let (order, remark) = byte_order::decide(source.bytes(), frames_at.unwrap_or(source.length()), stated);
        remarks.extend(remark);
        if description.register_block_size.is_none() {
            let remark = "the description does not say how long a register block is (an R line), so none can be read";
            remarks.push(remark.to_owned());
        }
        let ambiguous = tracepoint::ambiguous_counts(&description.tracepoints);
        let counts_may_be_decimal = ambiguous.is_some();
        remarks.extend(ambiguous);
        let target = choice.with_byte_order(order);
        let addresses = target.addresses();
        for tracepoint in &mut description.tracepoints {
            tracepoint.address = addresses.kept(tracepoint.address);
        }
        let pc = target.layout.as_ref().map(arch::Layout::pc);
        let pc = pc.and_then(|pc| Some(pc.offset..pc.offset.checked_add(pc.size)?));
        let reader = FrameReader {
            order,
            addresses,
            register_block_size: description.register_block_size,
            pc,
            inferred: frame::inferred(&description.tracepoints),
        };
        TraceFile { source, target, description, damage, remarks, counts_may_be_decimal, frames_at, reader }
    }

    /// Where the frames go on behind an end mark that is a hole in a circular buffer, `frames` having come before it.
    /// A hole is looked for only where the file says that frames are missing: behind the true end such a buffer
    /// repeats its oldest frames.
    fn behind_hole(&self, end: Link<'_>, frames: u64) -> Option<u64> {
        let status = &self.description.status;
        let missing = status.circular == Some(true) && status.frames.is_some_and(|counted| frames < counted);
        match end {
            Link::EndMark { end, behind: 1.. } if missing => {
                let defined: HashSet<i32> = self.description.tracepoints.iter().map(|found| found.number).collect();
                wrapped::next_frame(self.source.bytes(), end, &self.reader, |number| defined.contains(&number))
            }
            _ => None,
        }
    }

    fn chain(&self, at: u64) -> Chain<'_> {
        Chain::new(self.source.bytes(), at, self.reader.order)
    }
}

fn section(source: &Source) -> Section {
    let at = MAGIC.len();
    Section::read(source.bytes().get(at..).unwrap_or(&[]), at as u64)
}

/// The end of what can be read of a file that changed under the reader.
fn changed(at: u64, change: Change) -> Damage {
    Damage { at, frame: None, what: format!("the file {change}: what follows is lost") }
}

/// Bytes between two frames that hold none.
fn hole(from: u64, to: u64) -> Damage {
    let what = format!(
        "{} bytes hold no whole frame, as gdbserver leaves them where its circular buffer wraps round (frames are lost \
         here, and those behind are numbered without them)",
        to.saturating_sub(from)
    );
    Damage { at: from, frame: None, what }
}

impl Recording for TraceFile {
    fn format(&self) -> &'static str {
        "TRACE0"
    }

    fn name(&self) -> &Path {
        self.source.name()
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn tracepoints(&self) -> &[Tracepoint] {
        &self.description.tracepoints
    }

    fn variables(&self) -> &[TraceStateVariable] {
        &self.description.variables
    }

    fn status(&self) -> &RunStatus {
        &self.description.status
    }

    fn unknown_lines(&self) -> &[String] {
        &self.description.unknown_lines
    }

    fn counts_may_be_decimal(&self) -> bool {
        self.counts_may_be_decimal
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn damage(&self) -> &[Damage] {
        &self.damage
    }

    fn change(&self) -> Option<Change> {
        self.source.change()
    }

    fn change_seen(&self) -> Option<Change> {
        self.source.change_seen()
    }

    fn end(&self) -> Location {
        Location(self.source.length())
    }

    fn walk(&self, visit: &mut dyn FnMut(Item<'_, '_>) -> ControlFlow<()>) -> Location {
        let Some(frames_at) = self.frames_at else { return self.end() };
        let mut chain = self.chain(frames_at);
        let mut frame = Frame::empty(Location(frames_at), 0);
        let mut behind = frames_at;
        let mut number = 0;
        let mut in_one_piece = true;
        loop {
            let link = chain.next();
            let change = match link {
                Link::Frame(_) => self.source.change_seen(),
                _ => self.source.change(),
            };
            if let Some(change) = change {
                let _ = visit(Item::Damage(changed(behind, change)));
                return Location(behind);
            }
            let Link::Frame(raw) = link else {
                if let Some(next) = in_one_piece.then(|| self.behind_hole(link, number)).flatten() {
                    in_one_piece = false;
                    if visit(Item::Damage(hole(behind, next))).is_break() {
                        return Location(behind);
                    }
                    chain = self.chain(next);
                    continue;
                }
                if let Some(mut damage) = link.damage(number) {
                    if matches!(link, Link::EndMark { .. }) && self.description.status.circular == Some(true) {
                        damage.what += " (where its circular buffer wraps round, gdbserver leaves zeroes, which may \
                                        look like an end mark, and repeats its oldest frames behind the last)";
                    }
                    // Nothing comes after it, whatever the visitor says.
                    let _ = visit(Item::Damage(damage));
                }
                return Location(behind);
            };
            self.reader.read(&raw, Some(number), &mut frame);
            if self.source.change_seen().is_some() {
                continue;
            }
            behind = raw.end();
            number += 1;
            if visit(Item::Frame(&frame)).is_break() {
                return Location(behind);
            }
        }
    }

    fn frame(&self, location: Location) -> Frame<'_> {
        let mut frame = Frame::empty(location, 0);
        let inside = self.frames_at.is_some_and(|frames_at| location.0 >= frames_at);
        if let (true, Link::Frame(raw)) = (inside, self.chain(location.0).next()) {
            self.reader.read(&raw, None, &mut frame);
        }
        frame
    }

    fn trace_buffer(&self, end: Location, offset: u64, length: usize) -> Cow<'_, [u8]> {
        let Some(frames_at) = self.frames_at else { return Cow::Borrowed(&[]) };
        let start = frames_at.saturating_add(offset);
        let left = usize::try_from(end.0.saturating_sub(start)).unwrap_or(usize::MAX);
        Cow::Borrowed(self.source.slice(start, length.min(left)))
    }
}

#[cfg(test)]
mod tests;
