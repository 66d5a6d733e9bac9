//! The remote protocol.
//!
//! Owns: framing and acknowledgement, the packets that gdbstub serves (`base`), the packets it lacks or gets wrong
//! (`packet`, one file each), monitor commands (`monitor`), a page on each kind of client ([`clients`]). The only room
//! that names gdbstub. Fed bytes and asked for bytes: it reads and writes no sockets.
//!
//! Invariant: whatever a client sends, it gets an answer and the next packet works. Only kill, detach and the end of
//! the connection end a session.
//!
//! A move that comes to the end of the recording is told as `replaylog:end`, but for a step of one thread alone: that is
//! how gdb steps over a breakpoint, and behind that answer it would wait for ever (13.1 to 18.1). It gets `T00`, which it
//! shows as `Program stopped.`, behind a line that the recording ends here.

mod base;
mod client;
pub mod clients;
mod log;
mod monitor;
mod packet;
mod reply;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::Base;
use client::Client;
use reply::Reply;
use wire::{Decoder, Event};

pub use log::PacketLog;
pub use wire::PACKET_SIZE;

use crate::report;
use crate::session::{Replay, Stop, Work};

/// Bytes of undecided packets after which the caller should not read more from the client.
const BACKLOG: usize = 4 * PACKET_SIZE;

/// What keeping an undecided packet costs besides its bytes: some are empty.
const PACKET_COST: usize = size_of::<Event>();

/// Bytes of replies after which a turn ends: a client that does not read costs no more than this and one reply.
const TURN_OUTPUT: usize = 64 * 1024;

/// How long a turn takes, if its packets let it.
const TURN_TIME: Duration = Duration::from_millis(5);

/// How long a client may be silent and still be on its way from one move to the next: a program asks on at once, a
/// person reads first. Longer than a round trip over a slow network.
const BETWEEN_MOVES: Duration = Duration::from_secs(1);

/// What a conversation is doing after [`Stub::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Waiting for the client.
    Idle,
    /// More packets can be answered, but the turn is over: send what [`Stub::take_output`] returns, let others have
    /// theirs, and call [`Stub::run`] again.
    Busy,
    /// A packet cannot be answered until the index has come further: call [`Stub::run`] again then.
    Indexing,
    /// The client waits for the end of a search, and may give it up: call [`Stub::run`] again, and meanwhile
    /// [`Stub::receive`] what it sends.
    Searching,
    /// The client has left. What [`Stub::take_output`] returns is still to be sent.
    Closed,
}

/// One client's conversation.
pub struct Stub {
    decoder: Decoder,
    base: Base,
    client: Client,
    acknowledge: bool,
    last_reply: Vec<u8>,
    /// The first packet, until the client has acknowledged a reply or asked anything else.
    greeting: Option<Vec<u8>>,
    waiting: VecDeque<Event>,
    waiting_bytes: usize,
    output: Vec<u8>,
    activity: Activity,
    /// A ^C that came between two moves: when the client was last heard.
    interrupted: Option<Instant>,
    /// How many frames a search has looked at.
    searched: u64,
    log: Option<PacketLog>,
}

impl Stub {
    /// A fresh conversation over a recording, with packets of the usual size.
    pub fn new(replay: Arc<Replay>) -> Stub {
        Stub::with_packet_size(replay, PACKET_SIZE)
    }

    /// The same, where a client may send packets of up to `packet_size` bytes of data.
    pub fn with_packet_size(replay: Arc<Replay>, packet_size: usize) -> Stub {
        let mut client = Client::new(replay, packet_size);
        Stub {
            decoder: Decoder::new(packet_size),
            base: Base::new(&mut client),
            client,
            acknowledge: true,
            last_reply: Vec::new(),
            greeting: Some(Vec::new()),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            output: Vec::new(),
            activity: Activity::Idle,
            interrupted: None,
            searched: 0,
            log: None,
        }
    }

