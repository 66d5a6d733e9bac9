//! Recordings with holes: gigabytes long, and a few kilobytes on the disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use traceframe::format::{self, OpenOptions};
use traceframe::index::{Answer, Query};
use traceframe::report::Info;
use traceframe::session::{Find, Programs, Replay, Session};
use traceframe::source::Source;

use super::case::{Cases, ROOM, is_soak};
use super::conversation;

/// A recording that is written from the beginning to the end, with holes.
struct Sparse {
    file: File,
    path: PathBuf,
    at: u64,
    _folder: tempfile::TempDir,
}

impl Sparse {
    fn new(lines: &str) -> Sparse {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse.tf");
        let file = File::create_new(&path).unwrap();
        let mut sparse = Sparse { file, path, at: 0, _folder: folder };
        sparse.write(format!("\x7fTRACE0\n{lines}\n").as_bytes());
        sparse
    }

    fn write(&mut self, bytes: &[u8]) {
        self.file.write_all_at(bytes, self.at).unwrap();
        self.at += bytes.len() as u64;
    }

    fn frame(&mut self, tracepoint: i16, size: u64) -> u64 {
        let at = self.at;
        self.write(&tracepoint.to_le_bytes());
        self.write(&u32::try_from(size).unwrap().to_le_bytes());
        at
    }

    /// A frame of blocks of memory, all of them holes, and of a last block that tells the frame's number.
    fn holes(&mut self, number: u64, blocks: u64) -> u64 {
        let at = self.frame(2, blocks * (11 + 0xffff) + 11 + 8);
        for _ in 0..blocks {
            self.write(&[&b"M"[..], &HOLE.to_le_bytes(), &0xffff_u16.to_le_bytes()].concat());
            self.at += 0xffff;
        }
        self.write(&[&b"M"[..], &TOLD.to_le_bytes(), &8_u16.to_le_bytes(), &number.to_le_bytes()].concat());
        at
    }

    fn open(mut self) -> (Arc<Replay>, Sparse) {
        self.write(&[0; 4]);
        let recording = format::open(Source::open(&self.path).unwrap(), &OpenOptions::default()).unwrap();
        let replay = Arc::new(Replay::new(recording, Programs::default()).unwrap());
        assert!(replay.index().wait().complete);
        (replay, self)
    }
}

/// The address of the blocks that are holes, and of the block that is none.
const HOLE: u64 = 0x10_0000;
const TOLD: u64 = 0x4000;

/// What all of it may take, however long the file: the walk keeps 4 MB of frames until they are a segment, and as much
/// again while they become one; a frame of a thousand blocks takes 32 bytes a block.
const FLAT: usize = ROOM + (8 << 20);

#[test]
fn frames_behind_four_gigabytes_are_found_and_read() {
    let mut cases = Cases::of("frames behind four gigabytes");
    let blocks = 4000;
    let mut sparse = Sparse::new("R 0\ntp T2:1000:E:0:0\n");
    let places: Vec<u64> = (0..20).map(|number| sparse.holes(number, blocks)).collect();
    assert!(places[17] > 1 << 32);
    cases.run("frames of blocks that are holes".to_owned(), FLAT, || {
        let (replay, sparse) = sparse.open();
        assert_eq!(replay.index().progress().frames, places.len() as u64);
        assert!(super::questions::damage(&replay).is_empty());
        let mut session = Session::new(replay.clone());
        for (number, place) in (0..).zip(&places) {
            assert_eq!(session.find(Find::Next(Query::Tracepoint(2))).map(|found| found.frame), Answer::Found(number));
            assert_eq!(session.frame().unwrap().location.0, *place);
            assert_eq!(session.memory(session.thread(), TOLD, 100), number.to_le_bytes());
            assert_eq!(session.memory(session.thread(), HOLE, 8), [0; 8]);
        }
        conversation::hold(&replay, places.len() as u64);
        assert_eq!(replay.index().end().found().map(|end| end.0), Some(sparse.at - 4));
    });
}

