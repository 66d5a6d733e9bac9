//! What a processor executed, with the exceptions that came between.

use std::collections::BTreeMap;
use std::ops::Range;

use traceframe::format::itrace::instruction::Flow;

use crate::program::Program;
use crate::random::Random;

/// An exception.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    pub is_interrupt: bool,
    /// The instruction that the handler is expected to return to.
    pub returns_to: u64,
}

/// A list of instructions.
#[derive(Clone)]
pub struct Execution {
    /// The address of each.
    pub list: Vec<u64>,
    /// Exceptions, by the number of the instruction that was executed next.
    pub traps: BTreeMap<usize, Trap>,
}

impl Execution {
    /// A run of a program. The kernel's own instructions are not in it: each call of the supervisor is an exception, and
    /// execution goes on where the kernel lets it.
    pub fn of(program: &Program) -> Execution {
        Execution::along(program, program.run())
    }

    /// The same way through a program, with its loops gone round many more times every now and then: another one that it has.
    pub fn with_long_loops(&self, program: &Program, random: &mut Random) -> Execution {
        let mut list: Vec<u64> = Vec::new();
        for address in &self.list {
            let round = list.iter().rev().take(30).position(|before| before == address);
            let round = round.map(|back| list[list.len() - 1 - back..].to_vec());
            let is_inside = |at: &u64| matches!(program.instruction(*at).flow, Flow::Next | Flow::Branch(_));
            if let Some(round) = round.filter(|round| round.iter().all(is_inside) && random.below(60) == 0) {
                (0..40 + random.below(60)).for_each(|_| list.extend(&round));
            }
            list.push(*address);
        }
        Execution::along(program, list)
    }

    /// Along a way through a program.
    fn along(program: &Program, list: Vec<u64>) -> Execution {
        let mut traps = BTreeMap::new();
        for (at, address) in list.iter().enumerate() {
            let instruction = program.instruction(*address);
            if instruction.flow == Flow::Call && at + 1 < list.len() {
                let returns_to = address + u64::from(instruction.size);
                traps.insert(at + 1, Trap { is_interrupt: false, returns_to });
            }
        }
        Execution { list, traps }
    }

    /// The same of the program at another place.
    pub fn at_bias(&self, bias: u64) -> Execution {
        let moved = |(at, trap): (&usize, &Trap)| (*at, Trap { returns_to: trap.returns_to + bias, ..*trap });
        Execution {
            list: self.list.iter().map(|address| address + bias).collect(),
            traps: self.traps.iter().map(moved).collect(),
        }
    }

    /// The same with interrupts: every now and then the program's `handler` was executed in between; at once behind
    /// branches under a condition if they `can_follow_branches`.
    pub fn with_interrupts(
        &self,
        program: &Program,
        count: usize,
        can_follow_branches: bool,
        random: &mut Random,
    ) -> Execution {
        let handler = handler(program);
        let mut places: Vec<usize> = (0..count).map(|_| 1 + random.below(self.list.len() - 1)).collect();
        // The second comes as soon as an instruction of the program was executed behind the first.
        places.extend(places.first().map(|place| place + 1).filter(|place| *place < self.list.len()));
        places.sort_unstable();
        places.dedup();
        places.retain(|place| !self.traps.contains_key(place));
        let is_branch = |at: usize| matches!(program.instruction(self.list[at]).flow, Flow::Branch(branch) if branch.is_conditional);
        places.retain(|place| can_follow_branches || !is_branch(place - 1));
        let (mut list, mut traps) = (Vec::new(), BTreeMap::new());
        for (at, address) in self.list.iter().enumerate() {
            if let Some(trap) = self.traps.get(&at) {
                traps.insert(list.len(), *trap);
            }
            if places.binary_search(&at).is_ok() {
                traps.insert(list.len(), Trap { is_interrupt: true, returns_to: *address });
                list.extend(&handler);
            }
            list.push(*address);
        }
        Execution { list, traps }
    }
}

/// What an interrupt executes: the branch in it is taken.
fn handler(program: &Program) -> Vec<u64> {
    let Range { start: mut at, end } = program.handler();
    let mut list = Vec::new();
    while at < end {
        let instruction = program.instruction(at);
        list.push(at);
        at = match instruction.flow {
            Flow::Branch(branch) => branch.target,
            _ => at + u64::from(instruction.size),
        };
    }
    list
}
