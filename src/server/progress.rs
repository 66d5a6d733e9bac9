//! Showing how far the index is, where a person watches.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::report;
use crate::session::Replay;

/// How often a terminal is written to.
const REFRESH: Duration = Duration::from_millis(200);

/// Follows the index to its end: on a terminal with a line that changes, and in the end with a summary.
pub async fn show(replay: Arc<Replay>) {
    let began = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut generation = 0;
    let mut drawn = false;
    loop {
        let progress = replay.index().progress();
        if progress.complete {
            break;
        }
        if terminal && began.elapsed() > REFRESH {
            drawn = true;
            // A terminal that was stopped with ^S holds whoever writes to it.
            tokio::task::block_in_place(|| {
                let mut error = std::io::stderr().lock();
                let _ = write!(error, "\rindexing: {:3.0} %, {} frames", 100.0 * progress.fraction(), progress.frames);
                let _ = error.flush();
            });
        }
        let change = std::future::poll_fn(|context| replay.index().poll_change(generation, context));
        generation = change.await;
        if terminal {
            tokio::time::sleep(REFRESH).await;
        }
    }
    if drawn {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let frames = replay.index().progress().frames;
    tracing::info!("indexed {frames} frames in {:.2} s", began.elapsed().as_secs_f64());
    for warning in report::warnings(&replay) {
        tracing::warn!("{warning}");
    }
    let damaged = replay.damaged();
    if damaged > 0 {
        let list = report::damage(&replay);
        let first = list.lines().next().unwrap_or_default();
        tracing::warn!("{first}");
        if damaged > 1 {
            let more = report::count(damaged - 1, "more place");
            tracing::warn!("{more} could not be read; in gdb: monitor damage");
        }
    }
}
