//! What a source can tell, from its registers.
//!
//! Trace units differ in what they can trace. Their bytes cannot be read without that: some packets are longer with one
//! register than with another, and how far instructions are traced before they are certain is nowhere but in a register.
//! What a trace unit was programmed to trace (TRCCONFIGR) does not tell which packets there are: it may have been
//! programmed anew before its registers were read. (Arm IHI 0064, the chapter on registers; for ETE, Arm DDI 0487, D5.2 and
//! the descriptions of the registers.)

/// The version of the architecture of a trace unit: 4.x for ETMv4, 5.x for ETE 1.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 4 for ETMv4, 5 for ETE.
    pub major: u8,
    /// What is behind the dot.
    pub minor: u8,
}

impl Version {
    /// Whether this is an ETE, which has some packets more and some less than an ETMv4.
    pub fn is_ete(self) -> bool {
        self.major == ETE
    }
}

/// The major version of every ETE.
const ETE: u8 = 5;
/// TRCIDR1's major version where the version is in TRCDEVARCH.
const VERSION_IS_ELSEWHERE: u32 = 0xf;
/// TRCDEVARCH's architecture of an ETE.
const ARCHITECTURE_ETE: u32 = 0x5a13;

/// What a source can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub(super) version: Version,
    pub(super) trace_id: u8,
    pub(super) has_cycle_counts: bool,
    /// Whether a cycle count says how many P0 elements are committed.
    pub(super) has_commits_in_cycle_counts: bool,
    pub(super) has_conditional: bool,
    pub(super) has_data: bool,
    pub(super) has_q: bool,
    pub(super) has_timestamps: bool,
    /// The sizes in bytes of a context ID, and of a virtual machine's.
    pub(super) context_bytes: u8,
    pub(super) machine_bytes: u8,
    pub(super) has_contexts: bool,
    pub(super) has_machines: bool,
    /// How many P0 elements at most are not committed.
    pub(super) most_speculated: u32,
    /// Whether the start of a transaction is a P0 element.
    pub(super) is_transaction_start_p0: bool,
    has_return_stack: bool,
    is_wait_waypoint: bool,
    are_loads_waypoints: bool,
    are_stores_waypoints: bool,
}

/// Why registers do not tell what a source can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// Registers that are needed are not there.
    #[error("{}", missing(.0))]
    Missing(Vec<&'static str>),
    /// The registers are of another kind of trace unit.
    #[error("the trace unit is of architecture version {found}, expected 4 (ETMv4) or an ETE")]
    Version {
        /// The major version.
        found: u32,
    },
}

impl Configuration {
    /// The names of the registers that are looked at.
    pub const REGISTERS: [&'static str; 7] = NAMES;

    /// From the names and values of registers, in whatever order and case. TRCCONFIGR, TRCTRACEIDR, TRCIDR0, TRCIDR2
    /// and TRCIDR8 must be among them, and TRCDEVARCH for an ETE or TRCIDR1 for an ETMv4. Others, and the upper halves
    /// of values, are not looked at.
    pub fn from_registers<'a>(
        registers: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Result<Configuration, ConfigurationError> {
        let mut values = [None; NAMES.len()];
        for (name, value) in registers {
            for (slot, known) in values.iter_mut().zip(NAMES) {
                if name.eq_ignore_ascii_case(known) {
                    // They are registers of 32 bits.
                    *slot = Some(value as u32);
                }
            }
        }
        let [configr, traceidr, idr0, idr1, idr2, idr8, devarch] = values;
        let version = version(devarch, idr1);
        let (Some(configr), Some(traceidr), Some(idr0), Some(idr2), Some(most_speculated), Ok(version)) =
            (configr, traceidr, idr0, idr2, idr8, &version)
        else {
            // All that are missing, since whoever reads them from the chip goes there once.
            let needed = NAMES.into_iter().zip(values);
            let needed = needed.filter(|(name, value)| value.is_none() && !matches!(*name, "TRCIDR1" | "TRCDEVARCH"));
            let mut missing: Vec<_> = needed.map(|(name, _)| name).collect();
            match version {
                Err(ConfigurationError::Missing(of_version)) => missing.extend(of_version),
                Err(other) => return Err(other),
                Ok(_) => {}
            }
            return Err(ConfigurationError::Missing(missing));
        };
        let (version, trace_id) = (*version, traceidr & 0x7f);
        let context_bytes = if field(idr2, 5, 5) == 4 { 4 } else { 0 };
        let machine_bytes = match field(idr2, 10, 5) {
            bytes @ (1 | 2 | 4) => bytes as u8,
            _ => 0,
        };
        Ok(Configuration {
            version,
            trace_id: trace_id as u8,
            has_cycle_counts: bit(idr0, 7),
            has_commits_in_cycle_counts: !bit(idr0, 29),
            has_conditional: !version.is_ete() && bit(idr0, 6),
            has_data: !version.is_ete() && field(idr0, 3, 2) != 0,
            has_q: field(idr0, 15, 2) != 0,
            has_timestamps: field(idr0, 24, 5) != 0,
            context_bytes,
            machine_bytes,
            has_contexts: context_bytes != 0 && bit(configr, 6),
            has_machines: machine_bytes != 0 && bit(configr, 7),
            most_speculated,
            is_transaction_start_p0: !bit(idr0, 30),
            has_return_stack: bit(idr0, 9) && bit(configr, 12),
            is_wait_waypoint: version >= (Version { major: 4, minor: 3 }) && bit(idr2, 31),
            are_loads_waypoints: !version.is_ete() && bit(configr, 1),
            are_stores_waypoints: !version.is_ete() && bit(configr, 2),
        })
    }

    /// What such a trace unit is called.
    pub fn name(&self) -> &'static str {
        if self.version.is_ete() { "ETE" } else { "ETMv4" }
    }

