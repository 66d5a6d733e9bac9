//! Where a source can be read from, as a person should know it.

use std::collections::BTreeSet;
use std::fmt::LowerHex;

use super::super::coresight::etm4;
use super::super::coresight::formatter::{FRAME_BYTES, Framing, source_ids};
use super::super::element::ElementKind;
use super::super::etrace;
use super::Source;
use super::protocol::Protocol;

/// A source that begins further behind the beginning of the sink is said to. Most tell once in as many bytes where they
/// are, and so less than that lies before the first of these places in a buffer that wrapped.
const FAR: u64 = 1 << 16;

/// So many other sources are named at most.
const NAMED: usize = 8;

const NO_SYNCHRONIZATION: &str = "its bytes have no synchronization (is it of this protocol, and is the sink whole?)";

/// What a person should know of where a source can be read from.
///
/// # Errors
///
/// Why nothing can be read of it, in words.
pub fn remark(source: &Source, sink: &[u8]) -> Result<Option<String>, String> {
    let nothing = |why: String| Err(format!("nothing can be read of {}: {why}", source.name));
    if sink.is_empty() {
        return nothing("its sink is empty".to_owned());
    }
    let first = match &source.protocol {
        Protocol::Etm4 { framing, configuration } => {
            let mut elements = etm4::Source::new(sink, *framing, *configuration);
            let first = elements.find(|element| element.kind == ElementKind::Synchronized);
            let Some(first) = first else {
                let (own, ids) = (configuration.trace_id(), source_ids(sink, *framing));
                return nothing(match *framing {
                    Framing::Aligned if !sink.len().is_multiple_of(FRAME_BYTES) => format!(
                        "its sink has {} bytes, which is no multiple of the {FRAME_BYTES} of a frame (does it begin with one?)",
                        sink.len()
                    ),
                    Framing::Aligned | Framing::Synchronized if !ids.contains(&own) => elsewhere(own, &ids),
                    _ => NO_SYNCHRONIZATION.to_owned(),
                });
            };
            first.at
        }
        Protocol::ETrace(hart) => {
            let own = hart.source;
            let packets = || etrace::Packets::new(sink, hart.framing, &hart.parameters);
            let mut ids = packets().filter_map(|packet| packet.source);
            if !ids.any(|found| found == own) {
                return nothing(elsewhere(own, &packets().sources()));
            }
            let read = hart.packets(sink, etrace::Place::default(), &source.memory);
            let mut read = read.filter(|packet| packet.source == Some(own));
            let mut packet = read.next();
            let first = packet.as_ref().map_or(0, |packet| packet.at);
            let (mut is_begun, mut is_read, mut are_options_known) =
                (false, false, hart.parameters.are_options_known());
            while let Some(found) = packet.filter(|_| !is_read) {
                are_options_known |= found.tells_options();
                is_begun |= found.begins();
                is_read = found.begins() && are_options_known;
                packet = read.next();
            }
            match is_begun {
                _ if is_read => first,
                true => return nothing(etrace::UNKNOWN_OPTIONS.to_owned()),
                false => return nothing(NO_SYNCHRONIZATION.to_owned()),
            }
        }
    };
    let late = || format!("{} is read from byte {first:#x} of its sink on: nothing before begins a trace", source.name);
    Ok((first >= FAR).then(late))
}

/// That a sink has nothing of one source, but of others.
fn elsewhere<I: LowerHex>(own: I, ids: &BTreeSet<I>) -> String {
    let named: Vec<_> = ids.iter().take(NAMED).map(|id| format!("{id:#x}")).collect();
    match named.is_empty() {
        true => format!("its sink has no bytes of {own:#x}, which is its ID, nor of any other"),
        false => {
            let more = if ids.len() > NAMED { ", …" } else { "" };
            format!("its sink has no bytes of {own:#x}, which is its ID, but of {}{more}", named.join(", "))
        }
    }
}
