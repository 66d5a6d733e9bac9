//! Recordings that are cut, and recordings with changed bytes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use traceframe::format::tfile::MAGIC;
use traceframe::session::Replay;
use traceframe::source::ByteOrder;
use traceframe::trace::Frame;

use super::anatomy::{Anatomy, Block, digits};
use super::case::{Cases, ROOM, sample, turn};
use super::fixtures::{Fixture, recordings};
use super::questions::{NAME, ask, damage, open};

/// A recording, whole and as it is served.
struct Whole {
    fixture: Fixture,
    replay: Arc<Replay>,
    /// Where its frames begin.
    frames_at: usize,
}

impl Whole {
    fn all() -> &'static [Whole] {
        static ALL: OnceLock<Vec<Whole>> = OnceLock::new();
        let open = |fixture: Fixture| {
            let replay = open(fixture.bytes.clone(), &fixture.options(), fixture.program.as_ref()).unwrap();
            let frames_at = Anatomy::of(&fixture.bytes, ByteOrder::Little).frames_at.unwrap();
            Whole { fixture, replay, frames_at }
        };
        ALL.get_or_init(|| recordings().into_iter().map(open).collect())
    }

    /// Asks everything of other bytes, that are this recording up to offset `until`.
    fn ask(&self, cases: &mut Cases, what: &str, bytes: Vec<u8>, until: usize) {
        let name = format!("{} {what}", self.fixture.name);
        let copy = bytes.clone();
        let length = bytes.len();
        cases.run(name, 2 * length + ROOM, || {
            match open(bytes, &self.fixture.options(), self.fixture.program.as_ref()) {
                Ok(replay) => {
                    ask(&replay, length);
                    self.compare(&replay, &copy, until);
                }
                Err(refused) => {
                    assert!(refused.starts_with(NAME), "{refused}");
                    let is_placed = until < MAGIC.len() || refused.contains(" at byte 0x");
                    assert!(is_placed, "refused without a place: {refused}");
                    assert!(until < self.frames_at, "refused for what lies in its frames: {refused}");
                }
            }
        });
    }

    /// What is served must be what is there.
    fn compare(&self, replay: &Replay, bytes: &[u8], until: usize) {
        let order = replay.recording().target().byte_order;
        let anatomy = Anatomy::of(bytes, order);
        if anatomy.frames_at.is_none() {
            assert!(damage(replay).iter().any(|damage| damage.what.contains("without an empty line")));
        }
        let described = until >= self.frames_at;
        let count = replay.index().progress().frames;
        let end = anatomy.frames.last().map_or(anatomy.frames_at.unwrap_or(bytes.len()), |frame| frame.end);
        // Behind the hole of a circular buffer there are frames that the chain of sizes does not lead to.
        let in_one_piece = !damage(replay).iter().any(|damage| damage.what.contains("hold no whole frame"));
        if in_one_piece {
            assert_eq!(count, anatomy.frames.len() as u64);
            let named = damage(replay).iter().any(|damage| damage.at >= end as u64);
            let is_cut_before = anatomy.frames_at.is_none();
            assert!(is_cut_before || named != anatomy.ends_properly, "the end at byte {end:#x}");
        } else {
            assert!(count >= anatomy.frames.len() as u64);
        }
        let mut before = 0;
        for (number, body) in (0..).zip(&anatomy.frames) {
            let frame = replay.frame(number).unwrap();
            assert_eq!((frame.location.0, frame.tracepoint), (body.at as u64, body.tracepoint.into()));
            if described {
                self.compare_blocks(&frame, &body.blocks, body.damaged);
            }
            if let Some(damage) = &frame.damage {
                assert!((body.at as u64..body.end as u64).contains(&damage.at), "{damage}");
            }
            if described && body.end <= until && same_order(&self.replay, replay) {
                let untouched = self.replay.frame(number).unwrap();
                assert_eq!(everything(&frame), everything(&untouched));
                before += 1;
            }
        }
        // Frames that lie whole before the damage are all there.
        if described && same_order(&self.replay, replay) {
            let untouched = Anatomy::of(&self.fixture.bytes, order);
            assert!(untouched.frames.iter().filter(|body| body.end <= until).count() <= before);
        }
    }

    fn compare_blocks(&self, frame: &Frame<'_>, blocks: &[Block<'_>], damaged: Option<(usize, u8)>) {
        let kept = |address| self.replay.recording().target().addresses().kept(address);
        // Of the block before a hole of zeroes the zeroes are not believed.
        let zeroed = frame.damage.as_ref().is_some_and(|damage| damage.what.contains("zero bytes where"));
        assert!(!zeroed || damaged.is_some_and(|(_, kind)| kind == 0));
        let blocks = &blocks[..blocks.len() - usize::from(zeroed && !blocks.is_empty())];
        let inside = |address: u64, bytes: &[u8]| match usize::try_from(address.wrapping_neg()) {
            Ok(space) if space > 0 => bytes.len().min(space),
            _ => bytes.len(),
        };
        let mut wraps = false;
        let mut memory = frame.memory.iter();
        let mut variables = frame.variables.iter();
        for block in blocks {
            match block {
                Block::Memory(address, bytes) => {
                    let inside = inside(*address, bytes);
                    wraps |= inside < bytes.len();
                    if inside > 0 {
                        let found = memory.next().unwrap();
                        assert_eq!((found.address, &found.bytes[..]), (kept(*address), &bytes[..inside]));
                    }
                }
                Block::Variable(number, value) => assert_eq!(variables.next(), Some(&(*number, *value))),
                Block::Registers(_) | Block::Static(_) => {}
            }
        }
        let registers = blocks.iter().find_map(|block| match block {
            Block::Registers(bytes) if !bytes.is_empty() => Some(*bytes),
            _ => None,
        });
        let data = blocks.iter().find_map(|block| if let Block::Static(data) = block { Some(*data) } else { None });
        if !zeroed {
            assert_eq!((memory.next(), variables.next()), (None, None), "more than there is");
            assert_eq!(frame.registers.as_ref().map(|block| &block.bytes[..]), registers);
            assert_eq!(frame.static_data.as_deref(), data);
        }
        assert_eq!(frame.damage.is_some(), damaged.is_some() || wraps, "{:?}", frame.damage);
    }
}

