//! `tp` lines: the pieces of tracepoint definitions.
//!
//! The words are those of a `qTfP` reply (gdb's tracepoint.c, `parse_tracepoint_definition`); every piece begins with
//! its kind, the tracepoint's number and the address:
//!
//! * `T n:addr:E|D:step:pass[:Fsize][:S][:Xlen,bytes]` defines one location;
//! * `A n:addr:action` and `S n:addr:action` say what is collected at a hit and at each step;
//! * `Z n:addr:at|cond|cmd:start:len:hex` is what the user typed, or a part of it;
//! * `V n:addr:hits:usage` counts hits and bytes of the trace buffer.

use std::collections::HashMap;

use super::text;
use crate::trace::{Condition, Damage, DamageList, SourceStrings, Tracepoint, TracepointKind};

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It belongs to a tracepoint now.
    Taken,
    /// Its kind has no meaning known here.
    Unknown,
}

/// Tracepoints while their pieces come in, in any order.
#[derive(Debug, Default)]
pub(super) struct Tracepoints {
    growing: Vec<Growing>,
    by_location: HashMap<(i32, u64), usize>,
}

/// One location of a tracepoint.
#[derive(Debug)]
struct Growing {
    /// Offset of the first line that names it.
    at: u64,
    defined: bool,
    tracepoint: Tracepoint,
    source: Option<GrowingString>,
}

/// A source string of which a part is there.
#[derive(Debug)]
struct GrowingString {
    /// Offset of the line with its first part.
    at: u64,
    kind: String,
    bytes: Vec<u8>,
    /// How many bytes it is to have.
    length: u64,
    /// The piece that the parts make together.
    piece: String,
}

impl Tracepoints {
    /// Takes the line behind `tp `, which lies at offset `at`.
    pub fn add(&mut self, at: u64, bytes: &[u8], damage: &mut DamageList) -> Result<Outcome, String> {
        let piece = text::packet_text(bytes)?;
        let Some((kind, rest)) = piece.split_at_checked(1).filter(|(kind, _)| "TASZV".contains(kind)) else {
            return Ok(Outcome::Unknown);
        };
        let mut fields = rest.splitn(3, ':');
        let (Some(number), Some(address), Some(rest)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(format!("found {}, expected a number, an address and more", text::quote(bytes)));
        };
        let (number, address) = (text::number(number)?, text::unsigned(address)?);
        match kind {
            "T" => {
                let definition = Definition::parse(rest)?;
                if let Some(unknown) = definition.unknown {
                    let what =
                        format!("the field {} of tracepoint {number} is unknown", text::quote(unknown.as_bytes()));
                    damage.push(Damage { at, frame: None, what });
                }
                let growing = self.location(at, number, address);
                growing.defined = true;
                definition.apply(&mut growing.tracepoint);
            }
            "A" => self.location(at, number, address).tracepoint.actions.push(rest.to_owned()),
            "S" => self.location(at, number, address).tracepoint.step_actions.push(rest.to_owned()),
            "V" => {
                let (hits, usage) = counts(rest)?;
                let tracepoint = &mut self.location(at, number, address).tracepoint;
                // gdb adds repeated counts up.
                tracepoint.hits = Some(tracepoint.hits.unwrap_or(0).saturating_add(hits));
                tracepoint.usage = Some(tracepoint.usage.unwrap_or(0).saturating_add(usage));
            }
            _ => {
                let part = SourcePart::parse(rest)?;
                self.location(at, number, address).source_part(at, piece, &part, damage)?;
                return Ok(Outcome::Taken);
            }
        }
        self.location(at, number, address).tracepoint.pieces.push(piece.to_owned());
        Ok(Outcome::Taken)
    }

    fn location(&mut self, at: u64, number: i32, address: u64) -> &mut Growing {
        let index = *self.by_location.entry((number, address)).or_insert_with(|| {
            self.growing.push(Growing {
                at,
                defined: false,
                tracepoint: Tracepoint { enabled: false, ..Tracepoint::new(number, address) },
                source: None,
            });
            self.growing.len() - 1
        });
        &mut self.growing[index]
    }

    /// Every location that is defined, in the order in which the file first names them.
    pub fn finish(self, damage: &mut DamageList) -> Vec<Tracepoint> {
        let mut tracepoints = Vec::new();
        for mut growing in self.growing {
            growing.close_source(damage);
            let Growing { at, defined, tracepoint, .. } = growing;
            if defined {
                tracepoints.push(tracepoint);
                continue;
            }
            // gdb ends with an internal error when it is given the other pieces alone.
            let Tracepoint { number, address, .. } = tracepoint;
            let what = format!("tracepoint {number} at {address:#x} has no definition (a `tp T` line) and is left out");
            damage.push(Damage { at, frame: None, what });
        }
        tracepoints
    }
}

