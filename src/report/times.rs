//! Times as people type them.

use super::text::printable;

/// Numbers of so many digits are no seconds: they are nanoseconds, or whatever the recording's clock counts.
const TOO_LONG_FOR_SECONDS: usize = 12;

/// A time in seconds, with a fraction or without, as nanoseconds; with `ns` behind it, or from 12 digits on, nanoseconds.
pub fn parse_nanoseconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("{} is no time in seconds", printable(text));
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(digits) =
        text.strip_suffix("ns").or(Some(text).filter(|_| is_whole && text.len() >= TOO_LONG_FOR_SECONDS))
    {
        return digits.parse().map_err(|_| wrong());
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{fraction:0<9}");
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || digits.len() > 9 {
        return Err(wrong());
    }
    let (whole, fraction): (u64, u64) = (whole.parse().map_err(|_| wrong())?, digits.parse().map_err(|_| wrong())?);
    whole.checked_mul(1_000_000_000).and_then(|whole| whole.checked_add(fraction)).ok_or_else(wrong)
}

/// One time, or two with `..` between them; one that is missing is the first or the last that there is.
pub fn parse_times(text: &str) -> Result<(u64, u64), String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let time = |text: &str, missing| if text.is_empty() { Ok(missing) } else { parse_nanoseconds(text) };
    if text.is_empty() {
        return Err("a time is missing".to_owned());
    }
    let (low, high) = (time(low, 0)?, time(high, u64::MAX)?);
    if low > high { Err(format!("{text}: the first time is behind the second")) } else { Ok((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, expected) in [
            ("1.5..1.6", (1_500_000_000, 1_600_000_000)),
            ("894.830150184", (894_830_150_184, 894_830_150_184)),
            ("2..", (2_000_000_000, u64::MAX)),
            ("..0.000000001", (0, 1)),
            ("..", (0, u64::MAX)),
            ("17ns..18ns", (17, 18)),
            ("2453820245150", (2_453_820_245_150, 2_453_820_245_150)),
        ] {
            assert_eq!(parse_times(text), Ok(expected), "{text}");
        }
        for text in ["", "x", "1.5.6", "1..x", "2..1", "1.0123456789", "-1", "ns", "99999999999"] {
            assert!(parse_times(text).is_err(), "{text}");
        }
    }
}
