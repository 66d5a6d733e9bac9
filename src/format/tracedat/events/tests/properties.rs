//! Whatever the bytes are: nothing panics, nothing is read outside.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{Clock, EventFormat, Formats, LongSize, Page, PageLayout, StackEntries, TaskCollector};
use super::super::{TimeSample, TimeShift, Tsc2Nsec};
use super::file::File;
use crate::source::ByteOrder;
use crate::trace::DamageList;

fn order() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)]
}

fn long() -> impl Strategy<Value = LongSize> {
    prop_oneof![Just(LongSize::Four), Just(LongSize::Eight)]
}

/// Everything that can be asked of a record.
fn ask_all(formats: &Formats, format: &EventFormat, record: &[u8]) {
    let order = formats.order();
    for field in &format.fields {
        let extent = field.extent(record, order);
        if let Some(extent) = &extent {
            assert!(
                extent.range.start <= extent.range.end && extent.range.end <= record.len(),
                "{field:?}: {extent:?}"
            );
        }
        let bytes = field.bytes(record, order);
        assert_eq!(bytes.map(<[u8]>::len), extent.map(|extent| extent.range.len()));
        let length = bytes.map_or(0, <[u8]>::len);
        assert!(field.text(record, order).is_none_or(|text| text.len() <= length));
        if let Some(integers) = field.integers(record, order) {
            let size = integers.element_size();
            assert_eq!(integers.count(), length / size, "{field:?}");
        }
        field.integer(record, order);
    }
    formats.pid(format, record);
    assert!(StackEntries::of(format, record, order).is_none_or(|entries| entries.count() * 4 <= record.len()));
}

fn walk(page: &[u8], layout: &PageLayout) {
    let Ok(read) = Page::read(page, layout) else { return };
    let mut behind = layout.data;
    for record in read.records() {
        match record {
            Ok(record) => {
                assert!(record.offset >= behind + 4, "records do not overlap");
                assert_eq!(page.get(record.offset..record.offset + record.bytes.len()), Some(record.bytes));
                behind = record.offset + record.bytes.len();
            }
            Err(damage) => assert!(damage.at >= behind && damage.at <= page.len()),
        }
    }
}

/// A format with a field of each kind.
const TEXT: &str = "name: kernel_stack\nID: 4\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\
    \tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u16[] words;\toffset:12;\tsize:4;\tsigned:0;\n\
    \tfield:u64 stk[];\toffset:9;\tsize:24;\tsigned:0;\n\
    \tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n\nprint fmt: \"%s\", __get_bitmask(words)\n";

proptest! {
    #[test]
    fn any_bytes_as_a_page(page in vec(any::<u8>(), 0..400), commit in 0..500u32, order in order(), long in long()) {
        let layout = PageLayout::assumed(order, long);
        walk(&page, &layout);
        // And with a commit word that makes sense.
        let mut page = page;
        if let Some(word) = page.get_mut(layout.commit..layout.data) {
            order.store(commit.into(), word);
        }
        walk(&page, &layout);
    }

    #[test]
    fn any_layout_of_a_page(
        page in vec(any::<u8>(), 0..64),
        parts in any::<[u16; 3]>(),
        order in order(),
        long in long(),
    ) {
        let [timestamp, commit, data] = parts.map(|part| usize::from(part) % 80);
        walk(&page, &PageLayout { timestamp, commit, data, ..PageLayout::assumed(order, long) });
    }

    #[test]
    fn any_text_as_a_description(text in vec(any::<u8>(), 0..300), order in order(), long in long()) {
        EventFormat::read("sys", &text, long).ok();
        PageLayout::read(&text, order, long);
    }

    #[test]
    fn any_line_as_a_field(line in "[a-z_ \\[\\]()*;:0-9]{0,60}", long in long(), record in vec(any::<u8>(), 0..40)) {
        let fields = format!("field:{line}\nfield:{line};offset:3;size:4;\nfield:{line} b[];offset:3;size:4;\n");
        let text = format!("name: a\nID: 4\n{fields}");
        let mut formats = Formats::new(ByteOrder::Little, long);
        formats.add("ftrace", text.as_bytes(), 0, &mut DamageList::default());
        ask_all(&formats, formats.get(4).unwrap(), &record);
    }

    #[test]
    fn a_changed_text_and_any_record(
        changes in vec((0..TEXT.len(), any::<u8>()), 0..6),
        numbers in any::<[u32; 2]>(),
        record in vec(any::<u8>(), 0..120),
        order in order(),
        long in long(),
    ) {
        let [offset, size] = numbers.map(|number| number.to_string());
        let mut text = TEXT.replace("offset:9", &format!("offset:{offset}"));
        text = text.replace("size:24", &format!("size:{size}"));
        for (at, byte) in changes {
            // A byte of ASCII in place of another leaves text.
            text.replace_range(at..=at, char::from(byte & 0x7f).encode_utf8(&mut [0; 4]));
        }
        let mut formats = Formats::new(order, long);
        formats.add("ftrace", text.as_bytes(), 0, &mut DamageList::default());
        for format in formats.all() {
            for end in 0..=record.len() {
                ask_all(&formats, format, &record[..end]);
            }
        }
        formats.of(&record);
    }

    #[test]
    fn any_numbers_as_times(
        samples in vec(any::<[i64; 3]>(), 0..5),
        fraction: u64,
        flags: u32,
        scale: (u32, u32),
        offsets: [i64; 2],
        times: [u64; 4],
    ) {
        let mut clock = Clock::default();
        let near = samples.first().map_or(0, |[time, ..]| *time as u64);
        let sample = |[time, offset, scaling]: [i64; 3]| TimeSample { time, offset, scaling, fraction };
        clock.set_time_shift(TimeShift { flags, cpus: vec![samples.into_iter().map(sample).collect()] });
        clock.set_tsc2nsec(Tsc2Nsec { multiplier: scale.0, shift: scale.1 });
        clock.add_date(offsets[0]);
        clock.add_offset(offsets[1]);
        for time in times.into_iter().chain([near, near.wrapping_sub(1), near.wrapping_add(1), 0, u64::MAX]) {
            clock.time(time, 0);
        }
    }
}

#[test]
fn every_record_of_a_recording_cut_and_changed() {
    for name in ["uprobe-v7-zstd", "marker-v7-zstd"] {
        let file = File::open(name);
        let mut tasks = TaskCollector::new(&file.formats);
        for pages in &file.pages {
            for page in pages.bytes.chunks(pages.page_size) {
                for record in Page::read(page, &file.layout).unwrap().records() {
                    let mut record = record.unwrap().bytes.to_vec();
                    let format = file.formats.of(&record).unwrap();
                    for at in (0..record.len()).step_by(if record.len() > 200 { 61 } else { 1 }) {
                        ask_all(&file.formats, format, &record[..at]);
                        tasks.see(format, &record[..at], 0);
                        record[at] ^= 0xff;
                        ask_all(&file.formats, format, &record);
                        tasks.see(format, &record, at as u64);
                        record[at] ^= 0xff;
                    }
                }
            }
        }
        tasks.finish();
    }
}

#[test]
fn every_page_of_a_recording_with_each_byte_changed() {
    let file = File::open("marker-v7-zstd");
    let page = &file.pages[0].bytes[..file.pages[0].page_size];
    let mut page = page.to_vec();
    for at in 0..page.len() {
        for value in [0, 0xff, page[at] ^ 0x80, page[at].wrapping_add(1)] {
            let before = std::mem::replace(&mut page[at], value);
            walk(&page, &file.layout);
            page[at] = before;
        }
    }
}
