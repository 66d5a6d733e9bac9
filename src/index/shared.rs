//! What a walk tells, and who waits for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Context, Poll, Waker};

use super::interruptions::Interruptions;
use super::segments::Segments;
use crate::trace::{Damage, DamageList, Location};

/// What a walk knows when it is over.
pub(super) struct Outcome {
    /// What [`Recording::walk`] returned.
    pub(super) end: Location,
    /// The last value of each trace state variable.
    pub(super) last_values: BTreeMap<i32, i64>,
}

/// The index as far as it had grown at one moment.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) segments: Segments,
    /// The location of the last frame.
    pub(super) at: Location,
    /// `None` as long as there is more to come.
    pub(super) outcome: Option<Arc<Outcome>>,
}

/// Who wants to know of changes.
#[derive(Default)]
struct Waiters {
    generation: u64,
    ended: bool,
    wakers: Vec<Waker>,
}

/// What the walk and the clients have in common.
#[derive(Default)]
pub(super) struct Shared {
    snapshot: RwLock<Arc<Snapshot>>,
    damage: Mutex<DamageList>,
    interruptions: Mutex<Interruptions>,
    waiters: Mutex<Waiters>,
    ended: Condvar,
    cancelled: AtomicBool,
}

/// No lock here is ever held while something can go wrong, so a poisoned one holds nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(super) fn add_damage(&self, damage: Damage) {
        lock(&self.damage).push(damage);
    }

    /// Shows clients a snapshot that answers as the last one did.
    pub(super) fn replace(&self, snapshot: Snapshot) {
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    /// Shows clients a snapshot that tells more than the last one, and wakes those who wait for it.
    pub(super) fn publish(&self, snapshot: Snapshot) {
        self.replace(snapshot);
        self.wake(false);
    }

    /// The walk is over, whether it has seen everything or not.
    pub(super) fn finish(&self) {
        self.wake(true);
    }

    fn wake(&self, ended: bool) {
        let mut waiters = lock(&self.waiters);
        waiters.generation += 1;
        waiters.ended = ended;
        let wakers = std::mem::take(&mut waiters.wakers);
        drop(waiters);
        if ended {
            self.ended.notify_all();
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Asks the walk to end.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Blocks until the walk is over.
    pub(super) fn wait(&self) {
        let over = self.ended.wait_while(lock(&self.waiters), |waiters| !waiters.ended);
        drop(over.unwrap_or_else(PoisonError::into_inner));
    }

    /// See [`Index::poll_change`](super::Index::poll_change).
    pub(super) fn poll_change(&self, seen: u64, context: &mut Context<'_>) -> Poll<u64> {
        let mut waiters = lock(&self.waiters);
        if waiters.generation != seen {
            return Poll::Ready(waiters.generation);
        }
        let known = waiters.wakers.iter().any(|waker| waker.will_wake(context.waker()));
        if !known && !waiters.ended {
            waiters.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// The damage found so far.
    pub(super) fn damage(&self) -> DamageList {
        lock(&self.damage).clone()
    }

    /// The interruptions met so far: all that lie before the frames of any snapshot that was taken before.
    pub(super) fn interruptions(&self) -> MutexGuard<'_, Interruptions> {
        lock(&self.interruptions)
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.waiters).wakers.len()
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }
}
