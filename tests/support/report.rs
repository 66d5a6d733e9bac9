//! What `trace-cmd report` says of the recordings in `tests/data/tracedat`: the answers to compare with.

use std::io::Read;

use super::data;

/// An event, as a line of a report.
#[derive(Debug)]
pub struct Line {
    /// `bash-1543`.
    pub task: String,
    pub pid: i32,
    pub cpu: u32,
    /// As it is written.
    pub time: String,
    /// In nanoseconds.
    pub nanoseconds: u64,
    pub event: String,
    /// What is behind the name, with one space before it.
    pub rest: String,
}

impl Line {
    /// A field of the event; the last of its name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, behind) = self.rest.rsplit_once(&format!(" {name}="))?;
        // A value may have spaces: it reaches to the next name.
        let end = behind.find('=').map_or(behind.len(), |at| behind[..at].rfind(' ').unwrap());
        Some(behind[..end].trim_end())
    }
}

/// A report, as text.
pub fn text(name: &str) -> String {
    let stored = std::fs::read(data(&format!("tracedat/expect/{name}.txt.gz"))).unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&stored[..]).read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// The events of a report (`report -t` or `report -R`), in its order, which is that of frames.
pub fn lines(name: &str) -> Vec<Line> {
    text(name).lines().filter_map(line).collect()
}

/// `            demo-675   [000] .....   882.274860105: sys_exit:             NR 262 = -2`
fn line(text: &str) -> Option<Line> {
    // A task's name may have brackets and spaces.
    let (task, rest) = text.split_once(" [").filter(|(_, rest)| rest.get(3..4) == Some("]"))?;
    let task = task.trim().to_owned();
    let cpu = rest[..3].parse().ok()?;
    let mut words = rest[4..].split_whitespace();
    let time = words.find_map(|word| word.strip_suffix(':'))?;
    let time = time.rsplit_once("..").map_or(time, |(_, time)| time).to_owned();
    let (_, behind) = rest.split_once(&format!("{time}: "))?;
    let (event, rest) = behind.split_once(':')?;
    Some(Line {
        pid: task.rsplit_once('-')?.1.parse().ok()?,
        cpu,
        nanoseconds: time.replace('.', "").parse().ok()?,
        event: event.trim().to_owned(),
        rest: format!(" {}", rest.trim()),
        task,
        time,
    })
}
