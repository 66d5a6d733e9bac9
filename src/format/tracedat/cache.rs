//! What was made of the file lately and is soon wanted again, shared by all threads: expanded chunks, pages taken apart.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes are kept at least, if there are as many, and at most.
const LIMITS: (usize, usize) = (4 << 20, 128 << 20);

/// What an entry counts for beside its own bytes: its place in the tables.
const ENTRY: usize = 128;

/// What can be kept: cheap to clone.
pub(super) trait Weigh: Clone {
    /// How many bytes of memory it takes.
    fn weight(&self) -> usize;
}

/// The values used last, by their keys.
pub(super) struct Cache<K, V> {
    kept: Mutex<Kept<K, V>>,
    /// How many bytes of them there are at most.
    limit: usize,
}

struct Kept<K, V> {
    values: HashMap<K, (u64, V)>,
    /// The keys by when they were used last.
    used: BTreeMap<u64, K>,
    now: u64,
    bytes: usize,
}

impl<K: Copy + Eq + Hash, V: Weigh> Cache<K, V> {
    /// A cache for readers who go through values of so many bytes at a time: two of them have room, unless that is more
    /// than 128 MiB.
    pub fn new(at_once: u64) -> Cache<K, V> {
        let wanted = usize::try_from(at_once).unwrap_or(usize::MAX).saturating_mul(2);
        let kept = Kept { values: HashMap::new(), used: BTreeMap::new(), now: 0, bytes: 0 };
        Cache { kept: Mutex::new(kept), limit: wanted.clamp(LIMITS.0, LIMITS.1) }
    }

    /// The value of a key; made by `make` if it is not kept. Nobody waits while that happens, so two threads may make
    /// the same.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(found) = self.kept().touch(key) {
            return found;
        }
        let made = make();
        self.kept().insert(key, made.clone(), self.limit);
        made
    }
}

impl<K, V> Cache<K, V> {
    fn kept(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash, V: Weigh> Kept<K, V> {
    fn touch(&mut self, key: K) -> Option<V> {
        let (used, value) = self.values.get_mut(&key)?;
        self.used.remove(used);
        self.now += 1;
        *used = self.now;
        self.used.insert(self.now, key);
        Some(value.clone())
    }

    fn insert(&mut self, key: K, value: V, limit: usize) {
        let size = weight(&value);
        if size > limit || self.touch(key).is_some() {
            return;
        }
        while self.bytes.saturating_add(size) > limit {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            if let Some((_, gone)) = self.values.remove(&oldest) {
                self.bytes -= weight(&gone);
            }
        }
        self.now += 1;
        self.used.insert(self.now, key);
        self.values.insert(key, (self.now, value));
        self.bytes += size;
    }
}

fn weight(value: &impl Weigh) -> usize {
    value.weight().saturating_add(ENTRY)
}

impl<K, V> std::fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cache({} bytes)", self.kept().bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    impl Weigh for Arc<Vec<u8>> {
        fn weight(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn the_values_used_last_are_kept_and_no_more_than_the_limit() {
        let cache = Cache::new(8 << 20);
        let value = |number: u64| Arc::new(vec![number as u8; 1 << 20]);
        let mut made = 0;
        for number in 0..100 {
            for wanted in [number, 0] {
                let got = cache.get(wanted, || {
                    made += 1;
                    value(wanted)
                });
                assert_eq!(got[0], wanted as u8);
            }
            let kept = cache.kept();
            assert!(kept.bytes <= cache.limit && kept.values.len() == kept.used.len());
            assert_eq!(kept.bytes, kept.values.values().map(|(_, value)| weight(value)).sum::<usize>());
        }
        assert_eq!(made, 100, "value 0 is used all the time and stays");
        assert_eq!(cache.get(2000, || vec![0; cache.limit + 1].into()).len(), cache.limit + 1);
        assert!(cache.kept().bytes <= cache.limit, "what is too large is not kept");
        let limits = [0, 3 << 20, u64::MAX].map(|at_once| Cache::<u64, Arc<Vec<u8>>>::new(at_once).limit);
        assert_eq!(limits, [LIMITS.0, 6 << 20, LIMITS.1]);
    }
}
