//! traceframe serves a recorded trace to a stock gdb.
//!
//! A person types `target remote :1234` and then `tfind`, `tdump`, `print $tsv`, `backtrace`, `continue`,
//! `reverse-step`, as if the machine that made the recording were still there.
//!
//! # The house
//!
//! ```text
//! file ─► source ─► format ─► trace ─► index ─► session ─► report ─► rsp ─► server ─► gdb
//!                     ▲                            ▲                           ▲
//!               arch, image                 arch, image                       cli
//! ```
//!
//! Data flows one way; a room may name the rooms below it in this list, never those above.
//!
//! | room | owns |
//! |---|---|
//! | [`cli`] | what was typed and what it means; exit codes |
//! | [`server`] | listeners, connections, shutdown; the only room that names tokio |
//! | [`rsp`] | the remote protocol; the only room that names gdbstub |
//! | [`report`] | a recording in words: what `info`, `frames` and the monitor commands show; coverage |
//! | [`session`] | one client's view: cursor, tfind, run control, searches, registers and memory at a position |
//! | [`index`] | where frames lie and how they are found; built once, shared by all clients |
//! | [`mod@format`] | bytes to model, one folder a format |
//! | [`trace`] | the model: recordings, frames, tracepoints, variables, status, damage |
//! | [`image`] | the program: an ELF file, and where it lay |
//! | [`arch`] | the target description: registers, their layout and roles |
//! | [`source`] | the bytes of a file, what becomes of them when it changes, the cursor over them; the only `unsafe` |
//!
//! # Invariants
//!
//! 1. Lower rooms never name higher ones; only [`rsp`] names gdbstub; only [`server`] names tokio; only [`source`] has
//!    `unsafe`. (`tests/rooms.rs` checks this.)
//! 2. A recording never changes once open. Clients share it and cannot affect each other.
//! 3. The state at any position is computed without visiting other frames' data.
//! 4. In a frame, every byte in a reply was recorded, or read from a read-only part of the program image, or is marked
//!    unavailable. A program counter that was inferred is told apart from a recorded one wherever a person asks.
//!    Outside any frame gdb cannot live without a full register set; what is made up for it is declared in
//!    `monitor status` and in [`session::Session::registers`]. What gdb could not take of a tracepoint's definition is
//!    replaced, and declared likewise: [`session::Told`].
//! 5. No input can panic the process, make it allocate by a number found in a file, or loop without end.
//! 6. Damage is data: a reader returns what it could read together with a list of what it could not, and serves up to
//!    it; `--strict` turns it into an error.
//! 7. A client's mistake never ends its session: the reply is an error or empty, and the next packet works. A client
//!    sees no file other than those named on the command line.
//!
//! # Where this differs from gdbstub
//!
//! gdbstub serves run control, breakpoints without conditions, threads, `g`, files and the target description. In front of
//! it stands what it lacks or would end a session on: framing, the tracepoint packets, conditions, single registers,
//! memory, and monitor commands, which may take long and are worked on in turns. One kind of stop is not told as it is:
//! see [`rsp`].
//!
//! # Formats
//!
//! [`trace::Recording`] is the one interface that a format implements. It is made for frames that are computed on
//! demand: a [`trace::Location`] is a number that only the recording understands, a [`trace::Frame`] owns or borrows
//! what it holds, registers may have holes, and a frame names its thread and its time.
//!
//! [`format::tfile`] reads frames where they lie in the file; its locations are file offsets. [`format::tracedat`] makes
//! them of the records of many CPUs, merged by time; its locations are numbers of frames, which the first walk finds
//! places for. What it cannot have as memory or registers of a machine it makes, and says so
//! ([`trace::Recording::made_up`]): a program with the kernel's symbols ([`image::made`]), a stack that leads along recorded
//! return addresses.
//!
//! [`format::itrace`] reads hardware instruction trace: from the bytes of a sink to the instructions that were executed, of
//! CoreSight (ETMv4, ETE) and of RISC-V (E-Trace). There a frame is an instruction; a walk shows them by straight runs of
//! code ([`trace::Instructions`]) and what lies between them ([`trace::Interruption`]), the index keeps runs, and a frame
//! that is looked at is found by reading a source on from the last place before it that was kept. The stack that gdb
//! unwinds by is made ([`image::unwinding`]).

pub mod arch;
pub mod cli;
pub mod format;
pub mod image;
pub mod index;
pub mod report;
pub mod rsp;
pub mod server;
pub mod session;
pub mod source;
pub mod trace;
