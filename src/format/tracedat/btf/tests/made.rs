//! BTF that is made up.

use crate::source::ByteOrder;

/// BTF that grows.
pub struct Made {
    order: ByteOrder,
    types: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
}

impl Made {
    pub fn new(order: ByteOrder) -> Made {
        Made { order, types: Vec::new(), strings: vec![0], count: 0 }
    }

    fn number(&self, value: u32, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; width];
        self.order.store(u64::from(value), &mut bytes);
        bytes
    }

    /// Adds a string; its offset.
    pub fn string(&mut self, text: &[u8]) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let at = self.strings.len();
        self.strings.extend(text);
        self.strings.push(0);
        at as u32
    }

    /// Adds a type; its number.
    pub fn add(&mut self, kind: u32, name: &str, flag_and_count: (bool, u32), of: u32, behind: &[u32]) -> u32 {
        let (flag, count) = flag_and_count;
        let head = [self.string(name.as_bytes()), u32::from(flag) << 31 | kind << 24 | count, of];
        for word in head.iter().chain(behind) {
            let word = self.number(*word, 4);
            self.types.extend(word);
        }
        self.count += 1;
        self.count
    }

    /// Adds a type without members.
    pub fn plain(&mut self, kind: u32, name: &str, of: u32) -> u32 {
        self.add(kind, name, (false, 0), of, &[])
    }

    /// Adds an integer of so many bytes.
    pub fn integer(&mut self, name: &str, size: u32, is_signed: bool) -> u32 {
        self.add(1, name, (false, 0), size, &[u32::from(is_signed) << 24 | (size * 8)])
    }

    /// Adds an array.
    pub fn array(&mut self, element: u32, count: u32) -> u32 {
        self.add(3, "", (false, 0), 0, &[element, 0, count])
    }

    /// Adds a structure, of members with a name, a type and an offset in bytes.
    pub fn structure(&mut self, name: &str, size: u32, members: &[(&str, u32, u32)]) -> u32 {
        let mut behind = Vec::new();
        for (name, of, offset) in members {
            behind.extend([self.string(name.as_bytes()), *of, 8 * offset]);
        }
        self.add(4, name, (false, members.len() as u32), size, &behind)
    }

    /// All bytes, with a header of the size that is known and as many more bytes as are wanted.
    pub fn bytes(&self, more: u32) -> Vec<u8> {
        let mut bytes = self.number(0xeb9f, 2);
        bytes.extend([1, 0]);
        let length = |bytes: &[u8]| bytes.len() as u32;
        let (types, strings) = (length(&self.types), length(&self.strings));
        for word in [24 + more, 0, types, types, strings] {
            bytes.extend(self.number(word, 4));
        }
        bytes.resize(bytes.len() + more as usize, 0xee);
        [bytes, self.types.clone(), self.strings.clone()].concat()
    }
}