    /// Writes every packet from now on to a log, too.
    pub fn log_to(&mut self, log: PacketLog) {
        self.log = Some(log);
    }

    /// Takes what the client sent and answers as much of it as can be answered now, for a turn.
    pub fn receive(&mut self, bytes: &[u8]) -> Activity {
        let mut began = None;
        for byte in bytes {
            let Some(event) = self.decoder.push(*byte) else { continue };
            match &event {
                Event::Packet(data) => {
                    tracing::debug!(packet = %data.escape_ascii(), "received");
                    if let Some(log) = &self.log {
                        log.received(data);
                    }
                    self.acknowledge_with(b'+');
                    if self.is_asked_again(data) {
                        continue;
                    }
                    self.interrupted =
                        self.interrupted.filter(|at| at.elapsed() < BETWEEN_MOVES).map(|_| Instant::now());
                }
                Event::BadChecksum => self.acknowledge_with(b'-'),
                Event::TooLong => self.acknowledge_with(b'+'),
                Event::Ack => {
                    // gdb sends one before it asks anything.
                    self.greeting.take_if(|greeting| !greeting.is_empty());
                    continue;
                }
                Event::Nack => {
                    self.send_again();
                    continue;
                }
                Event::Interrupt => {
                    self.interrupt();
                    self.answer_waiting(&mut began);
                    continue;
                }
            }
            self.waiting_bytes += cost(&event);
            self.waiting.push_back(event);
            // What is not there at one byte is not at the next either.
            if began.is_none() || !self.is_client_waiting() {
                self.answer_waiting(&mut began);
            }
        }
        self.activity
    }

    /// Whether this is the client's first question once more. Where it takes long until a server is started, behind a
    /// pipe over ssh, gdb asks again after 2 seconds, and is out of step for good if it gets two answers.
    fn is_asked_again(&mut self, data: &[u8]) -> bool {
        let Some(greeting) = self.greeting.take() else { return false };
        let again = self.acknowledge && greeting == data;
        if again || greeting.is_empty() && data.starts_with(b"qSupported") {
            self.greeting = Some(data.to_vec());
        }
        again
    }

    /// Goes on with what could not be answered before, for a turn.
    pub fn run(&mut self) -> Activity {
        self.answer_waiting(&mut None);
        self.activity
    }

    /// A turn begins with its first answer, however late the machine lets it come: it is known of what waits first
    /// whether it is indexed, so that ^C gives it up.
    fn answer_waiting(&mut self, began: &mut Option<Instant>) {
        while self.activity != Activity::Closed {
            let over = self.output.len() >= TURN_OUTPUT || began.is_some_and(|began| began.elapsed() >= TURN_TIME);
            if over && (self.is_at_work() || !self.waiting.is_empty()) {
                self.activity = Activity::Busy;
                break;
            }
            if self.is_at_work() {
                let deadline = *began.get_or_insert_with(Instant::now) + TURN_TIME;
                if self.go_on(deadline) {
                    continue;
                }
                break;
            }
            let Some(event) = self.waiting.front() else {
                self.activity = Activity::Idle;
                break;
            };
            began.get_or_insert_with(Instant::now);
            look_for_changes(self.client.session.replay());
            let reply = match event {
                Event::Packet(data) => packet::answer(data, &mut self.client),
                Event::TooLong => reply::error(format!("packet longer than {:#x} bytes", self.client.packet_size)),
                // With acknowledgement the `-` asked for it again; without, the client waits for a reply.
                Event::BadChecksum if self.acknowledge => Reply::Silence,
                _ => reply::error("wrong checksum"),
            };
            if reply == Reply::Later {
                self.activity = Activity::Indexing;
                break;
            }
            let request = self.take_waiting();
            self.send(&request, reply);
        }
    }

    /// Whether a move or a search has not ended.
    fn is_at_work(&self) -> bool {
        self.client.session.is_moving() || self.client.finding.is_some()
    }

