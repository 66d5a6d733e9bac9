//! Chunks that were expanded lately, shared by all threads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of expanded chunks are kept at least, if there are as many, and at most.
const LIMITS: (usize, usize) = (4 << 20, 128 << 20);

/// What a chunk expanded to, or why it cannot be expanded, which is not tried again for each of its pages.
pub(super) type Expanded = Result<Arc<Vec<u8>>, Arc<str>>;

/// The chunks used last, by their offset in the file.
pub(super) struct Cache {
    kept: Mutex<Kept>,
    /// How many bytes of them there are at most.
    limit: usize,
}

#[derive(Default)]
struct Kept {
    chunks: HashMap<u64, (u64, Expanded)>,
    /// The offsets by when they were used last.
    used: BTreeMap<u64, u64>,
    now: u64,
    bytes: usize,
}

impl Cache {
    /// A cache for readers who go through so many bytes of chunks at a time: two of them have room, unless that is more
    /// than 128 MiB.
    pub fn new(at_once: u64) -> Cache {
        let wanted = usize::try_from(at_once).unwrap_or(usize::MAX).saturating_mul(2);
        Cache { kept: Mutex::default(), limit: wanted.clamp(LIMITS.0, LIMITS.1) }
    }

    /// The chunk at an offset of the file; expanded by `expand` if it is not kept. Nobody waits while that happens, so
    /// two threads may expand the same chunk.
    pub fn get(&self, at: u64, expand: impl FnOnce() -> Expanded) -> Expanded {
        if let Some(found) = self.kept().touch(at) {
            return found;
        }
        let expanded = expand();
        self.kept().insert(at, expanded.clone(), self.limit);
        expanded
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn touch(&mut self, at: u64) -> Option<Expanded> {
        let (used, expanded) = self.chunks.get_mut(&at)?;
        self.used.remove(used);
        self.now += 1;
        *used = self.now;
        self.used.insert(self.now, at);
        Some(expanded.clone())
    }

    fn insert(&mut self, at: u64, expanded: Expanded, limit: usize) {
        let size = weight(&expanded);
        if size > limit || self.touch(at).is_some() {
            return;
        }
        while self.bytes.saturating_add(size) > limit {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            if let Some((_, gone)) = self.chunks.remove(&oldest) {
                self.bytes -= weight(&gone);
            }
        }
        self.now += 1;
        self.used.insert(self.now, at);
        self.chunks.insert(at, (self.now, expanded));
        self.bytes += size;
    }
}

/// What an entry counts for, its place in the tables included.
fn weight(expanded: &Expanded) -> usize {
    let bytes = match expanded {
        Ok(bytes) => bytes.len(),
        Err(cause) => cause.len(),
    };
    bytes.saturating_add(128)
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cache({} bytes)", self.kept().bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunks_used_last_are_kept_and_no_more_than_the_limit() {
        let cache = Cache::new(8 << 20);
        let chunk = |number: u64| -> Expanded { Ok(vec![number as u8; 1 << 20].into()) };
        let mut expanded = 0;
        for number in 0..100 {
            for wanted in [number, 0] {
                let got = cache.get(wanted, || {
                    expanded += 1;
                    chunk(wanted)
                });
                assert_eq!(got.unwrap()[0], wanted as u8);
            }
            let kept = cache.kept();
            assert!(kept.bytes <= cache.limit && kept.chunks.len() == kept.used.len());
            assert_eq!(kept.bytes, kept.chunks.values().map(|(_, expanded)| weight(expanded)).sum::<usize>());
        }
        assert_eq!(expanded, 100, "chunk 0 is used all the time and stays");
        let tried = std::cell::Cell::new(0);
        for _ in 0..3 {
            let failed = cache.get(1000, || {
                tried.set(tried.get() + 1);
                Err("damaged".into())
            });
            assert!(failed.is_err());
        }
        assert_eq!(tried.get(), 1);
        assert!(cache.get(2000, || Ok(vec![0; cache.limit + 1].into())).is_ok());
        assert!(cache.kept().bytes <= cache.limit, "what is too large is not kept");
        assert_eq!([0, 3 << 20, u64::MAX].map(|at_once| Cache::new(at_once).limit), [LIMITS.0, 6 << 20, LIMITS.1]);
    }
}
