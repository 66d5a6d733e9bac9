//! The calls that have not returned, at each instruction, as the trace tells them.
//!
//! Where a call returns to is behind it. A return goes to the innermost call that it fits; where it fits none, or a jump
//! leaves a function other than by a call of another, nobody knows who called, and the calls end there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::super::instruction::{Block, Branch, Flow, InstructionSet};
use super::memory::Memory;
use crate::arch::Machine;

/// How many different chains of calls are kept; what comes behind has no callers.
const MOST_CHAINS: usize = 1 << 22;

/// How many calls out a return is looked for.
const FURTHEST: usize = 1 << 12;

/// What lies between the frames of functions of which nobody knows how one called the other, in bytes.
const UNKNOWN_ROOM: u64 = 0x1000;

/// A chain of calls that have not returned: that of its innermost, which has a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chain(u32);

/// The innermost call of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The chain of the caller.
    pub outer: Chain,
    /// The address of the call.
    pub at: u64,
    /// Where it returns to.
    pub returns_to: u64,
    /// How instructions are encoded there.
    pub instruction_set: InstructionSet,
    /// Whether it is none, but an exception.
    pub is_exception: bool,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// `None` where nobody knows who called.
    call: Option<Call>,
    /// The frame address of the function that was called.
    frame_address: u64,
}

/// All chains of calls that there were, each once.
pub struct Calls {
    machine: Machine,
    /// By the number of the chain. Who reads it waits for nobody.
    links: boxcar::Vec<Link>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By caller, call, where it returns to, and whether it is an exception.
    inner: HashMap<(Chain, u64, u64, bool), Chain>,
    /// Those without a call, by frame address.
    outermost: HashMap<u64, Chain>,
}

impl Calls {
    /// No calls yet. The stack ends at an address.
    pub fn new(machine: Machine, top: u64) -> Calls {
        let links = boxcar::vec![Link { call: None, frame_address: top }];
        let known = Known { outermost: HashMap::from([(top, Chain::default())]), ..Known::default() };
        Calls { machine, links, known: Mutex::new(known) }
    }

    /// The innermost call of a chain; `None` where nobody knows who called.
    pub fn call(&self, chain: Chain) -> Option<Call> {
        self.links.get(chain.0 as usize)?.call
    }

    /// The frame address of the function that was called last.
    pub fn frame_address(&self, chain: Chain) -> u64 {
        self.links.get(chain.0 as usize).map_or(0, |link| link.frame_address)
    }

    /// A chain that was not known; one without callers, where there are too many.
    fn add(&self, link: Link) -> Chain {
        match u32::try_from(self.links.count()) {
            Ok(count) if self.links.count() < MOST_CHAINS => {
                // Only who holds the lock adds one, so that this is its number.
                self.links.push(link);
                Chain(count)
            }
            _ => Chain::default(),
        }
    }

    /// The chain behind a call.
    fn push(&self, call: Call, memory: &Memory) -> Chain {
        let key = (call.outer, call.at, call.returns_to, call.is_exception);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.inner.entry(key).or_insert_with(|| {
            let rule = memory.caller_rule(call.at);
            let room = rule.and_then(|rule| rule.room(&self.machine)).unwrap_or(0);
            let frame_address = self.frame_address(call.outer).wrapping_sub(room);
            self.add(Link { call: Some(call), frame_address })
        })
    }

    /// The chain of somebody of whom nobody knows who called, and who called one that is known.
    fn outermost(&self, callee: Chain) -> Chain {
        let frame_address = self.frame_address(callee).wrapping_add(UNKNOWN_ROOM);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.outermost.entry(frame_address).or_insert_with(|| self.add(Link { call: None, frame_address }))
    }

    /// The caller's chain of the call that a return to an address fits: the innermost, or another if it is the only one.
    fn returned(&self, chain: Chain, to: u64, of_exception: bool) -> Option<Chain> {
        let mut found = None;
        let mut at = chain;
        for depth in 0..FURTHEST {
            let Some(call) = self.call(at) else { break };
            let fits = call.is_exception == of_exception && call.fits(to);
            if fits && depth == 0 {
                return Some(call.outer);
            }
            // Out of several that it fits, nobody knows which.
            if fits && found.replace(call.outer).is_some() {
                return None;
            }
            // A return does not leave a handler.
            if call.is_exception && !of_exception {
                break;
            }
            at = call.outer;
        }
        found
    }

    /// The chain behind a return of a function to an address.
    fn after_return(&self, chain: Chain, to: u64) -> Chain {
        let innermost = self.call(chain);
        let is_handler = innermost.is_some_and(|call| call.is_exception);
        // A handler of an M-profile processor returns as a function does.
        let returned = self.returned(chain, to, is_handler);
        returned.unwrap_or_else(|| match innermost {
            // To the caller of the function in which the trace began.
            None => self.outermost(chain),
            // To somebody whom the handler's caller made for that: of a signal it is the kernel.
            Some(_) if is_handler => chain,
            Some(_) => Chain::default(),
        })
    }
}

impl Call {
    /// Whether a return to an address may be of it. A handler may return behind the instruction that it was called by.
    fn fits(&self, to: u64) -> bool {
        let behind = to.wrapping_sub(self.returns_to);
        behind == 0 || self.is_exception && matches!(behind, 2 | 4)
    }
}

/// What was asked for lately.
pub struct Lately {
    /// Calls and the chains behind them, by where they lie.
    calls: Vec<Option<(Call, Chain)>>,
    /// Jumps: from where, to where, and whether that leaves the calls as they are.
    jumps: Vec<Option<(u64, u64, bool)>>,
}

