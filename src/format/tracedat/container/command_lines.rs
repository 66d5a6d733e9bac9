//! The kernel's saved_cmdlines: names of tasks.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The largest number a task can have (Linux's threads.h, `PID_MAX_LIMIT`).
const LARGEST: u32 = 4 << 20;

/// The names of tasks, from lines `pid name`. A name may hold any character but a line feed. Only as many are known as
/// the kernel had room for (`saved_cmdlines_size`); one it lost is `<...>`. Of two names for a task, the later counts.
pub(super) fn command_lines(text: &[u8]) -> BTreeMap<u32, Cow<'_, str>> {
    let lines = text.split(|byte| *byte == b'\n');
    let entries = lines.filter_map(|line| {
        let space = memchr::memchr(b' ', line)?;
        let pid: u32 = std::str::from_utf8(line.get(..space)?).ok()?.parse().ok()?;
        (pid <= LARGEST).then_some((pid, String::from_utf8_lossy(line.get(space + 1..)?)))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_spaces_and_colons() {
        let text = b"0 <idle>\n1447 memfd:sealed-91\n30397 gdb worker\n41 kworker/1:1\n9  two\njunk\n5000000 x\n7 \xff";
        let names = command_lines(text);
        let expected = [(0, "<idle>"), (7, "\u{fffd}"), (9, " two"), (41, "kworker/1:1"), (1447, "memfd:sealed-91")];
        let expected = expected.into_iter().chain([(30397, "gdb worker")]).map(|(pid, name)| (pid, name.into()));
        assert_eq!(names, expected.collect());
    }
}
