//! Whole files: recorded ones, written ones, and ones that something happened to.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::arch::Origin;
use crate::format;
use crate::trace::{Condition, MemoryBlock, ProgramCounter, RegisterBlock, SourceStrings, StopReason, TracepointKind};

/// A frame with nothing borrowed, to be compared.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    tracepoint: i32,
    registers: Option<Vec<u8>>,
    memory: Vec<(u64, Vec<u8>)>,
    variables: Vec<(i32, i64)>,
    static_data: Option<Vec<u8>>,
    damage: Option<String>,
}

impl Shown {
    fn of(frame: &Frame<'_>) -> Shown {
        Shown {
            tracepoint: frame.tracepoint,
            registers: frame.registers.as_ref().map(|registers| registers.bytes.to_vec()),
            memory: frame.memory.iter().map(|block| (block.address, block.bytes.to_vec())).collect(),
            variables: frame.variables.clone(),
            static_data: frame.static_data.as_ref().map(|data| data.to_vec()),
            damage: frame.damage.as_ref().map(|damage| damage.what.clone()),
        }
    }

    fn frame(&self) -> Frame<'_> {
        let mut frame = Frame::empty(Location(0), self.tracepoint);
        let bytes = self.registers.as_ref();
        frame.registers = bytes.map(|bytes| RegisterBlock { bytes: bytes.into(), unavailable: Vec::new() });
        let block =
            |(address, bytes): &'_ (u64, Vec<u8>)| MemoryBlock { address: *address, bytes: bytes.clone().into() };
        frame.memory = self.memory.iter().map(block).collect();
        frame.variables = self.variables.clone();
        frame.static_data = self.static_data.as_ref().map(Cow::from);
        frame
    }
}

/// Opens a file for which no target description is known.
fn open(bytes: Vec<u8>, order: Option<ByteOrder>) -> TraceFile {
    let choice = Choice {
        architecture: String::new(),
        byte_order: order,
        address_size: 8,
        layout: None,
        description: None,
        origin: Origin::None,
        image_is_foreign: false,
        unusable: None,
        remarks: Vec::new(),
    };
    let source = Source::from_vec("test.tf", bytes);
    let section = section(&source);
    TraceFile::assemble(source, section, choice, None)
}

/// Every frame with its location, and the damage between frames.
fn walked(recording: &dyn Recording) -> (Vec<(Location, Shown)>, Vec<Damage>) {
    let (mut frames, mut damage) = (Vec::new(), Vec::new());
    recording.walk(&mut |item| {
        match item {
            Item::Frame(frame) => frames.push((frame.location, Shown::of(frame))),
            Item::Damage(found) => damage.push(found),
            Item::Instructions(_) | Item::Interruption(_) => panic!("{item:?}"),
        }
        ControlFlow::Continue(())
    });
    (frames, damage)
}

fn shown(recording: &dyn Recording) -> Vec<Shown> {
    walked(recording).0.into_iter().map(|(_, shown)| shown).collect()
}

fn written(order: ByteOrder, description: &Description, frames: &[Shown]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), order, description).unwrap();
    for frame in frames {
        writer.frame(&frame.frame()).unwrap();
    }
    writer.finish().unwrap()
}

/// A small recording with every kind of block.
fn small() -> (Description, Vec<Shown>) {
    let description = Description {
        register_block_size: Some(4),
        status: RunStatus { known: true, stop_reason: StopReason::BufferFull, ..RunStatus::default() },
        ..Description::default()
    };
    let frames = vec![
        Shown { tracepoint: 1, registers: Some(vec![1, 2, 3, 4]), variables: vec![(1, -1)], ..Shown::default() },
        Shown { tracepoint: -2, ..Shown::default() },
        Shown {
            tracepoint: 3,
            memory: vec![(0x1000, vec![5, 6]), (0x1001, vec![7])],
            static_data: Some(b"data".to_vec()),
            ..Shown::default()
        },
    ];
    (description, frames)
}

