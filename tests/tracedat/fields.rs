//! The fields of every event against what trace-cmd reads of them (`report -R`).

use traceframe::format::tracedat::Choices;

use super::answers::{answer, reported};
use super::frames::{Shown, fixture, open, shown};
use super::judged::RECORDINGS;

#[test]
fn every_field_is_what_trace_cmd_reads() {
    for (name, answers, _) in RECORDINGS {
        if answers == "options-v7-zlib" {
            // The same events as in clock-x86-tsc, with other times.
            continue;
        }
        let wanted = reported(&answer(answers, "report-R.txt"));
        let shown = shown(&*open(&fixture(name), Choices::default()));
        assert_eq!(shown.len(), wanted.len(), "{name}");
        let mut compared = 0;
        for (number, (seen, wanted)) in shown.iter().zip(&wanted).enumerate() {
            let (seen_by, wanted_by) = ((seen.variable("cpu"), &seen.event), (wanted.cpu, &wanted.event));
            assert_eq!(seen_by, wanted_by, "{name}, frame {number}");
            for (field, value) in fields(&wanted.event, &wanted.text) {
                compare(seen, field, value, &format!("{name}, frame {number}, {}", wanted.event));
                compared += 1;
            }
        }
        assert!(compared > shown.len(), "{name}: {compared} fields");
    }
}

/// Names and values: `prev_comm=cc1 prev_pid=1439`.
fn fields<'t>(event: &str, text: &'t str) -> Vec<(&'t str, &'t str)> {
    if event == "print" {
        // The text of a marker may hold anything.
        let (ip, buf) = text.split_once(" buf=").unwrap();
        return vec![("ip", ip.strip_prefix("ip=").unwrap().trim()), ("buf", buf)];
    }
    let mut starts: Vec<usize> = text
        .match_indices('=')
        .filter_map(|(at, _)| {
            let start = text[..at].rfind(' ').map_or(0, |space| space + 1);
            let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            is_name(&text[start..at]).then_some(start)
        })
        .collect();
    starts.push(text.len());
    starts.windows(2).map(|ends| text[ends[0]..ends[1]].trim_end().split_once('=').unwrap()).collect()
}

fn compare(seen: &Shown, field: &str, value: &str, place: &str) {
    // A field that has the name of a register is that register, in a probe's frame.
    let Some(variable) = seen.variables.get(&format!("field_{field}")).or_else(|| seen.variables.get(field)) else {
        let value = number(&seen.event, field, value).unwrap().cast_unsigned();
        assert_eq!(seen.registers.get(field), Some(&value), "{place}, {field}");
        return;
    };
    let place = format!("{place}, {field}={value}");
    if let Some(array) = value.strip_prefix("ARRAY[").and_then(|array| array.strip_suffix(']')) {
        let wanted: Vec<u8> = array.split(", ").map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let memory = seen.memory(*variable);
        // trace-cmd shows as many bytes of a stack as its format says, and reads past the record for them.
        let there = if seen.event == "kernel_stack" { memory.len().min(wanted.len()) } else { wanted.len() };
        assert_eq!(memory.get(..there), wanted.get(..there), "{place}");
        assert!(there > 0, "{place}");
    } else if let Some(number) = number(&seen.event, field, value) {
        // It shows shorter fields without their sign.
        let is_same = [u64::MAX, 0xffff_ffff, 0xffff].iter().any(|mask| {
            let unsigned = variable.cast_unsigned() & mask;
            unsigned == number.cast_unsigned() && (*mask == u64::MAX || *variable < 0)
        });
        assert!(is_same, "{place}: {variable}");
    } else {
        let memory = seen.memory(*variable);
        let text = memory.split(|byte| *byte == 0).next().unwrap();
        assert_eq!(String::from_utf8_lossy(text).trim_end(), value.trim_end(), "{place}");
    }
}

/// A number as a report spells it.
fn number(event: &str, field: &str, value: &str) -> Option<i64> {
    let bits = |digits: &str| u64::from_str_radix(digits, 16).ok().map(u64::cast_signed);
    let value = value.trim().strip_prefix('(').and_then(|value| value.strip_suffix(')')).unwrap_or(value);
    match value.strip_prefix("0x") {
        Some(digits) => bits(digits),
        None if field.starts_with("__probe") || (event, field) == ("raw_data", "id") => bits(value),
        None if field.ends_with("comm") => None,
        None => value.parse().ok(),
    }
}
