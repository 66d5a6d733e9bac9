//! The kernel's printk_formats: texts that events name by their address.

use std::collections::BTreeMap;

/// The texts by their addresses, from lines `0xADDRESS : "TEXT"`. The kernel repeats some lines.
pub(super) fn formats(text: &[u8]) -> BTreeMap<u64, String> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter_map(format).collect()
}

fn format(line: &str) -> Option<(u64, String)> {
    let (address, text) = line.split_once(':')?;
    let address = u64::from_str_radix(address.trim().strip_prefix("0x")?, 16).ok()?;
    let text = text.trim_start().strip_prefix('"')?;
    Some((address, unescaped(text.strip_suffix('"')?)))
}

/// Undoes what the kernel escapes: line feed, tabulator, backslash and quote (Linux's trace_printk.c, `t_show`).
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let escaped = match (letter, letters.as_str().chars().next()) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some(same @ ('\\' | '"'))) => Some(same),
            _ => None,
        };
        if escaped.is_some() {
            letters.next();
        }
        plain.push(escaped.unwrap_or(letter));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_the_kernel_was_given() {
        let text = b"0xffffffff8281942f : \"thaw_processes\"\n0x10 : \"a: \\\"b\\\"\\tc\\\\n%d\\n\"\n0x10 : \"again\n\
                     junk\n0x20 : \"\"\n0x30 : \"\\x\\\"\n";
        let expected =
            [(0xffff_ffff_8281_942f, "thaw_processes"), (0x10, "a: \"b\"\tc\\n%d\n"), (0x20, ""), (0x30, "\\x\\")];
        assert_eq!(formats(text), expected.into_iter().map(|(at, text)| (at, text.to_owned())).collect());
    }
}
