//! `qTV`: trace state variables in frames and outside.

use super::serve;
use super::support::Server;
use super::support::made::{self, Made};

#[test]
fn in_a_frame_its_value_and_outside_the_last_one() {
    let server = serve("tfile/03-tsv.tf", None);
    let mut client = server.connect();
    // Before any frame is selected: the last values of the recording.
    assert_eq!(client.ask_alone("qTV:2"), "Vf");
    assert_eq!(client.ask_alone("qTV:3"), "Vffffffffffffffef");
    for frame in 0..10i64 {
        assert_eq!(client.ask_alone(format!("QTFrame:{frame:x}")), format!("F{frame:x}T2"));
        assert_eq!(client.ask_alone("qTV:2"), format!("V{:x}", 6 + frame));
        assert_eq!(client.ask_alone("qTV:3"), format!("V{:x}", -8 - frame));
        // Defined and not collected; not defined at all.
        assert_eq!(client.ask_alone("qTV:1"), "U");
        assert_eq!(client.ask_alone("qTV:4"), "U");
        assert_eq!(client.ask_alone("qTV:63"), "U");
    }
    client.ask_alone("QTFrame:0");
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("qTV:2"), "Vf");
    assert_eq!(client.ask_alone("qTV:3"), "Vffffffffffffffef");
    assert_eq!(client.ask_alone("qTV:4"), "U");
}

#[test]
fn a_variable_that_does_not_exist_is_no_error() {
    let server = serve("tfile/03-tsv.tf", None);
    let mut client = server.connect();
    for packet in ["qTV:", "qTV:zz", "qTV:-1", "qTV:ffffffff", "qTV:100000002", "qTV:2:2", "qTV: 2", "qTV:0x2"] {
        assert_eq!(client.ask_alone(packet), "U", "{packet}");
    }
    assert_eq!(client.ask_alone("qTV:0000000000000000000002"), "Vf");
}

#[test]
fn the_last_value_in_a_frame_holds_and_a_frame_without_it_has_none() {
    let mut made = Made::new(&["R 0", "tsv 5:0:0:61"]);
    made.frame(1, &[made::variable(5, 1), made::variable(5, i64::MIN), made::variable(-2, 9)]);
    made.frame(1, &[made::memory(0x1000, b"abc")]);
    let (_folder, file) = made.save("values.tf");
    let server = Server::serve(&[&file, "--arch", "x86-64"]);
    let mut client = server.connect();
    assert_eq!(client.ask_alone("QTFrame:0"), "F0T1");
    assert_eq!(client.ask_alone("qTV:5"), "V8000000000000000");
    assert_eq!(client.ask_alone("qTV:fffffffe"), "V9");
    assert_eq!(client.ask_alone("QTFrame:1"), "F1T1");
    assert_eq!(client.ask_alone("qTV:5"), "U");
    assert_eq!(client.ask_alone("QTFrame:ffffffff"), "OK");
    assert_eq!(client.ask_alone("qTV:5"), "V8000000000000000");
}
