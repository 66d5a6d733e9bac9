//! From the elements of a source to what was executed: code is walked from one to the next.
//!
//! An atom is of the next waypoint, which ends a block: a branch, an exception return, a barrier, and a wait where the
//! unit counts it among them (Arm IHI 0064, "P0 elements"). Where an indirect branch led, the next address tells, or, if
//! none is told, the return stack (TRCCONFIGR.RS).

use super::super::element::{Element, ElementKind, Exception, Target};
use super::super::instruction::{Block, Blocks, Branch, Code, Ending, Ends, Flow, InstructionSet};
use super::super::step::{Discontinuity, Run, Step};
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
    /// Nobody knows, until a full address is told.
    Unknown,
    /// Nobody knows, and the next address tells it.
    Told,
    /// Where an indirect branch led: the next address tells it, or the return stack.
    ToldOrReturn,
    /// Here.
    At(At),
}

/// Why the walk cannot go on.
type Wrong = String;

/// What a processor executed, as its trace source told it.
///
/// It is small, and can be cloned to go on from the same place later.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    has_return_stack: bool,
    returns: Vec<At>,
    /// Whether the return stack is empty behind the next waypoint.
    begins_anew: bool,
    place: Place,
    /// Whether anything was executed since tracing began.
    is_tracing: bool,
}

impl Reconstruction {
    /// Of a processor whose trace unit is so configured.
    pub fn new(configuration: &Configuration) -> Reconstruction {
        Reconstruction {
            has_return_stack: configuration.has_return_stack(),
            returns: Vec::new(),
            begins_anew: false,
            place: Place::Unknown,
            is_tracing: false,
        }
    }

    /// What ends the blocks that it walks.
    pub fn ends(configuration: &Configuration) -> Ends {
        Ends { barriers: true, waits: configuration.is_wait_waypoint() }
    }

    /// Takes the next element; `step` is told what it and the code prove.
    pub fn take<C: Code>(&mut self, element: &Element, blocks: &mut Blocks<C>, step: &mut impl FnMut(Step)) {
        if let Err(reason) = self.told(&element.kind, blocks, step) {
            self.lose();
            step(Step::Discontinuity(Discontinuity { at: element.at, reason }));
        }
    }

    /// Forgets everything: what comes next is believed from a full address on.
    fn lose(&mut self) {
        self.place = Place::Unknown;
        self.returns.clear();
        self.is_tracing = false;
    }

    fn told<C: Code>(
        &mut self,
        kind: &ElementKind,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(Step),
    ) -> Result<(), Wrong> {
        match kind {
            ElementKind::Overflow => Err("the trace unit lost packets (overflow)".to_owned()),
            ElementKind::Damaged(what) => Err(what.clone()),
            ElementKind::Unknown(count) => Err(match count {
                Some(count) => format!("{count} instructions were executed of which the trace unit does not tell"),
                None => "instructions were executed of which the trace unit does not tell".to_owned(),
            }),
            ElementKind::TraceOn | ElementKind::TraceOff => {
                if self.is_tracing {
                    step(Step::End);
                }
                self.lose();
                Ok(())
            }
            ElementKind::Synchronized => {
                self.begins_anew = true;
                Ok(())
            }
            ElementKind::Address(target) => self.address(*target),
            ElementKind::Atom { taken } => self.atom(*taken, blocks, step),
            ElementKind::SourceAddress(address) => self.source_address(*address, blocks, step),
            ElementKind::Exception(exception) => self.exception(exception, blocks, step),
            ElementKind::Timestamp(time) => {
                step(Step::Time(*time));
                Ok(())
            }
            ElementKind::Context { .. }
            | ElementKind::ExceptionReturn
            | ElementKind::Transaction(_)
            | ElementKind::TimestampMarker
            | ElementKind::Cycles(_)
            | ElementKind::Events(_)
            | ElementKind::Instrumentation { .. } => Ok(()),
        }
    }

    fn address(&mut self, target: Target) -> Result<(), Wrong> {
        let told = (target.address, target.instruction_set);
        match self.place {
            Place::Unknown if !target.is_full => Ok(()),
            Place::At(known) if known != told => {
                Err(format!("execution goes on at {:#x}, where the program led to {:#x}", told.0, known.0))
            }
            Place::Unknown | Place::Told | Place::ToldOrReturn | Place::At(_) => {
                self.place = Place::At(told);
                Ok(())
            }
        }
    }

    /// Where execution goes on; `None` while nobody knows.
    fn here(&mut self) -> Result<Option<At>, Wrong> {
        match self.place {
            Place::At(at) => Ok(Some(at)),
            Place::Unknown => Ok(None),
            Place::Told => Err("no address tells where execution went on".to_owned()),
            Place::ToldOrReturn => match self.returns.pop() {
                Some(at) => Ok(Some(at)),
                None => {
                    Err("no address tells where a branch led, and there is no call that it returns from".to_owned())
                }
            },
        }
    }

