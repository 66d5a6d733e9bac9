//! What the targets of instruction trace use: programs, and what is shown of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use traceframe::format::itrace::instruction::{Code, decode};
use traceframe::format::itrace::{Discontinuity, Step};
use traceframe::image::Image;

use super::tests_data;

/// The code of a program.
pub struct Program(Image);

impl Code for Program {
    fn code(&self, address: u64) -> &[u8] {
        self.0.read_only(address)
    }
}

/// A program of `tests/data/itrace`.
pub fn program(name: &'static str) -> &'static Program {
    static ALL: Mutex<BTreeMap<&str, &'static Program>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(name).or_insert_with(|| {
        let image = Image::open(&tests_data().join("itrace").join(name)).expect("a program");
        Box::leak(Box::new(Program(image)))
    })
}

/// A stream of which some bytes are others: each four bytes say where, what happens there and what to.
pub fn changed(stream: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = stream.to_vec();
    for change in changes.chunks_exact(4) {
        let &[low, high, kind, value] = change else { continue };
        let at = usize::from(u16::from_le_bytes([low, high])) % bytes.len().max(1);
        match kind % 5 {
            0 => bytes.insert(at, value),
            1 => drop(bytes.drain(at..(at + usize::from(value)).min(bytes.len()))),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(..at)),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= value;
                }
            }
        }
    }
    bytes
}

/// Checks what is shown.
pub struct Walked {
    program: &'static Program,
    bytes: usize,
    /// How much is shown of one packet or element.
    steps: usize,
    discontinuities: usize,
}

/// How many blocks are walked at most for one packet, and as many again where an address can come twice.
const MOST_STEPS: usize = 2 * (1 << 16) + 10;

impl Walked {
    pub fn new(program: &'static Program, bytes: usize) -> Walked {
        Walked { program, bytes, steps: 0, discontinuities: 0 }
    }

    /// Another packet comes.
    pub fn packet(&mut self) {
        self.steps = 0;
    }

    pub fn take(&mut self, step: Step) {
        self.steps += 1;
        assert!(self.steps <= MOST_STEPS * 40 * (self.bytes + 1));
        match step {
            Step::Run(run) => {
                let (mut at, instructions) = (run.start, run.instructions());
                assert!(instructions > 0);
                for nth in 0..instructions {
                    let code = self.program.code(at);
                    let instruction = decode(run.instruction_set, at, code).expect("what is shown is of the program");
                    if nth + 1 == instructions {
                        assert_eq!(Some(at), run.last());
                    }
                    at = at.wrapping_add(u64::from(instruction.size));
                }
            }
            Step::Discontinuity(Discontinuity { at, reason }) => {
                self.discontinuities += 1;
                assert!(at <= self.bytes as u64 && self.discontinuities <= 40 * (self.bytes + 1), "{reason}");
            }
            Step::Trap { .. } | Step::End | Step::State(_) | Step::Time(_) => {}
        }
    }
}
