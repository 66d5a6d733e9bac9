//! From the elements of a source to what was executed: code is walked from one to the next.
//!
//! An atom is of the next waypoint, which ends a block: a branch, an exception return, a barrier, and a wait where the
//! unit counts it among them (Arm IHI 0064, "P0 elements"). Where an indirect branch led, the next address tells, or, if
//! none is told, the return stack (TRCCONFIGR.RS).
//!
//! What elements prove waits until an address agrees with it, and is forgotten where something does not fit the program:
//! a packet may be missing before, and the way be wrong that was walked since. Then nothing is believed until the source
//! begins anew ([`ElementKind::Synchronized`]): later addresses are told by what they differ in from those before.

use super::super::element::{Element, ElementKind, Exception, Target};
use super::super::instruction::{Block, Blocks, Branch, Code, Ending, Ends, Flow, InstructionSet};
use super::super::step::Step;
use super::super::unconfirmed::{Unconfirmed, Wrong};
use super::etm4::Configuration;

/// How many returns are told by calls at most (Arm IHI 0064, "return stack").
const MOST_RETURNS: usize = 15;

/// How many blocks are walked to a waypoint. No program has as much code without one.
const MOST_BLOCKS: u32 = 1 << 16;

/// Where an instruction is, and how it is encoded.
type At = (u64, InstructionSet);

/// Where execution goes on, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nobody knows, until the source begins anew and tells an address.
    Lost,
    /// Tracing begins, or an exception was taken: the next address tells it.
    Told,
    /// Where an indirect branch led: the next address tells it.
    Target,
    /// Where an indirect branch led: the next address tells it, or the return stack.
    TargetOrReturn,
    /// Here.
    At(At),
}

/// What a processor executed, as its trace source told it.
///
/// It is small, and can be cloned to go on from the same place later.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    has_return_stack: bool,
    returns: Vec<At>,
    place: Place,
    /// Whether the source began anew, and has not told since where execution is.
    begins_anew: bool,
    /// What no address has agreed with yet.
    unconfirmed: Unconfirmed,
    /// Whether anything was executed since tracing began.
    is_tracing: bool,
}

impl Reconstruction {
    /// Of a processor whose trace unit is so configured.
    pub fn new(configuration: &Configuration) -> Reconstruction {
        Reconstruction {
            has_return_stack: configuration.has_return_stack(),
            returns: Vec::new(),
            place: Place::Lost,
            begins_anew: false,
            unconfirmed: Unconfirmed::default(),
            is_tracing: false,
        }
    }

    /// What ends the blocks that it walks.
    pub fn ends(configuration: &Configuration) -> Ends {
        Ends { barriers: true, waits: configuration.is_wait_waypoint() }
    }

    /// Takes the next element; `step` is told what is proven, each with the place in the sink that tells it.
    pub fn take<C: Code>(&mut self, element: &Element, blocks: &mut Blocks<C>, step: &mut impl FnMut(u64, Step)) {
        if let Err(wrong) = self.told(element, blocks, step) {
            self.break_off(element.at, wrong, step);
            if let ElementKind::Address(target) = element.kind {
                self.begin_at(target);
            }
            self.begins_anew &= self.place == Place::Lost;
        }
    }

    /// Takes all elements that there are.
    pub fn take_all<C: Code>(
        &mut self,
        elements: impl IntoIterator<Item = Element>,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(u64, Step),
    ) {
        elements.into_iter().for_each(|element| self.take(&element, blocks, step));
        self.end(step);
    }

    /// Of a processor whose source began anew, and was tracing before.
    pub fn anew(configuration: &Configuration) -> Reconstruction {
        Reconstruction { is_tracing: true, ..Reconstruction::new(configuration) }
    }

    /// The source begins anew at a place in the sink, which what was read before does not lead to.
    pub fn end_astray(&mut self, at: u64, step: &mut impl FnMut(u64, Step)) {
        let what = "what was read before does not lead to the next synchronization";
        self.break_off(at, Wrong::contradicted(what), step);
    }

    /// Something does not fit, or is missing.
    fn break_off(&mut self, at: u64, wrong: Wrong, step: &mut impl FnMut(u64, Step)) {
        self.unconfirmed.break_off(at, wrong, step);
        self.lose();
    }

    /// There are no more elements.
    pub fn end(&mut self, step: &mut impl FnMut(u64, Step)) {
        self.unconfirmed.pass_on(step);
    }

    /// Forgets where execution is: what comes next is believed when the source begins anew.
    fn lose(&mut self) {
        self.place = Place::Lost;
        self.returns.clear();
        self.is_tracing = false;
    }

    /// Goes on where the source says, if it began anew before.
    fn begin_at(&mut self, target: Target) {
        if self.begins_anew {
            self.place = Place::At((target.address, target.instruction_set));
        }
    }

