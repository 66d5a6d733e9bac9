//! The stretches of a source, one behind the other: read where they are asked for, and, if there are many, ahead of
//! that on a thread of their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::{self, Scope};

use super::super::instruction::Blocks;
use super::calls::Lately;
use super::memory::Memory;
use super::stretch::{Checkpoint, Stretch};
use super::{Source, Trace};

/// So many stretches are read where they are asked for: whoever wants no more pays for no thread.
const FIRST: u32 = 4;

/// So many stretches are read ahead at most.
const AHEAD: usize = 8;

/// A stretch, and the place before it.
pub type Read = (Checkpoint, Stretch);

/// Reads a source from its beginning on.
struct Reading<'t> {
    trace: &'t Trace,
    source: &'t Source,
    checkpoint: Checkpoint,
    blocks: Blocks<Arc<Memory>>,
    lately: Lately,
}

impl Iterator for Reading<'_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        let Reading { trace, source, checkpoint, blocks, lately } = self;
        let before = checkpoint.clone();
        let (sink, memory) = (trace.sink(source), &source.memory);
        let stretch = checkpoint.advance(sink, &source.protocol, blocks, memory, &trace.calls, lately)?;
        Some((before, stretch))
    }
}

/// Where the next stretch comes from.
enum Supply<'t> {
    Here(Box<Reading<'t>>),
    Thread(Receiver<Read>),
    /// There is nothing more.
    Nowhere,
}

/// The stretches of a source.
pub struct Stretches<'s, 't> {
    /// Where threads live; `None` where none may be begun.
    scope: Option<&'s Scope<'s, 't>>,
    from: Supply<'t>,
    given: u32,
}

impl<'s, 't> Stretches<'s, 't> {
    /// From its beginning on. They are read ahead if there is a scope for that.
    pub fn new(trace: &'t Trace, source: &'t Source, scope: Option<&'s Scope<'s, 't>>) -> Stretches<'s, 't> {
        let checkpoint = Checkpoint::first(&source.protocol);
        let blocks = Blocks::new(Arc::clone(&source.memory), source.protocol.ends());
        let reading = Reading { trace, source, checkpoint, blocks, lately: Lately::default() };
        Stretches { scope, from: Supply::Here(Box::new(reading)), given: 0 }
    }

    /// Has the rest read on a thread of its own, if the system gives one.
    fn ahead(&self, reading: Box<Reading<'t>>) -> Supply<'t> {
        let Some(scope) = self.scope else { return Supply::Here(reading) };
        // The reading follows the thread, so that it is still there if none is given.
        let (give, given) = sync_channel::<Box<Reading<'t>>>(1);
        let (sender, receiver) = sync_channel(AHEAD);
        let read = move || {
            let Ok(reading) = given.recv() else { return };
            send(*reading, &sender);
        };
        if thread::Builder::new().name("reading".to_owned()).spawn_scoped(scope, read).is_err() {
            return Supply::Here(reading);
        }
        match give.send(reading) {
            Ok(()) => Supply::Thread(receiver),
            Err(SendError(reading)) => Supply::Here(reading),
        }
    }
}

/// Sends what is read, until there is nothing more or nobody wants it.
fn send(reading: Reading<'_>, sender: &SyncSender<Read>) {
    for read in reading {
        if sender.send(read).is_err() {
            return;
        }
    }
}

impl Iterator for Stretches<'_, '_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        if self.given == FIRST {
            self.from = match std::mem::replace(&mut self.from, Supply::Nowhere) {
                Supply::Here(reading) => self.ahead(reading),
                other => other,
            };
        }
        self.given = self.given.saturating_add(1);
        let next = match &mut self.from {
            Supply::Here(reading) => reading.next(),
            Supply::Thread(receiver) => receiver.recv().ok(),
            Supply::Nowhere => None,
        };
        if next.is_none() {
            self.from = Supply::Nowhere;
        }
        next
    }
}
