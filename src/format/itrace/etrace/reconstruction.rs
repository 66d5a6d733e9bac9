//! From the packets of a hart to what it executed.
//!
//! This is the specification's `process_te_inst` and `follow_execution_path`, block by block: of the instructions of a
//! block only the last can lead elsewhere, so that a packet's address is looked for in the block as a whole.
//!
//! What packets prove waits until addresses of later ones agree with it, and is forgotten where something does not fit the
//! program: a packet may be missing before, and the way be wrong that was walked since. Then nothing is believed until a
//! packet tells a full address, which may be the one that did not fit.

use riscv_etrace::packet::ext::{BranchCount, BranchKind, Extension, JumpTargetIndex};
use riscv_etrace::packet::payload::{AddressInfo, Branch as Branching, InstructionTrace};
use riscv_etrace::packet::sync::{Context, QualStatus, Start, Support, Synchronization, Trap};
use riscv_etrace::packet::unit::ReferenceIOptions;
use riscv_etrace::types::{Privilege, branch};

use super::branches::Branches;
use super::jump_targets::JumpTargets;
use super::packets::Packet;
use super::parameters::Parameters;
use super::predictor::Predictor;
use super::returns::Returns;
use crate::format::itrace::instruction::{
    Block, Blocks, Branch, Code, Ending, Flow, InstructionSet, sequential_jump_target,
};
use crate::format::itrace::state::State;
use crate::format::itrace::step::Step;
use crate::format::itrace::unconfirmed::{Unconfirmed, Wrong};

/// How many blocks are walked without any packet's help. No program jumps on so often without a branch.
const MOST_UNTOLD: u32 = 1 << 16;

/// How many branches are walked at most of those that one packet says went as predicted.
pub(super) const MOST_PREDICTED: u64 = 1 << 18;

/// Why nothing is believed of a hart of which no packet said yet how its encoder tells things.
pub const UNKNOWN_OPTIONS: &str =
    "no packet before it tells how addresses and returns are told: full_address or implicit_return must be named";

/// Where a packet lets the walk go.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// To the last branch that was told.
    LastBranch,
    /// To an address.
    Address {
        /// Whether it is told for a reason of its own, and is not where a jump led.
        is_notified: bool,
        /// Whether it is where a jump led, and the last instruction before something else.
        is_behind_jump: bool,
    },
    /// To the address of a synchronisation.
    Synchronisation,
}

/// The last instruction of a block, of which the program does not say where it leads.
#[derive(Clone, Copy)]
struct Jump {
    /// What it is.
    flow: Flow,
    /// Its address.
    at: u64,
    /// The address behind it.
    behind: u64,
    /// An address from which on instructions were executed one behind the other, up to this one.
    from: u64,
}

impl Jump {
    /// That of a block, before which another was executed that ends with an instruction at an address, and there.
    fn of(block: &Block, (before, end): (u64, u64)) -> Jump {
        let from = if end == block.start { before } else { block.start };
        Jump { flow: block.flow(), at: block.last, behind: block.end, from }
    }
}

/// What a hart executed.
///
/// It is small, and can be cloned to go on from the same place later.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    instruction_set: InstructionSet,
    mask: u64,
    parameters: Parameters,
    /// What the encoder was switched to, as far as that is known, and whether it was said that it is not.
    options: ReferenceIOptions,
    knows_options: bool,
    is_refused: bool,
    /// What the packet before said that the encoder was switched to, if that is something else.
    announced: Option<ReferenceIOptions>,
    /// Whether the packet before said something of the encoder, and whether that is so of the one that is being taken.
    was_of_encoder: bool,
    is_of_encoder: bool,
    /// The address that was told last, and whether the next is told by how it differs from that.
    address: u64,
    is_address_known: bool,
    branches: Branches,
    /// What was executed last, at the last instruction of which the walk stands; `None` until a full address is told.
    place: Option<Block>,
    /// Whether the walk stands at an address that was told, and may have to go on to where it comes again.
    may_come_again: bool,
    /// What the encoder has, too.
    returns: Returns,
    predictor: Predictor,
    jump_targets: JumpTargets,
    /// Whether something was lost since tracing was begun or ended.
    is_behind_gap: bool,
    /// Whether an exception was told, and not yet where its handler is.
    is_in_trap: bool,
    /// The state of execution, the one from the address on that is being walked to, and the time there.
    state: Option<State>,
    entering: Option<State>,
    time: Option<u64>,
    /// The place in the sink of the packet that is being taken.
    at: u64,
    /// What no address has agreed with yet.
    unconfirmed: Unconfirmed,
    /// Whether the packet that is being taken told an address, and that fits.
    is_agreeing: bool,
    /// Whether the packet that is being taken says that tracing ended.
    is_ended: bool,
    /// How many packets did not fit.
    contradictions: u64,
}

