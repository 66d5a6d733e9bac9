//! How the bytes of sources are mixed in a sink.

use std::fmt;
use std::str::FromStr;

use super::numbers::{number, small};
use super::{DescriptionError, Protocol};
use crate::format::itrace::{coresight, etrace};

/// How the bytes of sources are mixed in a sink.
///
/// As text: `coresight`, `tpiu` (also `hsync`), `unformatted`, `smi` or `smi,hart_bits=N`, and
/// `encapsulation,source_bits=N,timestamp_bytes=N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// As the formatter of CoreSight does, or not at all.
    CoreSight(coresight::formatter::Framing),
    /// As those of RISC-V do.
    RiscV(etrace::Framing),
}

/// The numbers that a framing takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Widths {
    pub(super) hart_bits: Option<u64>,
    pub(super) source_bits: Option<u64>,
    pub(super) timestamp_bytes: Option<u64>,
}

impl Framing {
    /// What a sink of this protocol usually is.
    pub fn usual(protocol: &Protocol) -> Framing {
        match protocol {
            Protocol::Etm4(_) => Framing::CoreSight(coresight::formatter::Framing::Aligned),
            Protocol::ETrace { .. } => Framing::RiscV(etrace::Framing::Siemens { hart_bits: 0 }),
        }
    }

    /// Whether every byte is of one source.
    pub fn is_unformatted(self) -> bool {
        self == Framing::CoreSight(coresight::formatter::Framing::Unformatted)
    }

    /// The one with this name and these numbers.
    pub(super) fn new(name: &str, widths: Widths) -> Result<Framing, DescriptionError> {
        use coresight::formatter::Framing as CoreSight;
        let Widths { hart_bits, source_bits, timestamp_bytes } = widths;
        let found = [("hart_bits", hart_bits), ("source_bits", source_bits), ("timestamp_bytes", timestamp_bytes)];
        let (framing, takes): (Framing, &[&str]) = match name {
            "coresight" => (Framing::CoreSight(CoreSight::Aligned), &[]),
            "tpiu" | "hsync" => (Framing::CoreSight(CoreSight::Synchronized), &[]),
            "unformatted" => (Framing::CoreSight(CoreSight::Unformatted), &[]),
            "smi" => {
                let hart_bits = small("hart_bits", hart_bits.unwrap_or(0), 64)?;
                (Framing::RiscV(etrace::Framing::Siemens { hart_bits }), &["hart_bits"])
            }
            "encapsulation" => {
                let needed = |name, value: Option<u64>, most| match value {
                    Some(value) => small(name, value, most),
                    None => Err(DescriptionError::FramingNeeds { framing: "encapsulation", name }),
                };
                let source_bits = needed("source_bits", source_bits, 16)?;
                let timestamp_bytes = needed("timestamp_bytes", timestamp_bytes, 8)?;
                let framing = etrace::Framing::Encapsulation { source_bits, timestamp_bytes };
                (Framing::RiscV(framing), &["source_bits", "timestamp_bytes"])
            }
            _ => return Err(DescriptionError::Framing { found: name.to_owned() }),
        };
        match found.into_iter().find(|(name, value)| value.is_some() && !takes.contains(name)) {
            Some((extra, _)) => {
                Err(DescriptionError::FramingTakesNo { framing: framing.name(), name: extra.to_owned() })
            }
            None => Ok(framing),
        }
    }

    /// As it is written, without its numbers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Framing::CoreSight(coresight::formatter::Framing::Aligned) => "coresight",
            Framing::CoreSight(coresight::formatter::Framing::Synchronized) => "tpiu",
            Framing::CoreSight(coresight::formatter::Framing::Unformatted) => "unformatted",
            Framing::RiscV(etrace::Framing::Siemens { .. }) => "smi",
            Framing::RiscV(etrace::Framing::Encapsulation { .. }) => "encapsulation",
        }
    }
}

impl FromStr for Framing {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<Framing, DescriptionError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let mut widths = Widths::default();
        for part in parts {
            let (key, value) = part.split_once('=').ok_or(DescriptionError::Pair { found: part.to_owned() })?;
            let slot = match key {
                "hart_bits" => &mut widths.hart_bits,
                "source_bits" => &mut widths.source_bits,
                "timestamp_bytes" => &mut widths.timestamp_bytes,
                _ => {
                    // The name of the framing may be what is wrong.
                    let framing = Framing::new(name, widths).map_or("the sink", Framing::name);
                    return Err(DescriptionError::FramingTakesNo { framing, name: key.to_owned() });
                }
            };
            if slot.replace(number(key, value)?).is_some() {
                return Err(DescriptionError::Twice { name: key.to_owned() });
            }
        }
        Framing::new(name, widths)
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Framing::CoreSight(_) => Ok(()),
            Framing::RiscV(etrace::Framing::Siemens { hart_bits }) => write!(f, ",hart_bits={hart_bits}"),
            Framing::RiscV(etrace::Framing::Encapsulation { source_bits, timestamp_bytes }) => {
                write!(f, ",source_bits={source_bits},timestamp_bytes={timestamp_bytes}")
            }
        }
    }
}
