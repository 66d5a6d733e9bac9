//! The user's words for a place in the program (gdb manual, "Location Specifications").
//!
//! Read as far as they can name a place in the program file. gdb stores them with each tracepoint.

/// What the words name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location<'text> {
    /// `case.c:19`
    Line {
        /// The source file.
        file: &'text str,
        /// The line.
        line: u64,
    },
    /// `step`, `case.c:step`: a place in the function that gdb chooses.
    Function(&'text str),
    /// `*step+4`: that many bytes behind the function's first address, modulo 2^64.
    Code(&'text str, u64),
}

/// Reads the words; `None` if they name no place in a file: an address by itself, a line of an unnamed file.
pub(super) fn parse(words: &str) -> Option<Location<'_>> {
    let words = words.trim();
    if let Some(expression) = words.strip_prefix('*') {
        return code(expression);
    }
    if words.starts_with('-') {
        return explicit(words);
    }
    match file_and_rest(words) {
        Some((file, rest)) => match decimal(rest) {
            Some(line) => Some(Location::Line { file, line }),
            None => function(rest),
        },
        None if decimal(words).is_some() || words.starts_with('+') => None,
        None => function(words),
    }
}

/// The address that words give as a number: `*0x1234`.
pub(super) fn address(words: &str) -> Option<u64> {
    number(words.trim().strip_prefix('*')?)
}

fn decimal(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

fn function(text: &str) -> Option<Location<'_>> {
    // gdb's own spelling of a C++ function has its parameters.
    let name = text.split_once('(').map_or(text, |(name, _)| name);
    let name = name.trim().trim_matches(['\'', '"']);
    (!name.is_empty()).then_some(Location::Function(name))
}

/// Splits at the colon behind a file name, which is none of `::` and not that of a drive letter.
fn file_and_rest(words: &str) -> Option<(&str, &str)> {
    let bytes = words.as_bytes();
    let is = |at: Option<usize>, byte: u8| at.and_then(|at| bytes.get(at)).is_some_and(|found| *found == byte);
    let colon = words.char_indices().find(|(at, letter)| {
        let behind = at.checked_add(1);
        let is_drive = *at == 1 && (is(behind, b'\\') || is(behind, b'/'));
        *letter == ':' && !is_drive && !is(behind, b':') && !is(at.checked_sub(1), b':')
    });
    let (file, rest) = words.split_at_checked(colon?.0)?;
    let file = file.trim().trim_matches(['\'', '"']);
    (!file.is_empty()).then_some((file, rest.strip_prefix(':')?))
}

/// `step`, `step+4`, `step + 0x4`, `(step-4)`; a number alone tells nothing.
fn code(expression: &str) -> Option<Location<'_>> {
    let expression = expression.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let sign = expression.char_indices().rev().find(|(_, letter)| matches!(letter, '+' | '-'));
    let (name, offset) = match sign {
        None => (expression, 0),
        Some((at, letter)) => {
            let (name, offset) = expression.split_at_checked(at)?;
            let offset = number(offset.get(1..)?)?;
            (name, if letter == '-' { 0u64.wrapping_sub(offset) } else { offset })
        }
    };
    let name = name.trim().trim_start_matches('&').trim_matches(['\'', '"']);
    let begins_as_a_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    begins_as_a_name.then_some(Location::Code(name, offset))
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `-source case.c -line 19`, `-function step`.
fn explicit(words: &str) -> Option<Location<'_>> {
    let mut words = words.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    let (mut file, mut name, mut line) = (None, None, None);
    while let Some(option) = words.next() {
        match option {
            "-qualified" => {}
            "-source" => file = words.next(),
            "-function" => name = words.next(),
            "-line" => line = words.next(),
            _ => return None,
        }
    }
    match (file, name, line) {
        // A line given with a function counts from the function's first line, which only its source tells.
        (_, Some(_), Some(_)) => None,
        (_, Some(name), None) => function(name),
        (Some(file), None, Some(line)) => Some(Location::Line { file, line: decimal(line)? }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_that_gdb_stores() {
        let line = |file, line| Some(Location::Line { file, line });
        assert_eq!(parse("case.c:19"), line("case.c", 19));
        assert_eq!(parse("/home/user/my src/case.c:19"), line("/home/user/my src/case.c", 19));
        assert_eq!(parse("C:\\work\\case.c:7"), line("C:\\work\\case.c", 7));
        assert_eq!(parse("-source case.c -line 19"), line("case.c", 19));
        assert_eq!(parse("step"), Some(Location::Function("step")));
        assert_eq!(parse("case.c:step"), Some(Location::Function("step")));
        assert_eq!(parse("-qualified -function ns::f"), Some(Location::Function("ns::f")));
        assert_eq!(parse("ns::f(int, char)"), Some(Location::Function("ns::f")));
        assert_eq!(parse("case.cc:ns::f"), Some(Location::Function("ns::f")));
        assert_eq!(parse("*step"), Some(Location::Code("step", 0)));
        assert_eq!(parse("*step+4"), Some(Location::Code("step", 4)));
        assert_eq!(parse("*(&step + 0x10)"), Some(Location::Code("step", 0x10)));
        assert_eq!(parse("*step-1"), Some(Location::Code("step", u64::MAX)));
    }

    #[test]
    fn words_that_name_no_place_in_a_file() {
        for words in ["", "*0x1234", "*1234", "19", "+3", "-line 19", "-probe x:y", "*", "*step+x", "*$pc", "*+4"] {
            assert_eq!(parse(words), None, "{words}");
        }
        assert_eq!(
            ["*0x1234", " *1234 ", "1234", "*step", "*"].map(address),
            [Some(0x1234), Some(1234), None, None, None]
        );
    }

    #[test]
    fn odd_words_are_survived() {
        for words in
            [":", "::", "ä:ö", "*ä+ö", "a:", ":19", "-", "'", "*-", "x:99999999999999999999", "(", "\u{1f980}::"]
        {
            let _ = parse(words);
        }
        assert_eq!(parse(":19"), Some(Location::Function(":19")));
    }
}