fn recorded(bytes: &'static [u8], architecture: Option<&str>) -> Arc<dyn Recording> {
    let options = OpenOptions { architecture, ..OpenOptions::default() };
    format::open(Source::from_static("recorded.tf", bytes), &options).unwrap()
}

fn program_counters(recording: &dyn Recording) -> Vec<ProgramCounter> {
    let mut found = Vec::new();
    recording.walk(&mut |item| {
        if let Item::Frame(frame) = item {
            found.push(frame.pc);
        }
        ControlFlow::Continue(())
    });
    found
}

const REGS: &[u8] = include_bytes!("../../../tests/data/tfile/01-regs.tf");
const TRUNCATED: &[u8] = include_bytes!("../../../tests/data/tfile/30-truncframe.tf");
const UNKNOWN_BLOCK: &[u8] = include_bytes!("../../../tests/data/tfile/37-unkblock.tf");
const STATIC_DATA: &[u8] = include_bytes!("../../../tests/data/tfile/39-sblock.tf");
const REPEATED_VARIABLE: &[u8] = include_bytes!("../../../tests/data/tfile/41-vrepeat.tf");
const CIRCULAR: &[u8] = include_bytes!("../../../tests/data/tfile/circular.tf");
const CIRCULAR_HOLE: &[u8] = include_bytes!("../../../tests/data/tfile/circular-hole.tf");
const BIG_ENDIAN: &[u8] = include_bytes!("../../../tests/data/tfile/60-be-ppc64.tf");
const NIOS2: &[u8] = include_bytes!("../../../tests/data/nios2/seq.tr");
const NIOS2_BARE: &[u8] = include_bytes!("../../../tests/data/nios2/seq-bare.tr");

#[test]
fn a_file_that_gdbserver_recorded() {
    let recording = open(REGS.to_vec(), None);
    assert!(recording.damage().is_empty() && recording.unknown_lines().is_empty());
    assert_eq!(recording.target().byte_order, ByteOrder::Little);
    assert_eq!(recording.status().stop_reason, StopReason::Command(String::new()));
    assert_eq!((recording.status().frames, recording.status().disconnected), (Some(10), Some(true)));
    assert_eq!(recording.variables()[0].name, "trace_timestamp");
    let [tracepoint] = recording.tracepoints() else { panic!("{:?}", recording.tracepoints()) };
    assert_eq!((tracepoint.number, tracepoint.address), (2, 0x40_1131));
    assert_eq!(tracepoint.source.at.as_deref(), Some("case.c:19"));
    assert!(recording.remarks().iter().any(|remark| remark.contains("`10` of tracepoint 2 may mean 10 or 16")));
    let (frames, damage) = walked(&recording);
    assert!(damage.is_empty());
    assert_eq!(frames.len(), 10);
    assert!(frames.iter().all(|(_, frame)| frame.registers.as_ref().is_some_and(|bytes| bytes.len() == 0x970)));
    assert_eq!(frames[9].0, Location(0x3c18 + 9 * 2423));
}

#[test]
fn a_frame_is_the_same_with_and_without_a_walk() {
    for bytes in [REGS, UNKNOWN_BLOCK, REPEATED_VARIABLE, BIG_ENDIAN, NIOS2] {
        let recording = open(bytes.to_vec(), None);
        let (frames, _) = walked(&recording);
        assert!(!frames.is_empty());
        for (location, frame) in frames {
            assert_eq!(Shown::of(&recording.frame(location)), frame);
        }
    }
    let recording = open(REGS.to_vec(), None);
    for place in [0, 8, 0x3c17, REGS.len() as u64, u64::MAX] {
        assert_eq!(Shown::of(&recording.frame(Location(place))), Shown::default());
    }
}

