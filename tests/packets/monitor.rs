//! Monitor commands.

use super::{serve, steps};

#[test]
fn help_names_every_command_and_each_answers() {
    let server = steps();
    let mut client = server.connect();
    let help = client.monitor("help");
    assert_eq!(client.monitor(""), help);
    assert_eq!(client.monitor("  help  "), help);
    let mut names = Vec::new();
    for line in help.lines() {
        let command = line.strip_prefix("monitor ").unwrap_or_else(|| panic!("{line}"));
        let name = command.split_whitespace().next().unwrap();
        let answer = client.monitor(name);
        assert!(!answer.is_empty() && answer.ends_with('\n'), "{name}: {answer}");
        assert!(!answer.contains("not known"), "{name}: {answer}");
        names.push(name.to_owned());
    }
    for name in ["help", "status", "frames", "find", "goto", "mark", "marks", "damage"] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {help}");
    }
}

#[test]
fn a_command_that_is_not_known_or_not_unique_says_what_to_do() {
    let server = steps();
    let mut client = server.connect();
    let answer = client.monitor("reboot now");
    assert_eq!(answer, "monitor reboot is not known; try: monitor help\n");
    // Shortened, as in gdb.
    assert_eq!(client.monitor("stat"), client.monitor("status"));
    assert_eq!(client.monitor("dam"), client.monitor("damage"));
    // Nothing that a client sends comes back raw to a terminal.
    let answer = client.monitor("\x1b[31m\u{202e}");
    assert!(!answer.contains('\x1b'), "{answer:?}");
    client.send("qRcmd,ff00fe");
    let answer = client.console_until_reply("OK");
    assert!(answer.contains("is not known") && !answer.contains('\0'), "{answer:?}");
}

#[test]
fn status_tells_the_place_and_what_is_made_up() {
    let server = steps();
    let mut client = server.connect();
    let status = client.monitor("status");
    for part in [
        "04-step.tf: TRACE0",
        "i386:x86-64, little-endian",
        "frames: 40",
        "bin/case, at its linked addresses",
        "you are: outside any frame, none visited yet",
        "outside a frame: gdb cannot live without registers there",
    ] {
        assert!(status.contains(part), "{part} is not in {status}");
    }
    client.ask("QTFrame:3");
    let status = client.monitor("status");
    assert!(status.contains("you are: in trace frame 3\n"), "{status}");
    assert!(status.contains("pc: 0x401139, recorded\n"), "{status}");
    client.ask("QTFrame:ffffffff");
    assert!(client.monitor("status").contains("you are: outside any frame, last in trace frame 3\n"));
}

#[test]
fn frames_with_every_filter_and_wrong_ones() {
    let server = steps();
    let mut client = server.connect();
    let rows = |text: &str| -> Vec<usize> {
        text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    };
    assert_eq!(rows(&client.monitor("frames")), (0..40).collect::<Vec<_>>());
    assert_eq!(rows(&client.monitor("frames range 3..5")), [3, 4, 5]);
    assert_eq!(rows(&client.monitor("frames range 38..")), [38, 39]);
    assert_eq!(rows(&client.monitor("frames range ..1")), [0, 1]);
    assert_eq!(rows(&client.monitor("frames pc 0x401134 range 0..9")), [1, 5, 9]);
    assert_eq!(rows(&client.monitor("frames pc 0x401134,0x401136 range 0..6")), [1, 2, 5, 6]);
    assert_eq!(rows(&client.monitor("frames tracepoint 2 range 7..8")), [7, 8]);
    assert_eq!(client.monitor("frames tracepoint 9"), "no frames that fit\n");
    for (wrong, said) in [
        ("frames pc", "pc needs a value"),
        ("frames pc xyz", "xyz is no number"),
        ("frames range 5", "write M..N"),
        ("frames range 5..4", "behind the second"),
        ("frames tracepoint two", "no tracepoint number"),
        ("frames colour red", "colour is no filter"),
    ] {
        let answer = client.monitor(wrong);
        assert!(answer.contains(said) && answer.contains("usage: monitor frames"), "{wrong}: {answer}");
    }
}

#[test]
fn damage_is_named_with_its_place() {
    assert_eq!(steps().connect().monitor("damage"), "nothing is damaged\n");
    for (recording, said) in [
        ("tfile/30-truncframe.tf", "frame 4 at byte 0x61f4: the frame's size is 2417 bytes, but 994 are left"),
        ("tfile/31-noend.tf", "at byte 0x9abe: no end mark behind the last frame"),
        ("tfile/37-unkblock.tf", "frame 1 at byte 0x45a4: block type 0x5a is not R, M, V or S"),
    ] {
        let server = serve(recording, None);
        let mut client = server.connect();
        let answer = client.monitor("damage");
        assert!(answer.contains(said) && answer.contains("1 place of damage"), "{answer}");
        // Nothing of it is in the way of what is whole.
        assert_eq!(client.ask_alone("QTFrame:2"), "F2T2");
        assert!(client.monitor("status").contains("damage: 1 place could not be read"), "{recording}");
    }
    let server = serve("tfile/37-unkblock.tf", None);
    let mut client = server.connect();
    client.ask("QTFrame:1");
    let status = client.monitor("status");
    assert!(status.contains("this frame is damaged: at byte 0x45a4: block type 0x5a"), "{status}");
}