/// All that a frame holds.
fn everything<'a>(frame: &'a Frame<'_>) -> impl PartialEq + std::fmt::Debug + 'a {
    let Frame { location, tracepoint, pc, registers, memory, variables, static_data, damage, .. } = frame;
    (location, tracepoint, pc, registers, memory, variables, static_data, damage)
}

fn same_order(one: &Replay, other: &Replay) -> bool {
    one.recording().target().byte_order == other.recording().target().byte_order
}

/// Of each recording so many places are taken where not all are.
const SAMPLE: usize = 4;

/// A recording of so many bytes is small: nothing of it is left out.
const SMALL: usize = 1000;

impl Whole {
    fn is_small(&self) -> bool {
        self.fixture.bytes.len() < SMALL
    }

    /// The places to take, of so many.
    fn sample(&self, end: usize) -> impl Iterator<Item = usize> {
        sample(end, if self.is_small() { end } else { SAMPLE })
    }
}

#[test]
fn cut_at_every_byte() {
    let mut cases = Cases::of("recordings cut at every byte");
    for whole in Whole::all() {
        let bytes = &whole.fixture.bytes;
        for length in whole.sample(bytes.len()) {
            whole.ask(&mut cases, &format!("cut to {length} bytes"), bytes[..length].to_vec(), length);
        }
    }
}

#[test]
fn every_byte_changed() {
    let mut cases = Cases::of("recordings with every byte changed");
    for whole in Whole::all() {
        let bytes = &whole.fixture.bytes;
        let order = whole.replay.recording().target().byte_order;
        let collected = Anatomy::of(bytes, order).collected;
        for (number, at) in whole.sample(bytes.len()).enumerate() {
            let mut changes = vec![!bytes[at], bytes[at] ^ (1 << (at % 8)), 0, 0xff];
            // What was collected makes up most of a file, and one value of it is read like another.
            if !whole.is_small() && collected.iter().any(|range| range.contains(&at)) {
                changes = vec![changes[number % changes.len()]];
            }
            for value in turn(changes, number, whole.is_small()) {
                let mut changed = bytes.clone();
                changed[at] = value;
                whole.ask(&mut cases, &format!("with {value:#x} at byte {at:#x}"), changed, at);
            }
        }
    }
}

#[test]
fn every_number_of_the_frames_at_its_extremes() {
    let mut cases = Cases::of("recordings with every number of their frames at its extremes");
    for whole in Whole::all() {
        let bytes = &whole.fixture.bytes;
        let order = whole.replay.recording().target().byte_order;
        let numbers = Anatomy::of(bytes, order).numbers;
        for at in whole.sample(numbers.len()) {
            let range = numbers[at].clone();
            let behind = (bytes.len() - range.end) as u64;
            let most = u64::MAX >> (64 - 8 * range.len());
            let values = [0, 1, most, most >> 1, (most >> 1) + 1, behind, behind + 1];
            let both = [ByteOrder::Little, ByteOrder::Big].map(|order| values.map(|value| (value, order)));
            for (value, order) in turn(both.concat(), at, whole.is_small()) {
                let mut changed = bytes.clone();
                order.store(value, &mut changed[range.clone()]);
                let until = bytes.iter().zip(&changed).position(|(one, other)| one != other);
                let what = format!("with {value:#x}, {order}, at bytes {range:x?}");
                whole.ask(&mut cases, &what, changed, until.unwrap_or(bytes.len()));
            }
        }
    }
}

#[test]
fn every_number_of_the_description_at_its_extremes() {
    let mut cases = Cases::of("recordings with every number of their description at its extremes");
    for whole in Whole::all() {
        let bytes = &whole.fixture.bytes;
        let numbers = digits(bytes);
        for at in whole.sample(numbers.len()) {
            let Range { start, end } = numbers[at];
            let (most, beyond) = ("f".repeat(16), "f".repeat(17));
            let past = format!("{:x}", bytes.len() - start + 1);
            let values = ["", "0", "1", "7fffffff", "ffffffff", "100000000", &most, &beyond, &past];
            for value in turn(values.to_vec(), at, whole.is_small()) {
                let changed = [&bytes[..start], value.as_bytes(), &bytes[end..]].concat();
                whole.ask(&mut cases, &format!("with {value:?} at bytes {start:x}..{end:x}"), changed, start);
            }
        }
    }
}
