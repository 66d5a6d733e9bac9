//! Pages of all byte orders and kernels, whole and damaged.

use super::super::{LongSize, LostEvents, Page, PageFault, PageLayout};
use super::file::File;
use super::made::Made;
use crate::source::ByteOrder;

const KINDS: [(ByteOrder, LongSize); 4] = [
    (ByteOrder::Little, LongSize::Four),
    (ByteOrder::Little, LongSize::Eight),
    (ByteOrder::Big, LongSize::Four),
    (ByteOrder::Big, LongSize::Eight),
];

/// Time and bytes of each record, and what is wrong behind them: where, and what.
type Read = (Vec<(u64, Vec<u8>)>, Option<(usize, PageFault)>);

fn read(page: &[u8], layout: &PageLayout) -> Read {
    let mut records = Vec::new();
    let read = match Page::read(page, layout) {
        Ok(read) => read,
        Err(damage) => return (records, Some((damage.at, damage.fault))),
    };
    let mut wrong = None;
    for record in read.records() {
        assert_eq!(wrong, None, "nothing comes behind damage");
        match record {
            Ok(record) => {
                assert_eq!(page.get(record.offset..record.offset + record.bytes.len()), Some(record.bytes));
                records.push((record.time, record.bytes.to_vec()));
            }
            Err(damage) => wrong = Some((damage.at, damage.fault)),
        }
    }
    (records, wrong)
}

/// Every type of record there is, in a page of time 1000 (top bits set); and what is to be read.
fn all_types(order: ByteOrder, long: LongSize) -> (Made, Vec<(u64, Vec<u8>)>) {
    let made = Made::new(order, long)
        .header(1, 5)
        .bytes(b"abcd")
        .header(28, 0)
        .bytes(&[28; 112])
        // With a length word, which counts itself; rounded up.
        .header(0, 7)
        .word(4 + 6)
        .bytes(b"efghij\0\0")
        .header(0, 0)
        .word(4)
        // Thrown away; its time counts.
        .header(29, 3)
        .word(4 + 8)
        .bytes(b"discarde")
        .header(2, 0x7ff_ffff)
        .bytes(b"klmnopqr")
        // 2 and 3 << 27 later.
        .header(30, 2)
        .word(3)
        .header(1, 1)
        .bytes(b"stuv")
        // Absolute, of 59 bits.
        .header(31, 9)
        .word(0x8000_0000)
        .header(1, 2)
        .bytes(b"wxyz")
        // The rest of the page.
        .header(29, 0)
        .bytes(b"\x01\x02\x03\x04\x05\x06\x07\x08\x09");
    let mut time = 0xa000_0000_0000_03e8 + 5;
    let mut expected = vec![(time, b"abcd".to_vec()), (time, vec![28; 112])];
    time += 7;
    expected.extend([(time, b"efghij\0\0".to_vec()), (time, Vec::new())]);
    time += 3 + 0x7ff_ffff;
    expected.push((time, b"klmnopqr".to_vec()));
    time += 2 + (3 << 27) + 1;
    expected.push((time, b"stuv".to_vec()));
    expected.push((0xa400_0000_0000_0000 + 9 + 2, b"wxyz".to_vec()));
    (made, expected)
}

#[test]
fn every_type_of_record_in_both_orders_on_both_kernels() {
    for (order, long) in KINDS {
        let (made, expected) = all_types(order, long);
        for size in [1024, 4096, 65536] {
            let page = made.page(0xa000_0000_0000_03e8, made.length(), &[], size);
            assert_eq!(read(&page, made.layout()), (expected.clone(), None), "{order:?} {long:?}");
        }
    }
}

#[test]
fn an_absolute_time_goes_on_over_the_end_of_its_59_bits() {
    let made = Made::new(ByteOrder::Little, LongSize::Eight).header(31, 4).word(0).header(1, 0).bytes(b"abcd");
    for (before, expected) in [
        // Just before the end: the upper bits count on.
        ((1 << 59) - 10, (1 << 59) + 4),
        ((3 << 59) - 1, (3 << 59) + 4),
        // A clock that went back a little.
        ((1 << 59) + 10, (1 << 59) + 4),
        (0, 4),
        (u64::MAX, 4),
    ] {
        let page = made.page(before, made.length(), &[], 64);
        assert_eq!(read(&page, made.layout()).0[0].0, expected, "{before:#x}");
    }
}

#[test]
fn times_of_pages_and_records_wrap() {
    let made = Made::new(ByteOrder::Big, LongSize::Four).header(30, 0).word(u32::MAX).header(1, 1).bytes(b"abcd");
    let page = made.page(u64::MAX, made.length(), &[], 64);
    assert_eq!(read(&page, made.layout()).0[0].0, u64::from(u32::MAX) << 27);
}