impl Reconstruction {
    /// Of a hart that executes such instructions.
    pub fn new(instruction_set: InstructionSet, parameters: &Parameters) -> Reconstruction {
        Reconstruction {
            instruction_set,
            mask: parameters.address_mask(),
            parameters: *parameters,
            options: parameters.options.unwrap_or_default(),
            knows_options: parameters.are_options_known(),
            is_refused: false,
            announced: None,
            was_of_encoder: false,
            is_of_encoder: false,
            address: 0,
            is_address_known: false,
            branches: Branches::default(),
            place: None,
            may_come_again: false,
            returns: Returns::new(parameters.return_stack_depth()),
            predictor: Predictor::new(parameters.predictor_entries()),
            jump_targets: JumpTargets::new(parameters.jump_target_entries()),
            is_behind_gap: false,
            is_in_trap: false,
            state: None,
            entering: None,
            time: None,
            at: 0,
            unconfirmed: Unconfirmed::default(),
            is_agreeing: false,
            is_ended: false,
            contradictions: 0,
        }
    }

    /// Takes the next packet of the hart; `step` is told what is proven, each with the place in the sink that tells it.
    /// Whether it tells an address that agrees with what was told before.
    pub fn take<C: Code>(&mut self, packet: &Packet, blocks: &mut Blocks<C>, step: &mut impl FnMut(u64, Step)) -> bool {
        self.at = packet.at;
        self.note_options(packet);
        let found = match &packet.payload {
            Ok(Some(payload)) => self.payload(payload, blocks),
            Ok(None) => Ok(()),
            Err(what) if packet.is_cut => Err(Wrong::lost(format!("the trace ends inside a packet: {what}"))),
            Err(what) => Err(Wrong::contradicted(format!("a packet cannot be read: {what}"))),
        };
        let is_agreeing = std::mem::take(&mut self.is_agreeing);
        let Err(wrong) = found else {
            if is_agreeing {
                self.unconfirmed.agree(step);
            }
            if std::mem::take(&mut self.is_ended) {
                self.unconfirmed.pass_on(step);
            }
            self.tell_time(packet);
            self.unconfirmed.make_room(step);
            return is_agreeing;
        };
        let is_untold = wrong.is_untold();
        self.contradictions += u64::from(wrong.is_contradicted());
        self.unconfirmed.break_off(packet.at, wrong, step);
        self.lose();
        self.predictor.lose();
        self.is_behind_gap = true;
        self.is_address_known = is_untold;
        let begun = match &packet.payload {
            Ok(Some(payload)) if self.knows_options && self.missing().is_none() => self.begin_anew(payload, blocks),
            _ => Ok(()),
        };
        self.is_agreeing = false;
        match begun {
            Ok(()) => self.tell_time(packet),
            Err(wrong) => {
                self.unconfirmed.break_off(packet.at, wrong, step);
                self.lose();
            }
        }
        false
    }

    /// Takes all packets that there are.
    pub fn take_all<C: Code>(
        &mut self,
        packets: impl IntoIterator<Item = Packet>,
        blocks: &mut Blocks<C>,
        step: &mut impl FnMut(u64, Step),
    ) {
        for packet in packets {
            self.take(&packet, blocks, step);
        }
        self.end(step);
    }

    /// Whether what is told behind a synchronization can be understood without what was told before: not where the encoder
    /// keeps what it learned, nor before it is known how it tells things, nor where tracing begins.
    pub fn can_begin_anew(&self) -> bool {
        self.knows_options && !self.keeps_returns() && !self.keeps_predictions() && !self.was_of_encoder
    }

    /// How many packets did not fit what was told before them, or the program.
    pub(super) fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// What the encoder was switched to, if that is known.
    pub fn options(&self) -> Option<ReferenceIOptions> {
        self.knows_options.then_some(self.options)
    }

