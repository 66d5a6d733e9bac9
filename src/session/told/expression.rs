//! What a user typed to collect, as far as it must be understood to leave parts of it out: gdb's tracepoint actions
//! (gdb manual, "Tracepoint Action Lists"), and the names in expressions of C and its relatives.

/// A command of an action list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Action<'text> {
    /// All of it.
    command: &'text str,
    /// What comes before its expressions: `collect`, `collect/s80`.
    head: &'text str,
    /// Its expressions.
    pub(super) expressions: Vec<&'text str>,
}

/// A name in an expression that must be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'text> {
    pub(super) text: &'text str,
    /// Whether it stands before or behind `::`, so that it need not be in scope.
    pub(super) is_qualified: bool,
    /// Whether its address is taken, or a cast tells its type: then gdb needs a symbol only.
    pub(super) is_typed: bool,
}

/// Words of the language, which are no names, and types that gdb knows without a program.
const WORDS: [&str; 23] = [
    "_Bool", "alignof", "bool", "char", "class", "const", "double", "enum", "false", "float", "int", "long",
    "operator", "short", "signed", "sizeof", "struct", "true", "typeof", "union", "unsigned", "void", "volatile",
];

impl<'text> Action<'text> {
    /// Reads a command.
    pub(super) fn read(command: &'text str) -> Action<'text> {
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        let mut rest = command.trim_start().trim_start_matches(is_word).trim_start();
        if rest.starts_with('/') {
            rest = rest.trim_start_matches(|letter: char| !letter.is_whitespace());
        }
        let head = command.strip_suffix(rest).unwrap_or(command).trim_end();
        Action { command, head, expressions: between_commas(rest) }
    }

    /// The command without some of its expressions; `None` where none is left.
    pub(super) fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Option<String> {
        let kept: Vec<&str> = self.expressions.iter().copied().filter(|expression| !is_left_out(expression)).collect();
        match kept.len() {
            all if all == self.expressions.len() => Some(self.command.to_owned()),
            0 => None,
            _ => Some(format!("{} {}", self.head, kept.join(", "))),
        }
    }
}

/// The parts of a list of expressions, without the blanks around them.
fn between_commas(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0usize, 0);
    for (at, token) in tokens(list) {
        match token {
            "(" | "[" | "{" => depth = depth.saturating_add(1),
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.extend(list.get(begin..at));
                begin = at.saturating_add(1);
            }
            _ => {}
        }
    }
    parts.extend(list.get(begin..));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The names in an expression, but for registers and variables of gdb's own (`$…`) and for members, which come with
/// what they are members of.
pub(super) fn names(expression: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    for (at, token) in tokens(expression) {
        let (before, behind) = expression.split_at_checked(at).unwrap_or_default();
        let behind = behind.strip_prefix(token).unwrap_or_default();
        let before = before.trim_end();
        let is_entry_value = token == "entry" && before.ends_with('@');
        let is_member = before.ends_with('.') || before.ends_with("->");
        let text = match token.chars().next() {
            Some(first) if is_first(first) => token,
            Some('\'') => quoted_name(token).unwrap_or_default(),
            _ => continue,
        };
        if !text.is_empty() && !is_entry_value && !is_member && !WORDS.contains(&text) {
            let is_qualified = before.ends_with("::") || behind.trim_start().starts_with("::");
            names.push(Name { text, is_qualified, is_typed: is_typed(before, behind.trim_start()) });
        }
    }
    names
}

/// Whether a cast or `&` applies to the name between, and to no part of what it names.
fn is_typed(before: &str, behind: &str) -> bool {
    let is_address = before.strip_suffix('&').is_some_and(|before| {
        let before = before.trim_end();
        before.is_empty()
            || before.ends_with(['(', '[', '{', ',', '=', '*', '+', '-', '!', '~', '<', '>', '|', '^', '?', ':'])
    });
    let goes_on = behind.starts_with(['.', '[', '(']) || behind.starts_with("->");
    (is_address || before.ends_with(')')) && !goes_on
}

