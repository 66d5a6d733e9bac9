//! One line of a description of fields, as the kernel writes them in `format` and `header_page`.

/// `field:TYPE NAME;`, `offset:N;`, `size:N;`, `signed:N;`, in one line with tabs between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldLine<'a> {
    /// Type and name, as in C but for arrays.
    pub(super) declaration: &'a str,
    /// Offset in bytes.
    pub(super) offset: usize,
    /// Size in bytes.
    pub(super) size: usize,
    /// Whether it has a sign; kernels before 2.6.33 do not say.
    pub(super) signed: Option<bool>,
}

impl<'a> FieldLine<'a> {
    /// Reads a line; `None` if it is none of a field, and words if it is not whole.
    pub(super) fn read(line: &'a str) -> Option<Result<FieldLine<'a>, String>> {
        let line = line.trim();
        // Old kernels call a field that was not made by the macros special.
        let rest = line.strip_prefix("field:").or_else(|| line.strip_prefix("field special:"))?;
        Some(FieldLine::of(rest).ok_or_else(|| {
            let shown: String = line.chars().take(80).collect();
            format!("the field {shown:?} has no declaration, offset and size")
        }))
    }

    fn of(rest: &'a str) -> Option<FieldLine<'a>> {
        let (declaration, rest) = rest.split_once(';')?;
        let (mut offset, mut size, mut signed) = (None, None, None);
        for part in rest.split(';') {
            match part.trim().split_once(':') {
                Some(("offset", number)) => offset = number.trim().parse::<u32>().ok(),
                Some(("size", number)) => size = number.trim().parse::<u32>().ok(),
                Some(("signed", number)) => signed = Some(number.trim() != "0"),
                _ => {}
            }
        }
        let (offset, size) = (usize::try_from(offset?).ok()?, usize::try_from(size?).ok()?);
        Some(FieldLine { declaration: declaration.trim(), offset, size, signed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_ages() {
        let line = |text| FieldLine::read(text).unwrap().unwrap();
        let now = line("\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;");
        assert_eq!(now, FieldLine { declaration: "pid_t prev_pid", offset: 24, size: 4, signed: Some(true) });
        let old = line("\tfield special:char buf;\toffset:12;\tsize:0;");
        assert_eq!(old, FieldLine { declaration: "char buf", offset: 12, size: 0, signed: None });
        assert_eq!(FieldLine::read("print fmt: \"field:x;\""), None);
        for cut in ["field:int a", "field:int a;", "field:int a; offset:1;", "field:int a; offset:-1; size:4;"] {
            assert!(FieldLine::read(cut).unwrap().unwrap_err().starts_with("the field \"field:int a"), "{cut}");
        }
    }
}