    fn told<C: Code>(
        &mut self,
        Element { at, kind }: &Element,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(u64, Step),
    ) -> Result<(), Wrong> {
        let at = *at;
        match kind {
            ElementKind::Overflow => Err(Wrong::lost("the trace unit lost packets (overflow)")),
            ElementKind::Cut(what) => Err(Wrong::lost(what.clone())),
            ElementKind::Damaged(what) => Err(Wrong::contradicted(what.clone())),
            ElementKind::Unknown(count) => Err(Wrong::lost(match count {
                Some(count) => format!("{count} instructions were executed of which the trace unit does not tell"),
                None => "instructions were executed of which the trace unit does not tell".to_owned(),
            })),
            ElementKind::TraceOn | ElementKind::TraceOff => {
                self.unconfirmed.pass_on(step);
                if self.is_tracing {
                    step(at, Step::End);
                }
                let is_lost = self.place == Place::Lost || matches!(kind, ElementKind::TraceOff);
                self.lose();
                if !is_lost {
                    self.place = Place::Told;
                }
                Ok(())
            }
            ElementKind::Synchronized => {
                self.begins_anew = true;
                // A return that was told before is still to be known.
                let last = self.returns.pop().filter(|_| self.place == Place::TargetOrReturn);
                self.returns.clear();
                self.returns.extend(last);
                Ok(())
            }
            ElementKind::Address(target) => self.address(*target, step),
            ElementKind::Atoms(atoms) => {
                let mut atoms = *atoms;
                while let Some(taken) = atoms.take_oldest() {
                    self.atom(at, taken, blocks)?;
                }
                self.unconfirmed.make_room(step);
                Ok(())
            }
            ElementKind::SourceAddress(address) => {
                self.source_address(at, *address, blocks)?;
                self.unconfirmed.agree(step);
                Ok(())
            }
            ElementKind::Exception(exception) => self.exception(at, exception, blocks, step),
            ElementKind::Timestamp(time) => {
                self.unconfirmed.push(at, Step::Time(*time));
                self.unconfirmed.make_room(step);
                Ok(())
            }
            ElementKind::Context(state) => {
                self.unconfirmed.push(at, Step::State(*state));
                self.unconfirmed.make_room(step);
                Ok(())
            }
            ElementKind::ExceptionReturn
            | ElementKind::Transaction(_)
            | ElementKind::TimestampMarker
            | ElementKind::Cycles(_)
            | ElementKind::Events(_)
            | ElementKind::Instrumentation { .. } => Ok(()),
        }
    }

    fn address(&mut self, target: Target, step: &mut impl FnMut(u64, Step)) -> Result<(), Wrong> {
        let told = (target.address, target.instruction_set);
        match self.place {
            Place::Lost => self.begin_at(target),
            Place::At(known) if known != told => {
                let (told, known) = (told.0, known.0);
                return Err(Wrong::contradicted(format!(
                    "execution goes on at {told:#x}, where the program led to {known:#x}"
                )));
            }
            Place::Told => self.place = Place::At(told),
            Place::Target | Place::TargetOrReturn | Place::At(_) => {
                self.unconfirmed.agree(step);
                self.place = Place::At(told);
            }
        }
        if std::mem::take(&mut self.begins_anew) {
            self.returns.clear();
        }
        Ok(())
    }

    /// Where execution goes on; `None` while nobody knows.
    #[inline]
    fn here(&mut self) -> Result<Option<At>, Wrong> {
        if let Place::At(at) = self.place { Ok(Some(at)) } else { self.untold() }
    }

    /// The same, where no address told it.
    fn untold(&mut self) -> Result<Option<At>, Wrong> {
        match self.place {
            Place::At(at) => Ok(Some(at)),
            Place::Lost => Ok(None),
            Place::Told | Place::Target => Err(Wrong::contradicted("no address tells where execution went on")),
            Place::TargetOrReturn => {
                let untold = "no address tells where a branch led, and there is no call that it returns from";
                self.returns.pop().map(Some).ok_or_else(|| Wrong::contradicted(untold))
            }
        }
    }

    /// The block at a place, which has an instruction.
    #[inline]
    fn block<C: Code>(blocks: &mut Blocks<C>, (address, instruction_set): At) -> Result<&Block, Wrong> {
        let block = blocks.block(instruction_set, address);
        match block.instructions() {
            0 => Err(Wrong::contradicted(format!(
                "the program has no instruction at {address:#x}, where execution goes: is it the program that was traced?"
            ))),
            _ => Ok(block),
        }
    }

    #[inline]
    fn run(&mut self, at: u64, block: &Block) {
        if block.instructions() > 0 {
            self.is_tracing = true;
            self.unconfirmed.push(at, Step::Run(*block));
        }
    }

    /// Walks to the next waypoint and over it: the block that it ends.
    fn waypoint<C: Code>(&mut self, at: u64, from: At, blocks: &mut Blocks<C>) -> Result<(Block, Flow), Wrong> {
        let mut next = from;
        for _ in 0..MOST_BLOCKS {
            let block = *Self::block(blocks, next)?;
            self.run(at, &block);
            match block.ending {
                Ending::Flow(Flow::Call) if always_calls(next.1) => {
                    let call = block.last().unwrap_or(block.start);
                    return Err(Wrong::contradicted(format!(
                        "no exception is told that the instruction at {call:#x} causes"
                    )));
                }
                Ending::Flow(Flow::Call) | Ending::Length | Ending::Limit => next.0 = block.end,
                Ending::Flow(flow) => return Ok((block, flow)),
                Ending::NoInstruction => {
                    let what = format!("the program has no instruction at {:#x}, and no branch before it", block.end);
                    return Err(Wrong::contradicted(what));
                }
            }
        }
        Err(Wrong::contradicted(format!("no waypoint comes behind {:#x}", from.0)))
    }

