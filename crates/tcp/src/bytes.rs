//! Queues of bytes.

use alloc::collections::VecDeque;

/// Capacity that an idle connection keeps of a queue that has grown, at most.
const KEPT_BYTES: usize = 4096;

/// Gives the memory of an empty queue back, so that idle connections stay small.
pub(crate) fn release_if_empty(queue: &mut VecDeque<u8>) {
    if queue.is_empty() && queue.capacity() > KEPT_BYTES {
        *queue = VecDeque::new();
    }
}
