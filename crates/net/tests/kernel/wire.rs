//! A wire without a device, for tests and for the developer tools `tcp-perf` and `agreement`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};

/// Bytes that may wait in it. More than any device lets wait, so that nothing is lost here.
const BUFFER_BYTES: usize = 16 << 20;

/// Two ends that keep packets apart.
pub(crate) fn wire() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (a, b) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    for end in [&a, &b] {
        // Without root as much as the system lets everybody have.
        sockopt::set_socket_send_buffer_size_force(end, BUFFER_BYTES)
            .or_else(|_| sockopt::set_socket_send_buffer_size(end, BUFFER_BYTES))?;
    }
    Ok((a, b))
}
