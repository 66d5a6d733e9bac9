//! The small words that description lines are made of: numbers and strings in hexadecimal.
//!
//! Numbers carry no `0x` (gdb's tracefile-tfile.c writes them with `%x` and `phex_nz`).

/// What of a line a message quotes: printable, and short however long the line is.
pub(super) fn quote(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    match bytes.get(..SHOWN) {
        Some(start) if bytes.len() > SHOWN => format!("`{}...`", start.escape_ascii()),
        _ => format!("`{}`", bytes.escape_ascii()),
    }
}

/// The text of a piece that is handed to gdb as a packet, word for word.
///
/// The remote protocol frames packets with `$` and `#`, escapes with `}` and repeats with `*` (gdb manual, "Overview"
/// of the remote protocol), so a piece that holds one of them cannot be sent as it is.
pub(super) fn packet_text(bytes: &[u8]) -> Result<&str, String> {
    let unfit = |byte: &&u8| !(0x20..0x7f).contains(*byte) || b"#$}*".contains(*byte);
    if let Some(byte) = bytes.iter().find(unfit) {
        return Err(format!(
            "{} holds the byte {byte:#04x}, expected text that the remote protocol can carry",
            quote(bytes)
        ));
    }
    std::str::from_utf8(bytes).map_err(|cause| cause.to_string())
}

/// An unsigned number of at most 64 bits.
pub(super) fn unsigned(text: &str) -> Result<u64, String> {
    // The digits are looked at first: `from_str_radix` takes a sign.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("found {}, expected a hexadecimal number", quote(text.as_bytes())));
    }
    u64::from_str_radix(text, 16).map_err(|_| format!("the number {} is beyond 64 bits", quote(text.as_bytes())))
}

/// The number of a tracepoint or a trace state variable, which gdb keeps in an `int`: a negative one is written as
/// its 32-bit two's complement.
pub(super) fn number(text: &str) -> Result<i32, String> {
    match u32::try_from(unsigned(text)?) {
        Ok(bits) => Ok(bits.cast_signed()),
        Err(_) => Err(format!("the number {} is beyond 32 bits", quote(text.as_bytes()))),
    }
}

/// A string, two digits a byte.
pub(super) fn string(text: &str) -> Result<Vec<u8>, String> {
    hex::decode(text).map_err(|_| format!("found {}, expected pairs of hexadecimal digits", quote(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_digits_only_and_a_limit() {
        assert_eq!(unsigned("ffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(unsigned("00000000000000000000A"), Ok(10));
        for bad in ["", "+1", "-1", "0x1", "1 ", "g", "10000000000000000"] {
            assert!(unsigned(bad).is_err(), "{bad}");
        }
        assert_eq!(number("ffffffff"), Ok(-1));
        assert_eq!(number("7fffffff"), Ok(i32::MAX));
        assert!(number("100000000").is_err());
    }

    #[test]
    fn what_a_packet_cannot_carry_is_found() {
        assert_eq!(packet_text(b"T2:401131:E:0:0"), Ok("T2:401131:E:0:0"));
        for bad in [&b"a#b"[..], b"$", b"}", b"0*", b"a\r", b"\xc3\xa4", b"\x7f"] {
            assert!(packet_text(bad).is_err(), "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn quotes_are_short() {
        assert_eq!(quote(b"a\nb"), "`a\\nb`");
        assert!(quote(&[b'x'; 100_000]).len() < 60);
    }
}