    /// The version of the trace unit's architecture (TRCDEVARCH, TRCIDR1).
    pub fn version(&self) -> Version {
        self.version
    }

    /// The ID of the source in a sink (TRCTRACEIDR).
    pub fn trace_id(&self) -> u8 {
        self.trace_id
    }

    /// Whether the trace unit does not tell where a return leads if that is behind the call (TRCCONFIGR.RS).
    pub fn has_return_stack(&self) -> bool {
        self.has_return_stack
    }

    /// Whether there is an atom for every WFI and WFE (TRCIDR2.WFXMODE).
    pub fn is_wait_waypoint(&self) -> bool {
        self.is_wait_waypoint
    }

    /// Whether there is an atom for every load (TRCCONFIGR.INSTP0).
    pub fn are_loads_waypoints(&self) -> bool {
        self.are_loads_waypoints
    }

    /// Whether there is an atom for every store (TRCCONFIGR.INSTP0).
    pub fn are_stores_waypoints(&self) -> bool {
        self.are_stores_waypoints
    }
}

/// The registers that are looked at.
const NAMES: [&str; 7] = ["TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCDEVARCH"];

/// That registers are missing.
fn missing(registers: &[&str]) -> String {
    match registers {
        [register] => format!("the trace unit's register {register} is missing; without it the trace cannot be read"),
        registers => format!(
            "the trace unit's registers {} are missing; without them the trace cannot be read",
            registers.join(", ")
        ),
    }
}

fn version(devarch: Option<u32>, idr1: Option<u32>) -> Result<Version, ConfigurationError> {
    if let Some(devarch) = devarch.filter(|devarch| devarch & 0xffff == ARCHITECTURE_ETE) {
        return Ok(Version { major: ETE, minor: field(devarch, 16, 4) as u8 });
    }
    let idr1 = idr1.ok_or_else(|| ConfigurationError::Missing(vec!["TRCIDR1"]))?;
    match field(idr1, 8, 4) {
        4 => Ok(Version { major: 4, minor: field(idr1, 4, 4) as u8 }),
        VERSION_IS_ELSEWHERE if devarch.is_none() => Err(ConfigurationError::Missing(vec!["TRCDEVARCH"])),
        found => Err(ConfigurationError::Version { found }),
    }
}

fn bit(register: u32, at: u32) -> bool {
    field(register, at, 1) != 0
}

fn field(register: u32, at: u32, bits: u32) -> u32 {
    (register >> at) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETM: [(&str, u64); 6] = [
        ("TRCCONFIGR", 0x1001),
        ("TRCTRACEIDR", 0x10),
        ("TRCIDR0", 0x2800_0ea1),
        ("trcidr1", 0x4100_f403),
        ("TRCIDR2", 0x488),
        ("TRCIDR8", 0),
    ];

    #[test]
    fn what_an_etm_can_tell() {
        let configuration = Configuration::from_registers(ETM).unwrap();
        assert_eq!(configuration.version(), Version { major: 4, minor: 0 });
        assert_eq!(configuration.trace_id(), 0x10);
        assert!(configuration.has_return_stack());
        assert!(configuration.has_cycle_counts && configuration.has_timestamps && !configuration.has_q);
        assert!(!configuration.has_commits_in_cycle_counts);
        assert_eq!((configuration.context_bytes, configuration.machine_bytes), (4, 1));
        assert!(!configuration.has_contexts && !configuration.has_machines && !configuration.is_wait_waypoint());
    }

    #[test]
    fn the_version_of_an_ete_is_in_trcdevarch() {
        let ete = ETM.map(|(name, value)| if name == "trcidr1" { (name, 0x4100_fff0) } else { (name, value) });
        assert_eq!(Configuration::from_registers(ete), Err(ConfigurationError::Missing(vec!["TRCDEVARCH"])));
        let ete = ete.into_iter().chain([("TRCDEVARCH", 0x4773_5a13)]);
        assert_eq!(Configuration::from_registers(ete).unwrap().version(), Version { major: 5, minor: 3 });
    }

    #[test]
    fn a_register_that_is_missing_is_named() {
        for missing in ETM {
            let rest = ETM.into_iter().filter(|register| *register != missing);
            let name = missing.0.to_ascii_uppercase();
            assert_eq!(
                Configuration::from_registers(rest).unwrap_err().to_string(),
                format!("the trace unit's register {name} is missing; without it the trace cannot be read")
            );
        }
    }

    #[test]
    fn all_registers_that_are_missing_are_named_at_once() {
        let error = Configuration::from_registers(ETM[1..3].iter().copied()).unwrap_err().to_string();
        let words = "the trace unit's registers TRCCONFIGR, TRCIDR2, TRCIDR8, TRCIDR1 are missing; without them the trace cannot be read";
        assert_eq!(error, words);
    }

    #[test]
    fn another_kind_of_trace_unit_is_refused() {
        let other = ETM.map(|(name, value)| if name == "trcidr1" { (name, 0x4100_f300) } else { (name, value) });
        assert_eq!(Configuration::from_registers(other), Err(ConfigurationError::Version { found: 3 }));
    }
}
