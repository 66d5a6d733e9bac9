//! What was told, in the words of all trace sources.

use super::super::super::element::{Element, ElementKind, Exception, Target, Transaction};
use super::super::super::instruction::InstructionSet;
use super::super::super::state::State;
use super::configuration::Configuration;
use super::packet::{Address, Context};
use super::speculation::Told;

/// What is known of where execution is, and in which state: what says nothing without that is left out.
#[derive(Clone, Debug)]
pub(super) struct Position {
    context: Option<Context>,
    /// Whether an address was told since the last gap.
    is_placed: bool,
    /// The last address, until something moves execution.
    address: Option<(u64, Address)>,
    /// What comes behind the element that was handed out last.
    waiting: Option<Element>,
    has_contexts: bool,
    has_machines: bool,
}

impl Position {
    pub(super) fn new(configuration: &Configuration) -> Position {
        Position {
            context: None,
            is_placed: false,
            address: None,
            waiting: None,
            has_contexts: configuration.has_contexts,
            has_machines: configuration.has_machines,
        }
    }

    /// Nothing is known any more.
    pub(super) fn lose(&mut self) {
        self.leave();
        self.context = None;
    }

    /// Nobody knows where execution is.
    fn leave(&mut self) {
        (self.is_placed, self.address) = (false, None);
    }

    #[inline]
    pub(super) fn take_waiting(&mut self) -> Option<Element> {
        // Looked at before it is moved: mostly there is none.
        if self.waiting.is_none() { None } else { self.waiting.take() }
    }

    fn is_known(&self) -> bool {
        self.is_placed && self.context.is_some()
    }

    /// What was told, if it says something.
    #[inline]
    pub(super) fn kind(&mut self, at: u64, told: Told) -> Option<ElementKind> {
        let is_known = self.is_known();
        match told {
            Told::Atoms(atoms) => {
                self.address = None;
                (is_known && !atoms.is_empty()).then_some(ElementKind::Atoms(atoms))
            }
            Told::Address(address) => {
                (self.is_placed, self.address) = (true, Some((at, address)));
                Some(ElementKind::Address(self.target(address)?))
            }
            Told::Context(context) => self.change(context),
            Told::SourceAddress(address) => {
                (self.is_placed, self.address) = (true, None);
                // Which of the two forms it has does not tell how the instruction is encoded.
                Some(ElementKind::SourceAddress(self.target(address)?.address))
            }
            Told::Exception { number, returns_to } => {
                self.address = None;
                self.context?;
                let returns_to = returns_to.and_then(|address| self.target(address));
                Some(ElementKind::Exception(Exception { number, returns_to }))
            }
            Told::Unknown(count) => {
                self.address = None;
                is_known.then_some(ElementKind::Unknown(count.map(u64::from)))
            }
            Told::TraceOn => {
                self.leave();
                Some(ElementKind::TraceOn)
            }
            Told::Synchronized => Some(ElementKind::Synchronized),
            Told::ExceptionReturn => is_known.then_some(ElementKind::ExceptionReturn),
            Told::InTransaction | Told::TransactionStart => Some(ElementKind::Transaction(Transaction::Started)),
            Told::TransactionCommit => Some(ElementKind::Transaction(Transaction::Committed)),
            Told::TransactionFailure => Some(ElementKind::Transaction(Transaction::Failed)),
            Told::Timestamp(time) => Some(ElementKind::Timestamp(time)),
            Told::TimestampMarker => Some(ElementKind::TimestampMarker),
            Told::Cycles(cycles) => Some(ElementKind::Cycles(cycles)),
            Told::Events(events) => Some(ElementKind::Events(events)),
            Told::Instrumentation { exception_level, value } => {
                Some(ElementKind::Instrumentation { exception_level, value })
            }
            Told::FunctionReturn | Told::Unseen(_) => None,
        }
    }

    /// A context, if it is another. It can come behind the address that it is of.
    fn change(&mut self, context: Context) -> Option<ElementKind> {
        let before = self.context.replace(context);
        if before == Some(context) {
            return None;
        }
        if before.is_none_or(|before| before.is_64_bit != context.is_64_bit) {
            self.waiting = self
                .address
                .and_then(|(at, address)| Some(Element { at, kind: ElementKind::Address(self.target(address)?) }));
        }
        Some(ElementKind::Context(State {
            level: ["EL0", "EL1", "EL2", "EL3"][usize::from(context.exception_level & 3)],
            // Arm DDI 0487, "Context Packet": NSE and NS.
            security: match (context.is_extended, context.is_non_secure) {
                (false, false) => Some("secure"),
                (false, true) => None,
                (true, false) => Some("root"),
                (true, true) => Some("realm"),
            },
            context: self.has_contexts.then_some(context.context.into()),
            machine: self.has_machines.then_some(context.machine),
        }))
    }

    /// An address, as the state of execution has it.
    fn target(&self, address: Address) -> Option<Target> {
        let is_64_bit = self.context?.is_64_bit;
        let instruction_set = match (address.is_is1, is_64_bit) {
            (true, _) => InstructionSet::T32,
            (false, true) => InstructionSet::A64,
            (false, false) => InstructionSet::A32,
        };
        let (mask, bits) = if is_64_bit { (u64::MAX, 64) } else { (u64::from(u32::MAX), 32) };
        Some(Target { address: address.address & mask, instruction_set, is_full: address.bits >= bits })
    }
}
