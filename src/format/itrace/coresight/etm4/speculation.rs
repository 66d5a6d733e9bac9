//! What is not certain yet.
//!
//! Trace units tell some elements (P0 elements: atoms, exceptions and others) before it is certain that the processor
//! will not take them back. A commit makes the oldest certain, a cancel takes the newest back, with everything that was
//! told with them; there are never more than a register says, so that telling more commits the oldest. A mispredict
//! makes the newest atom, certain or not, the opposite of what it was, so that the newest that is certain waits for the
//! next that is.
//! (Arm DDI 0487, D4.3.8 and K10.5.3; Arm IHI 0064 has the same for ETMv4.)

use std::collections::VecDeque;

use super::configuration::Configuration;
use super::fault::Fault;
use super::packet::{Address, Context, TraceInfo};
use crate::format::itrace::Atoms;

/// What a packet told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// P0 elements before the first packet that was read.
    Unseen(u32),
    Atoms(Atoms),
    Exception {
        number: u16,
        returns_to: Option<Address>,
    },
    FunctionReturn,
    Unknown(Option<u32>),
    SourceAddress(Address),
    TransactionStart,
    // What follows is no P0 element.
    Synchronized,
    InTransaction,
    TraceOn,
    Context(Context),
    Address(Address),
    ExceptionReturn,
    TransactionCommit,
    TransactionFailure,
    Timestamp(u64),
    TimestampMarker,
    Cycles(Option<u64>),
    Events(u8),
    Instrumentation {
        exception_level: u8,
        value: u64,
    },
}

/// Something that was told, with its number among all that was, and the offset in the sink of its packet.
#[derive(Clone, Copy, Debug)]
struct Held {
    number: u64,
    at: u64,
    told: Told,
}

/// What was told and cannot be handed out yet.
#[derive(Clone, Debug)]
pub(super) struct Speculation {
    /// What can be taken back, the oldest first.
    held: VecDeque<Held>,
    /// What stays true whatever is taken back, the oldest first.
    asides: VecDeque<Held>,
    /// Cycle counts, each with how many P0 elements are handed out before it.
    cycles: VecDeque<(u64, u64, Option<u64>)>,
    /// How much was told.
    told: u64,
    /// How many P0 elements were handed out.
    handed_out: u64,
    /// How many P0 elements are held, and how many of them are certain.
    p0: u32,
    committed: u32,
    /// How much is held behind the newest of them, if nothing was taken back since it came.
    behind_p0: usize,
    /// Whether the newest atom cannot be mispredicted any more.
    is_settled: bool,
    /// Whether no P0 element was told since reading began.
    is_fresh: bool,
    /// The most P0 elements that are not certain.
    most: u32,
    is_transaction_start_p0: bool,
}

/// How much is held at most. What is traced speculates about a few hundred elements.
const MOST_HELD: usize = 1 << 20;
/// How much can be told behind a P0 element before it is too late to mispredict it.
const MOST_BEHIND_P0: usize = 1 << 12;

impl Speculation {
    pub(super) fn new(configuration: &Configuration) -> Speculation {
        Speculation {
            held: VecDeque::new(),
            asides: VecDeque::new(),
            cycles: VecDeque::new(),
            told: 0,
            handed_out: 0,
            p0: 0,
            committed: 0,
            behind_p0: 0,
            is_settled: false,
            is_fresh: true,
            most: configuration.most_speculated,
            is_transaction_start_p0: configuration.is_transaction_start_p0,
        }
    }

    /// Begins at a trace info packet, behind which reading can begin.
    pub(super) fn begin(&mut self, at: u64, info: TraceInfo) -> Result<(), Fault> {
        if info.speculated > self.most {
            return Err(Fault::Speculation { said: info.speculated, held: self.most });
        }
        self.is_settled = false;
        self.is_fresh = true;
        self.push(at, Told::Synchronized)?;
        if info.is_in_transaction {
            self.push(at, Told::InTransaction)?;
        }
        self.push(at, Told::Unseen(info.speculated))
    }