/// How many of each these are.
const LATELY: usize = 1 << 10;

impl Default for Lately {
    fn default() -> Lately {
        Lately { calls: vec![None; LATELY], jumps: vec![None; LATELY] }
    }
}

impl Lately {
    fn push(&mut self, call: Call, calls: &Calls, memory: &Memory) -> Chain {
        match self.calls.get_mut(place(call.at, call.outer.0.into())) {
            Some(Some((known, chain))) if *known == call => *chain,
            Some(place) => {
                let chain = calls.push(call, memory);
                *place = Some((call, chain));
                chain
            }
            None => calls.push(call, memory),
        }
    }

    /// Whether a jump leaves the calls as they are. A table of a switch leads on in the function, a tail call to another's
    /// beginning; anything else is a way of which nobody knows what it did to the stack.
    fn leads_on(&mut self, from: u64, to: u64, memory: &Memory) -> bool {
        let Some(place) = self.jumps.get_mut(place(from, to)) else { return false };
        match place {
            Some((known, target, leads_on)) if (*known, *target) == (from, to) => *leads_on,
            place => {
                let function = memory.function_at(to);
                let leads_on = function.is_none_or(|(first, last)| first == to || (first..=last).contains(&from));
                *place = Some((from, to, leads_on));
                leads_on
            }
        }
    }
}

/// Where something is kept that two numbers name.
fn place(one: u64, other: u64) -> usize {
    let spread = (one ^ other << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - LATELY.ilog2())) as usize
}

/// Whether an instruction can change the calls.
pub fn can_call_or_return(flow: Flow) -> bool {
    match flow {
        Flow::Branch(Branch { is_call, .. }) => is_call,
        Flow::Indirect { .. } | Flow::ExceptionReturn { .. } => true,
        Flow::Next | Flow::Barrier | Flow::Wait | Flow::Call => false,
    }
}

/// Follows what is executed.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    chain: Chain,
    /// Whether one of these is so.
    waits: bool,
    /// What was executed last, if it can change the calls.
    last: Option<Block>,
    /// Whether nothing was executed since an exception was taken.
    is_taken: bool,
}

impl Follower {
    /// The chain of calls at the instructions that are executed next, from an address on, which others that can change the
    /// calls led to.
    #[inline]
    pub fn enter(
        &mut self,
        left_by: Option<&Block>,
        start: u64,
        calls: &Calls,
        lately: &mut Lately,
        memory: &Memory,
    ) -> Chain {
        if let Some(block) = left_by {
            self.led(block, start, calls, lately, memory);
        } else if self.waits {
            self.go_on(start, calls, lately, memory);
        }
        self.chain
    }

    /// These instructions were executed, the last of which can change the calls; what comes next is not known yet.
    pub fn leave_by(&mut self, block: &Block) {
        (self.last, self.waits) = (Some(*block), true);
    }

    /// Goes on where more is known of what was executed last than where it is.
    fn go_on(&mut self, start: u64, calls: &Calls, lately: &mut Lately, memory: &Memory) {
        self.waits = false;
        if let Some(last) = self.last.take() {
            self.led(&last, start, calls, lately, memory);
        }
        // Of a handler that is not traced there is nothing but where it returned to.
        if std::mem::take(&mut self.is_taken)
            && let Some(outer) = calls.returned(self.chain, start, true)
        {
            self.chain = outer;
        }
    }

    /// What the last instruction of a run did that led to an address.
    fn led(&mut self, run: &Block, to: u64, calls: &Calls, lately: &mut Lately, memory: &Memory) {
        let Block { start, end: behind, instruction_set, .. } = *run;
        let at = run.last().unwrap_or(start);
        let call = Call { outer: self.chain, at, returns_to: behind, instruction_set, is_exception: false };
        match run.flow() {
            Flow::Branch(Branch { is_conditional, .. }) | Flow::Indirect { is_conditional, .. }
                if is_conditional && to == behind => {}
            Flow::Branch(Branch { is_call: true, .. }) => self.chain = lately.push(call, calls, memory),
            Flow::Indirect { is_call: true, is_return: false, .. } => self.chain = lately.push(call, calls, memory),
            // Coroutines change places.
            Flow::Indirect { is_call: true, .. } => self.chain = Chain::default(),
            Flow::Indirect { is_return: true, .. } => self.chain = calls.after_return(self.chain, to),
            Flow::ExceptionReturn { .. } => self.chain = calls.returned(self.chain, to, true).unwrap_or_default(),
            Flow::Indirect { .. } if lately.leads_on(at, to, memory) => {}
            Flow::Indirect { .. } => self.chain = calls.returned(self.chain, to, false).unwrap_or_default(),
            Flow::Next | Flow::Branch(_) | Flow::Barrier | Flow::Wait | Flow::Call => {}
        }
    }

    /// An exception was taken; `returns_to` is where its handler is expected to return to.
    pub fn exception(&mut self, returns_to: Option<u64>, calls: &Calls, lately: &mut Lately, memory: &Memory) {
        let last = self.last.take();
        if let Some((last, to)) = last.zip(returns_to) {
            self.led(&last, to, calls, lately, memory);
        }
        let instruction_set = last.map_or(InstructionSet::A64, |last| last.instruction_set);
        (self.is_taken, self.waits) = (true, true);
        self.chain = match returns_to {
            Some(returns_to) => {
                let at = returns_to;
                let call = Call { outer: self.chain, at, returns_to, instruction_set, is_exception: true };
                lately.push(call, calls, memory)
            }
            None => Chain::default(),
        };
    }

    /// What was executed is not known: nobody's calls survive that.
    pub fn lose(&mut self) {
        *self = Follower::default();
    }
}
