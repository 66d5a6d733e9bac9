//! Addresses in packets (Arm IHI 0064, "Address and Context instruction trace packets").

use traceframe::format::itrace::instruction::InstructionSet;

/// The last three addresses that were told, the newest first, with whether they are of T32.
#[derive(Clone, Copy, Debug, Default)]
pub struct History([(u64, bool); 3]);

impl History {
    fn add(&mut self, told: (u64, bool)) {
        let [first, second, _] = self.0;
        self.0 = [told, first, second];
    }

    /// The shortest packet that has an address.
    pub fn short(&mut self, address: u64, instruction_set: InstructionSet) -> Vec<u8> {
        let told = (address, instruction_set == InstructionSet::T32);
        let place = self.0.iter().position(|known| *known == told);
        let (newest, _) = self.0[0];
        let differs = newest ^ address;
        let (shift, header) = if told.1 { (1, 0x96) } else { (2, 0x95) };
        let value = address >> shift;
        let bytes = if let Some(place) = place {
            vec![0x90 | place as u8]
        } else if differs >> (shift + 7) == 0 {
            vec![header, (value & 0x7f) as u8]
        } else if differs >> (shift + 15) == 0 {
            vec![header, (value & 0x7f) as u8 | 0x80, (value >> 7) as u8]
        } else if differs >> 32 == 0 {
            [&[if told.1 { 0x9b } else { 0x9a }][..], &long(told)[..4]].concat()
        } else {
            [&[if told.1 { 0x9e } else { 0x9d }][..], &long(told)].concat()
        };
        self.add(told);
        bytes
    }

    /// A packet that has every bit of the address, and a context.
    pub fn full_with_context(&mut self, address: u64, instruction_set: InstructionSet, context: &[u8]) -> Vec<u8> {
        let told = (address, instruction_set == InstructionSet::T32);
        self.add(told);
        let (header, bytes) = match instruction_set {
            InstructionSet::A64 => (0x85, 8),
            InstructionSet::A32 => (0x82, 4),
            _ => (0x83, 4),
        };
        [&[header][..], &long(told)[..bytes], context].concat()
    }
}

fn long((address, is_t32): (u64, bool)) -> [u8; 8] {
    let mut bytes = address.to_le_bytes();
    if is_t32 {
        bytes[0] = (address >> 1) as u8 & 0x7f;
    } else {
        bytes[0] = (address >> 2) as u8 & 0x7f;
        bytes[1] = (address >> 9) as u8 & 0x7f;
    }
    bytes
}