    /// Whether calls from before a synchronization tell where functions return to behind it.
    fn keeps_returns(&self) -> bool {
        self.options.implicit_return && self.parameters.kept.returns == Some(true)
    }

    /// Whether branches are predicted behind a synchronization by those before it.
    fn keeps_predictions(&self) -> bool {
        self.options.branch_prediction && self.parameters.kept.predictions == Some(true)
    }

    /// The parameter without which it is not known how the encoder tells things, and what that is.
    fn missing(&self) -> Option<&'static str> {
        let missing = [
            (
                self.options.implicit_return && self.parameters.return_stack_depth() == 0,
                "implicit returns: return_stack_size_p or call_counter_size_p",
            ),
            (self.options.branch_prediction && self.parameters.predictor_size == 0, "a branch predictor: bpred_size_p"),
            (
                self.options.jump_target_cache && self.parameters.fields.cache_size_p == 0,
                "a cache of jump targets: cache_size_p",
            ),
        ];
        missing.iter().find(|(is_missing, _)| *is_missing).map(|(_, what)| *what)
    }

    /// Takes note of how the encoder tells things, if a packet says it, and of nothing else.
    ///
    /// Where that is another way than was known, it is believed when a synchronization follows at once, as it does where an
    /// encoder was truly switched: behind damage any bytes may look like such a packet.
    pub fn note_options(&mut self, packet: &Packet) {
        let announced = self.announced.take();
        let is_of_encoder = !matches!(
            &packet.payload,
            Ok(Some(
                InstructionTrace::Branch(_)
                    | InstructionTrace::Address(_)
                    | InstructionTrace::Synchronization(
                        Synchronization::Start(_) | Synchronization::Trap(_) | Synchronization::Context(_)
                    )
            ))
        );
        self.was_of_encoder = std::mem::replace(&mut self.is_of_encoder, is_of_encoder);
        let Ok(Some(InstructionTrace::Synchronization(payload))) = &packet.payload else { return };
        match (payload, announced) {
            (Synchronization::Support(support), _) if !self.knows_options => {
                (self.options, self.knows_options) = (support.ioptions, true);
            }
            (Synchronization::Support(support), _) if support.ioptions != self.options => {
                self.announced = Some(support.ioptions);
            }
            (Synchronization::Start(_) | Synchronization::Trap(_), Some(options)) => self.options = options,
            _ => {}
        }
    }

    /// The same hart where it begins anew: nothing is known but how its encoder tells things.
    pub fn anew(&self) -> Reconstruction {
        let (options, knows_options) = (self.options, self.knows_options);
        let fresh = Reconstruction::new(self.instruction_set, &self.parameters);
        Reconstruction { options, knows_options, is_behind_gap: true, ..fresh }
    }

    /// Takes the packet at which the hart begins anew, what it proves being shown by whoever reads up to it.
    pub fn begin_with<C: Code>(&mut self, packet: &Packet, blocks: &mut Blocks<C>) {
        self.take(packet, blocks, &mut |_, _| {});
        self.unconfirmed.forget();
    }

    /// There are no more packets.
    pub fn end(&mut self, step: &mut impl FnMut(u64, Step)) {
        self.unconfirmed.pass_on(step);
    }

    /// The time of a packet, which lies behind what it proves. That of its encapsulation goes before one of its own.
    fn tell_time(&mut self, packet: &Packet) {
        if let Some(time) = packet.time.or(self.time.take()) {
            self.time = None;
            self.push(Step::Time(time));
        }
    }

    /// Adds a step that the packet tells that is being taken.
    #[inline]
    fn push(&mut self, step: Step) {
        self.unconfirmed.push(self.at, step);
    }

    /// Forgets what nothing agrees with.
    pub fn forget(&mut self) {
        self.unconfirmed.forget();
    }

    /// Goes on at the address of a packet that does not fit what was told before, if that is known.
    fn begin_anew<C: Code>(&mut self, payload: &InstructionTrace, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        match payload {
            InstructionTrace::Synchronization(Synchronization::Start(start)) => self.start(start, blocks),
            InstructionTrace::Synchronization(Synchronization::Trap(trap)) if trap.thaddr => {
                self.handler(trap).map_or(Ok(()), |_| self.trap(trap, blocks))
            }
            InstructionTrace::Branch(branch) => match &branch.address {
                Some(_) => self.begin_at_told(Some(branch.branch_map), blocks),
                None => Ok(()),
            },
            InstructionTrace::Address(_) => self.begin_at_told(None, blocks),
            InstructionTrace::Extension(Extension::JumpTargetIndex(index)) => {
                self.begin_at_told(Some(index.branch_map), blocks)
            }
            // Of what lies between nothing was learned: no prediction counts any more.
            _ => Ok(()),
        }
    }

    /// Forgets everything: what comes next is believed from a full address on.
    fn lose(&mut self) {
        self.place = None;
        self.branches = Branches::default();
        self.may_come_again = false;
        self.is_in_trap = false;
        self.returns.lose();
        self.jump_targets.empty();
        self.is_address_known = false;
        (self.state, self.entering, self.time) = (None, None, None);
    }

    /// Goes on at the address of a packet, if that is known, with the branches that the packet tells.
    fn begin_at_told<C: Code>(&mut self, told: Option<branch::Map>, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        if !self.is_address_known || self.is_in_trap {
            return Ok(());
        }
        // Of a branch at the address itself the newest tells whether it was taken.
        let newest = told.and_then(|map| map.count().checked_sub(1).map(|place| map.raw_map() >> place & 1 == 1));
        self.branches = Branches::default();
        self.tell_branch(newest, blocks)?;
        self.begin(blocks)
    }

    fn payload<C: Code>(&mut self, payload: &InstructionTrace, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        match payload {
            InstructionTrace::Synchronization(Synchronization::Support(support)) => self.support(support, blocks),
            _ if !self.knows_options => {
                if std::mem::replace(&mut self.is_refused, true) {
                    return Ok(());
                }
                Err(Wrong::lost(UNKNOWN_OPTIONS))
            }
            InstructionTrace::Synchronization(Synchronization::Start(_) | Synchronization::Trap(_))
                if self.missing().is_some() =>
            {
                let what = self.missing().unwrap_or_default();
                Err(Wrong::lost(format!("the encoder was switched to {what} must be named, which tells its size")))
            }
            InstructionTrace::Synchronization(Synchronization::Start(start)) => self.start(start, blocks),
            InstructionTrace::Synchronization(Synchronization::Trap(trap)) => self.trap(trap, blocks),
            InstructionTrace::Synchronization(Synchronization::Context(context)) => {
                self.announce(context);
                self.enter();
                Ok(())
            }
            InstructionTrace::Branch(Branching { address: Some(told), branch_map, .. }) if self.place.is_none() => {
                self.address = self.told(told);
                self.begin_at_told(Some(*branch_map), blocks)
            }
            InstructionTrace::Address(told)
            | InstructionTrace::Extension(Extension::BranchCount(BranchCount {
                kind: BranchKind::Addr(told) | BranchKind::AddrFail(told),
                ..
            })) if self.place.is_none() => {
                self.address = self.told(told);
                self.begin_at_told(None, blocks)
            }
            _ if self.place.is_none() => Ok(()),
            _ if self.is_in_trap => Err(Wrong::contradicted("no packet tells where the handler of an exception is")),
            InstructionTrace::Branch(branch) => {
                self.append(branch.branch_map)?;
                match &branch.address {
                    Some(address) => self.reach(address, blocks),
                    None => self.follow(Until::LastBranch, None, blocks),
                }
            }
            InstructionTrace::Address(address) => self.reach(address, blocks),
            InstructionTrace::Extension(Extension::BranchCount(count)) => self.predicted(count, blocks),
            InstructionTrace::Extension(Extension::JumpTargetIndex(index)) => self.jump_to_kept(index, blocks),
        }
    }

    /// Branches went as predicted, and the next did not, or something else told the address.
    fn predicted<C: Code>(&mut self, told: &BranchCount, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        if !self.options.branch_prediction {
            return Err(Wrong::contradicted("it tells of predicted branches, and the encoder has no predictor"));
        }
        if !self.predictor.is_known() {
            return Err(Wrong::lost("it tells of predicted branches, and what was predicted depends on what was lost"));
        }
        let count = u64::from(told.branch_count) + 31;
        if count > MOST_PREDICTED {
            return Err(Wrong::lost(format!(
                "it tells of {count} predicted branches, and more than {MOST_PREDICTED} at once are not followed"
            )));
        }
        self.branches.append_predicted(count, !matches!(told.kind, BranchKind::Addr(_)));
        match &told.kind {
            BranchKind::NoAddr => self.follow(Until::LastBranch, None, blocks),
            BranchKind::Addr(address) | BranchKind::AddrFail(address) => self.reach(address, blocks),
        }
    }

    /// A jump led to an address that the encoder kept.
    fn jump_to_kept<C: Code>(&mut self, told: &JumpTargetIndex, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        self.come_again(blocks)?;
        let kept = self.jump_targets.at(told.index).filter(|_| self.options.jump_target_cache);
        self.address = kept.ok_or_else(|| {
            Wrong::contradicted(format!(
                "it tells of the jump target with the number {}, which there is not",
                told.index
            ))
        })?;
        self.append(told.branch_map)?;
        self.arrive(Until::Address { is_notified: false, is_behind_jump: true }, told.irdepth, blocks)
    }

    /// Takes note of branches that a packet tells one by one.
    fn append(&mut self, map: branch::Map) -> Result<(), Wrong> {
        match self.branches.append(map) {
            true => Ok(()),
            false => Err(Wrong::contradicted("it tells more branches than an encoder keeps")),
        }
    }

    /// The address that a packet tells.
    fn told(&self, told: &AddressInfo) -> u64 {
        let address = if self.options.full_address {
            told.address.cast_unsigned()
        } else {
            self.address.wrapping_add_signed(told.address)
        };
        address & self.mask
    }

    fn reach<C: Code>(&mut self, told: &AddressInfo, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        self.address = self.told(told);
        self.arrive(Until::Address { is_notified: told.notify, is_behind_jump: told.updiscon }, told.irdepth, blocks)
    }

    /// Walks to the address that a packet tells, with the number of calls there, if it tells that.
    fn arrive<C: Code>(&mut self, until: Until, depth: Option<usize>, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        if depth.is_some() && !self.returns.are_all() {
            return Err(Wrong::untold("it counts calls from before a gap"));
        }
        self.follow(until, depth, blocks)
    }

    /// From the address on that a packet tells execution is in the packet's state.
    fn announce(&mut self, context: &Context) {
        let level = match context.privilege {
            Privilege::User => "user",
            Privilege::Supervisor => "supervisor",
            Privilege::Machine => "machine",
            Privilege::Debug => "debug",
            Privilege::VirtUser => "virtual user",
            Privilege::VirtSupervisor => "virtual supervisor",
        };
        let context_id = self.parameters.has_contexts().then_some(context.context);
        let state = State { level, security: None, context: context_id, machine: None };
        self.entering = Some(state).filter(|state| self.state != Some(*state));
        self.time = context.time;
    }

    /// Here it is.
    fn enter(&mut self) {
        if let Some(state) = self.entering.take() {
            self.state = Some(state);
            self.push(Step::State(state));
        }
    }

    /// Tracing begins, or goes on and tells a full address.
    fn start<C: Code>(&mut self, start: &Start, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        self.address = start.address & self.mask;
        self.may_come_again = false;
        self.announce(&start.ctx);
        let goes_on = self.place.is_some() && !self.is_in_trap;
        if !goes_on {
            self.branches = Branches::default();
        }
        self.tell_branch(Some(start.branch), blocks)?;
        if goes_on {
            self.follow(Until::Synchronisation, None, blocks)?;
        } else {
            self.begin(blocks)?;
        }
        self.synchronize();
        Ok(())
    }

    /// Forgets what the encoder forgets at a synchronization.
    fn synchronize(&mut self) {
        if !self.keeps_returns() {
            self.returns.empty();
        }
        if !self.keeps_predictions() {
            self.predictor.empty();
            // A branch that it tells was executed before it was sent.
            self.branches.learned();
        }
        self.jump_targets.empty();
    }

    fn trap<C: Code>(&mut self, trap: &Trap, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let is_interrupt = trap.info.tval.is_none();
        let at = match self.place {
            // The second of two in a row: nothing was executed between them.
            Some(_) if self.is_in_trap => None,
            Some(place) if is_interrupt => {
                if self.keeps_returns() || self.keeps_predictions() {
                    // The last instruction was executed before it: a call is kept, and a branch is learned.
                    self.next(&place, blocks)?;
                }
                Some(place.last)
            }
            Some(place) => self.raised_at(&place, trap, blocks)?,
            None => None,
        };
        if self.place.is_some() || trap.thaddr {
            self.push(Step::Trap { cause: u64::from(trap.info.ecause), is_interrupt, at });
        }
        self.may_come_again = false;
        self.is_in_trap = !trap.thaddr;
        if trap.thaddr {
            self.address = self.handler(trap)? & self.mask;
            self.announce(&trap.ctx);
            self.branches = Branches::default();
            self.tell_branch(Some(trap.branch), blocks)?;
            self.begin(blocks)?;
            self.synchronize();
        }
        Ok(())
    }

    /// Where the handler of an exception is.
    fn handler(&self, trap: &Trap) -> Result<u64, Wrong> {
        if !self.options.implicit_exception {
            return Ok(trap.address);
        }
        let (cause, is_interrupt) = (u64::from(trap.info.ecause), trap.info.tval.is_none());
        self.parameters.vectors.handler(trap.ctx.privilege, cause, is_interrupt).map_err(Wrong::lost)
    }

    /// The instruction that raised an exception (`exception_address` of the specification).
    fn raised_at<C: Code>(&mut self, place: &Block, trap: &Trap, blocks: &mut Blocks<C>) -> Result<Option<u64>, Wrong> {
        Ok(match place.flow() {
            flow if is_discontinuity(flow) && !trap.thaddr => Some(trap.address & self.mask),
            Flow::Call => Some(place.last),
            flow if is_discontinuity(flow) => None,
            _ => Some(self.next(place, blocks)?),
        })
    }

    /// Where execution goes behind a block, or where a packet tells.
    fn next<C: Code>(&mut self, place: &Block, blocks: &mut Blocks<C>) -> Result<u64, Wrong> {
        match self.leave(place)? {
            Some(pc) => Ok(pc),
            None => Ok(self.jump(Jump::of(place, (place.start, place.start)), self.address, None, blocks)?.0),
        }
    }

    /// Whether the last branch was not taken, where the address that was told is that of one.
    fn tell_branch<C: Code>(&mut self, not_taken: Option<bool>, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let block = blocks.block(self.instruction_set, self.address);
        if block.instructions() == 0 {
            return Err(no_instruction(self.address));
        }
        if is_only_branch(block) {
            self.branches.push(!not_taken.ok_or_else(|| untold_branch(self.address))?);
        }
        Ok(())
    }

    /// Stands at the address that was told.
    fn begin<C: Code>(&mut self, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        let block = blocks.block(self.instruction_set, self.address);
        if block.instructions() == 0 {
            return Err(no_instruction(self.address));
        }
        let block = block.through(block.start);
        self.place = Some(block);
        self.enter();
        self.push(Step::Run(block));
        self.is_in_trap = false;
        self.is_address_known = true;
        Ok(())
    }

    fn support<C: Code>(&mut self, support: &Support, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        match support.qual_status {
            QualStatus::NoChange => {
                if self.place.is_none() && !self.is_behind_gap {
                    self.returns.empty();
                    self.predictor.empty();
                }
                Ok(())
            }
            QualStatus::TraceLost => Err(Wrong::lost("the encoder lost packets")),
            QualStatus::EndedRep | QualStatus::EndedNtr => {
                if support.qual_status == QualStatus::EndedNtr {
                    self.come_again(blocks)?;
                }
                // Of an end that comes behind a loss nobody knows what it ended.
                self.is_behind_gap &= self.place.is_none();
                self.lose();
                self.push(Step::End);
                self.is_ended = true;
                Ok(())
            }
        }
    }

    /// Where execution goes behind a block, if its last instruction says it.
    #[inline]
    fn leave(&mut self, block: &Block) -> Result<Option<u64>, Wrong> {
        let Ending::Flow(flow) = &block.ending else { return Ok(Some(block.end)) };
        Ok(match flow {
            Flow::Next | Flow::Barrier | Flow::Wait => Some(block.end),
            Flow::Branch(Branch { target, is_conditional, is_call, .. }) => {
                let taken = !is_conditional || self.is_taken(block.last).ok_or_else(|| untold_branch(block.last))?;
                if *is_call {
                    self.returns.call(block.end);
                }
                Some(if taken { *target } else { block.end })
            }
            Flow::Indirect { .. } | Flow::ExceptionReturn { .. } | Flow::Call => None,
        })
    }

    /// Where execution goes from an instruction that does not say it, and whether that is the address that was told.
    fn jump<C: Code>(
        &mut self,
        from: Jump,
        told: u64,
        depth: Option<usize>,
        blocks: &mut Blocks<C>,
    ) -> Result<(u64, bool), Wrong> {
        let Flow::Indirect { is_call, is_return, .. } = from.flow else { return Ok((told, true)) };
        // Coroutines that change places neither call nor return.
        if is_call && is_return {
            return Ok((told, true));
        }
        let sequential = self.sequential(from, told, blocks)?;
        // A packet with a number of calls tells of the return at which there are so many, if that can be the last
        // instruction before its address.
        let is_inferred = is_return
            && sequential.is_none()
            && self.options.implicit_return
            && (depth != Some(self.returns.depth()) || !self.can_arrive(told, blocks));
        if is_inferred && self.returns.depth() == 0 && !self.returns.are_all() {
            return Err(Wrong::untold(format!(
                "the return at {:#x} may be from a call before a gap: what is told next need not be where it led",
                from.at
            )));
        }
        let inferred = if is_inferred { self.returns.pop() } else { sequential };
        if is_call {
            self.returns.call(from.behind);
        }
        Ok(inferred.map_or((told, true), |target| (target, false)))
    }

    /// Whether all branches were met that come before an address that a packet tells.
    fn can_arrive<C: Code>(&self, address: u64, blocks: &mut Blocks<C>) -> bool {
        let own = is_only_branch(blocks.block(self.instruction_set, address));
        self.branches.count() == u64::from(own)
    }

    /// Whether the next branch that was told was taken, which is at an address; it is used then.
    #[inline]
    fn is_taken(&mut self, at: u64) -> Option<bool> {
        if self.options.branch_prediction { self.is_taken_as_predicted(at) } else { self.branches.pop() }
    }

    /// The same where the encoder has a predictor. Whoever walks without one does not carry its tables along.
    #[inline(never)]
    fn is_taken_as_predicted(&mut self, at: u64) -> Option<bool> {
        let predicted = self.predictor.predicts(at);
        let (taken, learns) = self.branches.pop_predicted(predicted)?;
        if learns {
            self.predictor.learn(at, taken);
        }
        Some(taken)
    }

    /// Where a jump leads, if the instruction before it says so and no packet.
    fn sequential<C: Code>(&self, jump: Jump, told: u64, blocks: &Blocks<C>) -> Result<Option<u64>, Wrong> {
        let is_inferred = self.parameters.infers_sequences;
        if !is_inferred && !matches!(jump.flow, Flow::Indirect { is_sequential: true, .. }) {
            return Ok(None);
        }
        match sequential_jump_target(self.instruction_set, jump.from, jump.at, blocks.code()) {
            Some(target) if !is_inferred && target & self.mask != told => Err(Wrong::contradicted(format!(
                "the jump at {:#x} leads to {target:#x}, as the instruction before it says, and no packet tells that \
                 (sequentially_inferred_jumps=1, sijump_p=1 must be named if the encoder was switched so)",
                jump.at
            ))),
            target => Ok(target.filter(|_| is_inferred)),
        }
    }

    /// Goes on to where the address at which the walk stands comes again, as the target of a jump, if it may.
    fn come_again<C: Code>(&mut self, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        match self.place {
            Some(place) if std::mem::take(&mut self.may_come_again) => self.walk(place.last, None, None, blocks),
            _ => Ok(()),
        }
    }

    /// Walks as far as a packet lets it.
    fn follow<C: Code>(&mut self, until: Until, depth: Option<usize>, blocks: &mut Blocks<C>) -> Result<(), Wrong> {
        self.come_again(blocks)?;
        self.walk(self.address, Some(until), depth, blocks)?;
        if let Some(place) = &self.place
            && self.options.branch_prediction
        {
            self.branches.settle(self.predictor.predicts(place.last));
        }
        self.is_agreeing = !matches!(until, Until::LastBranch);
        Ok(())
    }

    /// Walks to where the program does not say where it goes, which `told` does, or to where `until` lets it.
    fn walk<C: Code>(
        &mut self,
        told: u64,
        until: Option<Until>,
        depth: Option<usize>,
        blocks: &mut Blocks<C>,
    ) -> Result<(), Wrong> {
        let Some(place) = self.place else { return Ok(()) };
        let mut next = self.leave(&place)?;
        let mut from = Jump::of(&place, (place.start, place.start));
        let mut before = (place.last, place.end);
        let mut untold = u32::from(!is_branch(place.flow()));
        while untold <= MOST_UNTOLD {
            let is_behind_jump = next.is_none();
            let (pc, is_told) = match next {
                Some(pc) => (pc, false),
                None => self.jump(from, told, depth, blocks)?,
            };
            if is_told && matches!(until, Some(Until::LastBranch)) {
                return Err(Wrong::contradicted(format!(
                    "no packet tells where the instruction at {:#x} led",
                    from.at
                )));
            }
            let block = blocks.block(self.instruction_set, pc & self.mask);
            if block.instructions() == 0 {
                return Err(no_instruction(pc));
            }
            let stop = if is_told { Some(block.start) } else { self.stop(block, until, depth, is_behind_jump) };
            let Some(stop) = stop else {
                self.push(Step::Run(*block));
                untold = if is_branch(block.flow()) { 0 } else { untold + 1 };
                next = self.leave(block)?;
                if next.is_none() {
                    from = Jump::of(block, before);
                }
                before = (block.last, block.end);
                continue;
            };
            let mut block = block.through(stop);
            if self.entering.is_some() {
                // What comes before the address is executed in the state before.
                let before = block.up_to(stop);
                if before.instructions() > 0 {
                    self.push(Step::Run(before));
                }
                self.enter();
                block = blocks.block(self.instruction_set, stop).through(stop);
            }
            self.push(Step::Run(block));
            self.place = Some(block);
            if is_told && self.options.jump_target_cache {
                self.jump_targets.keep(block.start);
            }
            if is_told && until.is_some() {
                let own = u64::from(is_branch(block.flow()));
                let left = self.branches.count();
                // Of a branch at the address itself a packet tells as well whether it was taken.
                if left != own {
                    let what = format!("{left} branches are left to be met at {pc:#x}, expected {own}");
                    return Err(Wrong::contradicted(what));
                }
            }
            return Ok(());
        }
        Err(Wrong::contradicted(format!(
            "more than {MOST_UNTOLD} blocks do not lead to the address {told:#x} that a packet tells"
        )))
    }

    /// The address of the instruction of a block at which the walk stops, if it does.
    #[inline]
    fn stop(&mut self, block: &Block, until: Option<Until>, depth: Option<usize>, is_behind_jump: bool) -> Option<u64> {
        let until = until?;
        let left = self.branches.count();
        if left > 1 {
            return None;
        }
        let last = block.last;
        let ends_in_branch = matches!(block.ending, Ending::Flow(flow) if is_branch(flow));
        if let Until::LastBranch = until {
            return (ends_in_branch && left == 1).then_some(last);
        }
        let address = self.address;
        if !block.has(address) || left != u64::from(ends_in_branch && address == last) {
            return None;
        }
        match until {
            Until::Synchronisation | Until::Address { is_notified: true, .. } => Some(address),
            Until::Address { is_behind_jump: false, .. } => {
                // With a number of calls a return tells itself where it led; another one may lead there, too.
                let stops = depth
                    .is_none_or(|depth| depth == self.returns.depth() && !(address == block.start && is_behind_jump));
                self.may_come_again |= stops;
                stops.then_some(address)
            }
            Until::Address { .. } | Until::LastBranch => None,
        }
    }
}

/// Whether the first instruction of a block is a branch, and so its only one.
fn is_only_branch(block: &Block) -> bool {
    block.instructions() == 1 && is_branch(block.flow())
}

fn is_branch(flow: Flow) -> bool {
    matches!(flow, Flow::Branch(Branch { is_conditional: true, .. }))
}

/// Whether the program does not say where an instruction leads (the specification's "uninferable discontinuity").
fn is_discontinuity(flow: Flow) -> bool {
    matches!(flow, Flow::Indirect { .. } | Flow::ExceptionReturn { .. } | Flow::Call)
}

#[cold]
fn untold_branch(at: u64) -> Wrong {
    Wrong::contradicted(format!("no packet tells whether the branch at {at:#x} was taken"))
}

#[cold]
fn no_instruction(address: u64) -> Wrong {
    Wrong::contradicted(format!(
        "the program has no instruction at {address:#x}, where execution goes: is it the program that was traced?"
    ))
}