#[test]
fn a_walk_stops_when_told_to() {
    let recording = open(REGS.to_vec(), None);
    let mut seen = 0;
    let behind = recording.walk(&mut |_| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((seen, behind), (3, Location(0x3c18 + 3 * 2423)));
}

#[test]
fn a_cut_frame_is_named_and_the_whole_ones_are_served() {
    let recording = open(TRUNCATED.to_vec(), None);
    let (frames, damage) = walked(&recording);
    assert_eq!(frames.len(), 4);
    let [damage] = &damage[..] else { panic!("{damage:?}") };
    let said = damage.to_string();
    assert!(said.starts_with("frame 4 at byte 0x61f4: the frame's size is 2417 bytes, but 994 are left"), "{said}");
}

#[test]
fn an_unknown_block_harms_its_own_frame_only() {
    let recording = open(UNKNOWN_BLOCK.to_vec(), None);
    let (frames, damage) = walked(&recording);
    assert!(damage.is_empty());
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[1].1.memory, [(0x40_40c0, vec![42, 0, 0, 0])]);
    assert_eq!(frames[1].1.registers, None);
    assert!(frames[1].1.damage.as_ref().unwrap().starts_with("block type 0x5a is not R, M, V or S"));
    assert!(frames[0].1.damage.is_none() && frames[2].1.damage.is_none());
}

#[test]
fn static_data_and_repeated_variables() {
    let frames = shown(&open(STATIC_DATA.to_vec(), None));
    assert_eq!(frames[0].static_data.as_deref(), Some(&b"hello"[..]));
    assert_eq!(frames[1].static_data, None);
    let recording = open(REPEATED_VARIABLE.to_vec(), None);
    let (frames, _) = walked(&recording);
    assert_eq!(recording.frame(frames[0].0).variable(2), Some(-9));
    assert_eq!(recording.frame(frames[1].0).variable(2), None);
}

#[test]
fn the_frames_tell_a_big_endian_file() {
    let recording = open(BIG_ENDIAN.to_vec(), None);
    assert_eq!(recording.target().byte_order, ByteOrder::Big);
    let frames = shown(&recording);
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0].variables, [(2, -3)]);
    assert_eq!(recording.frame(Location(0xc40)).pc, ProgramCounter::Inferred(0x1000_015c));
    let stated = open(BIG_ENDIAN.to_vec(), Some(ByteOrder::Little));
    assert!(stated.remarks().iter().any(|remark| remark.contains("--endian big")), "{:?}", stated.remarks());
}

#[test]
fn program_counters_come_from_the_registers() {
    let recording = recorded(REGS, None);
    assert_eq!(program_counters(&*recording), [ProgramCounter::Recorded(0x40_1131); 10]);
    let recording = recorded(BIG_ENDIAN, None);
    let [first, second, third] = program_counters(&*recording)[..] else { panic!("3 frames expected") };
    assert!(matches!(first, ProgramCounter::Recorded(_)) && matches!(third, ProgramCounter::Recorded(_)));
    assert_eq!(second, ProgramCounter::Inferred(0x1000_015c));
}

#[test]
fn simulators_files_without_a_description() {
    for bytes in [NIOS2, NIOS2_BARE] {
        let recording = recorded(bytes, Some("nios2"));
        assert_eq!(recording.target().byte_order, ByteOrder::Little);
        assert!(!recording.status().known && recording.damage().is_empty());
        let found = program_counters(&*recording);
        assert_eq!(found.len(), 20);
        let lane = [0x8024, 0x8034, 0x8038, 0x803c, 0x8040].map(ProgramCounter::Recorded);
        assert_eq!(found[..5], lane);
    }
}

#[test]
fn the_trace_buffer_is_the_frame_section_without_its_mark() {
    let recording = open(NIOS2.to_vec(), None);
    let end = recording.walk(&mut |_| ControlFlow::Continue(()));
    let section = &NIOS2[0xcf..NIOS2.len() - 4];
    assert_eq!(recording.trace_buffer(end, 0, usize::MAX), section);
    assert_eq!(recording.trace_buffer(end, 10, 7), &section[10..17]);
    assert_eq!(recording.trace_buffer(end, section.len() as u64 - 3, 100), &section[section.len() - 3..]);
    for offset in [section.len() as u64, u64::MAX] {
        assert!(recording.trace_buffer(end, offset, 100).is_empty());
    }
}