#[test]
fn many_frames_behind_two_gigabytes_take_few_bytes_each() {
    let mut cases = Cases::of("many frames behind two gigabytes");
    let frames: u64 = if is_soak() { 20_000_000 } else { 200_000 };
    let mut sparse = Sparse::new("R 0\ntp T2:1000:E:0:0\n");
    while sparse.at < 1 << 31 {
        sparse.holes(0, 4000);
    }
    let first = sparse.at;
    let small = [&2_i16.to_le_bytes()[..], &0_u32.to_le_bytes()].concat();
    let piece = small.repeat(100_000);
    for _ in 0..frames / 100_000 {
        sparse.write(&piece);
    }
    let room = FLAT + 9 * frames as usize;
    cases.run(format!("{frames} frames"), room, || {
        let (replay, _sparse) = sparse.open();
        let before = replay.index().progress().frames - frames;
        let per_frame = replay.index().memory_use() as f64 / frames as f64;
        assert!(per_frame < 4.0, "{per_frame}");
        for number in (0..frames).step_by(9973).chain([frames - 1]) {
            let place = first + number * small.len() as u64;
            assert_eq!(replay.index().locate(before + number).map(|place| place.0), Answer::Found(place));
        }
        println!("{per_frame:.2} bytes of index a frame");
    });
}

#[test]
fn what_is_all_zero_is_passed_over_in_no_time() {
    let mut cases = Cases::of("gigabytes of zeroes");
    const HUGE: u64 = 0xffff_fff0;
    // An end mark with six gigabytes behind it, and a frame there.
    let mut sparse = Sparse::new("R 0\nstatus 0;tstop::0;tframes:5;circular:1\ntp T2:1000:E:0:0\n");
    sparse.holes(0, 1);
    let end = sparse.at;
    sparse.at += 6 << 30;
    sparse.holes(1, 1);
    cases.run("an end mark and gigabytes behind it".to_owned(), FLAT, || {
        let (replay, _sparse) = sparse.open();
        assert_eq!(replay.index().progress().frames, 1);
        let damage = super::questions::damage(&replay);
        assert_eq!(damage.len(), 1);
        assert!(damage[0].at == end + 4 && damage[0].what.contains("behind the end mark"), "{}", damage[0]);
        conversation::hold(&replay, 1);
    });
    // A frame that holds nothing but zeroes, and one behind it.
    let mut sparse = Sparse::new("R 0\ntp T2:1000:E:0:0\n");
    let at = sparse.frame(2, HUGE);
    sparse.at += HUGE;
    sparse.holes(1, 1);
    cases.run("a frame of four gigabytes of zeroes".to_owned(), FLAT, || {
        let (replay, _sparse) = sparse.open();
        assert_eq!(replay.index().progress().frames, 2);
        let damage = super::questions::damage(&replay);
        assert!(damage.len() == 1 && damage[0].at == at + 6, "{damage:?}");
        assert!(damage[0].what.contains("65536 or more zero bytes"), "{}", damage[0]);
        conversation::hold(&replay, 2);
    });
    // Register blocks of gigabytes, as no machine has them.
    let mut sparse = Sparse::new(&format!("R {HUGE:x}\ntp T2:1000:E:0:0\n"));
    let at = sparse.frame(2, HUGE + 1);
    sparse.write(b"R");
    sparse.at += HUGE;
    sparse.holes(1, 1);
    cases.run("a register block of four gigabytes".to_owned(), FLAT, || {
        let (replay, _sparse) = sparse.open();
        assert_eq!(replay.index().progress().frames, 2);
        let damage = super::questions::damage(&replay);
        assert!(damage.iter().any(|damage| damage.at == 8), "the R line: {damage:?}");
        assert!(damage.iter().any(|damage| damage.at == at + 6), "the block: {damage:?}");
        assert!(Info::new(&replay).to_string().contains("at byte 0x8: "));
        conversation::hold(&replay, 2);
    });
}
