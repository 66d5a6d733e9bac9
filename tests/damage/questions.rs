//! Everything that can be asked of a recording, and what must hold of every answer.

use std::sync::Arc;

use traceframe::format::{self, OpenOptions};
use traceframe::image::Image;
use traceframe::index::{Answer, Query};
use traceframe::report::{self, FrameFilter, FrameRows, Info};
use traceframe::session::{Find, Programs, Replay, Selected, Session};
use traceframe::source::Source;
use traceframe::trace::Damage;

use super::conversation;

/// What bytes are called that lie in no file.
pub const NAME: &str = "some.tf";

/// Opens bytes as the program opens a file, and indexes them to the end; why not, if it is refused.
pub fn open(bytes: Vec<u8>, options: &OpenOptions<'_>, program: Option<&Arc<Image>>) -> Result<Arc<Replay>, String> {
    let recording = format::open(Source::from_vec(NAME, bytes), options).map_err(|error| error.to_string())?;
    let replay =
        Arc::new(Replay::new(recording, Programs { program: program.cloned(), ..Programs::default() }).unwrap());
    assert!(replay.index().wait().complete);
    Ok(replay)
}

/// Asks everything.
pub fn ask(replay: &Arc<Replay>, length: usize) {
    for damage in &damage(replay) {
        assert!(damage.at <= length as u64, "behind the end of {length} bytes: {damage}");
        assert!(!damage.what.contains("please report"), "{damage}");
    }
    let frames = sessions(replay);
    texts(replay);
    conversation::hold(replay, frames);
}

/// All damage that is kept word for word.
pub fn damage(replay: &Replay) -> Vec<Damage> {
    let in_frames = replay.index().damage();
    [replay.recording().damage(), in_frames.kept()].concat()
}

/// Walks along the frames, and searches them in every way; how many there are.
fn sessions(replay: &Arc<Replay>) -> u64 {
    let mut session = Session::new(replay.clone());
    let outside = |session: &Session| {
        session.registers(1);
        session.memory(session.thread(), 0, 16);
        assert_ne!(session.variable(1), Answer::NotYet);
        assert_eq!(session.cursor().selected(), None);
    };
    outside(&session);
    let count = replay.index().progress().frames;
    let keys: Vec<_> =
        (0..count).map(|number| replay.frame(number).map(|frame| (frame.tracepoint, frame.pc))).collect();
    assert_eq!(session.find(Find::Number(count)), Answer::Nothing);
    for (number, key) in (0..count).zip(&keys) {
        let (tracepoint, pc) = key.unwrap();
        assert_eq!(session.find(Find::Number(number)), Answer::Found(Selected { frame: number, tracepoint }));
        let frame = session.frame().unwrap();
        session.registers(1);
        for block in &frame.memory {
            let length = block.bytes.len().min(16);
            assert_eq!(
                session.memory(session.thread(), block.address, length),
                frame.read_memory(block.address, length)
            );
        }
        for (variable, _) in &frame.variables {
            assert_eq!(session.variable(*variable).found(), frame.variable(*variable));
        }
        session.memory(session.thread(), pc.address().unwrap_or(0), 16);
    }
    // The next frame that fits is the one that a look at each finds.
    let (tracepoint, pc) = keys
        .last()
        .copied()
        .flatten()
        .map_or((1, 0x1000), |(tracepoint, pc)| (tracepoint, pc.address().unwrap_or(0x1000)));
    let below = pc.saturating_sub(0x10);
    for query in [
        Query::Tracepoint(tracepoint),
        Query::Thread(1),
        Query::Pc(pc),
        Query::Range { low: below, high: pc },
        Query::Outside { low: below, high: pc },
        Query::ThreadOutside { thread: 1, low: below, high: pc },
        Query::Range { low: 1, high: 0 },
    ] {
        let fits = |tracepoint: i32, pc: Option<u64>| match query {
            Query::Tracepoint(number) => tracepoint == number,
            Query::Thread(thread) => thread == 1,
            Query::Pc(address) => pc == Some(address),
            Query::Range { low, high } => pc.is_some_and(|pc| (low..=high).contains(&pc)),
            Query::Outside { low, high } | Query::ThreadOutside { thread: 1, low, high } => {
                pc.is_some_and(|pc| !(low..=high).contains(&pc))
            }
            Query::ThreadOutside { .. } => false,
        };
        session.leave_frame();
        for (number, (tracepoint, pc)) in (0..count).zip(keys.iter().flatten()) {
            if fits(*tracepoint, pc.address()) {
                let expected = Selected { frame: number, tracepoint: *tracepoint };
                assert_eq!(session.find(Find::Next(query)), Answer::Found(expected), "{query:?}");
            }
        }
        assert_eq!(session.find(Find::Next(query)), Answer::Nothing, "{query:?}");
    }
    session.leave_frame();
    outside(&session);
    count
}

/// What `info`, `frames` and the monitor commands show; each is let go before the next.
fn texts(replay: &Arc<Replay>) {
    let info = Info::new(replay);
    assert!(info.to_string().contains("frames:"));
    assert!(serde_json::to_string(&info).unwrap().starts_with('{'));
    drop(info);
    for row in FrameRows::new(replay, &FrameFilter::default()) {
        assert!(!row.lines().any(|line| line.contains('\n')));
        assert!(serde_json::to_string(&row).unwrap().starts_with('{'));
    }
    let damage = report::damage(replay);
    assert!(damage.contains(" at byte 0x") || damage.contains("nothing"), "{damage}");
    report::warnings(replay);
    report::status(&Session::new(replay.clone()));
}
