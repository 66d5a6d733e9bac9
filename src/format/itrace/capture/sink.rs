//! A trace buffer, with its sources.

use std::collections::HashSet;
use std::path::PathBuf;

use super::said::no_id;
use super::{DescriptionError, Framing, Protocol, TraceSource};
use crate::format::itrace::etrace;

/// A trace buffer.
#[derive(Clone, Debug)]
pub struct Sink {
    /// The file with its bytes.
    pub path: PathBuf,
    /// How the bytes of its sources are mixed.
    pub framing: Framing,
    /// The sources that are to be read; at least one, and only one if nothing is mixed. Others may be in it.
    pub sources: Vec<TraceSource>,
}

/// The first ID of the formatter that no source has.
const RESERVED_IDS: u64 = 0x70;

impl Sink {
    /// A sink with these sources, which are all its description needs to have. Without a framing it is the usual one.
    pub(super) fn new(
        path: PathBuf,
        framing: Option<Framing>,
        sources: Vec<TraceSource>,
    ) -> Result<Sink, DescriptionError> {
        let first = sources.first().ok_or(DescriptionError::NoSources)?;
        let framing = framing.unwrap_or_else(|| Framing::usual(&first.protocol));
        let mut sink = Sink { path, framing, sources };
        if framing.is_unformatted() && sink.sources.len() > 1 {
            return Err(DescriptionError::SeveralUnformatted { found: sink.sources.len() });
        }
        let mut ids = HashSet::new();
        for source in &mut sink.sources {
            source.id = id(framing, source)?;
            if !ids.insert(source.id) {
                return Err(DescriptionError::IdTwice { id: source.id.unwrap_or(0) });
            }
        }
        Ok(sink)
    }
}

/// The ID of a source in a sink, if sources have IDs there.
fn id(framing: Framing, source: &TraceSource) -> Result<Option<u64>, DescriptionError> {
    let (name, bits) = match (framing, &source.protocol) {
        (Framing::CoreSight(_), Protocol::Etm4(_)) if framing.is_unformatted() => return Ok(None),
        (Framing::CoreSight(_), Protocol::Etm4(_)) => {
            let id = source.id.ok_or_else(|| no_id(&source.protocol))?;
            let is_possible = (1..RESERVED_IDS).contains(&id);
            return if is_possible { Ok(Some(id)) } else { Err(DescriptionError::Id { id }) };
        }
        (Framing::RiscV(etrace::Framing::Siemens { hart_bits }), Protocol::ETrace { .. }) => ("hart_bits", hart_bits),
        (Framing::RiscV(etrace::Framing::Encapsulation { source_bits, .. }), Protocol::ETrace { .. }) => {
            ("source_bits", source_bits)
        }
        (_, protocol) => {
            return Err(DescriptionError::Family { framing: framing.name(), protocol: protocol.name() });
        }
    };
    // Without bits for it there is one hart, and its number is 0.
    let id = source.id.or((bits == 0).then_some(0)).ok_or_else(|| no_id(&source.protocol))?;
    match id.checked_shr(bits.into()).unwrap_or(0) {
        0 => Ok(Some(id)),
        _ => Err(DescriptionError::IdWidth { id, name, bits }),
    }
}