impl Growing {
    /// Takes a source string, or a part of one. gdb puts no parts together, so the parts become one piece.
    fn source_part(
        &mut self,
        at: u64,
        piece: &str,
        part: &SourcePart<'_>,
        damage: &mut DamageList,
    ) -> Result<(), String> {
        let bytes = text::string(part.hexadecimal)?;
        if part.start == 0 {
            self.close_source(damage);
            let (kind, piece) = (part.kind.to_owned(), piece.to_owned());
            self.source = Some(GrowingString { at, kind, bytes, length: part.length, piece });
        } else {
            let follows = |source: &&mut GrowingString| {
                (source.kind.as_str(), source.bytes.len() as u64, source.length) == (part.kind, part.start, part.length)
            };
            let Some(source) = self.source.as_mut().filter(follows) else {
                let piece = text::quote(piece.as_bytes());
                return Err(format!("found {piece}, a part of a source string without the part before it"));
            };
            source.bytes.extend_from_slice(&bytes);
            source.piece.push_str(part.hexadecimal);
        }
        if self.source.as_ref().is_some_and(|source| source.bytes.len() as u64 >= source.length) {
            self.close_source(damage);
        }
        Ok(())
    }

    fn close_source(&mut self, damage: &mut DamageList) {
        let Some(GrowingString { at, kind, bytes, length, piece }) = self.source.take() else { return };
        let Tracepoint { number, source, pieces, .. } = &mut self.tracepoint;
        let found = bytes.len() as u64;
        // gdb evaluates conditions and commands, so half of one is not passed on.
        let lost = if found < length { ", and is left out" } else { "" };
        if found != length {
            let what =
                format!("source string `{kind}` of tracepoint {number} has {found} bytes, expected {length}{lost}");
            damage.push(Damage { at, frame: None, what });
        }
        if found < length {
            return;
        }
        pieces.push(piece);
        let string = String::from_utf8_lossy(&bytes).into_owned();
        match kind.as_str() {
            "at" => source.at = Some(string),
            "cond" => source.condition = Some(string),
            _ => source.commands.push(string),
        }
    }
}

/// What a `T` piece says.
struct Definition<'a> {
    enabled: bool,
    step_count: u64,
    pass_count: u64,
    kind: TracepointKind,
    condition: Option<&'a str>,
    /// A field of a kind that is not known, and all behind it.
    unknown: Option<&'a str>,
}

impl<'a> Definition<'a> {
    fn parse(text: &'a str) -> Result<Definition<'a>, String> {
        let mut fields = text.split(':');
        let mut field = |what| fields.next().ok_or_else(|| format!("the definition has no {what}"));
        let enabled = match field("state")? {
            "E" => true,
            "D" => false,
            other => return Err(format!("found {}, expected E or D", text::quote(other.as_bytes()))),
        };
        let step_count = text::unsigned(field("step count")?)?;
        let pass_count = text::unsigned(field("pass count")?)?;
        let kind = TracepointKind::Trap;
        let mut definition = Definition { enabled, step_count, pass_count, kind, condition: None, unknown: None };
        for field in fields {
            if let Some(size) = field.strip_prefix('F') {
                definition.kind = TracepointKind::Fast(text::unsigned(size)?);
            } else if field == "S" {
                definition.kind = TracepointKind::Static;
            } else if let Some(condition) = field.strip_prefix('X') {
                definition.condition = Some(bytecode(condition)?);
            } else {
                definition.unknown = Some(field);
                break;
            }
        }
        Ok(definition)
    }

    fn apply(self, tracepoint: &mut Tracepoint) {
        tracepoint.enabled = self.enabled;
        tracepoint.step_count = self.step_count;
        tracepoint.pass_count = self.pass_count;
        tracepoint.kind = self.kind;
        tracepoint.condition = self.condition.map(|bytecode| Condition { bytecode: bytecode.to_owned() });
    }
}

/// The bytecode of `len,bytes`. gdb believes the length, so a wrong one is not passed on.
fn bytecode(text: &str) -> Result<&str, String> {
    let Some((length, bytecode)) = text.split_once(',') else {
        return Err(format!("the condition is {}, expected length,bytes", text::quote(text.as_bytes())));
    };
    let (length, found) = (text::unsigned(length)?, text::string(bytecode)?.len());
    if found as u64 != length {
        return Err(format!("the condition has {found} bytes of bytecode, expected {length}"));
    }
    Ok(bytecode)
}

/// What a `Z` piece says.
struct SourcePart<'a> {
    kind: &'a str,
    /// Offset of the part in the string, in bytes.
    start: u64,
    /// Length of the whole string, in bytes.
    length: u64,
    hexadecimal: &'a str,
}

