//! The heap of the whole process: what is held now, and the most that was held since a moment.
#![allow(unsafe_code)] // An allocator cannot be written without it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with a count of the bytes that were asked for and not yet given back, on all threads.
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn took(size: usize) {
    MOST.fetch_max(HELD.fetch_add(size, Relaxed) + size, Relaxed);
}

fn gave(size: usize) {
    HELD.fetch_sub(size, Relaxed);
}

// SAFETY: each call goes on to the system's allocator as it came; the counting touches none of the caller's memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it moves, the old piece and the new one are both there.
        took(size);
        let moved = unsafe { System.realloc(pointer, layout, size) };
        gave(layout.size());
        moved
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) };
        gave(layout.size());
    }
}

/// How far the heap grows, in bytes, at the worst moment of what is done; on whichever thread.
pub fn growth<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = work();
    (done, MOST.load(Relaxed).saturating_sub(before))
}

#[test]
fn the_worst_moment_counts_on_whichever_thread() {
    let _alone = super::case::alone();
    let ((), grown) = growth(|| {
        let kept = vec![1_u8; 1000];
        std::thread::spawn(|| drop(vec![1_u8; 1 << 20])).join().unwrap();
        drop(kept);
    });
    assert!((1 << 20..(1 << 20) + 100_000).contains(&grown), "{grown}");
}
