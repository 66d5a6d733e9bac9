//! /proc/modules: where the kernel's modules lay.

/// A module of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its size in bytes.
    pub size: u64,
    /// Its address; 0 where the kernel hid it (`kptr_restrict`).
    pub address: u64,
}

/// The modules, from lines `name size references users state address …` (proc_modules(5)). Lines that are none are left
/// out.
pub(super) fn modules(text: &[u8]) -> impl Iterator<Item = Module<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
        let name = words.next()?;
        let size = words.next()?.parse().ok()?;
        let address = words.nth(3)?.strip_prefix("0x")?;
        Some(Module { name, size, address: u64::from_str_radix(address, 16).ok()? })
    })
}