    /// The block at a place, which has an instruction.
    fn block<C: Code>(blocks: &mut Blocks<C>, (address, instruction_set): At) -> Result<Block, Wrong> {
        let block = blocks.block(instruction_set, address);
        match block.instructions() {
            0 => Err(format!(
                "the program has no instruction at {address:#x}, where execution goes: is it the program that was traced?"
            )),
            _ => Ok(block),
        }
    }

    fn run(&mut self, block: &Block, step: &mut impl FnMut(Step)) {
        if let Some(run) = Run::of(block) {
            self.is_tracing = true;
            step(Step::Run(run));
        }
    }

    /// Walks to the next waypoint and over it: the block that it ends.
    fn waypoint<C: Code>(
        &mut self,
        from: At,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(Step),
    ) -> Result<(Block, Flow), Wrong> {
        let mut at = from;
        for _ in 0..MOST_BLOCKS {
            let block = Self::block(blocks, at)?;
            self.run(&block, step);
            match block.ending {
                Ending::Flow(Flow::Call) | Ending::Length | Ending::Limit => at.0 = block.end,
                Ending::Flow(flow) => return Ok((block, flow)),
                Ending::NoInstruction => {
                    return Err(format!("the program has no instruction at {:#x}, and no branch before it", block.end));
                }
            }
        }
        Err(format!("no waypoint comes behind {:#x}", from.0))
    }

    fn atom<C: Code>(&mut self, taken: bool, blocks: &mut Blocks<C>, step: &mut impl FnMut(Step)) -> Result<(), Wrong> {
        let Some(from) = self.here()? else { return Ok(()) };
        let (block, flow) = self.waypoint(from, blocks, step)?;
        self.pass(&block, flow, taken)
    }

    /// Goes on behind a waypoint.
    fn pass(&mut self, block: &Block, flow: Flow, taken: bool) -> Result<(), Wrong> {
        let behind = (block.end, block.instruction_set);
        let is_conditional = match flow {
            Flow::Branch(Branch { is_conditional, .. })
            | Flow::Indirect { is_conditional, .. }
            | Flow::ExceptionReturn { is_conditional } => is_conditional,
            _ => false,
        };
        if !taken && !is_conditional {
            let at = block.last().unwrap_or(block.start);
            return Err(format!("the instruction at {at:#x} always leads elsewhere, and did not: is it the program?"));
        }
        let is_call = matches!(flow, Flow::Branch(Branch { is_call: true, .. }) | Flow::Indirect { is_call: true, .. });
        if taken && is_call && self.has_return_stack {
            if self.returns.len() == MOST_RETURNS {
                self.returns.remove(0);
            }
            self.returns.push(behind);
        }
        self.place = match flow {
            _ if !taken => Place::At(behind),
            Flow::Branch(Branch { target, instruction_set, .. }) => Place::At((target, instruction_set)),
            Flow::Indirect { .. } if self.has_return_stack => Place::ToldOrReturn,
            Flow::Indirect { .. } | Flow::ExceptionReturn { .. } => Place::Told,
            Flow::Next | Flow::Barrier | Flow::Wait | Flow::Call => Place::At(behind),
        };
        if std::mem::take(&mut self.begins_anew) {
            self.returns.clear();
        }
        Ok(())
    }

    /// Executes everything up to an address, without a waypoint that leads elsewhere.
    fn up_to<C: Code>(
        &mut self,
        limit: u64,
        from: At,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(Step),
    ) -> Result<(), Wrong> {
        let mut at = from;
        for _ in 0..MOST_BLOCKS {
            if at.0 == limit {
                return Ok(());
            }
            let block = Self::block(blocks, at)?.up_to(limit);
            let leads_elsewhere = matches!(block.ending, Ending::Flow(flow) if flow != Flow::Call);
            if block.instructions() == 0 || (leads_elsewhere && block.end != limit) {
                break;
            }
            self.run(&block, step);
            at.0 = block.end;
        }
        Err(format!("the program does not lead from {:#x} to {limit:#x}", from.0))
    }

    fn source_address<C: Code>(
        &mut self,
        address: u64,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(Step),
    ) -> Result<(), Wrong> {
        let Some(from) = self.here()? else { return Ok(()) };
        self.up_to(address, from, blocks, step)?;
        let (block, flow) = self.waypoint((address, from.1), blocks, step)?;
        if block.start != address || block.instructions() != 1 {
            return Err(format!("the instruction at {address:#x} is no branch: is it the program?"));
        }
        self.pass(&block, flow, true)
    }

    fn exception<C: Code>(
        &mut self,
        exception: &Exception,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(Step),
    ) -> Result<(), Wrong> {
        if self.place == Place::Unknown {
            return Ok(());
        }
        if let Some(returns_to) = exception.returns_to {
            let known = match self.place {
                Place::Told => None,
                _ => self.here()?,
            };
            if let Some(from) = known {
                self.up_to(returns_to.address, from, blocks, step)?;
            }
        }
        let at = exception.returns_to.map(|target| target.address);
        step(Step::Trap { cause: exception.number.into(), is_interrupt: false, at });
        self.place = Place::Told;
        Ok(())
    }
}
