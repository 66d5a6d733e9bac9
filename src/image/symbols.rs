//! Names of functions, by address and by name.

use super::elf::{Elf, Symbol, SymbolKind};
use super::ranges::{Ranges, Span, Spans, last};
use std::collections::HashMap;
use std::fmt::Write;

/// Longer names are cut; it bounds the work that a damaged name table can cause.
const LONGEST_NAME: usize = 0x4000;

/// The functions and labels of a program. A name is held as its offset in the file.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// Symbols whose size the file tells.
    sized: Spans<usize>,
    /// Symbols of size 0, each up to the next symbol or the end of the code it lies in.
    open: Spans<usize>,
}

impl Symbols {
    /// Takes the symbols that lie in `code`.
    pub(super) fn new(elf: &Elf<'_>, code: &Ranges) -> Symbols {
        let is_code = |symbol: &&Symbol| symbol.kind != SymbolKind::Data && code.contains(symbol.address);
        let mut symbols: Vec<&Symbol> = elf.symbols.iter().filter(is_code).collect();
        // Of names for one place, the last is found first: functions before labels, global names before local ones.
        symbols.sort_by_key(|symbol| (symbol.address, symbol.kind == SymbolKind::Function, symbol.global));
        let mut sized = Vec::new();
        let mut open = Vec::new();
        let mut above: Option<u64> = None;
        let mut address = None;
        for symbol in symbols.iter().rev() {
            if let Some(later) = address.filter(|later| *later != symbol.address) {
                above = Some(later);
            }
            address = Some(symbol.address);
            match last(symbol.address, symbol.size) {
                Some(last) => sized.push(Span::new(symbol.address, last, symbol.name)),
                None => {
                    let end_of_code = code.end_of(symbol.address).unwrap_or(symbol.address);
                    let last = above.map_or(end_of_code, |next| end_of_code.min(next.saturating_sub(1)));
                    open.push(Span::new(symbol.address, last, symbol.name));
                }
            }
        }
        sized.reverse();
        open.reverse();
        Symbols { sized: Spans::new(sized), open: Spans::new(open) }
    }

    /// The function that holds `address`, and its first and last address.
    ///
    /// As in gdb, a symbol whose size is known and that holds the address goes before a nearer one without a size,
    /// which is often a label in the function (gdb's minsyms.c, `lookup_minimal_symbol_by_pc_section`).
    pub(super) fn find(&self, file: &[u8], address: u64) -> Option<(String, u64, u64)> {
        let span = self.sized.containing(address).next().or_else(|| self.open.containing(address).next())?;
        Some((shown(name(file, span.value)), span.first, span.last))
    }

    /// The linker's own name of the function that holds `address`.
    pub(super) fn symbol(&self, file: &[u8], address: u64) -> Option<String> {
        let span = self.sized.containing(address).next().or_else(|| self.open.containing(address).next())?;
        Some(String::from_utf8_lossy(name(file, span.value)).into_owned())
    }

    /// The first and last addresses of all functions, each first address once, in ascending order: with the name that
    /// [`Symbols::find`] has for it. Labels in functions whose size is known are none.
    pub(super) fn functions(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mut sized, mut open) = (self.sized.iter().peekable(), self.open.iter().peekable());
        let mut covered: Option<u64> = None;
        std::iter::from_fn(move || {
            loop {
                let is_sized = match (sized.peek(), open.peek()) {
                    (Some(sized), Some(open)) => sized.first <= open.first,
                    (sized, open) => sized.is_some() || open.is_none(),
                };
                let spans = if is_sized { &mut sized } else { &mut open };
                let mut span = spans.next()?;
                if is_sized {
                    covered = covered.max(Some(span.last));
                }
                while let Some(same) = spans.next_if(|next| next.first == span.first) {
                    span = same;
                    if is_sized {
                        covered = covered.max(Some(span.last));
                    }
                }
                if is_sized || covered.is_none_or(|covered| covered < span.first) {
                    return Some((span.first, span.last));
                }
            }
        })
    }

    /// The first and last addresses of all functions with these names, as a person would type them.
    pub(super) fn named<'name>(
        &self,
        file: &[u8],
        names: impl IntoIterator<Item = &'name str>,
    ) -> HashMap<&'name str, Vec<(u64, u64)>> {
        let mut found: HashMap<&str, Vec<(u64, u64)>> = names.into_iter().map(|name| (name, Vec::new())).collect();
        for span in self.sized.iter().chain(self.open.iter()) {
            let raw = name(file, span.value);
            let spans = std::str::from_utf8(raw).ok().and_then(|raw| found.get_mut(raw));
            if let Some(spans) = spans {
                spans.push((span.first, span.last));
            } else if let Some(spans) = qualified(raw).and_then(|name| found.get_mut(name.as_str())) {
                spans.push((span.first, span.last));
            }
        }
        found
    }
}

