//! What could not be read, and what does not fit together.

use std::fmt::Write;

use super::text::{count, printable};
use crate::image::Placement;
use crate::index::InterruptionQuery;
use crate::session::Replay;
use crate::trace::InterruptionKind;

/// The damage found so far, a line each.
pub fn damage(replay: &Replay) -> String {
    let mut text = String::new();
    let in_frames = replay.index().damage();
    let before = replay.recording().damage();
    let name = printable(&replay.recording().name().display().to_string());
    for damage in before.iter().chain(in_frames.kept()) {
        let _ = writeln!(text, "{name}: {}", printable(&damage.to_string()));
    }
    let total = replay.damaged();
    let hidden = in_frames.total() - in_frames.kept().len() as u64;
    if hidden > 0 {
        let _ = writeln!(text, "… and {hidden} more");
    }
    if total == 0 {
        text.push_str("nothing is damaged");
    } else {
        let _ = write!(text, "{} of damage", count(total, "place"));
    }
    let progress = replay.index().progress();
    if !progress.complete {
        let _ = write!(text, " in the {} indexed so far", count(progress.frames, "frame"));
    }
    text.push('\n');
    text
}

/// What a person must know before believing what is shown: a line each, without a full stop.
pub fn warnings(replay: &Replay) -> Vec<String> {
    let mut warnings: Vec<_> = replay
        .changes()
        .into_iter()
        .map(|(path, change)| {
            let path = printable(&path.display().to_string());
            format!("{path} {change}: nothing of it is shown any more, start again to see what it is now")
        })
        .collect();
    warnings.extend(replay.recording().doubts().iter().map(|doubt| printable(doubt)));
    if let Some(image) = replay.image() {
        let path = printable(&image.image.path().display().to_string());
        match image.placement {
            Placement::Unknown => warnings.push(format!(
                "{path} is position-independent and nothing recorded tells the one place where it lay (is it the \
                 program that was recorded?), so it is not used; --load-bias names the place"
            )),
            Placement::Tracepoints { agree, of } if agree < of => warnings.push(format!(
                "only {agree} of {of} tracepoints lie where {path} has what they name (is it the build that was \
                 recorded?)"
            )),
            _ => {}
        }
        warnings.extend(image.image.damage().iter().map(|damage| format!("{path}: {}", printable(damage))));
    }
    for library in replay.unplaced_libraries() {
        let path = printable(&library.path().display().to_string());
        warnings.push(format!(
            "{path}: the recording does not say the one place where a library of this name lay, so it is not used"
        ));
    }
    let gaps = replay.index().interruptions_of(&InterruptionQuery { thread: None, gaps: true, exceptions: false });
    let frames = replay.index().progress().frames;
    if gaps > 0
        && frames <= gaps
        && replay.recording().doubts().is_empty()
        && let Some(first) = replay.index().interruptions(1).first()
        && let InterruptionKind::Gap(reason) = &first.interruption.kind
    {
        let (reason, at) = (printable(reason), first.interruption.at);
        let what = if frames == 0 { "nothing" } else { "hardly anything" };
        warnings.push(format!(
            "{what} of it is certain enough to be shown (is it the program that was traced?): {reason} (byte {at:#x})"
        ));
    }
    if let Some(contradiction) = replay.contradiction() {
        warnings.push(format!("this may be the wrong program: {}", printable(&contradiction)));
    }
    warnings
}
