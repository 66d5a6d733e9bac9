//! `tsv` lines: `number:initial value:builtin:name`, the name in hexadecimal.
//!
//! The words are those of a `qTfV` reply (gdb's tracepoint.c, `parse_tsv_definition`).

use super::text;
use crate::trace::TraceStateVariable;

/// Reads the line behind `tsv `.
pub(super) fn parse(bytes: &[u8]) -> Result<TraceStateVariable, String> {
    let piece = text::packet_text(bytes)?;
    let fields: Vec<&str> = piece.splitn(5, ':').collect();
    let [number, initial, builtin, name] = fields[..] else {
        return Err(format!("found {}, expected number:value:builtin:name", text::quote(bytes)));
    };
    Ok(TraceStateVariable {
        number: text::number(number)?,
        initial: text::unsigned(initial)?.cast_signed(),
        builtin: text::unsigned(builtin)? != 0,
        name: String::from_utf8_lossy(&text::string(name)?).into_owned(),
        piece: piece.to_owned(),
    })
}

/// The definition in the remote protocol's words.
pub fn piece(variable: &TraceStateVariable) -> String {
    let TraceStateVariable { number, initial, builtin, name, .. } = variable;
    format!("{number:x}:{initial:x}:{:x}:{}", u8::from(*builtin), hex::encode(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_values_are_two_s_complement() {
        let line = "3:fffffffffffffff9:0:6e6567";
        let variable = parse(line.as_bytes()).unwrap();
        assert_eq!((variable.number, variable.initial, variable.builtin), (3, -7, false));
        assert_eq!(variable.name, "neg");
        assert_eq!(piece(&variable), line);
    }

    #[test]
    fn malformed_lines_are_refused() {
        for bad in ["", "1", "1:0:0", "1:0:0:6", "1:0:0:zz", "100000000:0:0:61", "1:-7:0:61", "1:0:0:61:0"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