impl<'a> SourcePart<'a> {
    fn parse(text: &'a str) -> Result<SourcePart<'a>, String> {
        let fields: Vec<&str> = text.splitn(5, ':').collect();
        let [kind @ ("at" | "cond" | "cmd"), start, length, hexadecimal] = fields[..] else {
            return Err(format!(
                "found {}, expected at, cond or cmd, a start, a length and bytes",
                text::quote(text.as_bytes())
            ));
        };
        text::string(hexadecimal)?;
        Ok(SourcePart { kind, start: text::unsigned(start)?, length: text::unsigned(length)?, hexadecimal })
    }
}

/// Hits and bytes of the trace buffer of a `V` piece. What follows them is for later versions (gdb's tracepoint.c,
/// `parse_tracepoint_status`).
fn counts(text: &str) -> Result<(u64, u64), String> {
    let mut fields = text.split(':');
    let (Some(hits), Some(usage)) = (fields.next(), fields.next()) else {
        return Err(format!("found {}, expected hits:usage", text::quote(text.as_bytes())));
    };
    Ok((text::unsigned(hits)?, text::unsigned(usage)?))
}

/// The definition in the remote protocol's words, for a tracepoint that has no recorded pieces.
pub fn pieces(tracepoint: &Tracepoint) -> Vec<String> {
    let place = format!("{:x}:{:x}", tracepoint.number, tracepoint.address);
    let state = if tracepoint.enabled { 'E' } else { 'D' };
    let mut definition = format!("T{place}:{state}:{:x}:{:x}", tracepoint.step_count, tracepoint.pass_count);
    match tracepoint.kind {
        TracepointKind::Trap => {}
        TracepointKind::Fast(size) => definition += &format!(":F{size:x}"),
        TracepointKind::Static => definition += ":S",
    }
    if let Some(Condition { bytecode }) = &tracepoint.condition {
        definition += &format!(":X{:x},{bytecode}", bytecode.len() / 2);
    }
    let mut pieces = vec![definition];
    pieces.extend(tracepoint.actions.iter().map(|action| format!("A{place}:{action}")));
    pieces.extend(tracepoint.step_actions.iter().map(|action| format!("S{place}:{action}")));
    pieces.extend(source_pieces(&place, &tracepoint.source));
    if tracepoint.hits.is_some() || tracepoint.usage.is_some() {
        let (hits, usage) = (tracepoint.hits.unwrap_or(0), tracepoint.usage.unwrap_or(0));
        pieces.push(format!("V{place}:{hits:x}:{usage:x}"));
    }
    pieces
}

/// The recorded pieces with other source strings in place of the recorded ones.
pub fn pieces_with_source(tracepoint: &Tracepoint, source: &SourceStrings) -> Vec<String> {
    let recorded = &tracepoint.pieces;
    // gdb knows by number and address, as the definition spells them, to which tracepoint a piece belongs.
    let definition = recorded.iter().find_map(|piece| piece.strip_prefix('T'));
    let Some(place) = definition.and_then(|definition| {
        let end = definition.match_indices(':').nth(1)?.0;
        definition.get(..end)
    }) else {
        return recorded.clone();
    };
    let begin = recorded.iter().position(|piece| piece.starts_with(['Z', 'V'])).unwrap_or(recorded.len());
    let (before, behind) = recorded.split_at_checked(begin).unwrap_or((recorded, &[]));
    let behind = behind.iter().filter(|piece| !piece.starts_with('Z')).cloned();
    before.iter().cloned().chain(source_pieces(place, source)).chain(behind).collect()
}

/// The `Z` pieces of the tracepoint at a place, `NUMBER:ADDRESS`.
fn source_pieces(place: &str, source: &SourceStrings) -> Vec<String> {
    let SourceStrings { at, condition, commands } = source;
    let strings = at.iter().map(|at| ("at", at)).chain(condition.iter().map(|condition| ("cond", condition)));
    let strings = strings.chain(commands.iter().map(|command| ("cmd", command)));
    let piece =
        |(kind, string): (&str, &String)| format!("Z{place}:{kind}:0:{:x}:{}", string.len(), hex::encode(string));
    strings.map(piece).collect()
}

/// Whether the counts of `V` pieces may be misread, in words.
///
/// gdbserver 13.1 answers `qTP` in decimal, and gdb reads and saves the digits as hexadecimal. A digit above 9
/// anywhere shows that the file was made otherwise.
pub(super) fn ambiguous_counts(tracepoints: &[Tracepoint]) -> Option<String> {
    let mut first = None;
    for tracepoint in tracepoints {
        for (what, count) in [("hit count", tracepoint.hits), ("trace buffer usage", tracepoint.usage)] {
            let Some(count) = count else { continue };
            let digits = format!("{count:x}");
            let decimal: u64 = digits.parse().ok()?;
            if decimal != count && first.is_none() {
                first = Some(format!(
                    "gdbserver 13.1 writes counts in decimal and gdb reads them as hexadecimal, so the {what} \
                     `{digits}` of tracepoint {} may mean {decimal} or {count}, and so may all counts of this file",
                    tracepoint.number
                ));
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> (Vec<Tracepoint>, Vec<String>) {
        let mut damage = DamageList::default();
        let mut tracepoints = Tracepoints::default();
        for (at, line) in lines.iter().enumerate() {
            match tracepoints.add(at as u64, line.as_bytes(), &mut damage) {
                Ok(outcome) => assert_eq!(outcome, Outcome::Taken, "{line}"),
                Err(what) => damage.push(Damage { at: at as u64, frame: None, what }),
            }
        }
        let tracepoints = tracepoints.finish(&mut damage);
        (tracepoints, damage.kept().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_piece_of_a_definition() {
        let lines = [
            "T2:401131:E:3:a:F5:X3,260427",
            "A2:401131:R03",
            "A2:401131:M-1,4040c0,4",
            "S2:401131:R0f",
            "Z2:401131:at:0:9:636173652e633a3139",
            "Z2:401131:cond:0:5:69203e2035",
            "Z2:401131:cmd:0:9:636f6c6c6563742069",
            "V2:401131:10:2420",
        ];
        let (tracepoints, damage) = read(&lines);
        assert_eq!(damage, [""; 0]);
        let [tracepoint] = &tracepoints[..] else { panic!("{tracepoints:?}") };
        assert_eq!((tracepoint.number, tracepoint.address, tracepoint.enabled), (2, 0x40_1131, true));
        assert_eq!((tracepoint.step_count, tracepoint.pass_count), (3, 10));
        assert_eq!(tracepoint.kind, TracepointKind::Fast(5));
        assert_eq!(tracepoint.condition, Some(Condition { bytecode: "260427".into() }));
        assert_eq!(tracepoint.actions, ["R03", "M-1,4040c0,4"]);
        assert_eq!(tracepoint.step_actions, ["R0f"]);
        assert_eq!(tracepoint.source.at.as_deref(), Some("case.c:19"));
        assert_eq!(tracepoint.source.condition.as_deref(), Some("i > 5"));
        assert_eq!(tracepoint.source.commands, ["collect i"]);
        assert_eq!((tracepoint.hits, tracepoint.usage), (Some(0x10), Some(0x2420)));
        assert_eq!(tracepoint.pieces, lines);
        assert_eq!(pieces(tracepoint), lines);
    }

    #[test]
    fn pieces_come_in_any_order_and_locations_stay_apart() {
        let (tracepoints, damage) =
            read(&["A3:20:R01", "T2:10:D:0:0:S", "T3:20:E:0:0", "T2:18:E:0:0", "Affffffff:0:R", "Tffffffff:0:E:0:0"]);
        assert_eq!(damage, [""; 0]);
        let found: Vec<_> = tracepoints.iter().map(|tracepoint| (tracepoint.number, tracepoint.address)).collect();
        assert_eq!(found, [(3, 0x20), (2, 0x10), (2, 0x18), (-1, 0)]);
        assert_eq!(tracepoints[0].pieces, ["A3:20:R01", "T3:20:E:0:0"]);
        assert_eq!(tracepoints[1].kind, TracepointKind::Static);
    }

    #[test]
    fn parts_of_a_source_string_are_joined() {
        let (tracepoints, damage) = read(&[
            "T1:8:E:0:0",
            "Z1:8:cond:0:5:6920",
            "Z1:8:cond:2:5:3e",
            "Z1:8:cond:3:5:2035",
            "Z1:8:cmd:0:1:61",
            "Z1:8:cmd:0:2:62",
            "Z1:8:cmd:1:2:63",
        ]);
        assert_eq!(damage, [""; 0]);
        assert_eq!(tracepoints[0].source.condition.as_deref(), Some("i > 5"));
        assert_eq!(tracepoints[0].source.commands, ["a", "bc"]);
        let joined = ["T1:8:E:0:0", "Z1:8:cond:0:5:69203e2035", "Z1:8:cmd:0:1:61", "Z1:8:cmd:0:2:6263"];
        assert_eq!(tracepoints[0].pieces, joined);
    }

    #[test]
    fn a_missing_part_is_named() {
        let (tracepoints, damage) = read(&["T1:8:E:0:0", "Z1:8:cmd:0:5:6920", "Z1:8:at:4:5:61", "Z1:8:cmd:3:5:61"]);
        assert_eq!(damage.len(), 3, "{damage:?}");
        let expected = "at byte 0x1: source string `cmd` of tracepoint 1 has 2 bytes, expected 5, and is left out";
        assert_eq!(damage[2], expected);
        assert_eq!(tracepoints[0].source.commands, [""; 0]);
        assert_eq!(tracepoints[0].pieces, ["T1:8:E:0:0"]);
    }

    #[test]
    fn a_string_that_is_longer_than_it_says_is_kept() {
        let (tracepoints, damage) = read(&["T1:8:E:0:0", "Z1:8:cmd:0:1:6162"]);
        assert_eq!(damage, ["at byte 0x1: source string `cmd` of tracepoint 1 has 2 bytes, expected 1"]);
        assert_eq!(tracepoints[0].source.commands, ["ab"]);
    }

    #[test]
    fn what_gdb_chokes_on_is_left_out_and_reported() {
        for bad in [
            "",
            "T",
            "T1:8",
            "T1:8:",
            "T1:8:E",
            "T1:8:E:0",
            "T1:8:X:0:0",
            "T1:8:E:0:0:X",
            "T1:8:E:0:0:Xff,27",
            "T1:8:E:0:0:X1,zz",
            "T1:8:E:0:0:Fx",
            "T100000000:8:E:0:0",
            "T1:10000000000000000:E:0:0",
            "A1:8",
            "A1:8:a#",
            "Z1:8:at",
            "Z1:8:at:0:2:6",
            "Z1:8:foo:0:1:61",
            "Z1:8:at:0:1:61:x",
            "V1:8:1",
            "V1:8::",
            "V1:8:1:-1",
        ] {
            let mut damage = DamageList::default();
            let mut tracepoints = Tracepoints::default();
            let outcome = tracepoints.add(0, bad.as_bytes(), &mut damage);
            assert!(outcome.is_err() || (bad.is_empty() && outcome == Ok(Outcome::Unknown)), "{bad}");
            assert!(tracepoints.finish(&mut damage).is_empty(), "{bad}");
        }
        let (tracepoints, damage) = read(&["A7:8:R01", "T1:8:E:0:0:Q1"]);
        assert_eq!(tracepoints.len(), 1);
        assert!(damage[0].contains("`Q1` of tracepoint 1 is unknown"), "{damage:?}");
        assert_eq!(damage[1], "at byte 0x0: tracepoint 7 at 0x8 has no definition (a `tp T` line) and is left out");
    }

    #[test]
    fn a_piece_of_an_unknown_kind_is_told_apart() {
        assert_eq!(Tracepoints::default().add(0, b"Q1:8:x", &mut DamageList::default()), Ok(Outcome::Unknown));
    }

    #[test]
    fn ambiguous_counts_are_named_unless_the_file_shows_its_base() {
        let remark = |lines: &[&str]| ambiguous_counts(&read(lines).0);
        let said = remark(&["T1:8:E:0:0", "V1:8:4:9", "T2:8:E:0:0", "V2:8:10:24170"]).unwrap();
        assert!(said.contains("hit count `10` of tracepoint 2 may mean 10 or 16"), "{said}");
        let said = remark(&["T1:8:E:0:0", "V1:8:4:9880"]).unwrap();
        assert!(said.contains("trace buffer usage `9880` of tracepoint 1 may mean 9880 or 39040"), "{said}");
        assert_eq!(remark(&["T1:8:E:0:0", "V1:8:4:9"]), None);
        assert_eq!(remark(&["T1:8:E:0:0", "V1:8:10:100", "T2:8:E:0:0", "V2:8:4:3a0"]), None);
    }
}
