//! The C-like declaration of a field: its type, its name, and what follows from them.

use super::field::{Content, Element, FieldKind};
use super::page_layout::LongSize;

/// A declaration taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declaration<'a> {
    pub(super) name: &'a str,
    /// The type without the name and without an array's brackets.
    words: &'a str,
    /// What stood in the brackets behind the name or behind the type, `[` and `]` included; empty where nothing did.
    pub(super) brackets: &'a str,
}

impl<'a> Declaration<'a> {
    /// Takes `text` apart: `TYPE NAME`, `TYPE NAME[N]`, `TYPE[] NAME`, `TYPE (*NAME)(…)`.
    pub(super) fn read(text: &'a str) -> Option<Declaration<'a>> {
        let (front, behind_name) = brackets_behind(text);
        if let Some((words, rest)) = front.split_once("(*") {
            // A pointer to a function.
            let name = rest.split(')').next()?.trim();
            return is_name(name).then_some(Declaration { name, words: words.trim(), brackets: "" });
        }
        let start = front.rfind(|letter: char| !is_of_name(letter)).map_or(0, |at| at + 1);
        let (words, name) = front.split_at_checked(start)?;
        let (words, behind_type) = brackets_behind(words);
        let brackets = if behind_name.is_empty() { behind_type } else { behind_name };
        (is_name(name) && !words.is_empty()).then_some(Declaration { name, words, brackets })
    }

    /// The type as declared, with the brackets.
    pub(super) fn declared(&self) -> String {
        format!("{}{}", self.words, self.brackets)
    }

    /// Whether a type like this has a sign, for kernels that do not say.
    pub(super) fn is_signed(&self, long: LongSize) -> bool {
        !self.words.contains('*') && !self.words.contains("unsigned") && {
            let signed = ["char", "short", "int", "long", "signed", "s8", "s16", "s32", "s64", "pid_t", "ssize_t"];
            words(self.words).any(|word| signed.contains(&word)) && integer_size(self.words, long).is_some()
        }
    }

    /// What a field of this declaration, size and sign is.
    pub(super) fn kind(&self, size: usize, signed: bool, long: LongSize) -> FieldKind {
        let content = |stretch| self.content(stretch, signed, long);
        match words(self.words).next() {
            Some("__data_loc") => FieldKind::DataLoc(content(None)),
            Some("__rel_loc") => FieldKind::RelLoc(content(None)),
            // The C compiler gives struct no size 0, but old formats write `char buf` for what is `char buf[]`.
            _ if size == 0 && !self.is_aggregate() => FieldKind::Tail(content(None)),
            _ if !self.brackets.is_empty() => FieldKind::Array(content(Some(size))),
            _ if !matches!(size, 1 | 2 | 4 | 8) || self.is_aggregate() => FieldKind::Array(Content::Bytes),
            _ if self.words.ends_with('*') => FieldKind::Pointer,
            _ => FieldKind::Integer,
        }
    }

    /// What the elements are, of an array of `stretch` bytes if that is known.
    fn content(&self, stretch: Option<usize>, signed: bool, long: LongSize) -> Content {
        if words(self.words).any(|word| word == "cpumask_t") {
            return Content::Mask(Element { size: long.bytes(), signed: false });
        }
        let plain = words(self.words).filter(|word| !is_qualifier(word));
        if plain.eq(["char"]) {
            return Content::Text;
        }
        let declared: Option<usize> = self.brackets.trim_matches(['[', ']']).trim().parse().ok();
        let divided = || {
            // An array of a type that is only known to the kernel: an enum, a typedef.
            let (stretch, count) = (stretch?, declared?);
            let size = stretch.checked_div(count)?;
            (size.checked_mul(count) == Some(stretch) && !self.is_aggregate()).then_some(size)
        };
        match integer_size(self.words, long).or_else(divided) {
            Some(size @ (1 | 2 | 4 | 8)) => Content::Integers(Element { size, signed }),
            _ => Content::Bytes,
        }
    }

    fn is_aggregate(&self) -> bool {
        !self.words.contains('*') && words(self.words).any(|word| matches!(word, "struct" | "union"))
    }
}

/// Splits the groups of brackets at the end off.
fn brackets_behind(text: &str) -> (&str, &str) {
    let mut front = text.trim_end();
    while front.ends_with(']') {
        let mut depth = 0usize;
        let open = front.char_indices().rev().find(|(_, letter)| {
            match letter {
                ']' => depth += 1,
                '[' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        match open {
            Some((at, _)) => front = front.get(..at).unwrap_or_default().trim_end(),
            None => break,
        }
    }
    (front, text.get(front.len()..).unwrap_or_default().trim())
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name) && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !is_of_name(letter)).filter(|word| !word.is_empty())
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "__data_loc" | "__rel_loc" | "__user")
}

/// The size of an integer type by its words; `None` for a type whose size only the kernel's own sources tell.
fn integer_size(text: &str, long: LongSize) -> Option<usize> {
    if text.trim_end().ends_with('*') {
        return Some(long.bytes());
    }
    let mut longs = 0;
    let mut size = None;
    for word in words(text).filter(|word| !is_qualifier(word)) {
        let of_word = match word {
            "signed" | "unsigned" | "int" => size.or(Some(4)),
            "long" => {
                longs += 1;
                size
            }
            "char" | "bool" | "_Bool" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" => Some(1),
            "short" | "u16" | "s16" | "__u16" | "__s16" | "uint16_t" | "int16_t" | "__le16" | "__be16" => Some(2),
            "u32" | "s32" | "__u32" | "__s32" | "uint32_t" | "int32_t" | "__le32" | "__be32" | "pid_t" => Some(4),
            "u64" | "s64" | "__u64" | "__s64" | "uint64_t" | "int64_t" | "__le64" | "__be64" => Some(8),
            "size_t" | "ssize_t" | "uintptr_t" => Some(long.bytes()),
            _ => return None,
        };
        size = of_word;
    }
    match longs {
        0 => size,
        1 => Some(long.bytes()),
        _ => Some(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str, size: usize, signed: bool) -> FieldKind {
        Declaration::read(text).unwrap().kind(size, signed, LongSize::Eight)
    }

    fn integers(size: usize, signed: bool) -> Content {
        Content::Integers(Element { size, signed })
    }

    #[test]
    fn declarations_that_kernels_write() {
        use FieldKind::{Array, DataLoc, Integer, Pointer, RelLoc, Tail};
        let mask = Content::Mask(Element { size: 8, signed: false });
        for (text, size, name, declared, expected) in [
            ("unsigned short common_type", 2, "common_type", "unsigned short", Integer),
            ("enum hrtimer_mode mode", 4, "mode", "enum hrtimer_mode", Integer),
            // As system calls have it: an int in 8 bytes.
            ("int dfd", 8, "dfd", "int", Integer),
            ("const char * str", 8, "str", "const char *", Pointer),
            ("const char *const * argv", 8, "argv", "const char *const *", Pointer),
            ("void *ptr", 8, "ptr", "void *", Pointer),
            ("char prev_comm[16]", 16, "prev_comm", "char[16]", Array(Content::Text)),
            ("char func[TRACE_FUNC_SIZE+1]", 31, "func", "char[TRACE_FUNC_SIZE+1]", Array(Content::Text)),
            ("const char name[4]", 4, "name", "const char[4]", Array(Content::Text)),
            ("unsigned char data[4]", 4, "data", "unsigned char[4]", Array(integers(1, false))),
            ("unsigned long args[6]", 48, "args", "unsigned long[6]", Array(integers(8, false))),
            ("__u8 saddr_v6[16]", 16, "saddr_v6", "__u8[16]", Array(integers(1, false))),
            ("u32 x[2][3]", 24, "x", "u32[2][3]", Array(integers(4, false))),
            ("u64 stk[]", 384, "stk", "u64[]", Array(integers(8, false))),
            ("dev_t devs[3]", 12, "devs", "dev_t[3]", Array(integers(4, false))),
            ("void * ptrs[2]", 16, "ptrs", "void *[2]", Array(integers(8, false))),
            ("struct list_head heads[2]", 16, "heads", "struct list_head[2]", Array(Content::Bytes)),
            ("struct in_addr addr", 4, "addr", "struct in_addr", Array(Content::Bytes)),
            ("struct nothing empty", 0, "empty", "struct nothing", Array(Content::Bytes)),
            ("__int128 wide", 16, "wide", "__int128", Array(Content::Bytes)),
            ("char buf[]", 0, "buf", "char[]", Tail(Content::Text)),
            ("char buf", 0, "buf", "char", Tail(Content::Text)),
            ("u32 buf[]", 0, "buf", "u32[]", Tail(integers(4, false))),
            ("__data_loc char[] name", 4, "name", "__data_loc char[]", DataLoc(Content::Text)),
            ("__data_loc u8[] buf", 4, "buf", "__data_loc u8[]", DataLoc(integers(1, false))),
            ("__data_loc unsigned[] a", 4, "a", "__data_loc unsigned[]", DataLoc(integers(4, false))),
            ("__data_loc unsigned long[] a", 4, "a", "__data_loc unsigned long[]", DataLoc(integers(8, false))),
            ("__data_loc cpumask_t cpus", 4, "cpus", "__data_loc cpumask_t", DataLoc(mask)),
            ("__data_loc cpumask_t *[] cpus", 4, "cpus", "__data_loc cpumask_t *[]", DataLoc(mask)),
            ("__data_loc struct x[] xs", 4, "xs", "__data_loc struct x[]", DataLoc(Content::Bytes)),
            ("__rel_loc char[] name", 4, "name", "__rel_loc char[]", RelLoc(Content::Text)),
            ("int (*fn)(void *, int)", 8, "fn", "int", Integer),
        ] {
            let declaration = Declaration::read(text).unwrap();
            assert_eq!((declaration.name, declaration.declared().as_str()), (name, declared));
            assert_eq!(kind(text, size, false), expected, "{text}");
        }
        assert_eq!(kind("s16 x[4]", 8, true), Array(integers(2, true)));
        assert_eq!(kind("unsigned long long int x[2]", 16, false), Array(integers(8, false)));
    }

    #[test]
    fn the_kernel_s_long_counts() {
        let kind = |text, size| Declaration::read(text).unwrap().kind(size, false, LongSize::Four);
        assert_eq!(kind("unsigned long x[]", 8), FieldKind::Array(integers(4, false)));
        assert_eq!(kind("unsigned long long x[]", 8), FieldKind::Array(integers(8, false)));
        assert_eq!(kind("__data_loc long[] x", 4), FieldKind::DataLoc(integers(4, false)));
    }

    #[test]
    fn what_is_no_declaration_is_none() {
        for text in ["", "int", "[3]", "a b]", "int 3x", "struct { int a; }", "]]]] x[", "é[", "int (*)(void)", "u8 +"]
        {
            assert_eq!(Declaration::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_sign_of_types_where_the_kernel_does_not_say() {
        let signed = |text| Declaration::read(text).unwrap().is_signed(LongSize::Eight);
        assert!(signed("int x") && signed("long long x") && signed("pid_t x") && signed("s16 x"));
        assert!(!signed("unsigned int x") && !signed("u32 x") && !signed("char *x") && !signed("dev_t x"));
    }
}