#[test]
fn files_cut_anywhere_give_their_whole_frames() {
    let (description, frames) = small();
    let file = written(ByteOrder::Little, &description, &frames);
    let (places, damage) = walked(&open(file.clone(), None));
    assert!(damage.is_empty());
    let ends: Vec<u64> = places.iter().map(|(place, _)| place.0).skip(1).chain([file.len() as u64 - 4]).collect();
    for cut in MAGIC.len()..file.len() {
        let recording = open(file[..cut].to_vec(), Some(ByteOrder::Little));
        let (found, mut damage) = walked(&recording);
        let whole = ends.iter().filter(|end| **end <= cut as u64).count();
        let found: Vec<Shown> = found.into_iter().map(|(_, frame)| frame).collect();
        assert_eq!(found, frames[..whole], "cut at {cut}");
        damage.extend_from_slice(recording.damage());
        // Of the end mark gdb needs the first half only.
        let marked = cut + 2 >= file.len();
        assert_eq!(damage.len(), usize::from(!marked), "cut at {cut}: {damage:?}");
        assert!(damage.iter().all(|damage| damage.at <= cut as u64));
    }
}

#[test]
fn what_lies_behind_the_end_mark_is_counted() {
    let (description, frames) = small();
    let mut file = written(ByteOrder::Little, &description, &frames);
    file.extend_from_slice(b"junk!");
    let (found, damage) = walked(&open(file, None));
    assert_eq!(found.len(), 3);
    assert!(damage[0].what.starts_with("5 bytes behind the end mark"), "{damage:?}");
}

#[test]
fn without_the_size_of_register_blocks_there_are_none() {
    let (mut description, frames) = small();
    let with = written(ByteOrder::Little, &description, &frames);
    assert!(open(with, None).remarks().is_empty());
    description.register_block_size = None;
    let without = open(written(ByteOrder::Little, &description, &frames[1..]), None);
    assert_eq!(shown(&without), frames[1..]);
    assert!(without.remarks()[0].contains("an R line"), "{:?}", without.remarks());
}

/// Of five frames, the hole has taken most of one and all of two.
#[test]
fn frames_behind_the_hole_of_a_circular_buffer() {
    let recording = open(CIRCULAR_HOLE.to_vec(), None);
    let (frames, damage) = walked(&recording);
    assert_eq!(recording.status().frames, Some(5));
    assert_eq!(frames.iter().map(|(_, frame)| frame.damage.is_some()).collect::<Vec<_>>(), [true, false, false]);
    assert!(frames[1..].iter().all(|(_, frame)| frame.registers.is_some() && !frame.memory.is_empty()));
    let [hole, behind] = &damage[..] else { panic!("{damage:?}") };
    assert!(hole.what.starts_with("1826 bytes hold no whole frame"), "{hole}");
    assert!(behind.what.starts_with("429 bytes behind the end mark"), "{behind}");
}