    /// A trace info packet behind others.
    pub(super) fn check(&mut self, at: u64, info: TraceInfo) -> Result<(), Fault> {
        let held = self.speculated();
        if info.speculated != held {
            return Err(Fault::Speculation { said: info.speculated, held });
        }
        self.push(at, Told::Synchronized)
    }

    /// How many P0 elements are not certain.
    fn speculated(&self) -> u32 {
        self.p0.saturating_sub(self.committed)
    }

    /// How many P0 elements these are.
    fn p0_elements(&self, told: &Told) -> u32 {
        match told {
            Told::Unseen(count) => *count,
            Told::Atoms(atoms) => atoms.count(),
            Told::Exception { .. } | Told::FunctionReturn | Told::Unknown(_) | Told::SourceAddress(_) => 1,
            Told::TransactionStart => u32::from(self.is_transaction_start_p0),
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, at: u64, told: Told) -> Result<(), Fault> {
        self.make_room()?;
        let held = Held { number: self.told, at, told };
        self.told += 1;
        let count = self.p0_elements(&told);
        if count > 0 {
            self.is_fresh &= matches!(told, Told::Unseen(_));
            self.is_settled = false;
            self.behind_p0 = 0;
            self.p0 = self.p0.saturating_add(count);
            self.committed += self.speculated().saturating_sub(self.most);
        } else if is_true_by_itself(&told) {
            self.asides.push_back(held);
            return Ok(());
        } else if matches!(told, Told::Atoms(_) | Told::Unseen(_)) {
            return Ok(());
        } else {
            self.behind_p0 += 1;
            if self.behind_p0 > MOST_BEHIND_P0 {
                self.settle()?;
            }
        }
        self.held.push_back(held);
        Ok(())
    }

    fn make_room(&self) -> Result<(), Fault> {
        if self.held.len() + self.asides.len() + self.cycles.len() >= MOST_HELD {
            return Err(Fault::Waiting { most: MOST_HELD });
        }
        Ok(())
    }

    /// So much was told that the newest atom cannot be mispredicted any more.
    fn settle(&mut self) -> Result<(), Fault> {
        if self.speculated() > 0 {
            return Err(Fault::Waiting { most: MOST_BEHIND_P0 });
        }
        self.is_settled = true;
        Ok(())
    }

    /// Makes the oldest certain.
    pub(super) fn commit(&mut self, said: u32) -> Result<(), Fault> {
        let held = self.speculated();
        if said > held {
            return Err(Fault::Commit { said, held });
        }
        self.committed += said;
        Ok(())
    }

    /// Cycles passed up to the newest that is certain.
    pub(super) fn count_cycles(&mut self, at: u64, cycles: Option<u64>) -> Result<(), Fault> {
        self.make_room()?;
        self.cycles.push_back((self.handed_out + u64::from(self.committed), at, cycles));
        Ok(())
    }

    /// Takes the newest back.
    pub(super) fn cancel(&mut self, said: u32) -> Result<(), Fault> {
        let held = self.speculated();
        if said > held {
            return Err(Fault::Cancel { said, held });
        }
        self.take_back(said);
        Ok(())
    }

    /// Takes back the newest P0 elements, and what was told with them.
    fn take_back(&mut self, mut count: u32) {
        while count > 0 {
            let Some(mut held) = self.held.pop_back() else { break };
            let elements = self.p0_elements(&held.told);
            if elements > count {
                match &mut held.told {
                    Told::Atoms(atoms) => atoms.cancel_newest(count),
                    Told::Unseen(unseen) => *unseen -= count,
                    _ => {}
                }
                self.held.push_back(held);
            }
            let taken = elements.min(count);
            self.p0 = self.p0.saturating_sub(taken);
            count -= taken;
        }
    }

    /// Makes the newest atom the opposite, and takes back where it was said to lead.
    pub(super) fn mispredict(&mut self) -> Result<(), Fault> {
        let mut behind = self.held.len();
        let is_corrected = loop {
            let Some(index) = behind.checked_sub(1) else { break self.is_fresh };
            let Some(Held { told, .. }) = self.held.get_mut(index) else { break false };
            if let Told::Atoms(atoms) = told {
                atoms.mispredict_newest();
                break true;
            }
            let told = *told;
            if self.p0_elements(&told) > 0 {
                // One before the first packet that was read can be meant, no other.
                break matches!(told, Told::Unseen(_));
            }
            behind = index;
        };
        if !is_corrected {
            return Err(Fault::Mispredict);
        }
        while let Some(Held { told, .. }) = self.held.get(behind) {
            if matches!(told, Told::Address(_) | Told::Context(_)) {
                self.held.remove(behind);
            } else {
                behind += 1;
            }
        }
        Ok(())
    }

    /// Nothing more is said about what is held: what is not certain is thrown away.
    pub(super) fn discard(&mut self) {
        self.end();
        // Of the newest atom a misprediction may be missing.
        if self.most > 0 && self.p0 > 0 {
            self.take_back(1);
            self.committed = self.committed.min(self.p0);
        }
        for (behind, ..) in &mut self.cycles {
            *behind = self.handed_out + u64::from(self.committed.min(1));
        }
    }

    /// There is nothing more to read.
    pub(super) fn end(&mut self) {
        self.take_back(self.speculated());
        self.is_settled = true;
    }

    /// Takes the oldest away, if it is certain.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, Told)> {
        loop {
            if let Some((behind, at, cycles)) = self.cycles.front().copied()
                && behind <= self.handed_out
            {
                self.cycles.pop_front();
                return Some((at, Told::Cycles(cycles)));
            }
            if let Some(aside) = self.asides.front() {
                let (at, told) = (aside.at, aside.told);
                if self.held.front().is_none_or(|held| held.number > aside.number) {
                    self.asides.pop_front();
                    return Some((at, told));
                }
            }
            let Held { at, told, .. } = self.held.front_mut()?;
            let at = *at;
            match told {
                Told::Atoms(atoms) => {
                    // All of a packet at once, if no count of cycles comes between.
                    let before_cycles = self.cycles.front().map(|(behind, ..)| behind - self.handed_out);
                    let count =
                        before_cycles.map_or(u64::from(atoms.count()), |most| most.min(atoms.count().into())) as u32;
                    // The newest that is certain can still be mispredicted.
                    if self.committed.saturating_sub(u32::from(!self.is_settled)) < count {
                        return None;
                    }
                    let oldest = atoms.take(count);
                    if atoms.is_empty() {
                        self.held.pop_front();
                    }
                    self.hand_out(count);
                    return Some((at, Told::Atoms(oldest)));
                }
                Told::Unseen(unseen) => {
                    let seen = self.committed.min(*unseen);
                    *unseen -= seen;
                    let is_seen = *unseen == 0;
                    self.hand_out(seen);
                    if !is_seen {
                        return None;
                    }
                    self.held.pop_front();
                }
                _ => {
                    let told = *told;
                    let count = self.p0_elements(&told);
                    if count > self.committed {
                        return None;
                    }
                    self.hand_out(count);
                    self.held.pop_front();
                    return Some((at, told));
                }
            }
        }
    }

    /// So many P0 elements are not held any more.
    fn hand_out(&mut self, count: u32) {
        self.p0 -= count;
        self.committed -= count;
        self.handed_out += u64::from(count);
    }
}

/// Whether it stays true where what was told with it is not (Arm DDI 0487, table K10-2; instrumentation by D4.3.9).
fn is_true_by_itself(told: &Told) -> bool {
    matches!(
        told,
        Told::Synchronized
            | Told::Timestamp(_)
            | Told::TimestampMarker
            | Told::Events(_)
            | Told::Instrumentation { .. }
    )
}
