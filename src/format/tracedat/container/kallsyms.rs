//! /proc/kallsyms: the kernel's symbols.

/// The text of /proc/kallsyms as the file has it.
#[derive(Clone, Copy, Debug)]
pub struct Kallsyms<'a> {
    /// Lines `address type name`, the name of a module behind it in brackets.
    pub text: &'a [u8],
}

/// A symbol of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its address.
    pub address: u64,
    /// Its type, a letter as nm(1) has them. `A` is an absolute value, which need not be an address: old kernels have
    /// per-CPU variables at 0 and up so.
    pub kind: char,
    /// Its name.
    pub name: &'a str,
    /// The module it is in; `None` for the kernel itself.
    pub module: Option<&'a str>,
}

impl<'a> Kallsyms<'a> {
    /// The symbols in the order of the file. Several may have the same address. Lines that are none are left out.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol<'a>> + use<'a> {
        self.text.split(|byte| *byte == b'\n').filter_map(symbol)
    }

    /// Whether there are symbols and all are at address 0: the kernel hid them from the user that recorded
    /// (`kptr_restrict`, proc_sys_kernel(5)).
    pub fn are_addresses_hidden(&self) -> bool {
        let mut symbols = self.symbols().peekable();
        symbols.peek().is_some() && symbols.all(|symbol| symbol.address == 0)
    }
}

fn symbol(line: &[u8]) -> Option<Symbol<'_>> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let mut kind = words.next()?.chars();
    let (Some(kind), None) = (kind.next(), kind.next()) else { return None };
    let name = words.next()?;
    let module = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some(Symbol { address, kind, name, module })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_symbols_and_the_rest_is_left_out() {
        let text = b"ffffffff81000000 T _text\n0000000000000000 A fixed\nffffffffc0350010 t start_xmit\t[virtio_net]\n\
                     junk\nffffffff81000000 TT two\n\nffffffff81000000 T\n\xff\xff T x\n7f D cut";
        let symbols: Vec<_> = Kallsyms { text }.symbols().collect();
        let expected = [
            (0xffff_ffff_8100_0000, 'T', "_text", None),
            (0, 'A', "fixed", None),
            (0xffff_ffff_c035_0010, 't', "start_xmit", Some("virtio_net")),
            (0x7f, 'D', "cut", None),
        ];
        let expected = expected.map(|(address, kind, name, module)| Symbol { address, kind, name, module });
        assert_eq!(symbols, expected);
    }

    #[test]
    fn hidden_addresses_are_all_0() {
        assert!(Kallsyms { text: b"0000000000000000 T _text\n0000000000000000 t x\n" }.are_addresses_hidden());
        assert!(!Kallsyms { text: b"0000000000000000 A _text\n0000000000000001 t x\n" }.are_addresses_hidden());
        assert!(!Kallsyms { text: b"" }.are_addresses_hidden());
    }
}