#[test]
fn zeroes_before_a_hole_are_not_taken_for_recorded() {
    // Frames of 4-byte register blocks, whose last block runs into zeroes.
    let file = |blocks: &[u8]| {
        let mut file = b"\x7fTRACE0\nR 4\n\n\x02\0".to_vec();
        file.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
        file.extend_from_slice(blocks);
        file.extend_from_slice(&[0; 4]);
        file
    };
    let hidden = |blocks: &[u8]| {
        let recording = open(file(blocks), Some(ByteOrder::Little));
        let frame = recording.frame(walked(&recording).0[0].0);
        (frame.registers.map(|block| block.unavailable), Shown::of(&recording.frame(frame.location)))
    };
    assert_eq!(hidden(b"R\x07\0\0\0\0\0\0").0.unwrap().first(), Some(&(1..4)));
    assert_eq!(hidden(b"M\0\x10\0\0\0\0\0\0\x04\0\x07\x08\0\0\0\0").1.memory, [(0x1000, vec![7, 8])]);
    assert!(hidden(b"V\x01\0\0\0\x05\0\0\0\0\0\0\0\0\0").1.variables.is_empty());
    let (unavailable, whole) = hidden(b"R\x07\0\0\0");
    assert_eq!((unavailable, whole.damage), (Some(vec![]), None));
}

#[test]
fn a_circular_buffer_that_gdbserver_wrapped() {
    let recording = open(CIRCULAR.to_vec(), None);
    let (frames, damage) = walked(&recording);
    assert_eq!((recording.status().frames, recording.status().created), (Some(8), Some(10)));
    assert_eq!(frames.len(), 8);
    for (number, (_, frame)) in frames.iter().enumerate() {
        let zeroed = number == 6;
        assert_eq!((frame.registers.is_none(), frame.memory.is_empty()), (zeroed, zeroed), "{number}");
        assert_eq!(frame.damage.is_some(), zeroed, "{number}");
    }
    let said = frames[6].1.damage.as_ref().unwrap();
    assert!(said.starts_with("533 zero bytes where a block should begin, as gdbserver leaves them"), "{said}");
    let [damage] = &damage[..] else { panic!("{damage:?}") };
    assert!(damage.what.starts_with("490 bytes behind the end mark are not read (where its circular"), "{damage}");
}

#[test]
fn changed_bytes_never_harm_more_than_what_they_say() {
    let (mut description, frames) = small();
    description.tracepoints.push(Tracepoint::new(1, 0x10));
    description.target_description = Some("<target/>".to_owned());
    let file = written(ByteOrder::Big, &description, &frames);
    for place in MAGIC.len()..file.len() {
        for change in [0x01, 0x0a, 0x20, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[place] ^= change;
            exercise(&open(changed, None));
        }
    }
}

fn exercise(recording: &TraceFile) {
    let (frames, _) = walked(recording);
    let end = recording.walk(&mut |_| ControlFlow::Continue(()));
    assert!(end <= recording.end());
    for (location, frame) in &frames {
        assert!(*location < recording.end());
        assert_eq!(Shown::of(&recording.frame(*location)), *frame);
    }
    for place in 0..recording.source.length() {
        recording.frame(Location(place));
    }
    let buffer = recording.trace_buffer(end, 0, usize::MAX);
    assert_eq!(buffer.len() as u64, recording.frames_at.map_or(0, |frames_at| end.0 - frames_at));
}

#[test]
fn nothing_is_written_that_the_format_cannot_say() {
    let (description, frames) = small();
    let mut writer = Writer::new(Vec::new(), ByteOrder::Little, &description).unwrap();
    writer.frame(&frames[1].frame()).unwrap();
    for number in [0, 0x8000, -0x8001] {
        assert!(matches!(writer.frame(&Frame::empty(Location(0), number)), Err(WriteError::TracepointNumber { .. })));
    }
    for (bytes, unavailable) in [(vec![0; 3], vec![]), (vec![0; 5], vec![]), (vec![0; 4], vec![Some(1..2)])] {
        let mut frame = Frame::empty(Location(0), 1);
        let unavailable = unavailable.into_iter().flatten().collect();
        frame.registers = Some(RegisterBlock { bytes: bytes.into(), unavailable });
        assert!(matches!(writer.frame(&frame), Err(WriteError::Registers { declared: 4, .. })));
    }
    let mut frame = Frame::empty(Location(0), 1);
    frame.static_data = Some(vec![0; 0x1_0000].into());
    assert!(matches!(writer.frame(&frame), Err(WriteError::StaticData { length: 0x1_0000 })));
    let recording = open(writer.finish().unwrap(), Some(ByteOrder::Little));
    assert_eq!(shown(&recording), frames[1..2]);

    let torn = Description { unknown_lines: vec!["a\nb".to_owned()], ..Description::default() };
    assert!(matches!(Writer::new(Vec::new(), ByteOrder::Little, &torn), Err(WriteError::Line { .. })));
    let empty = Description { unknown_lines: vec![String::new()], ..Description::default() };
    assert!(matches!(Writer::new(Vec::new(), ByteOrder::Little, &empty), Err(WriteError::Line { .. })));
}

