//! The packets that gdbstub serves: stop reason, registers, threads, run control, breakpoints, target description, auxv,
//! files, libraries, offsets.
//!
//! gdbstub ends a session on a malformed packet, on a thread that is not there, and on more of that kind. Here such a
//! packet gets an error, and a fresh machine goes on where the old one was: breakpoints, cursor and files are the
//! [`Client`]'s, and what a machine itself remembers is replayed to it.

mod arch;
mod auxv;
mod breakpoints;
mod description;
mod exec_file;
mod host_io;
mod libraries;
mod offsets;
mod registers;
mod resume;
mod target;
mod threads;

use std::convert::Infallible;

use gdbstub::conn::Connection;
use gdbstub::stub::GdbStub;
use gdbstub::stub::state_machine::GdbStubStateMachine;

use super::client::Client;
use super::packet::q_supported;
use super::wire;
use crate::session::Stop;

type Machine = GdbStubStateMachine<'static, Client, Output>;

/// Where gdbstub writes its replies.
#[derive(Default)]
struct Output(Vec<u8>);

impl Connection for Output {
    type Error = Infallible;

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.0.push(byte);
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// gdbstub's state machine, and what it takes to make another one that is where this one was.
pub struct Base {
    machine: Option<Machine>,
    /// The last packets that were accepted of those that a machine remembers: `Hg…` and `Hc…`.
    threads: [Option<Vec<u8>>; 2],
}

impl Base {
    /// A fresh machine.
    pub fn new(client: &mut Client) -> Base {
        let mut base = Base { machine: None, threads: [None, None] };
        base.rebuild(client);
        base
    }

    /// gdbstub's reply to a packet, as packets. At least one, but for a packet that makes the client move: then
    /// [`Base::stopped`] gives it.
    pub fn answer(&mut self, packet: &[u8], client: &mut Client) -> Vec<u8> {
        let asks_features = packet.starts_with(b"qSupported");
        let request = if asks_features { q_supported::for_base(packet) } else { packet.to_vec() };
        let reply = self.feed(&request, client).filter(|reply| client.session.is_moving() == reply.is_empty());
        let Some(reply) = reply else {
            client.session.halt();
            self.rebuild(client);
            return wire::encode(b"E16");
        };
        if asks_features {
            return wire::split(&reply)
                .iter()
                .flat_map(|data| wire::encode(&q_supported::complete(data, client)))
                .collect();
        }
        if let Some(slot) = [&b"Hg"[..], b"Hc"].iter().position(|name| packet.starts_with(name)) {
            self.threads[slot] = Some(packet.to_vec());
        }
        reply
    }

    /// The reply to the packet that made the client move, as a packet; `None` is a stop that the user typed ^C for.
    pub fn stopped(&mut self, stop: Option<Stop>, client: &mut Client) -> Vec<u8> {
        let reason = client.stop_reason(stop);
        let machine = match self.machine.take() {
            Some(GdbStubStateMachine::Running(running)) => running.report_stop(client, reason).ok(),
            _ => None,
        };
        let reply = match machine {
            Some(GdbStubStateMachine::Idle(mut idle)) => {
                let reply = std::mem::take(&mut idle.borrow_conn().0);
                self.machine = Some(idle.into());
                reply
            }
            _ => {
                self.rebuild(client);
                wire::encode(b"E16")
            }
        };
        // The thread that stopped is the one that is asked of next.
        client.general_thread = Some(client.session.thread());
        self.threads = [None, None];
        reply
    }

    /// `None` where gdbstub gave up; the machine is gone then.
    fn feed(&mut self, packet: &[u8], client: &mut Client) -> Option<Vec<u8>> {
        let mut machine = self.machine.take()?;
        for byte in wire::encode(packet) {
            machine = match machine {
                GdbStubStateMachine::Idle(idle) => match idle.incoming_data(client, byte) {
                    Ok(machine) => machine,
                    Err(error) => {
                        tracing::debug!(packet = %packet.escape_ascii(), %error, "gdbstub gave up on a packet");
                        return None;
                    }
                },
                // Nothing detaches through gdbstub, and nothing comes behind a packet that resumes.
                _ => return None,
            };
        }
        let reply = match &mut machine {
            GdbStubStateMachine::Idle(idle) => std::mem::take(&mut idle.borrow_conn().0),
            GdbStubStateMachine::Running(running) => std::mem::take(&mut running.borrow_conn().0),
            _ => return None,
        };
        self.machine = Some(machine);
        Some(reply)
    }

    fn rebuild(&mut self, client: &mut Client) {
        // gdbstub counts the four bytes of framing, and finds the end of a packet by looking through all of its
        // buffer: larger would be slower for every packet.
        let stub = GdbStub::builder(Output::default()).packet_buffer_size(client.packet_size + 4).build();
        self.machine = stub.ok().and_then(|stub| stub.run_state_machine(client).ok());
        let remembered: Vec<Vec<u8>> = self.threads.iter().flatten().cloned().collect();
        // Without acknowledgement, which is answered in front; then what the old machine knew.
        self.feed(b"QStartNoAckMode", client);
        for packet in remembered {
            self.feed(&packet, client);
        }
    }
}