/// The bytes of a name, up to the zero byte behind it.
pub(super) fn name(file: &[u8], offset: usize) -> &[u8] {
    let from = file.get(offset..).unwrap_or(&[]);
    let window = from.get(..from.len().min(LONGEST_NAME)).unwrap_or(from);
    match memchr::memchr(0, window) {
        Some(end) => window.get(..end).unwrap_or(window),
        None => window,
    }
}

/// A name as gdb shows it; C++ names stay as the linker has them.
fn shown(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    rust_name(&raw).unwrap_or_else(|| raw.into_owned())
}

/// The name of a Rust function without its hash; `None` for names of other languages.
fn rust_name(raw: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(raw).ok()?;
    let mut shown = Limited(String::new());
    write!(shown, "{name:#}").ok().map(|()| shown.0)
}

/// Text up to a limit: a short mangled name can stand for a very long one.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > LONGEST_NAME {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The name of a Rust or C++ function as a person types it, without parameters: `ns::f`. `None` for C names, and
/// for C++ names that say more than a path (templates, operators, constructors).
fn qualified(raw: &[u8]) -> Option<String> {
    let raw = std::str::from_utf8(raw).ok().filter(|raw| raw.starts_with("_Z") || raw.starts_with("_R"))?;
    if let Some(name) = rust_name(raw) {
        return Some(name);
    }
    let encoding = raw.strip_prefix("_Z")?;
    // Itanium C++ ABI, 5.1.2 and 5.1.3: a source name is its length and its letters; N…E holds a path of them.
    match encoding.strip_prefix('N') {
        None => source_name(encoding).map(|(name, _)| name.to_owned()),
        Some(nested) => {
            let mut rest = nested.trim_start_matches(['r', 'V', 'K']);
            let mut path = Vec::new();
            while !rest.starts_with('E') {
                let (name, behind) = source_name(rest)?;
                path.push(name);
                rest = behind;
            }
            Some(path.join("::"))
        }
    }
}

fn source_name(encoding: &str) -> Option<(&str, &str)> {
    let digits = encoding.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = encoding.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_are_shown_as_typed_and_others_as_they_are() {
        assert_eq!(shown(b"_ZN5serve4main17h0123456789abcdefE"), "serve::main");
        assert_eq!(shown(b"_ZN2ns1fEi"), "_ZN2ns1fEi");
        assert_eq!(shown(b"step"), "step");
    }

    #[test]
    fn typed_names_of_cpp_functions() {
        let name = |raw: &str| qualified(raw.as_bytes());
        assert_eq!(name("_Z4stepiP2pt").as_deref(), Some("step"));
        assert_eq!(name("_ZNK2ns5Class4stepEv").as_deref(), Some("ns::Class::step"));
        assert_eq!(name("_ZN5serve4main17h0123456789abcdefE").as_deref(), Some("serve::main"));
        assert_eq!(name("_ZN2nsC1Ev"), None);
        assert_eq!(name("_ZN99999999999999999999x"), None);
        assert_eq!(name("_Z9abc"), None);
        assert_eq!(name("step"), None);
    }
}