#[test]
fn what_gdb_saved_is_written_byte_for_byte() {
    for (bytes, order) in [(REGS, ByteOrder::Little), (BIG_ENDIAN, ByteOrder::Big)] {
        let recording = open(bytes.to_vec(), None);
        let again = written(order, &recording.description, &shown(&recording));
        assert!(again == bytes, "{}", recording.name().display());
    }
}

#[test]
fn a_long_memory_block_is_written_as_several() {
    let bytes: Vec<u8> = (0..0x2_0000u32).map(|at| (at % 251) as u8).collect();
    let frame = Shown { tracepoint: 1, memory: vec![(0x1000, bytes.clone())], ..Shown::default() };
    let recording = open(written(ByteOrder::Little, &Description::default(), &[frame]), Some(ByteOrder::Little));
    let location = walked(&recording).0[0].0;
    assert_eq!(recording.frame(location).read_memory(0x1000, 0x3_0000), bytes);
}

fn any_tracepoint() -> impl Strategy<Value = Tracepoint> {
    let kind = prop_oneof![
        Just(TracepointKind::Trap),
        any::<u64>().prop_map(TracepointKind::Fast),
        Just(TracepointKind::Static)
    ];
    let condition = proptest::option::of(any::<Vec<u8>>().prop_map(|bytes| Condition { bytecode: hex::encode(bytes) }));
    let actions = || proptest::collection::vec("[RMX][0-9A-F,-]{1,20}", 0..3);
    let source = (any::<Option<String>>(), any::<Option<String>>(), proptest::collection::vec(any::<String>(), 0..3))
        .prop_map(|(at, condition, commands)| SourceStrings { at, condition, commands });
    (any::<(bool, u64, u64)>(), kind, condition, actions(), actions(), source, any::<Option<(u64, u64)>>()).prop_map(
        |((enabled, step_count, pass_count), kind, condition, actions, step_actions, source, counts)| Tracepoint {
            enabled,
            kind,
            step_count,
            pass_count,
            condition,
            actions,
            step_actions,
            source,
            hits: counts.map(|(hits, _)| hits),
            usage: counts.map(|(_, usage)| usage),
            ..Tracepoint::new(0, 0)
        },
    )
}

fn any_status() -> impl Strategy<Value = RunStatus> {
    let reason = prop_oneof![
        Just(StopReason::Unknown),
        Just(StopReason::NotRun),
        Just(StopReason::BufferFull),
        Just(StopReason::Disconnected),
        any::<String>().prop_map(StopReason::Command),
        any::<i32>().prop_map(|number| StopReason::PassCount(number.into())),
        (any::<String>(), any::<i32>()).prop_map(|(message, number)| StopReason::Error(message, number.into())),
        Just(StopReason::Other("tmoon:7".to_owned())),
    ];
    type Number = Option<u64>;
    let numbers = any::<(Number, Number, Number, Number, Number, Number)>();
    (reason, numbers, any::<(bool, Option<bool>, Option<bool>)>(), any::<(Option<String>, Option<String>)>()).prop_map(
        |(
            stop_reason,
            (frames, created, free, size, start, stop),
            (running, circular, disconnected),
            (user, notes),
        )| {
            RunStatus {
                known: true,
                running,
                stop_reason,
                frames,
                created,
                free,
                size,
                circular,
                disconnected,
                start,
                stop,
                user,
                notes,
                fields: Vec::new(),
            }
        },
    )
}

