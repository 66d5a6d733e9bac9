//! What an encoder keeps over a synchronization, found out from its trace.

use std::hash::{DefaultHasher, Hash, Hasher};

use riscv_etrace::packet::unit::ReferenceIOptions;

use super::packets::Packets;
use super::parameters::{Kept, Parameters};
use super::reconstruction::Reconstruction;
use crate::format::itrace::instruction::{Blocks, Code, Ends, InstructionSet};
use crate::format::itrace::step::Step;

/// So many packets of the hart are looked at: among them are some synchronizations.
const PACKETS: usize = 1 << 13;

/// What a trace tells of what its encoder keeps over a synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Nothing that is not as the specification says, or as somebody said.
    AsSaid,
    /// It keeps this, which the specification does not say: else more packets would not fit.
    Keeps(&'static str),
    /// It depends on it what is shown, and as many packets fit either way: this must be named.
    Open(&'static str),
}

/// What is read of the beginning of a trace.
struct Beginning {
    contradictions: u64,
    /// What was executed, in a number.
    executed: u64,
    /// What its encoder was switched to.
    options: ReferenceIOptions,
}

impl Parameters {
    /// The same, and what nobody told of what the encoder keeps over a synchronization: what the most packets in the
    /// beginning of the trace of the hart `own` fit, or, if that tells nothing, what the specification says.
    pub fn fitted(
        self,
        instruction_set: InstructionSet,
        own: u64,
        packets: &Packets,
        code: &dyn Code,
    ) -> (Parameters, Fit) {
        let told = self.kept;
        let keeping = |returns: bool, predictions: bool| {
            let returns = Some(told.returns.unwrap_or(returns));
            Parameters { kept: Kept { returns, predictions: Some(told.predictions.unwrap_or(predictions)) }, ..self }
        };
        let read = |parameters: &Parameters| parameters.beginning(instruction_set, own, packets, code);
        let (mut fitted, mut fit) = (keeping(false, false), Fit::AsSaid);
        let mut best = read(&fitted);
        for (returns, predictions, name, words) in [
            (true, false, "keeps_returns", "calls (as keeps_returns=1 would say)"),
            (false, true, "keeps_predictions", "predictions (as keeps_predictions=1 would say)"),
            (
                true,
                true,
                "keeps_returns and keeps_predictions",
                "calls and predictions (keeps_returns=1, keeps_predictions=1)",
            ),
        ] {
            let can_keep = best.options.implicit_return && told.returns.is_none();
            let can_predict = best.options.branch_prediction && told.predictions.is_none();
            if returns && !can_keep || predictions && !can_predict {
                continue;
            }
            let other = keeping(returns, predictions);
            let found = read(&other);
            if found.contradictions < best.contradictions {
                (fitted, fit, best) = (other, Fit::Keeps(words), found);
            } else if found.contradictions == best.contradictions && found.executed != best.executed {
                fit = Fit::Open(name);
            }
        }
        (fitted, fit)
    }

    /// What is read of the beginning of a trace, as far as it matters what is kept.
    fn beginning(&self, instruction_set: InstructionSet, own: u64, packets: &Packets, code: &dyn Code) -> Beginning {
        let mut executed = DefaultHasher::new();
        let mut blocks = Blocks::new(code, Ends::default());
        let mut reconstruction = Reconstruction::new(instruction_set, self);
        let packets = packets.clone().filter(|packet| packet.source.is_none_or(|source| source == own));
        for packet in packets.take(PACKETS) {
            reconstruction.take(&packet, &mut blocks, &mut |_, step| {
                if let Step::Run(run) = step {
                    (run.start, run.last).hash(&mut executed);
                }
            });
            if reconstruction.options().is_some_and(|options| !options.implicit_return && !options.branch_prediction) {
                break;
            }
        }
        Beginning {
            contradictions: reconstruction.contradictions(),
            executed: executed.finish(),
            options: reconstruction.options().unwrap_or_default(),
        }
    }
}