/// A name in quotes, such as that of a file, and not a letter.
fn quoted_name(token: &str) -> Option<&str> {
    let inner = token.strip_prefix('\'')?.strip_suffix('\'')?;
    (inner.chars().nth(1).is_some() && !inner.starts_with('\\')).then_some(inner)
}

fn is_first(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

/// Names, numbers, `$…`, what is quoted, and single letters of anything else, with their places.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            '\'' | '"' => behind_quote(rest, first),
            '0'..='9' => rest.find(|letter| !is_part(letter) && letter != '.'),
            _ if is_first(first) || first == '$' => {
                rest.char_indices().skip(1).find(|(_, letter)| !is_part(*letter)).map(|(end, _)| end)
            }
            _ => Some(first.len_utf8()),
        };
        let (token, _) = rest.split_at_checked(length.unwrap_or(rest.len()))?;
        let begin = at;
        at = at.checked_add(token.len())?;
        Some((begin, token))
    })
}

/// Where what begins with a quote ends; nowhere where no second quote is.
fn behind_quote(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let is_end = *letter == quote && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|(at, _)| at.checked_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoped(expression: &str) -> Vec<&str> {
        names(expression).iter().filter(|name| !name.is_qualified).map(|name| name.text).collect()
    }

    fn qualified(expression: &str) -> Vec<&str> {
        names(expression).iter().filter(|name| name.is_qualified).map(|name| name.text).collect()
    }

    #[test]
    fn names_that_must_be_looked_up() {
        assert_eq!(scoped("queue->ring[next].id + limit"), ["queue", "next", "limit"]);
        assert_eq!(scoped("*(unsigned char *) $rsp@256"), [""; 0]);
        assert_eq!(scoped("*(struct point *) p"), ["point", "p"]);
        assert_eq!(scoped("x@entry + 0x1f + 1.5e3 + 10ul"), ["x"]);
        assert_eq!(scoped("$sum = $sum + sizeof (int)"), [""; 0]);
        assert_eq!(
            scoped("letter == 'a' || letter == '\\n' || strcmp(name, \"a b\")"),
            ["letter", "letter", "strcmp", "name"]
        );
        assert_eq!(scoped("größe - _x"), ["größe", "_x"]);
        assert_eq!(qualified("'file.c'::count + ns::x + ::y"), ["file.c", "count", "ns", "x", "y"]);
        assert_eq!(scoped(""), [""; 0]);
    }

    #[test]
    fn names_with_types_of_their_own() {
        let typed = |expression| names(expression).iter().map(|name| name.is_typed).collect::<Vec<_>>();
        assert_eq!(typed("(int) x + *&y + z"), [true, true, false]);
        assert_eq!(typed("x && y & z"), [false; 3]);
        assert_eq!(typed("(int) x.part + (int) y[1] + &z->part"), [false; 3], "the type of the whole is not told");
    }

    #[test]
    fn expressions_are_taken_out_of_commands() {
        let without = |command: &str, name: &str| Action::read(command).without(|part| scoped(part).contains(&name));
        assert_eq!(without("collect x, $args, $regs", "x").as_deref(), Some("collect $args, $regs"));
        assert_eq!(without("  collect/s80 x, f(x, y),z[1,2]", "y").as_deref(), Some("  collect/s80 x, z[1,2]"));
        assert_eq!(without("collect /s x,y", "y").as_deref(), Some("collect /s x"));
        assert_eq!(without("collect  x ,y", "z").as_deref(), Some("collect  x ,y"), "as it was");
        assert_eq!(without("collect x", "x"), None);
        assert_eq!(without("teval $sum = $sum + x", "x"), None);
        for plain in ["while-stepping 5", "end", "stepping 5", "ws", "", "collect"] {
            assert_eq!(without(plain, "x").as_deref(), Some(plain));
        }
    }

    #[test]
    fn odd_commands_are_survived() {
        for odd in [
            "collect '",
            "collect \"\\",
            "/",
            "collect/",
            "((,)",
            "collect ,,,",
            "ä,ö",
            "'\u{1f980}",
            "$",
            "collect $,@entry",
        ] {
            let action = Action::read(odd);
            assert_eq!(action.without(|_| false).as_deref(), Some(odd));
            let _ = action.without(|part| names(part).is_empty());
        }
    }
}
