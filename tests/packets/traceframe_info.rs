//! `qXfer:traceframe-info` and `qXfer:statictrace`.

use super::support::Server;
use super::support::made::{self, Made};
use super::{serve, steps};

#[test]
fn the_map_of_each_frame_and_of_none() {
    let server = serve("tfile/03-tsv.tf", None);
    let mut client = server.connect();
    let outside = |reply: Option<Vec<u8>>| assert!(reply.is_none(), "a map outside any frame: {reply:?}");
    outside(client.object("traceframe-info", "", 0x1000));
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T2");
    let map = client.text_object("traceframe-info", "");
    assert_eq!(
        map,
        "<traceframe-info>\n<memory start=\"0x7fffffffe4bc\" length=\"0x4\"/>\n<tvar id=\"0x2\"/>\n<tvar id=\"0x3\"/>\n\
         </traceframe-info>\n"
    );
    for length in [1, 5, 0x10, 0xff, 0x4000, 0xffff_ffff] {
        let pieces = client.object("traceframe-info", "", length).unwrap();
        assert_eq!(String::from_utf8(pieces).unwrap(), map, "in pieces of {length:#x}");
    }
    for offset in [map.len() as u64, u64::MAX] {
        assert_eq!(client.ask_alone(format!("qXfer:traceframe-info:read::{offset:x},1000")), "l");
    }
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    outside(client.object("traceframe-info", "", 0x1000));
}

#[test]
fn the_map_changes_with_the_frame_between_two_pieces_of_it() {
    let server = steps();
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T2");
    assert_eq!(client.text_object("traceframe-info", ""), "<traceframe-info>\n</traceframe-info>\n");
    assert_eq!(client.ask_alone("QTFrame:1"), "F1T2");
    assert!(client.text_object("traceframe-info", "").contains("<memory start=\"0x4040c0\" length=\"0x4\"/>"));
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T2");
    assert_eq!(client.ask_alone("qXfer:traceframe-info:read::12,1000"), "l</traceframe-info>\n");
}

#[test]
fn touching_and_overlapping_blocks_are_one_piece() {
    let mut made = Made::new(&["R 0"]);
    made.frame(
        1,
        &[
            made::memory(0x2004, &[5, 6, 7, 8]),
            made::memory(0x2000, &[1, 2, 3, 4]),
            made::memory(0x2002, &[9, 9, 9, 9]),
            made::memory(0x1000, &[]),
            made::memory(u64::MAX - 3, &[1, 2, 3, 4]),
            made::variable(7, 1),
            made::variable(7, 2),
            made::variable(-1, 2),
        ],
    );
    let (_folder, file) = made.save("touching.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    assert_eq!(
        client.text_object("traceframe-info", ""),
        "<traceframe-info>\n<memory start=\"0x2000\" length=\"0x8\"/>\n\
         <memory start=\"0xfffffffffffffffc\" length=\"0x4\"/>\n<tvar id=\"0xffffffff\"/>\n<tvar id=\"0x7\"/>\n\
         </traceframe-info>\n"
    );
}

#[test]
fn static_tracepoint_data() {
    let server = serve("tfile/39-sblock.tf", None);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("qXfer:statictrace:read::0,1000"), "E01");
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T2");
    let data = client.object("statictrace", "", 0x1000).unwrap();
    assert_eq!(data.len(), 5);
    assert_eq!(client.object("statictrace", "", 2).unwrap(), data);
    assert_eq!(client.ask_alone("QTFrame:1"), "F1T2");
    assert_eq!(client.ask_alone("qXfer:statictrace:read::0,1000"), "E01");
    // Data that must be escaped arrives as it was.
    let every: Vec<u8> = (0..=255).collect();
    let mut made = Made::new(&["R 0"]);
    made.frame(1, &[[b"S\x00\x01", &every[..]].concat()]);
    let (_folder, file) = made.save("static.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    assert_eq!(client.object("statictrace", "", 0x1000).unwrap(), every);
    assert_eq!(client.object("statictrace", "", 3).unwrap(), every);
}
