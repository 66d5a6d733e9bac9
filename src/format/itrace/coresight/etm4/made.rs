//! Sources for tests: their registers, and what they send.

use super::super::formatter::Framing;
use super::{Configuration, Packet, Packets};

type Registers = [(&'static str, u64)];

/// An ETMv4.2 that can tell no more than where execution goes; IDs of virtual machines have 1 byte.
pub const ETM: &Registers = &[
    ("TRCCONFIGR", 0x1),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x2000_0e21),
    ("TRCIDR1", 0x4100_f423),
    ("TRCIDR2", 0x488),
    ("TRCIDR8", 0),
];

/// An ETE 1.3 with contexts, timestamps and Q elements.
pub const ETE: &Registers = &[
    ("TRCCONFIGR", 0xa8c1),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x28c1_cea1),
    ("TRCIDR2", 0xd000_1088),
    ("TRCIDR8", 0),
    ("TRCDEVARCH", 0x4773_5a13),
];

/// An ETMv4.2 that counts cycles, and does not say with them what is certain.
pub const COUNTING: &Registers = &[
    ("TRCCONFIGR", 0x11),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x2800_0ea1),
    ("TRCIDR1", 0x4100_f423),
    ("TRCIDR2", 0x488),
    ("TRCIDR8", 0),
];

/// An ETE 1.3 that counts cycles, has timestamps and speculates about up to 0x78 elements.
pub const SPECULATING: &Registers = &[
    ("TRCCONFIGR", 0x8819),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x0800_0ca1),
    ("TRCIDR2", 0x4000_1088),
    ("TRCIDR8", 0x78),
    ("TRCDEVARCH", 0x4773_5a13),
];

/// An ETMv4.2 that traces conditional instructions and data.
pub const CONDITIONAL: &Registers = &[
    ("TRCCONFIGR", 0x3_0707),
    ("TRCTRACEIDR", 0x10),
    ("TRCIDR0", 0x2800_0eff),
    ("TRCIDR1", 0x4100_f423),
    ("TRCIDR2", 0x488),
    ("TRCIDR8", 0),
];

/// An alignment synchronization.
pub const ALIGNMENT: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80];

pub fn configuration(registers: &Registers) -> Configuration {
    Configuration::from_registers(registers.iter().copied()).unwrap()
}

/// The packets of bytes that are no damage.
pub fn packets(registers: &Registers, bytes: &[u8]) -> Vec<Packet> {
    Packets::new(bytes, Framing::Unformatted, configuration(registers))
        .map(|packet| packet.map(|(_, packet)| packet).unwrap())
        .collect()
}

/// What is said of the first damage in bytes.
pub fn damage(registers: &Registers, bytes: &[u8]) -> String {
    Packets::new(bytes, Framing::Unformatted, configuration(registers)).find_map(Result::err).unwrap().to_string()
}