    #[inline]
    fn atom<C: Code>(&mut self, at: u64, taken: bool, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let Some(from) = self.here()? else { return Ok(()) };
        let block = Self::block(blocks, from)?;
        // Mostly the next block is the one that the waypoint ends.
        if let Ending::Flow(flow) = block.ending
            && flow != Flow::Call
        {
            self.run(at, block);
            return self.pass(block, flow, taken);
        }
        let (block, flow) = self.waypoint(at, from, blocks)?;
        self.pass(&block, flow, taken)
    }

    /// Goes on behind a waypoint.
    #[inline]
    fn pass(&mut self, block: &Block, flow: Flow, taken: bool) -> Result<(), Wrong> {
        let behind = (block.end, block.instruction_set);
        let is_conditional = match flow {
            // Of a branch to the next instruction some trace units tell that it was not taken.
            Flow::Branch(Branch { target, instruction_set, .. }) if (target, instruction_set) == behind => true,
            Flow::Branch(Branch { is_conditional, .. })
            | Flow::Indirect { is_conditional, .. }
            | Flow::ExceptionReturn { is_conditional } => is_conditional,
            _ => false,
        };
        if !taken && !is_conditional {
            let at = block.last().unwrap_or(block.start);
            let what = format!("the instruction at {at:#x} always leads elsewhere, and did not: is it the program?");
            return Err(Wrong::contradicted(what));
        }
        let is_call = matches!(flow, Flow::Branch(Branch { is_call: true, .. }) | Flow::Indirect { is_call: true, .. });
        // Trace units keep none before they have told where they begin anew.
        if taken && is_call && self.has_return_stack && !self.begins_anew {
            if self.returns.len() == MOST_RETURNS {
                self.returns.remove(0);
            }
            self.returns.push(behind);
        }
        self.place = match flow {
            _ if !taken => Place::At(behind),
            Flow::Branch(Branch { target, instruction_set, .. }) => Place::At((target, instruction_set)),
            Flow::Indirect { .. } if self.has_return_stack => Place::TargetOrReturn,
            Flow::Indirect { .. } | Flow::ExceptionReturn { .. } => Place::Target,
            Flow::Next | Flow::Barrier | Flow::Wait | Flow::Call => Place::At(behind),
        };
        Ok(())
    }

    /// Executes everything up to an address, without a waypoint that leads elsewhere.
    fn up_to<C: Code>(&mut self, at: u64, limit: u64, from: At, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let mut next = from;
        for _ in 0..MOST_BLOCKS {
            if next.0 == limit {
                return Ok(());
            }
            let block = Self::block(blocks, next)?.up_to(limit);
            let leads_elsewhere = match block.ending {
                Ending::Flow(Flow::Call) => always_calls(block.instruction_set),
                Ending::Flow(_) => true,
                _ => false,
            };
            if block.instructions() == 0 || (leads_elsewhere && block.end != limit) {
                break;
            }
            self.run(at, &block);
            next.0 = block.end;
        }
        Err(Wrong::contradicted(format!("the program does not lead from {:#x} to {limit:#x}", from.0)))
    }

    fn source_address<C: Code>(&mut self, at: u64, address: u64, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let Some(from) = self.here()? else { return Ok(()) };
        self.up_to(at, address, from, blocks)?;
        let (block, flow) = self.waypoint(at, (address, from.1), blocks)?;
        if block.start != address || block.instructions() != 1 {
            return Err(Wrong::contradicted(format!(
                "the instruction at {address:#x} is no branch: is it the program?"
            )));
        }
        self.pass(&block, flow, true)
    }

    fn exception<C: Code>(
        &mut self,
        at: u64,
        exception: &Exception,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(u64, Step),
    ) -> Result<(), Wrong> {
        if self.place == Place::Lost {
            return Ok(());
        }
        if let Some(returns_to) = exception.returns_to
            && self.place != Place::Told
            && let Some(from) = self.here()?
        {
            self.up_to(at, returns_to.address, from, blocks)?;
            self.unconfirmed.agree(step);
        }
        let returns_to = exception.returns_to.map(|target| target.address);
        self.unconfirmed.push(at, Step::Trap { cause: exception.number.into(), is_interrupt: false, at: returns_to });
        self.unconfirmed.make_room(step);
        self.place = Place::Told;
        Ok(())
    }
}

/// Whether every instruction that calls the supervisor does so. In the other instruction sets it can be under a condition.
fn always_calls(instruction_set: InstructionSet) -> bool {
    instruction_set == InstructionSet::A64
}