#[test]
fn the_commit_word_tells_of_lost_events() {
    const LOST: u64 = 1 << 31;
    const STORED: u64 = 1 << 30;
    for (order, long) in KINDS {
        let made = Made::new(order, long).header(1, 5).bytes(b"abcd");
        let count = made.number(1989, long.bytes());
        let lost = |commit: u64, behind: &[u8], size| {
            let page = made.page(0, commit, behind, size);
            let read = Page::read(&page, made.layout()).unwrap();
            assert_eq!((read.time(), read.records().count()), (0, 1));
            read.lost()
        };
        assert_eq!(lost(8, &count, 64), LostEvents::None);
        assert_eq!(lost(8 | STORED, &count, 64), LostEvents::None);
        assert_eq!(lost(8 | LOST, &count, 64), LostEvents::Unknown);
        assert_eq!(lost(8 | LOST | STORED, &count, 64), LostEvents::Counted(1989));
        // The word is extended by its sign.
        assert_eq!(lost(8 | LOST | STORED | (0xffff_ffff << 32), &count, 64), LostEvents::Counted(1989));
        let full = made.layout().data + 8;
        assert_eq!(lost(8 | LOST | STORED, &[], full), LostEvents::Unknown);
        assert_eq!(lost(8 | LOST | STORED, &count[1..], full + count.len() - 1), LostEvents::Unknown);
    }
}

#[test]
fn what_is_behind_the_commit_is_never_read() {
    let made = Made::new(ByteOrder::Little, LongSize::Eight).header(1, 5).bytes(b"abcd").header(1, 5).bytes(b"old!");
    let page = made.page(0, 8, &[], 64);
    assert_eq!(read(&page, made.layout()), (vec![(5, b"abcd".to_vec())], None));
    assert_eq!(read(&made.page(7, 0, &[], 64), made.layout()), (Vec::new(), None));
}

#[test]
fn a_damaged_page_gives_its_whole_records_and_says_where_it_ends() {
    for (order, long) in KINDS {
        let good = || Made::new(order, long).header(1, 5).bytes(b"abcd");
        let data = good().layout().data;
        let header = |left, expected| PageFault::RecordHeader { left, expected };
        for (made, fault) in [
            (good().header(3, 1).bytes(b"abcdefgh"), PageFault::RecordLength { said: 12, left: 8 }),
            (good().header(0, 1).word(13).bytes(b"abcdefgh"), PageFault::RecordLength { said: 12, left: 8 }),
            (good().header(0, 1).word(u32::MAX), PageFault::RecordLength { said: 0xffff_fffc, left: 0 }),
            (good().header(0, 1).word(3), PageFault::LengthWord { found: 3 }),
            (good().header(29, 1).word(5), PageFault::RecordLength { said: 5, left: 4 }),
            (good().header(29, 1).word(u32::MAX), PageFault::RecordLength { said: u32::MAX.into(), left: 4 }),
            (good().header(0, 1), header(4, 8)),
            (good().header(30, 1).bytes(b"abc"), header(7, 8)),
            (good().header(31, 1), header(4, 8)),
            (good().bytes(b"abc"), header(3, 4)),
        ] {
            // The page goes on behind its records, where nothing is read.
            let page = made.page(0, made.length(), &[], 256);
            assert_eq!(read(&page, made.layout()), (vec![(5, b"abcd".to_vec())], Some((data + 8, fault))));
        }
        let page = good().page(0, 100, &[], data + 8);
        let commit = PageFault::Commit { said: 100, there: 8 };
        assert_eq!(read(&page, good().layout()), (vec![(5, b"abcd".to_vec())], Some((data + 8, commit))));
        let header = PageFault::Header { there: data - 1, header: data };
        assert_eq!(read(&page[..data - 1], good().layout()), (Vec::new(), Some((0, header))));
    }
}

#[test]
fn damage_is_told_in_words() {
    let layout = PageLayout::assumed(ByteOrder::Big, LongSize::Four);
    let damage = Page::read(&[0; 11], &layout).unwrap_err();
    assert_eq!(damage.to_string(), "a page of 11 bytes, expected at least its header of 12; its events are lost");
}

/// Cut anywhere, a page gives the records before the cut, and says so.
fn cut_everywhere(page: &[u8], layout: &PageLayout) {
    let (whole, wrong) = read(page, layout);
    assert_eq!(wrong, None);
    let mut counts = Vec::new();
    for length in 0..page.len() {
        let (records, wrong) = read(&page[..length], layout);
        assert_eq!(records, whole[..records.len()], "cut to {length}");
        match wrong {
            Some((at, _)) => assert!(at <= length),
            None => assert_eq!(records.len(), whole.len(), "cut to {length}"),
        }
        counts.push(records.len());
    }
    assert!(counts.is_sorted());
    assert!(*counts.last().unwrap() >= whole.len() - 1);
}

#[test]
fn pages_cut_at_every_byte() {
    for (order, long) in KINDS {
        let (made, _) = all_types(order, long);
        cut_everywhere(&made.page(0, made.length(), &[], 260), made.layout());
    }
    let file = File::open("uprobe-v7-zstd");
    for pages in &file.pages {
        for page in pages.bytes.chunks(pages.page_size) {
            cut_everywhere(page, &file.layout);
        }
    }
}