    /// Goes on with a move or a search; whether it ended.
    fn go_on(&mut self, deadline: Instant) -> bool {
        look_for_changes(self.client.session.replay());
        let work = match self.client.finding.take() {
            None => self.client.session.advance(deadline).map(|stop| self.stop(Some(stop))),
            Some(mut finding) => match finding.search.advance(self.client.session.replay(), deadline) {
                Work::Done(next) => {
                    self.tell_found(finding.report(&self.client.session, next));
                    Work::Done(())
                }
                _ if Instant::now() >= finding.until => {
                    self.tell_found(finding.report_so_far(&self.client.session));
                    Work::Done(())
                }
                other => {
                    self.client.finding = Some(finding);
                    other.map(|_| ())
                }
            },
        };
        match work {
            Work::Done(()) => {}
            Work::NotYet => self.activity = Activity::Indexing,
            Work::Searching(frames) => {
                self.searched = frames;
                self.activity = Activity::Searching;
            }
        }
        work == Work::Done(())
    }

    /// A search has ended.
    fn tell_found(&mut self, found: String) {
        let text = match self.client.session.replay().recording().change_seen() {
            Some(change) => format!("the recording {change}; start the server again\n"),
            None => found,
        };
        self.send(&[], Reply::Console(text));
    }

    /// The client has moved; `None` is a stop that the user typed ^C for.
    fn stop(&mut self, stop: Option<Stop>) {
        self.client.session.halt();
        if let Some(words) = stop.and_then(|stop| self.client.words(stop)) {
            self.console(&words);
        }
        let stopped = self.base.stopped(stop, &mut self.client);
        let packets = match self.client.session.replay().recording().change_seen() {
            // Where it went may be no place in the recording.
            Some(change) => wire::encode(format!("E.the recording {change}; start the server again").as_bytes()),
            None => stopped,
        };
        self.emit(packets);
    }

    /// Whether the client waits for something that takes time, and can be told how far it is.
    fn is_client_waiting(&self) -> bool {
        matches!(self.activity, Activity::Indexing | Activity::Searching)
    }

    /// What is to be sent to the client; the caller sends it.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Whether more is waiting to be answered than one should read on for.
    pub fn is_crowded(&self) -> bool {
        self.waiting_bytes > BACKLOG
    }

    /// Shows the user how far it is, what the client waits for. Without a waiting client a line would be taken for the
    /// reply to its next packet, so then nothing is sent.
    pub fn tell_progress(&mut self) {
        // A search for a client ends soon, and says nothing before.
        if self.client.finding.is_some() {
            return;
        }
        let progress = self.client.session.replay().index().progress();
        match self.activity {
            Activity::Indexing => {
                let percent = 100.0 * progress.fraction();
                self.console(&format!("still indexing: {percent:.0} %, {} frames\n", progress.frames));
            }
            Activity::Searching => {
                self.console(&format!("still searching: {} of {} frames\n", self.searched, progress.frames));
            }
            Activity::Idle | Activity::Busy | Activity::Closed => {}
        }
    }

    /// The server ends: a client that waits for a reply gets one, in words. One that waits for nothing just sees its
    /// connection end, and gdb says `Remote connection closed` to the next command: whatever was sent to it would be
    /// taken for the reply to its next packet (seen with gdb 13.1 and 18.1).
    pub fn farewell(&mut self) {
        if self.is_client_waiting() {
            self.console("the trace server is ending\n");
            self.give_up("the trace server is ending");
        }
    }

    fn console(&mut self, text: &str) {
        let data = format!("O{}", hex::encode(text));
        if let Some(log) = &self.log {
            log.sent(data.as_bytes());
        }
        self.output.extend(wire::encode(data.as_bytes()));
    }

