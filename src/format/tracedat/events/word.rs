//! Integers at any place in bytes.

use crate::source::ByteOrder;

/// The unsigned integer of `size` bytes at `at`, aligned or not; `None` where it is not all there, or is of another
/// size than C's integers have: 1, 2, 4 and 8 bytes.
#[inline]
pub(super) fn unsigned(bytes: &[u8], at: usize, size: usize, order: ByteOrder) -> Option<u64> {
    match size {
        1 => bytes.get(at).map(|byte| u64::from(*byte)),
        2 => taken(bytes, at).map(|taken| u64::from(either(order, taken, u16::from_le_bytes, u16::from_be_bytes))),
        4 => taken(bytes, at).map(|taken| u64::from(either(order, taken, u32::from_le_bytes, u32::from_be_bytes))),
        8 => taken(bytes, at).map(|taken| either(order, taken, u64::from_le_bytes, u64::from_be_bytes)),
        _ => None,
    }
}

/// The 4-byte word at `at`.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize, order: ByteOrder) -> Option<u32> {
    Some(either(order, taken(bytes, at)?, u32::from_le_bytes, u32::from_be_bytes))
}

/// `value` of `size` bytes, with its sign bit taken as such.
#[inline]
pub(super) fn signed(value: u64, size: usize) -> i64 {
    match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value as i64,
    }
}

#[inline]
fn taken<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[inline]
fn either<const N: usize, T>(
    order: ByteOrder,
    bytes: [u8; N],
    little: impl Fn([u8; N]) -> T,
    big: impl Fn([u8; N]) -> T,
) -> T {
    match order {
        ByteOrder::Little => little(bytes),
        ByteOrder::Big => big(bytes),
    }
}
