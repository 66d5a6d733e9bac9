//! Reading a slice of a file from its front to its end.

use super::ByteOrder;

/// The bytes ended before what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} bytes wanted at byte {at:#x}, {left} are left")]
pub struct OutOfBytes {
    /// The offset in the file.
    pub at: u64,
    /// How many bytes were to be read.
    pub wanted: u64,
    /// How many there are.
    pub left: u64,
}

/// A reading position in a slice of a file.
///
/// Every read either succeeds and moves on, or fails and stays where it was.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    order: ByteOrder,
}

impl<'a> Cursor<'a> {
    /// Starts at the first of `bytes`, which lies at offset `base` of the file.
    pub fn new(bytes: &'a [u8], base: u64, order: ByteOrder) -> Cursor<'a> {
        Cursor { bytes, at: 0, base, order }
    }

    /// The offset in the file of the next byte.
    pub fn position(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], OutOfBytes> {
        match self.rest().get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(OutOfBytes { at: self.position(), wanted: length as u64, left: self.rest().len() as u64 }),
        }
    }

    fn integer<const N: usize>(&mut self) -> Result<[u8; N], OutOfBytes> {
        let taken = self.take(N)?;
        let mut bytes = [0; N];
        bytes.copy_from_slice(taken);
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, OutOfBytes> {
        Ok(u8::from_le_bytes(self.integer()?))
    }

    /// A 2-byte unsigned integer.
    pub fn u16(&mut self) -> Result<u16, OutOfBytes> {
        Ok(u16::from_le_bytes(self.integer()?))
    }

    /// A 2-byte signed integer.
    pub fn i16(&mut self) -> Result<i16, OutOfBytes> {
        Ok(i16::from_le_bytes(self.integer()?))
    }

    /// A 4-byte unsigned integer.
    pub fn u32(&mut self) -> Result<u32, OutOfBytes> {
        Ok(u32::from_le_bytes(self.integer()?))
    }

    /// A 4-byte signed integer.
    pub fn i32(&mut self) -> Result<i32, OutOfBytes> {
        Ok(i32::from_le_bytes(self.integer()?))
    }

    /// An 8-byte unsigned integer.
    pub fn u64(&mut self) -> Result<u64, OutOfBytes> {
        Ok(u64::from_le_bytes(self.integer()?))
    }

    /// An 8-byte signed integer.
    pub fn i64(&mut self) -> Result<i64, OutOfBytes> {
        Ok(i64::from_le_bytes(self.integer()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_past_the_end_says_where_and_stays() {
        let mut cursor = Cursor::new(&[1, 2, 3], 0x100, ByteOrder::Little);
        assert_eq!(cursor.u16(), Ok(0x0201));
        assert_eq!(cursor.u32(), Err(OutOfBytes { at: 0x102, wanted: 4, left: 1 }));
        assert_eq!(cursor.u8(), Ok(3));
        assert!(cursor.is_at_end());
    }

    #[test]
    fn both_byte_orders() {
        let bytes = [0xff, 0xfe, 0, 0, 0, 0, 0, 1];
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Big).i16(), Ok(-2));
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Little).i16(), Ok(-257));
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Big).u64(), Ok(0xfffe_0000_0000_0001));
    }
}
