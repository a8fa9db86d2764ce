//! Descriptors that tokio watches.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has tokio watch the descriptor.
#[allow(unsafe_code)]
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open for as long as it lives, always names the same descriptor, and is
    // not handed out. (tokio has no safe way to watch a descriptor.)
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}
