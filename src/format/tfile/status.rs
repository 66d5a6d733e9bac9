//! The `status` line: whether it runs, then fields `;name:value`, the reason for the end the first of them.
//!
//! The words are those of a `qTStatus` reply (gdb manual, "Tracepoint Packets"; gdb's tracepoint.c,
//! `parse_trace_status`, and tracefile-tfile.c, `tfile_write_status`).

use super::text;
use crate::trace::{RunStatus, StopReason};

/// Every name gdb gives a meaning.
const KNOWN: [&str; 17] = [
    "tunknown",
    "tnotrun",
    "tstop",
    "tfull",
    "tdisconnected",
    "tpasscount",
    "terror",
    "tframes",
    "tcreated",
    "tfree",
    "tsize",
    "disconn",
    "circular",
    "starttime",
    "stoptime",
    "username",
    "notes",
];

/// The bits of the `int` in which gdb keeps a tracepoint's number.
const INT: i64 = 0xffff_ffff;

/// How many fields are kept; gdb writes fifteen.
const MOST_FIELDS: usize = 1000;

/// Reads the line behind `status `. What is wrong with a field goes to `report`, and the field is left out.
pub(super) fn parse(bytes: &[u8], report: &mut dyn FnMut(String)) -> Result<RunStatus, String> {
    let mut fields = bytes.split(|byte| *byte == b';');
    let running = match fields.next() {
        Some(b"0") => false,
        Some(b"1") => true,
        _ => return Err(format!("found {}, expected 0 or 1 and then fields", text::quote(bytes))),
    };
    let mut status = RunStatus { known: true, running, ..RunStatus::default() };
    for (place, field) in fields.by_ref().take(MOST_FIELDS).enumerate().filter(|(_, field)| !field.is_empty()) {
        if let Err(what) = add(&mut status, place, field) {
            report(format!("status field left out: {what}"));
        }
    }
    match fields.count() {
        0 => {}
        more => report(format!("{more} status fields behind the first {MOST_FIELDS} are left out")),
    }
    Ok(status)
}

fn add(status: &mut RunStatus, place: usize, field: &[u8]) -> Result<(), String> {
    let Some((name, value)) = text::packet_text(field)?.split_once(':') else {
        return Err(format!("found {}, expected name:value", text::quote(field)));
    };
    let string = || text::string(value).map(|bytes| Some(String::from_utf8_lossy(&bytes).into_owned()));
    let unsigned = || text::unsigned(value).map(Some);
    let flag = || text::unsigned(value).map(|value| Some(value != 0));
    match name {
        "tframes" => status.frames = unsigned()?,
        "tcreated" => status.created = unsigned()?,
        "tfree" => status.free = unsigned()?,
        "tsize" => status.size = unsigned()?,
        "circular" => status.circular = flag()?,
        "disconn" => status.disconnected = flag()?,
        "starttime" => status.start = unsigned()?,
        "stoptime" => status.stop = unsigned()?,
        "username" => status.user = string()?,
        "notes" => status.notes = string()?,
        _ if KNOWN.contains(&name) => status.stop_reason = reason(name, value)?,
        // gdb compares only as many characters as the name has, so it would take `t` for `tfull`.
        _ if KNOWN.iter().any(|known| known.starts_with(name)) => {
            return Err(format!("gdb would take the unknown name {} for another", text::quote(name.as_bytes())));
        }
        _ if place == 0 => status.stop_reason = StopReason::Other(format!("{name}:{value}")),
        _ => {}
    }
    status.fields.push((name.to_owned(), value.to_owned()));
    Ok(())
}

fn reason(name: &str, value: &str) -> Result<StopReason, String> {
    let described = || match value.split_once(':') {
        Some((note, number)) => Ok((String::from_utf8_lossy(&text::string(note)?).into_owned(), text::number(number)?)),
        None => Err(format!("{name} has {}, expected text:number", text::quote(value.as_bytes()))),
    };
    match name {
        // Older gdbs write no text.
        "tstop" if !value.contains(':') => text::number(value).map(|_| StopReason::Command(String::new())),
        "tstop" => described().map(|(note, _)| StopReason::Command(note)),
        "terror" => described().map(|(message, number)| StopReason::Error(message, number.into())),
        _ => {
            let number = text::number(value)?;
            Ok(match name {
                "tnotrun" => StopReason::NotRun,
                "tfull" => StopReason::BufferFull,
                "tdisconnected" => StopReason::Disconnected,
                "tpasscount" => StopReason::PassCount(number.into()),
                _ => StopReason::Unknown,
            })
        }
    }
}