fn any_description() -> impl Strategy<Value = Description> {
    let variable = any::<(i32, String, i64, bool)>().prop_map(|(number, name, initial, builtin)| TraceStateVariable {
        number,
        name,
        initial,
        builtin,
        piece: String::new(),
    });
    let tracepoints = proptest::collection::btree_map(any::<(i32, u64)>(), any_tracepoint(), 0..4).prop_map(|map| {
        let placed = |((number, address), tracepoint)| Tracepoint { number, address, ..tracepoint };
        map.into_iter().map(placed).collect()
    });
    (
        0usize..40,
        proptest::option::of("<[ -~]{0,30}>(\n[ -~]{0,30}){0,3}x\n"),
        prop_oneof![Just(RunStatus::default()), any_status()],
        proptest::collection::vec(variable, 0..4),
        tracepoints,
        proptest::collection::vec("x[a-z]{0,5} [ -~]{0,20}", 0..3),
    )
        .prop_map(|(size, target_description, status, variables, tracepoints, unknown_lines)| Description {
            register_block_size: Some(size),
            target_description,
            status,
            variables,
            tracepoints,
            unknown_lines,
        })
}

fn any_frame(register_block_size: usize) -> impl Strategy<Value = Shown> {
    // A register block without a byte holds no registers.
    let registers = proptest::option::of(proptest::collection::vec(any::<u8>(), register_block_size))
        .prop_map(|bytes| bytes.filter(|bytes| !bytes.is_empty()));
    // A block of memory without a byte is not kept.
    let block = (0..u64::MAX - 100, proptest::collection::vec(any::<u8>(), 1..40));
    (
        any::<i16>().prop_filter("0 is the end mark", |number| *number != 0),
        registers,
        proptest::collection::vec(block, 0..4),
        any::<Vec<(i32, i64)>>(),
        proptest::option::of(any::<Vec<u8>>()),
    )
        .prop_map(|(tracepoint, registers, memory, variables, static_data)| Shown {
            tracepoint: tracepoint.into(),
            registers,
            memory,
            variables,
            static_data,
            damage: None,
        })
}

/// The description without what the reader adds: the words it was read from.
fn without_words(description: &Description) -> Description {
    let mut description = description.clone();
    description.status.fields.clear();
    description.variables.iter_mut().for_each(|variable| variable.piece.clear());
    description.tracepoints.iter_mut().for_each(|tracepoint| tracepoint.pieces.clear());
    description
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back(
        (description, frames) in any_description().prop_flat_map(|description| {
            let frames = proptest::collection::vec(any_frame(description.register_block_size.unwrap_or(0)), 0..5);
            (Just(description), frames)
        }),
        big in any::<bool>(),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let file = written(order, &description, &frames);
        let recording = open(file.clone(), Some(order));
        prop_assert!(recording.damage().is_empty(), "{:?}", recording.damage());
        prop_assert_eq!(without_words(&recording.description), description);
        let (found, damage) = walked(&recording);
        prop_assert!(damage.is_empty());
        prop_assert_eq!(found.into_iter().map(|(_, frame)| frame).collect::<Vec<_>>(), frames.clone());
        // Recorded words are written as they are.
        prop_assert_eq!(written(order, &recording.description, &frames), file);
    }

    #[test]
    fn any_bytes_are_survived(
        description in prop_oneof![
            Just(&b"R 4\ntsv 1:0:0:61\n\n"[..]),
            Just(&b"R 2\n\n"[..]),
            Just(&b"tp "[..]),
            Just(&b""[..]),
        ],
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), 0u8..4, Just(b'M'), Just(b'R'), Just(b'\n')],
            0..200,
        ),
    ) {
        exercise(&open([MAGIC, description, &bytes].concat(), None));
    }
}
