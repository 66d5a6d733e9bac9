//! A server among storms, and what is right in its recording.

use std::io::{self, BufWriter, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::link::Link;
use super::size;
use super::support::made::{self, Made};
use super::support::protocol::hex;
use super::support::started::eventually;
use super::support::{Server, data};

/// Questions, and the right answers.
pub type Questions = Vec<(String, String)>;

/// The two recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Forty frames with their program; a reply is some thousand bytes long.
    Small,
    /// Many frames without a program, each with its number in its memory and in a variable.
    Large,
}

/// A server that listens at a TCP port and on a Unix socket.
pub struct Served {
    pub server: Server,
    pub place: Place,
    _folder: tempfile::TempDir,
}

/// Where the server is to be found, and what is right there.
pub struct Place {
    pub kind: Kind,
    pub port: u16,
    pub socket: PathBuf,
}

impl Served {
    /// Begins to serve.
    pub fn new(kind: Kind) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let address = format!("unix:{}", socket.display());
        let arguments = match kind {
            Kind::Small => [path("tfile/04-step.tf"), "--exec".to_owned(), path("bin/case")],
            Kind::Large => [large().to_str().unwrap().to_owned(), "--arch".to_owned(), "x86-64".to_owned()],
        };
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // More than any storm brings at a time.
        arguments.extend(["--listen", &address, "--max-clients", "2000"]);
        let server = Server::serve(&arguments);
        let place = Place { kind, port: server.port, socket };
        Served { server, place, _folder: folder }
    }

    /// Waits until all is indexed, so that no answer is held up by that, and nobody is there.
    pub fn settle(&self) {
        let mut client = self.server.connect();
        // That there is none is known once all is indexed.
        client.send("QTFrame:tdp:7fff");
        client.console_until_reply("F-1");
        drop(client);
        eventually("the client left", || self.server.errors().contains(" left"));
    }
}

impl Place {
    /// A new connection: even ones over TCP, odd ones over the Unix socket.
    pub fn raw(&self, at: usize) -> io::Result<Link> {
        if at.is_multiple_of(2) {
            let stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_nodelay(true)?;
            Link::new(stream)
        } else {
            Link::new(UnixStream::connect(&self.socket)?)
        }
    }

    /// A new connection without acknowledgement.
    pub fn link(&self, at: usize) -> io::Result<Link> {
        self.raw(at)?.without_acknowledgement()
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        match self.kind {
            Kind::Small => 40,
            Kind::Large => size(200_000, 3_000_000),
        }
    }

    /// What `tfind` answers that finds this frame.
    pub fn found(&self, frame: usize) -> String {
        match self.kind {
            Kind::Small => format!("F{frame:x}T2"),
            Kind::Large => format!("F{frame:x}T1"),
        }
    }

    /// The question for the next frame behind the selected one.
    pub fn next(&self) -> &'static str {
        match self.kind {
            Kind::Small => "QTFrame:tdp:2",
            Kind::Large => "QTFrame:tdp:1",
        }
    }

    /// A long question: the state of the frame that has most of it. It is to be asked in that frame.
    pub fn longest(&self) -> (usize, String, String) {
        let frame = if self.kind == Kind::Small { 5 } else { LARGE_EACH };
        let (question, answer) = self.state(frame).into_iter().max_by_key(|(_, answer)| answer.len()).unwrap();
        (frame, question, answer)
    }

    /// The state in a frame.
    pub fn state(&self, frame: usize) -> Questions {
        match self.kind {
            Kind::Small => small_states()[frame].clone(),
            Kind::Large => {
                let number = frame as u64;
                let mut state = vec![
                    ("qTV:1".to_owned(), format!("V{number:x}")),
                    ("m1000,8".to_owned(), hex(number.to_le_bytes())),
                    ("m1018,20".to_owned(), "7878787878787878".to_owned()),
                ];
                if frame.is_multiple_of(LARGE_EACH) {
                    state.push(("m100000,1ff0".to_owned(), hex([frame as u8; 0x1ff0])));
                }
                state
            }
        }
    }

    /// Going to a frame, and its state.
    pub fn visit(&self, frame: usize) -> Questions {
        let mut visit = vec![(format!("QTFrame:{frame:x}"), self.found(frame))];
        visit.extend(self.state(frame));
        visit
    }
}

/// What is seen in each frame of the small recording, asked of a server in calm weather.
fn small_states() -> &'static [Questions] {
    static STATES: OnceLock<Vec<Questions>> = OnceLock::new();
    STATES.get_or_init(|| {
        let server = Server::serve(&[&path("tfile/04-step.tf"), "--exec", &path("bin/case")]);
        let mut client = server.connect();
        let mut states = Vec::new();
        for frame in 0..40 {
            assert_eq!(client.ask(format!("QTFrame:{frame:x}")), format!("F{frame:x}T2"));
            let questions = ["g", "m4040c0,4", "qXfer:traceframe-info:read::0,1000", "qTV:1"];
            states.push(questions.map(|question| (question.to_owned(), client.ask(question))).to_vec());
        }
        assert!(states[5][0].1.len() > 4000 && states.iter().any(|state| state[0] != states[0][0]));
        states
    })
}

/// Of so many frames of the large recording one holds much memory.
const LARGE_EACH: usize = 1000;

/// The large recording, made once.
fn large() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("storms-large.tf");
        let made = Made::new(&[
            "R 0",
            "status 0;tstop::0",
            &format!("tsv 1:0:0:{}", hex("count")),
            "tp T1:401131:E:0:0",
            "tp A1:401131:X2,2700",
            &format!("tp Z1:401131:cmd:0:e:{}", hex("collect $count")),
        ]);
        let head = made.bytes();
        let (head, end) = head.split_at(head.len() - 4);
        let mut file = BufWriter::new(std::fs::File::create(&path).unwrap());
        file.write_all(head).unwrap();
        for number in 0..size(200_000, 3_000_000) {
            let counted = [&(number as u64).to_le_bytes()[..], &[b'x'; 24]].concat();
            let mut blocks = [made::variable(1, number as i64), made::memory(0x1000, &counted)].concat();
            if number.is_multiple_of(LARGE_EACH) {
                blocks.extend(made::memory(0x10_0000, &[number as u8; 60_000]));
            }
            file.write_all(&1i16.to_le_bytes()).unwrap();
            file.write_all(&u32::try_from(blocks.len()).unwrap().to_le_bytes()).unwrap();
            file.write_all(&blocks).unwrap();
        }
        file.write_all(end).unwrap();
        file.flush().unwrap();
        path
    })
}

/// The path of a file of `tests/data` as text.
fn path(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}