/// The line behind `status `: the recorded fields where there are any, else what the model says.
pub(super) fn line(status: &RunStatus) -> String {
    let mut line = String::from(if status.running { "1" } else { "0" });
    let mut field = |name: &str, value: &str| {
        for part in [";", name, ":", value] {
            line.push_str(part);
        }
    };
    if !status.fields.is_empty() {
        for (name, value) in &status.fields {
            field(name, value);
        }
        return line;
    }
    match &status.stop_reason {
        StopReason::Unknown => field("tunknown", "0"),
        StopReason::NotRun => field("tnotrun", "0"),
        StopReason::Command(note) => field("tstop", &format!("{}:0", hex::encode(note))),
        StopReason::BufferFull => field("tfull", "0"),
        StopReason::Disconnected => field("tdisconnected", "0"),
        StopReason::PassCount(number) => field("tpasscount", &format!("{:x}", number & INT)),
        StopReason::Error(message, number) => field("terror", &format!("{}:{:x}", hex::encode(message), number & INT)),
        StopReason::Other(reason) => match reason.split_once(':') {
            Some((name, value)) => field(name, value),
            None => field(reason, "0"),
        },
    }
    for (name, value) in made_fields(status) {
        field(&name, &value);
    }
    line
}

/// The fields by what the model says, but for the reason of the end.
pub fn made_fields(status: &RunStatus) -> Vec<(String, String)> {
    let numbers = [
        ("tframes", status.frames),
        ("tcreated", status.created),
        ("tfree", status.free),
        ("tsize", status.size),
        ("disconn", status.disconnected.map(u64::from)),
        ("circular", status.circular.map(u64::from)),
        ("starttime", status.start),
        ("stoptime", status.stop),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, format!("{:x}", value?))));
    let texts = [("notes", &status.notes), ("username", &status.user)];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, hex::encode(text.as_ref()?))));
    numbers.chain(texts).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (RunStatus, Vec<String>) {
        let mut reports = Vec::new();
        let status = parse(line.as_bytes(), &mut |what| reports.push(what)).unwrap();
        (status, reports)
    }

    #[test]
    fn every_field_is_read_and_kept_as_spelled() {
        let line = "0;tstop:656e6f756768:0;tframes:a;tcreated:0b;tfree:4fa15a;tsize:500000;circular:1;disconn:0;\
                    starttime:793d05fc;stoptime:793D2e41;notes:6869;username:;later:x:y";
        let (status, reports) = read(line);
        assert_eq!(reports, [""; 0]);
        assert!(status.known && !status.running);
        assert_eq!(status.stop_reason, StopReason::Command("enough".into()));
        assert_eq!((status.frames, status.created), (Some(10), Some(11)));
        assert_eq!((status.free, status.size), (Some(0x4f_a15a), Some(0x50_0000)));
        assert_eq!((status.circular, status.disconnected), (Some(true), Some(false)));
        assert_eq!((status.start, status.stop), (Some(0x793d_05fc), Some(0x793d_2e41)));
        assert_eq!((status.notes.as_deref(), status.user.as_deref()), (Some("hi"), Some("")));
        assert_eq!(status.fields.last(), Some(&("later".to_owned(), "x:y".to_owned())));
        assert_eq!(super::line(&status), line);
    }

    #[test]
    fn every_stop_reason() {
        for (field, expected) in [
            ("tnotrun:0", StopReason::NotRun),
            ("tfull:0", StopReason::BufferFull),
            ("tdisconnected:0", StopReason::Disconnected),
            ("tunknown:0", StopReason::Unknown),
            ("tpasscount:2", StopReason::PassCount(2)),
            ("tpasscount:ffffffff", StopReason::PassCount(-1)),
            ("tstop:0", StopReason::Command(String::new())),
            ("tstop::0", StopReason::Command(String::new())),
            ("tstop:6f6b:0", StopReason::Command("ok".into())),
            ("terror:6f6b:3", StopReason::Error("ok".into(), 3)),
            ("tmoon:7", StopReason::Other("tmoon:7".into())),
        ] {
            let (status, reports) = read(&format!("0;{field};tframes:1"));
            assert_eq!((status.stop_reason, reports.len()), (expected, 0), "{field}");
            let spelled: Vec<String> = status.fields.iter().map(|(name, value)| format!("{name}:{value}")).collect();
            assert_eq!(spelled, [field, "tframes:1"]);
        }
    }

    #[test]
    fn a_field_that_gdb_chokes_on_is_left_out_and_reported() {
        for bad in [
            "tstop",
            "tstop:",
            "tframes:zz",
            "tframes:",
            "terror:5",
            "terror::",
            "notes:zz",
            "username:6",
            "t:0",
            ":0",
            "tsize:10000000000000000",
            "later:a#b",
            "later:\u{e4}",
            "tpasscount:100000000",
        ] {
            let (status, reports) = read(&format!("1;{bad};tcreated:2"));
            assert!(status.running);
            assert_eq!(status.fields, [("tcreated".to_owned(), "2".to_owned())], "{bad}");
            assert_eq!(reports.len(), 1, "{bad}");
        }
        assert!(parse(b"2;tframes:1", &mut |_| {}).is_err());
        assert!(parse(b"", &mut |_| {}).is_err());
    }
}