    /// The user typed ^C: what takes long is given up. Where gdb goes on by itself, move behind move (`handle SIGLOST
    /// nostop`, a condition that it tests, `next` over a long line), it may come between two of them (seen with gdb 13.1,
    /// behind the `g` for the first stop): as with gdbserver, the next move then ends where it begins. Nothing is answered
    /// before: that would be taken for the reply to the next packet.
    fn interrupt(&mut self) {
        if self.client.session.is_moving() {
            self.stop(None);
        } else if self.is_client_waiting() || self.client.finding.is_some() {
            self.give_up("interrupted");
        } else {
            self.interrupted = Some(Instant::now());
        }
    }

    /// The reply that the client waits for is an error.
    fn give_up(&mut self, words: &str) {
        if self.client.session.is_moving() {
            self.client.session.halt();
        } else if self.client.finding.take().is_none() {
            self.take_waiting();
        }
        self.send(&[], reply::error(words));
    }

    /// The data of the packet that has waited longest, which waits no longer.
    fn take_waiting(&mut self) -> Vec<u8> {
        let event = self.waiting.pop_front();
        self.waiting_bytes -= event.as_ref().map_or(0, cost);
        match event {
            Some(Event::Packet(data)) => data,
            _ => Vec::new(),
        }
    }

    /// The client did not get the last reply whole. A reply that is still being worked out, or was not sent yet,
    /// cannot be meant; without this rule a storm of `-` would cost a reply for each byte.
    fn send_again(&mut self) {
        if self.acknowledge && self.waiting.is_empty() && !self.output.ends_with(&self.last_reply) {
            self.output.extend_from_slice(&self.last_reply);
        }
    }

    fn acknowledge_with(&mut self, sign: u8) {
        if self.acknowledge {
            self.output.push(sign);
        }
    }

    fn send(&mut self, request: &[u8], reply: Reply) {
        let packets = match reply {
            Reply::Silence | Reply::Later => return,
            // LLDB shows a reply as it is.
            Reply::Console(text) if self.client.is_lldb || text.is_empty() => {
                text.lines().for_each(|line| self.console(&format!("{line}\n")));
                wire::encode(b"OK")
            }
            Reply::Console(text) => wire::encode(hex::encode(text).as_bytes()),
            Reply::Data(data) => wire::encode(&data),
            Reply::NoAcknowledgement => {
                self.acknowledge = false;
                wire::encode(b"OK")
            }
            Reply::Base => {
                let changes = self.client.session.replay().changes_seen();
                let packets = self.base.answer(request, &mut self.client);
                if self.client.session.is_moving() {
                    if self.interrupted.take().is_some() {
                        self.stop(None);
                    }
                    return;
                }
                // What was read while a file was cut is no answer.
                match self.client.session.replay().changes_seen() > changes {
                    true => wire::encode(b"E.a file was cut while it was read"),
                    false => packets,
                }
            }
            Reply::Close(data) => {
                self.activity = Activity::Closed;
                data.map(|data| wire::encode(&data)).unwrap_or_default()
            }
        };
        self.emit(packets);
    }

    fn emit(&mut self, packets: Vec<u8>) {
        tracing::debug!(packets = %packets.escape_ascii(), "sent");
        if let Some(log) = &self.log {
            wire::split(&packets).iter().for_each(|data| log.sent(data));
        }
        self.output.extend_from_slice(&packets);
        self.last_reply = packets;
    }
}

/// Asks the system whether the files are as they were. That they are not is logged once.
fn look_for_changes(replay: &Replay) {
    let changes = replay.changes();
    if !changes.is_empty() && replay.changes_are_news() {
        for (path, change) in &changes {
            let path = report::printable(&path.display().to_string());
            tracing::warn!("{path} {change}: nothing of it is served any more, start the server again");
        }
    }
}

/// A reply that refuses a client its first packet, with the acknowledgement of that packet.
pub fn refusal(words: &str) -> Vec<u8> {
    [b"+", wire::encode(format!("E.{words}").as_bytes()).as_slice()].concat()
}

/// What keeping an undecided packet costs, in bytes.
fn cost(event: &Event) -> usize {
    match event {
        Event::Packet(data) => PACKET_COST + data.len(),
        _ => PACKET_COST,
    }
}
