use super::{FrameDamage, Framing, Piece, Pieces, source_ids};

/// A piece, in short: offset, ID and bytes, or what is damaged.
type Short = Result<(u64, u8, Vec<u8>), (u64, FrameDamage)>;

fn pieces(sink: &[u8], framing: Framing) -> Vec<Short> {
    Pieces::new(sink, framing)
        .map(|piece| match piece {
            Piece::Run(run) => Ok((run.at(), run.source(), run.bytes().to_vec())),
            Piece::Damaged { at, damage } => Err((at, damage)),
        })
        .collect()
}

/// A frame that begins with ID 0x10 and has the bytes 1 to 14 of it.
const ONE_SOURCE: [u8; 16] = [0x21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0];

/// What the data of `ONE_SOURCE` are, in a frame at an offset.
fn one_source(at: u64) -> Short {
    Ok((at + 1, 0x10, (1..=14).collect()))
}

#[test]
fn the_last_byte_has_bit_0_of_the_even_ones() {
    let mut frame = ONE_SOURCE;
    frame[15] = 0b1000_0010;
    let data = vec![1, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15];
    assert_eq!(pieces(&frame, Framing::Aligned), [Ok((1, 0x10, data))]);
}

#[test]
fn an_id_begins_at_once_or_one_byte_later() {
    // 0x10, then 0x11 behind its next byte, then 0x10 at once, then 0x11 in the last place, for the next frame.
    let first = [0x21, 1, 0x23, 2, 4, 5, 0x21, 6, 8, 9, 10, 11, 12, 13, 0x23, 0b0000_0010];
    let second = [2, 3, 0x01, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0b0000_0010];
    let sink = [first, second].concat();
    let expected = [
        Ok((1, 0x10, vec![1])),
        Ok((3, 0x10, vec![2])),
        Ok((4, 0x11, vec![4, 5])),
        Ok((7, 0x10, vec![6, 8, 9, 10, 11, 12, 13])),
        // The flag of the ID says that the byte behind is of the one before; the rest is padding.
        Ok((16, 0x11, vec![2, 3])),
        Ok((19, 0x11, vec![4])),
    ];
    assert_eq!(pieces(&sink, Framing::Aligned), expected);
    assert_eq!(source_ids(&sink, Framing::Aligned).into_iter().collect::<Vec<_>>(), [0x10, 0x11]);
}

#[test]
fn bytes_before_the_first_id_and_of_ids_of_no_source_are_passed_over() {
    let frame = [2, 3, 0xfb, 4, 0xe1, 5, 0x01, 6, 0xff, 7, 0x21, 8, 0xdf, 9, 10, 0];
    assert_eq!(pieces(&frame, Framing::Aligned), [Ok((11, 0x10, vec![8])), Ok((13, 0x6f, vec![9, 10]))]);
}

#[test]
fn a_frame_that_is_cut_is_said_and_not_read() {
    let sink = [&ONE_SOURCE[..], &ONE_SOURCE[..15]].concat();
    assert_eq!(pieces(&sink, Framing::Aligned), [one_source(0), Err((16, FrameDamage::Cut { found: 15 }))]);
}

#[test]
fn a_barrier_of_the_driver_ends_what_is_known() {
    let barrier = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let mut behind = ONE_SOURCE;
    behind[0] = 2;
    let sink = [&ONE_SOURCE[..], &barrier, &behind].concat();
    assert_eq!(pieces(&sink, Framing::Aligned), [one_source(0), Err((16, FrameDamage::Barrier))]);
}

#[test]
fn a_stream_waits_for_its_first_frame_synchronization() {
    let sink = [&[0x21, 9, 9][..], &[0xff, 0xff, 0xff, 0x7f], &ONE_SOURCE, &[0xff, 0xff, 0xff, 0x7f]].concat();
    assert_eq!(pieces(&sink, Framing::Synchronized), [one_source(7)]);
    assert_eq!(pieces(&ONE_SOURCE, Framing::Synchronized), []);
}

#[test]
fn halfword_synchronizations_split_a_run() {
    let sink = [
        &[0xff, 0xff, 0xff, 0x7f, 0xff, 0x7f][..],
        &ONE_SOURCE[..4],
        &[0xff, 0x7f, 0xff, 0x7f],
        &ONE_SOURCE[4..],
        &[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f],
        &ONE_SOURCE,
    ]
    .concat();
    let expected = [Ok((7, 0x10, vec![1, 2, 3])), Ok((14, 0x10, (4..=14).collect())), one_source(34)];
    assert_eq!(pieces(&sink, Framing::Synchronized), expected);
}

#[test]
fn a_stream_that_lost_bytes_goes_on_at_the_next_frame_synchronization() {
    let fsync = [0xff, 0xff, 0xff, 0x7f];
    let sink = [&fsync[..], &ONE_SOURCE[..6], &fsync, &ONE_SOURCE, &[0xff, 0xff, 1, 2], &ONE_SOURCE, &fsync].concat();
    let expected =
        [Err((10, FrameDamage::Interrupted { found: 6 })), one_source(14), Err((30, FrameDamage::NotAFrame))];
    assert_eq!(pieces(&sink, Framing::Synchronized), expected);
    let cut = [&fsync[..], &ONE_SOURCE, &ONE_SOURCE[..3]].concat();
    assert_eq!(pieces(&cut, Framing::Synchronized), [one_source(4), Err((22, FrameDamage::Cut { found: 3 }))]);
    // The end comes inside a frame synchronization.
    let cut = [&fsync[..], &ONE_SOURCE, &fsync[..2]].concat();
    assert_eq!(pieces(&cut, Framing::Synchronized), [one_source(4)]);
}

#[test]
fn every_way_to_cut_or_change_a_stream_ends() {
    let fsync = [0xff, 0xff, 0xff, 0x7f];
    let sink = [&fsync[..], &ONE_SOURCE, &[0xff, 0x7f], &ONE_SOURCE, &fsync, &ONE_SOURCE].concat();
    for framing in [Framing::Unformatted, Framing::Aligned, Framing::Synchronized] {
        for cut in 0..sink.len() {
            assert!(Pieces::new(&sink[..cut], framing).count() <= cut);
            assert!(Pieces::new(&sink[cut..], framing).count() <= sink.len());
        }
        for at in 0..sink.len() {
            for bit in 0..8 {
                let mut changed = sink.clone();
                changed[at] ^= 1 << bit;
                assert!(Pieces::new(&changed, framing).count() <= sink.len());
            }
        }
    }
}

#[test]
fn a_sink_that_is_not_formatted_is_of_one_source() {
    let sink: Vec<u8> = (0..40).collect();
    let (places, bytes): (Vec<_>, Vec<_>) = pieces(&sink, Framing::Unformatted)
        .into_iter()
        .map(|piece| piece.map(|(at, source, bytes)| ((at, source), bytes)))
        .map(Result::unwrap)
        .unzip();
    assert_eq!(places, [(0, 0), (15, 0), (30, 0)]);
    assert_eq!(bytes.concat(), sink);
}
