//! What was said of one source, whichever way, and what it comes to.

use std::collections::HashSet;
use std::sync::Arc;

use super::protocol::Named;
use super::{Core, DescriptionError, Protocol, TraceSource};
use crate::format::itrace::coresight::etm4::{Configuration, ConfigurationError};
use crate::format::itrace::etrace::Parameters;
use crate::format::itrace::instruction::InstructionSet;

/// What was said of a source.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) protocol: Named,
    pub(super) id: Option<u64>,
    pub(super) name: Option<String>,
    pub(super) core: Option<Arc<Core>>,
    pub(super) isa: Option<String>,
    /// Registers or parameters, with their values.
    pub(super) settings: Vec<(String, u64)>,
}

impl Said {
    pub(super) fn new(protocol: Named) -> Said {
        Said { protocol, id: None, name: None, core: None, isa: None, settings: Vec::new() }
    }

    /// The source.
    pub(super) fn source(self) -> Result<TraceSource, DescriptionError> {
        let mut names = HashSet::new();
        if let Some((name, _)) = self.settings.iter().find(|(name, _)| !names.insert(name.to_ascii_lowercase())) {
            return Err(DescriptionError::Twice { name: name.clone() });
        }
        let (id, protocol) = match self.protocol {
            Named::Etm4 | Named::Ete => self.etm4()?,
            Named::ETrace => (self.id, self.etrace()?),
        };
        let name = self.name.or_else(|| self.core.as_ref().map(|core| core.name.clone()));
        let name = name.unwrap_or_else(|| match (id, &protocol) {
            (Some(id), Protocol::ETrace { .. }) => format!("hart {id}"),
            (Some(id), Protocol::Etm4(_)) => format!("source {id:#x}"),
            (None, _) => "the source".to_owned(),
        });
        Ok(TraceSource { id, name, core: self.core, protocol })
    }

    fn etm4(&self) -> Result<(Option<u64>, Protocol), DescriptionError> {
        let protocol = self.protocol.name();
        if self.isa.is_some() {
            return Err(DescriptionError::Unknown { protocol, found: "isa".to_owned() });
        }
        if let Some((name, _)) = self.settings.iter().find(|(name, _)| !is_register(name)) {
            return Err(DescriptionError::Unknown { protocol, found: name.clone() });
        }
        let register = self.settings.iter().find(|(name, _)| name.eq_ignore_ascii_case(TRACE_ID));
        // The register has bits that no ID has.
        let register = register.map(|(_, value)| value & 0x7f);
        let id = match (self.id, register) {
            (Some(id), Some(register)) if id != register => {
                return Err(DescriptionError::IdDiffers { id, register });
            }
            (id, register) => id.or(register),
        };
        // A sink with a single source may do without, and then nobody looks at it.
        let implied = register.is_none().then_some((TRACE_ID, id.unwrap_or(0)));
        let registers = self.settings.iter().map(|(name, value)| (name.as_str(), *value)).chain(implied);
        let configuration = Configuration::from_registers(registers).map_err(|cause| {
            match self.settings.iter().find(|(name, _)| is_meant(name, &cause)) {
                Some((name, _)) => DescriptionError::Unknown { protocol, found: name.clone() },
                None => DescriptionError::Configuration { protocol, cause },
            }
        })?;
        let version = configuration.version();
        if version.is_ete() != (self.protocol == Named::Ete) {
            return Err(DescriptionError::Version { protocol, version });
        }
        Ok((id, Protocol::Etm4(configuration)))
    }

    fn etrace(&self) -> Result<Protocol, DescriptionError> {
        let settings: Vec<(&str, u64)> = self.settings.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let parameters = Parameters::new(&settings)?;
        let instruction_set = match self.isa.as_deref() {
            None => return Err(DescriptionError::NoInstructionSet),
            Some("rv32") => InstructionSet::Rv32,
            Some("rv64") => InstructionSet::Rv64,
            Some(other) => return Err(DescriptionError::InstructionSet { found: other.to_owned() }),
        };
        Ok(Protocol::ETrace { parameters, instruction_set })
    }
}

/// The register that has the ID of a source.
const TRACE_ID: &str = "TRCTRACEIDR";

/// Whether a name can be a register's of a trace unit. There are many more than are looked at, and tools list them all.
fn is_register(name: &str) -> bool {
    let begins = name.get(..3).is_some_and(|first| first.eq_ignore_ascii_case("TRC"));
    begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a register is missing because its name was not written to its end, as `TRCCONFIG`.
fn is_meant(name: &str, cause: &ConfigurationError) -> bool {
    let ConfigurationError::Missing(missing) = cause else { return false };
    let is_known = Configuration::REGISTERS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let begins = |register: &&str| {
        register.len() == name.len() + 1
            && register.get(..name.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
    };
    !is_known && missing.iter().any(begins)
}

/// That a source has no ID, in words for its protocol.
pub(super) fn no_id(protocol: &Protocol) -> DescriptionError {
    match protocol {
        Protocol::Etm4(configuration) => DescriptionError::Configuration {
            protocol: if configuration.version().is_ete() { "ete" } else { "etm4" },
            cause: ConfigurationError::Missing(vec![TRACE_ID]),
        },
        Protocol::ETrace { .. } => DescriptionError::NoId,
    }
}
