//! Memory that is allocated, and that the operating system gave.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counting.
pub(crate) struct Counting;

#[allow(unsafe_code, reason = "an allocator cannot be written without; each call is handed on as it came")]
// SAFETY: every call goes to the system's allocator unchanged; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`; `place` came from `alloc` above.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Bytes allocated and not freed.
pub(crate) fn live_bytes() -> i64 {
    LIVE_BYTES.load(Relaxed)
}

/// Memory of this process in use (`VmRSS`); `None` where the system does not tell.
pub(crate) fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()? * 1024)
}
