//! Numbers in packets: hexadecimal, without `0x`.

/// A number of 1 to 16 digits, after any leading zeros.
pub fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` would take a sign.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(text, 16).ok()
}

/// A 32-bit signed number, written as `-5` or as the digits of its two's complement (`fffffffb`).
pub fn signed(digits: &[u8]) -> Option<i32> {
    if let Some(magnitude) = digits.strip_prefix(b"-") {
        return i32::try_from(-i64::try_from(number(magnitude)?).ok()?).ok();
    }
    Some(u32::try_from(number(digits)?).ok()?.cast_signed())
}

/// Two numbers with `separator` between them.
pub fn pair(text: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((number(&text[..at])?, number(&text[at + 1..])?))
}

/// Whether this names one process. Which one is not asked: gdb makes the number up where the server gives none.
pub fn is_process(digits: &[u8]) -> bool {
    number(digits).is_some_and(|process| process != 0)
}

/// What a `qXfer` read asks for, behind `read:`: annex, offset and length.
pub fn object_part(text: &[u8]) -> Option<(&[u8], u64, usize)> {
    let colon = text.iter().rposition(|byte| *byte == b':')?;
    let (offset, length) = pair(&text[colon + 1..], b',')?;
    Some((&text[..colon], offset, usize::try_from(length).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_hexadecimal() {
        assert_eq!(number(b"ffffffffffffffff"), Some(u64::MAX));
        assert_eq!(number(b"00000000000000000001"), Some(1));
        for wrong in [&b""[..], b"+1", b"-1", b"0x1", b"1 ", b"10000000000000000", b"\xff"] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
        assert_eq!(signed(b"fffffffb"), Some(-5));
        assert_eq!(signed(b"-5"), Some(-5));
        assert_eq!(signed(b"-80000000"), Some(i32::MIN));
        assert_eq!(signed(b"100000000"), None);
        assert_eq!(pair(b"10,ff", b','), Some((16, 255)));
        assert_eq!(pair(b"10ff", b','), None);
        assert_eq!(object_part(b"target.xml:0,1000"), Some((&b"target.xml"[..], 0, 0x1000)));
        assert_eq!(object_part(b":0,1000"), Some((&b""[..], 0, 0x1000)));
        assert_eq!(object_part(b"0,1000"), None);
    }
}
