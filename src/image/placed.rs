//! An image at the place where it ran, and whether the recording agrees with it.

use super::placement::{Anchor, Placement, find};
use super::{Asked, CallerRule, Image, MachineState, SourceFiles, Statement};
use std::fmt;
use std::sync::Arc;

/// An image at the place where it ran. All addresses are run-time addresses.
///
/// While the place is [`Placement::Unknown`], nothing is known of any address.
#[derive(Clone)]
pub struct PlacedImage {
    /// The file.
    pub image: Arc<Image>,
    /// What is added to the file's addresses, modulo 2^64.
    pub bias: u64,
    /// How that is known.
    pub placement: Placement,
}

impl PlacedImage {
    /// Places an image: at `bias` if the user names one, else where `anchors` and `program_counters` (a sample of
    /// recorded ones) say.
    pub fn place(
        image: Arc<Image>,
        bias: Option<u64>,
        anchors: &[Anchor<'_>],
        program_counters: &[u64],
    ) -> PlacedImage {
        let (bias, placement) = match bias {
            Some(bias) => (bias, Placement::Option),
            None if !image.is_position_independent() => (0, Placement::Fixed),
            None => find(&image, anchors, program_counters),
        };
        PlacedImage { image, bias, placement }
    }

    /// Whether it is known where the image lay.
    pub fn is_placed(&self) -> bool {
        self.placement != Placement::Unknown
    }

    /// The file's address for a run-time address.
    pub(super) fn linked(&self, address: u64) -> Option<u64> {
        self.is_placed().then(|| address.wrapping_sub(self.bias))
    }

    /// As [`Image::read_only`].
    pub fn read_only(&self, address: u64) -> &[u8] {
        let bytes = self.linked(address).map_or(&[][..], |linked| self.image.read_only(linked));
        // A part that a load bias moves over the end of the address space ends there.
        let room = usize::try_from(u64::MAX - address).unwrap_or(usize::MAX).saturating_add(1);
        bytes.get(..bytes.len().min(room)).unwrap_or(bytes)
    }

    /// As [`Image::code`].
    pub fn code(&self, address: u64) -> &[u8] {
        if self.is_code(address) { self.read_only(address) } else { &[] }
    }

    /// As [`Image::caller_rule`].
    pub fn caller_rule(&self, address: u64) -> Option<CallerRule> {
        self.image.caller_rule(self.linked(address)?)
    }

    /// As [`Image::function_at`].
    pub fn function_at(&self, address: u64) -> Option<(u64, u64)> {
        let (first, last) = self.image.function_at(self.linked(address)?)?;
        Some((first.wrapping_add(self.bias), last.wrapping_add(self.bias)))
    }

    /// As [`Image::next_read_only`].
    pub fn next_read_only(&self, address: u64) -> Option<u64> {
        let linked = self.linked(address)?;
        // With a load bias, the addresses behind the end of the file's address space follow.
        let next = self.image.next_read_only(linked).or_else(|| self.image.next_read_only(0))?;
        Some(next.wrapping_add(self.bias)).filter(|next| *next >= address)
    }

    /// As [`Image::is_code`].
    pub fn is_code(&self, address: u64) -> bool {
        self.linked(address).is_some_and(|linked| self.image.is_code(linked))
    }

    /// As [`Image::function`].
    pub fn function(&self, address: u64) -> Option<(String, u64)> {
        self.image.function(self.linked(address)?)
    }

    /// As [`Image::line`].
    pub fn line(&self, address: u64) -> Option<(String, u32)> {
        self.image.line(self.linked(address)?)
    }

    /// As [`Image::each_statement`].
    pub fn each_statement(&self, visit: &mut dyn FnMut(Statement)) -> SourceFiles {
        if !self.is_placed() {
            return SourceFiles::default();
        }
        let placed = |found: Statement| Statement { address: found.address.wrapping_add(self.bias), ..found };
        self.image.each_statement(&mut |statement| visit(placed(statement)))
    }

    /// As [`Image::functions`], but a load bias over the end of the address space leaves no order.
    pub fn functions(&self) -> impl Iterator<Item = (u64, u64)> {
        let functions = self.is_placed().then(|| self.image.functions()).into_iter().flatten();
        functions.map(|(first, last)| (first.wrapping_add(self.bias), last.wrapping_add(self.bias)))
    }

    /// As [`Image::symbol`].
    pub fn symbol(&self, address: u64) -> Option<String> {
        self.image.symbol(self.linked(address)?)
    }

    /// The first and the last address that are loaded; `None` where that is not known, or the load bias moves them over the
    /// end of the address space.
    pub fn span(&self) -> Option<(u64, u64)> {
        let (first, last) = self.image.span()?;
        let (first, last) = (first.wrapping_add(self.bias), last.wrapping_add(self.bias));
        (self.is_placed() && first <= last).then_some((first, last))
    }

    /// As [`Image::spans`].
    pub fn spans(&self, address: u64) -> bool {
        self.linked(address).is_some_and(|linked| self.image.spans(linked))
    }

    /// As [`Image::known`]; while the place is unknown, nothing is.
    pub fn known(&self, asked: &[Asked<'_>]) -> Vec<bool> {
        if !self.is_placed() {
            return vec![false; asked.len()];
        }
        let linked = |asked: &Asked<'_>| asked.at.map(|at| at.wrapping_sub(self.bias));
        let asked: Vec<_> = asked.iter().map(|asked| Asked { at: linked(asked), ..*asked }).collect();
        self.image.known(&asked)
    }

    /// As [`Image::frame_address`].
    pub fn frame_address(&self, address: u64, state: &dyn MachineState) -> Option<u64> {
        self.image.frame_address(self.linked(address)?, state)
    }

    /// The run-time entry point; the file's own as long as the place is unknown.
    pub fn entry(&self) -> u64 {
        self.image.entry().wrapping_add(self.bias)
    }

    /// The first address at which memory recorded from `address` on differs from a read-only part of the image:
    /// another build of the program was recorded, or it lay elsewhere, or it changes its own code.
    ///
    /// Breakpoint instructions are no difference: gdbserver hides those that it inserted
    /// (gdb's gdbserver/mem-break.cc, `check_mem_read`).
    pub fn contradiction(&self, address: u64, recorded: &[u8]) -> Option<u64> {
        let mut at = address;
        loop {
            at = self.next_read_only(at)?;
            let skipped = usize::try_from(at.checked_sub(address)?).ok()?;
            let rest = recorded.get(skipped..).filter(|rest| !rest.is_empty())?;
            let known = self.read_only(at);
            if let Some(differs) = rest.iter().zip(known).position(|(recorded, known)| recorded != known) {
                return at.checked_add(differs as u64);
            }
            at = at.checked_add(known.len().max(1) as u64)?;
        }
    }
}

impl fmt::Display for PlacedImage {
    /// Where the image lies and how that is known, as a phrase for the ready lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.placement {
            Placement::Fixed | Placement::Unrelocated | Placement::Unknown => self.placement.fmt(f),
            Placement::Option
            | Placement::Described
            | Placement::Recorded
            | Placement::Tracepoints { .. }
            | Placement::UsualBase => {
                write!(f, "load bias {:#x}, {}", self.bias, self.placement)
            }
        }
    }
}
