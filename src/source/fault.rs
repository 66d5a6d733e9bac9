//! Reading a mapped file that another process cuts.
//!
//! What was mapped and is no longer in the file cannot be read: the kernel answers the access with the signal SIGBUS,
//! which would end the process (mmap(2)). The same signal tells of a disk that fails. The handler here puts zero bytes
//! in the place of what is gone and notes that the file is torn; whoever read the zeros asks for that note before
//! anybody gets to see them.
//!
//! Reading files by `pread` would do without signals, but then each frame would be copied, and kept somewhere for as
//! long as it is borrowed.

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// A mapped range of addresses. The list of them only grows, so that the handler can walk it at any moment; what is
/// not used any more is used again.
struct Region {
    taken: AtomicBool,
    /// First address, and the address behind the last; 0 and 0 for none.
    start: AtomicUsize,
    end: AtomicUsize,
    torn: AtomicBool,
    next: AtomicPtr<Region>,
}

static REGIONS: AtomicPtr<Region> = AtomicPtr::new(null_mut());

/// What the signal did before, for faults that are none of ours.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Keeps the process alive while a mapped file is torn. To be dropped before the mapping.
pub(super) struct Guard(&'static Region);

impl Guard {
    /// Guards `mapped`, the whole of a mapping.
    pub(super) fn new(mapped: &[u8]) -> io::Result<Guard> {
        static HANDLED: OnceLock<Result<(), i32>> = OnceLock::new();
        HANDLED.get_or_init(handle).map_err(io::Error::from_raw_os_error)?;
        let region = regions().find(|region| !region.taken.swap(true, Ordering::AcqRel)).unwrap_or_else(one_more);
        let start = mapped.as_ptr() as usize;
        region.torn.store(false, Ordering::Release);
        region.end.store(start.saturating_add(mapped.len()), Ordering::Release);
        region.start.store(start, Ordering::Release);
        Ok(Guard(region))
    }

    /// Whether a part of the file could not be read: there are zeros in its place.
    pub(super) fn is_torn(&self) -> bool {
        self.0.torn.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.end.store(0, Ordering::Release);
        self.0.start.store(0, Ordering::Release);
        self.0.taken.store(false, Ordering::Release);
    }
}

fn regions() -> impl Iterator<Item = &'static Region> {
    let mut next = &REGIONS;
    std::iter::from_fn(move || {
        // SAFETY: the list holds null and what `one_more` leaked, which lives forever.
        #[allow(unsafe_code)]
        let region: &'static Region = unsafe { next.load(Ordering::Acquire).as_ref() }?;
        next = &region.next;
        Some(region)
    })
}

fn one_more() -> &'static Region {
    let region: &'static Region = Box::leak(Box::new(Region {
        taken: AtomicBool::new(true),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        torn: AtomicBool::new(false),
        next: AtomicPtr::new(null_mut()),
    }));
    let mut first = REGIONS.load(Ordering::Acquire);
    loop {
        region.next.store(first, Ordering::Release);
        let pointer = std::ptr::from_ref(region).cast_mut();
        match REGIONS.compare_exchange(first, pointer, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return region,
            Err(now) => first = now,
        }
    }
}

#[allow(unsafe_code)]
fn handle() -> Result<(), i32> {
    let _ = page_size();
    // SAFETY: both structures are plain data for which zeros are valid, and live until the call returns. The handler
    // does only what is allowed in one (signal-safety(7)): it reads and writes atomics, and makes system calls.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut now: libc::sigaction = std::mem::zeroed();
        now.sa_sigaction = on_fault as *const () as usize;
        now.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGBUS, &raw const now, &raw mut before) != 0 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
        }
        let _ = BEFORE.set(before);
    }
    Ok(())
}

fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: the call takes a number and gives one.
        #[allow(unsafe_code)]
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    })
}

#[allow(unsafe_code)]
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel gives a valid structure to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    for region in regions() {
        let (start, end) = (region.start.load(Ordering::Acquire), region.end.load(Ordering::Acquire));
        if !(start..end).contains(&address) {
            continue;
        }
        region.torn.store(true, Ordering::Release);
        // All that follows is given up at once: what is gone may have millions of pages.
        let from = address & !(page_size() - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the pages replaced belong to a live mapping of ours, which is read-only and stays so; slices of it
        // stay valid, and no reader relies on two reads of a place being equal.
        let zeros = unsafe { libc::mmap(from as *mut c_void, end - from, libc::PROT_READ, flags, -1, 0) };
        if zeros != libc::MAP_FAILED {
            return;
        }
    }
    // Somebody else's: what was there before has it, as the access is made again when this returns.
    // SAFETY: as in `handle`.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, BEFORE.get().unwrap_or(&default), null_mut());
    }
}
